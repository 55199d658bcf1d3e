"""The control API under ``/_sim/``: what a test or a person does to the cloud from outside its own API.

It bypasses credentials, faults and the ledger, and is therefore answered on loopback only.
"""
