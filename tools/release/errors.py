"""The one error of this package."""


class ReleaseError(RuntimeError):
    """Something of the release does not fit; the text says what, and what to do."""
