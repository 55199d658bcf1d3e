"""``doctor``: what it has gathered, and the form of what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gpucloud.cli.plugin.cluster.leases import Lease
    from gpucloud.cli.plugin.cluster.rights import Right
    from gpucloud.cli.plugin.model.objects import Key, Thing


class Severity(StrEnum):
    """How grave: an error or a warning makes doctor's exit code 3; a note does not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, with which object, and what to do."""

    severity: Severity
    check: str
    message: str
    advice: str
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What doctor has gathered. None: it could not be seen."""

    now: datetime
    namespace: str | None  # None: all
    who: str
    kinds: frozenset[str] | None  # plurals that the apiserver serves in our version
    definitions: Mapping[str, Mapping[str, Any]]  # by plural, those that may be read
    rights: Mapping[Right, bool]
    operator_namespace: str
    leases: tuple[Lease, ...] | None  # of operators of ours, in that namespace
    things: tuple[Thing, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)  # by plural, why they could not be listed
    watched: frozenset[str] | None = None  # namespaces that the operators in that namespace watch; "*" for all
    pods: tuple[str, ...] | None = None  # of operators, in their namespace
    dying_secrets: frozenset[Key] = frozenset()  # accounts whose Secret is seen in deletion
    namespaces: tuple[str, ...] | None = None  # of the cluster, when the one that is looked at is not there
