"""The simulated world: the product's engine and core, unchanged, in one process and on virtual time."""
