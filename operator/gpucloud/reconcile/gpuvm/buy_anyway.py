"""The annotation ``buy-anyway``: a person says to buy a VM although one may exist.

"true" stands for VMs of earlier objects of this name: they are not this object's. For a VM that may be its own it holds a time,
and covers what this process has seen until then, as ``accept-absence`` does. "true" would stay there, and buy a second one when
the status is lost years later (seed 92310697). So would a time that lay ahead, when it comes: it never counts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import time_annotations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.time_annotations import TimeAnnotation

_FORM = time_annotations.TimeAnnotationRule(Annotation.BUY_ANYWAY, timedelta(minutes=1), "nobody can know yet what exists then")


def beside_own(f: VmFacts) -> bool:
    """Whether to buy a VM although one may exist that this object ordered before its status was lost, or went back."""
    at = _stamp(f).at
    return at is not None and time_annotations.on_mono(at, f.now) >= f.history.first_seen


def beside_others(f: VmFacts) -> bool:
    """Whether to buy a VM although one exists that an earlier object of this name ordered, or one of the name to adopt."""
    return f.annotated(Annotation.BUY_ANYWAY) or beside_own(f)


def is_held_by_others(f: VmFacts) -> bool:
    """Whether a VM of an earlier object keeps this one from buying."""
    return bool(f.lookalikes) and not beside_others(f)


def command(f: VmFacts) -> str:
    """Return the command that buys a VM beside another's."""
    return f"kubectl annotate gpuvm {f.meta.name} --namespace={f.meta.namespace} --overwrite {Annotation.BUY_ANYWAY}=true"


def command_beside_own(f: VmFacts) -> str:
    """Return the command that buys a VM beside one that may be this object's."""
    return time_annotations.command("GpuVM", f.meta.namespace, f.meta.name, Annotation.BUY_ANYWAY)


def no_effect(f: VmFacts, *, own: bool) -> str:
    """Return, in brackets, why the annotation has no effect; empty if it is not set. ``own``: it is to name a time."""
    value = f.meta.annotations.get(Annotation.BUY_ANYWAY)
    if value is None:
        return ""
    if not own:
        return f" ({value[:40]!r} is set, not 'true')"
    stamp = _stamp(f)
    why = "was in the future when set" if stamp.ahead else "is set, not the present time"
    return f" ({value[:40]!r} {'is before this doubt began' if stamp.at else why})"


def trouble(annotations: Mapping[str, str], now: datetime) -> str:
    """Return why the annotation can have no effect at all; empty if it may have one, or is not set."""
    value = annotations.get(Annotation.BUY_ANYWAY)
    return "" if value == "true" else time_annotations.read(value, now, "this object", _FORM).trouble


def _stamp(f: VmFacts) -> TimeAnnotation:
    return time_annotations.read_once(f.said_to_buy, "this object", _FORM)
