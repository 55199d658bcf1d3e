"""KubeError: what the apiserver refused, or did not answer."""

from __future__ import annotations

NO_DEFINITION = "NoDefinition"
NAMESPACE_TERMINATING = "NamespaceTerminating"  # the apiserver's word for a cause of its refusal


class KubeError(Exception):
    """The apiserver answered with an error, or (status 0) did not answer. ``causes``: the reasons in its details."""

    def __init__(self, status: int, reason: str, message: str, causes: frozenset[str] = frozenset()) -> None:
        super().__init__(f"{status} {reason}: {message[:500]}" if status else f"{message[:500]} ({reason})")
        self.status = status
        self.reason = reason
        self.causes = causes

    @property
    def gone(self) -> bool:
        """Whether the object was deleted, or another object has its name now. That its kind is unknown says nothing of it."""
        return self.status in {404, 410} and not self.undefined

    @property
    def undefined(self) -> bool:
        """Whether the apiserver does not know the kind that was asked for: our definitions are missing, or not served yet."""
        return self.reason == NO_DEFINITION

    @property
    def conflict(self) -> bool:
        """Whether the object has changed since it was read."""
        return self.status == 409

    @property
    def namespace_terminating(self) -> bool:
        """Whether nothing may be created because the namespace is being deleted: not for want of a right."""
        return self.status == 403 and NAMESPACE_TERMINATING in self.causes
