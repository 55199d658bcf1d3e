"""Which way to a control plane: a pure table from the facts of the surroundings to the ways to try, in order.

It must not look anything up itself: ``surroundings`` gathers the facts, ``obtain`` walks the ways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from controlplane.errors import ControlPlaneError
from controlplane.versions import ENVTEST_BINARIES

VARIABLE = "GPUCLOUD_CONTROL_PLANE"


class Way(StrEnum):
    """The five ways; their values are what GPUCLOUD_CONTROL_PLANE accepts."""

    EXISTING = "existing"
    KIND = "kind"
    ASSETS = "assets"
    DOWNLOAD = "download"
    BUILD = "build"


@dataclass(frozen=True)
class Surroundings:
    """What matters about the machine and the caller's wishes.

    ``missing`` are the needed binaries found nowhere, ``uncached`` those not in the user cache (which is all that a
    forced download or build looks at); ``rejected`` are sentences about binaries on PATH that do not fit.
    """

    forced: str = ""
    use_existing: bool = False
    kubeconfig: bool = False
    kind_on_path: bool = False
    engine_answers: bool = False
    missing: tuple[str, ...] = ()
    uncached: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


def without_borrowed(facts: Surroundings) -> Surroundings:
    """The same surroundings without clusters that are not our own processes, for who needs an audit log or process ids."""
    forced = "" if facts.forced in {Way.EXISTING, Way.KIND} else facts.forced
    return replace(facts, forced=forced, use_existing=False, kind_on_path=False)


def ways(facts: Surroundings) -> tuple[Way, ...]:
    """Return the ways to try in order; a later one only when the one before it failed or left a binary missing.

    Raises:
        ControlPlaneError: what was asked for cannot be had here; the text says why and what to do.
    """
    if facts.forced:
        return _forced(facts)
    if facts.use_existing:
        return _existing(facts)
    if facts.kind_on_path and facts.engine_answers:
        return (Way.KIND, *_binaries(facts.missing))
    return _binaries(facts.missing)


def _forced(facts: Surroundings) -> tuple[Way, ...]:
    match facts.forced:
        case Way.EXISTING:
            return _existing(facts)
        case Way.KIND:
            return _kind(facts)
        case Way.ASSETS:
            return _assets(facts)
        case Way.DOWNLOAD:
            return _binaries(facts.uncached)
        case Way.BUILD:
            return (Way.BUILD,) if facts.uncached else (Way.ASSETS,)
        case _:
            allowed = ", ".join(Way)
            raise ControlPlaneError(f"{VARIABLE}={facts.forced} is unknown; use one of {allowed}, or unset it.")


def _existing(facts: Surroundings) -> tuple[Way, ...]:
    if not facts.kubeconfig:
        raise ControlPlaneError(
            "An existing cluster was asked for, but KUBECONFIG names no readable file. "
            "Set it to the cluster that the tests may use; the default ~/.kube/config is deliberately not taken."
        )
    return (Way.EXISTING,)


def _kind(facts: Surroundings) -> tuple[Way, ...]:
    if not facts.kind_on_path:
        raise ControlPlaneError(f"{VARIABLE}=kind, but there is no `kind` on PATH. Install it, or unset {VARIABLE}.")
    if not facts.engine_answers:
        raise ControlPlaneError(
            f"{VARIABLE}=kind, but no container engine answers. Start docker or podman, or unset {VARIABLE}."
        )
    return (Way.KIND,)


def _assets(facts: Surroundings) -> tuple[Way, ...]:
    if facts.missing:
        lines = [f"{VARIABLE}=assets, but not found: {', '.join(facts.missing)}.", *facts.rejected]
        lines.append(f"Set KUBEBUILDER_ASSETS to a folder that holds them, or unset {VARIABLE}.")
        raise ControlPlaneError("\n".join(lines))
    return (Way.ASSETS,)


def _binaries(missing: tuple[str, ...]) -> tuple[Way, ...]:
    if not missing:
        return (Way.ASSETS,)
    if set(missing).isdisjoint(ENVTEST_BINARIES):
        return (Way.BUILD,)  # envtest carries no kube-controller-manager
    return (Way.DOWNLOAD, Way.BUILD)
