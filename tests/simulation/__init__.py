"""The simulated world: the operator's own code in one process, on virtual time."""
