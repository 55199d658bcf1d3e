"""The one error of the benchmark, so that its caller needs to catch only one."""


class BenchError(RuntimeError):
    """A measurement cannot go on; the text says which, and what was seen instead."""
