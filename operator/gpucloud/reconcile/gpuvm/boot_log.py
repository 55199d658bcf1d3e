"""Reads the boot log of a VM that is not ready in time, and says what class of trouble it shows.

A boot log may hold secrets, and whatever the guest writes: only the class leaves ``classify``. ``status.bootLog`` records when
it was read, so a restart of the operator reads it no sooner again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.kinds.bootlog import BootLogFinding, BootTrouble
from gpucloud.reconcile import pause
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuvm.vm_states import reported_state

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.plan import Plan

    Facts = CloudFacts[GpuVMSpec, GpuVMStatus, VmRecord]

AWAITS_READINESS = "PENDING_READINESS"  # field notes: the VM boots, and waits for an address and for its port 22
AGAIN = 3.0  # times the first wait, between two readings
CLASSIFIED = 200_000  # characters at the end of a log; the cloud's answer may be 10 MB


class Sign(NamedTuple):
    """What a log contains, by its class of trouble, and what to do about it."""

    trouble: BootTrouble
    pattern: re.Pattern[str]
    words: str


def _sign(trouble: BootTrouble, words: str, *patterns: str) -> Sign:
    return Sign(trouble, re.compile("|".join(patterns), re.IGNORECASE), words)


REST = r"[^\n]{0,200}?"  # of a line
# The first that is found counts: what comes later in a boot is often a consequence of what comes first here.
SIGNS = (
    _sign(
        BootTrouble.NO_BOOT_DEVICE,
        "finds no disk to boot from: set another spec.image",
        r"no bootable (device|medium|disk)",
        r"not a bootable disk",
        r"no boot device",
        r"unable to mount root fs",
        r"gave up waiting for (the )?root",
        r"cannot open root device",
    ),
    _sign(
        BootTrouble.IMAGE_NOT_FOUND,
        "says that the image is missing: set another spec.image",
        rf"\bimage\b{REST}\b(not found|does not exist)",
        r"errimagepull|imagepullbackoff",
    ),
    _sign(
        BootTrouble.KERNEL_PANIC,
        "shows a kernel panic: set another spec.image",
        r"kernel panic",
        r"bug: unable to handle",
    ),
    _sign(
        BootTrouble.DISK_FULL,
        "says that the disk is full: set a larger spec.rootDiskGiB",
        r"no space left on device",
    ),
    _sign(
        BootTrouble.OUT_OF_MEMORY,
        "shows that memory ran out: choose a larger spec.configuration",
        r"out of memory: kill",
        r"oom-kill",
    ),
    _sign(
        BootTrouble.EMERGENCY_MODE,
        "shows emergency mode, often a file system that is not mounted: check the image and spec.storage",
        r"(you are in|entering) (emergency|rescue) mode",
        r"reached target emergency mode",
        r"give root password for maintenance",
    ),
    _sign(
        BootTrouble.CLOUD_INIT_FAILED,
        "shows that cloud-init failed: check what the image configures",
        rf"cloud-init{REST}(failed|traceback|\berror\b)",
        rf"failed to start{REST}cloud-init",
        r"failed to start initial cloud-init",
    ),
    _sign(
        BootTrouble.NETWORK_DOWN,
        "shows no network: check the VPC, and the network setup of the image",
        r"network is unreachable",
        r"no dhcpoffers received",
        rf"dhcp{REST}(timed out|no lease)",
        rf"failed to start{REST}(network|wait-online)",
    ),
    _sign(
        BootTrouble.GPU_DRIVER_FAILED,
        "shows that the GPU driver failed: set an image with a driver for this GPU",
        rf"nvrm:{REST}(fail|error|fallen off the bus)",
        r"nvidia-smi has failed",
        r"failed to initialize nvml",
        rf"failed to start{REST}nvidia",
    ),
    _sign(
        BootTrouble.SSH_FAILED,
        "shows that the SSH server did not start: check the image",
        rf"failed to start{REST}(openssh|\bsshd?\b)",
        r"sshd: no hostkeys available",
    ),
)
WORDS = {
    **{sign.trouble: sign.words for sign in SIGNS},
    BootTrouble.UNKNOWN: "shows no trouble that the operator knows",
    BootTrouble.EMPTY: "is empty: the machine may not have begun to boot",
    BootTrouble.NOT_READABLE: "could not be read; the operator tries again later",
}


def classify(text: str) -> BootTrouble:
    """Return the class of trouble that a boot log shows. Total: any text has a class."""
    end = text[-CLASSIFIED:]
    if not end.strip():
        return BootTrouble.EMPTY
    return next((sign.trouble for sign in SIGNS if sign.pattern.search(end)), BootTrouble.UNKNOWN)


def finding(f: Facts) -> BootLogFinding | None:
    """Return the last finding of the present wait for readiness; None if there is none, or the VM does not wait."""
    waited = _waited(f)
    if waited is None:
        return None
    attempt, known = f.attempt(Verb.READ_BOOT_LOG), f.status.boot_log
    before = None if known is None else (f.now.wall - known.read_at).total_seconds()
    if known is not None and before is not None and before > waited:
        known = before = None  # of an earlier wait
    if attempt is None or not attempt.answer or f.now.mono - attempt.at > waited:
        return known
    ago = f.now.mono - attempt.at
    if before is not None and before <= ago + 1.0:  # it is recorded: times in status are whole seconds
        return known
    read_at = (f.now.wall - timedelta(seconds=ago)).replace(microsecond=0)
    return BootLogFinding(trouble=BootTrouble(attempt.answer), read_at=read_at)


def found_words(f: Facts) -> str:
    """Return what a message says of the boot log; empty while it was not read."""
    found = finding(f)
    if found is None:
        return ""
    return f" Its boot log {WORDS[found.trouble]}. Read it: kubectl gpucloud logs {f.meta.name} -n {f.meta.namespace}"


def with_boot_log(f: Facts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan, with the reading of the boot log if it is due and nothing else is to be done."""
    waited, first = _waited(f), f.limits.boot_log_after
    if waited is None or first <= 0 or plan.status is None or plan.action is not None or plan.release is not None:
        return plan
    found = finding(f)
    left = first - waited if found is None else AGAIN * first - (f.now.wall - found.read_at).total_seconds()
    if left <= 0:
        return replace(plan, action=Verb.READ_BOOT_LOG)
    at = f.now.mono + left
    return replace(plan, requeue_at=at if plan.requeue_at is None else min(at, plan.requeue_at))


def _waited(f: Facts) -> float | None:
    """Return for how many seconds the VM has been worked on, if it is ours, has begun to boot, and is not to go.

    The deadline is that of all work for this spec. What came before the last order was recorded is no time of this VM's; nor is
    what came before a listing first showed it on: the order may be carried out late, or somebody made an adopted VM again.
    """
    deadline = f.status.progress_deadline_at
    if deadline is None or f.meta.deleting or not f.is_present or pause.is_paused(f.meta.annotations):
        return None
    if not isinstance(f.found, Present) or reported_state(f.found.record) != AWAITS_READINESS:
        return None
    ordered = None if f.order is None else f.order.recorded_at
    begun = (ordered, f.status.billed_since or f.now.wall)
    waited = f.spec.progress_deadline_seconds - (deadline - f.now.wall).total_seconds()
    return min(waited, *((f.now.wall - at).total_seconds() for at in begun if at is not None))
