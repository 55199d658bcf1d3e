"""The custom resources: what a user may say (spec) and what the operator answers (status), as frozen pydantic models.

``crds/*.yaml`` are printed from these models, so a field exists exactly once. This package does no I/O, reads no clock and
knows nothing of the cloud's own wire format.
"""
