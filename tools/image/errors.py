"""The two ends that this package's callers know."""


class ImageError(RuntimeError):
    """A step failed; the text says which, and what it printed."""


class ImageUnavailableError(RuntimeError):
    """This machine cannot build or run an image; the text says why, and what would help."""
