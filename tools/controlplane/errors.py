"""The one error of this package, so that its callers need to catch only one."""


class ControlPlaneError(RuntimeError):
    """No control plane could be obtained or kept running; the text says what was tried and what to do next."""
