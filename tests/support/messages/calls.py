"""The Events of calls that were accepted: what the kinds' own tables say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.kinds import gpucloudaccount, gpuhost, gpuvm
from gpucloud.engine.kinds.gpucloudaccount.reconciler import EVENTS as OF_SECRETS
from gpucloud.engine.kinds.gpuhost.sending import EVENTS as OF_HOSTS
from gpucloud.engine.kinds.gpuvm.reconciler import GpuVMReconciler
from gpucloud.engine.kinds.registry import OWNED
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.gpuvm.connection import still_published
from support.builders import facts
from support.decisions import gpuvm_connection
from support.messages.conditions import Said

if TYPE_CHECKING:
    from collections.abc import Iterator


def accepted() -> Iterator[Said]:
    """Each, by kind."""
    for one in OWNED:
        yield from _of(one.kind, one.reconciler.success_events)
    yield _not_withdrawn()
    yield from _of(gpuhost.DECLARATION.kind, OF_HOSTS)
    yield from _of(gpucloudaccount.DECLARATION.kind, OF_SECRETS)


def _not_withdrawn() -> Said:
    """The Event of a stop with what is still published of the VM."""
    vm = facts(**gpuvm_connection.STOP)
    plan = decide(vm)
    reason, note, *_failed = GpuVMReconciler.success_events[plan.action]
    return Said(gpuvm.DECLARATION.kind, reason, "Event", note + still_published(vm, plan))


def _of(kind, table) -> Iterator[Said]:
    for reason, note, *_failed in table.values():
        yield Said(kind, reason, "Event", note)
