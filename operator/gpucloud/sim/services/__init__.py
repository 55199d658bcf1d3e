"""The services of the API, one module each: a validated request in, the world asked, a record out.

They must not know HTTP adapters, faults or the ledger.
"""
