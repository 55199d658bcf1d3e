"""The world: all state of the simulated cloud and the rules by which it changes, one module a service.

No I/O, no clock, no randomness: time and decisions are passed in. It must not know HTTP, faults or the ledger.
"""
