"""The one error of the demo, so that its caller needs to catch only one."""


class DemoError(RuntimeError):
    """The story cannot go on; the text says what was tried, on which object, and what was seen instead."""
