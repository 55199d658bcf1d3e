"""What an object costs while it waits, in an hour: the steady listings that all share, its own tries, and no write."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from gpucloud.cloud import connection as connection_module
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.common import OWN_ACCOUNT
from support.builders import an_order
from support.fakes import a_resource
from support.orderrig import KEY, History, MakingCloud

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.looptime
HOUR, STEADY = 3600, 60  # seconds; listings of a kind in an hour
SCANS = {"GetServers": 12, "GetSnapshots": 12}  # of the scan for orphans, which lists all clusters every ten minutes
LISTINGS = ("GetServers", "GetSnapshots", "GetVpcs")
TRIES = 12  # an hour of what is tried every five minutes


class StubbornCloud(MakingCloud):
    """It does not destroy what it refuses to destroy, nor, if it is ``idle``, what it accepts to destroy."""

    idle = False

    async def handle_async_request(self, request):
        kept, destroys = dict(self.vms), request.url.path.endswith("/DestroyServer")
        try:
            return await super().handle_async_request(request)
        finally:
            if destroys and (self.idle or (None, "DestroyServer") in self.refused):
                self.vms.update(kept)


@dataclass(frozen=True)
class Wait:
    """A wait, what Ready says of it, and what it may cost beyond the steady listings."""

    why: str  # it waits, and why that costs what it costs
    begin: Callable[[History], Awaitable[None]]
    ready: str
    listed: tuple[str, ...] = ("GetServers",)  # kinds in use
    extra: int = 0  # further listings in an hour
    calls: dict[str, int] = field(default_factory=dict)  # other calls, at most
    writes: int = 0  # of the status in an hour, at most: each order and each start is recorded before it is sent
    settles: int = 2400  # seconds until the first tries are over, and spec.progressDeadlineSeconds, too
    seconds: int = HOUR  # for which it is measured
    kind: str = "GpuVM"


def applied(status=(), answers=None, odd=None, makes=True, **spec):
    """A new object in a cloud that answers so."""

    async def begin(it):
        for operation, answer in (answers or {}).items():
            it.cloud.refuse(operation, answer)
        it.cloud.odd, it.cloud.makes = odd or {}, makes
        await it.apply(status=status, **spec)

    return begin


def running(then, **spec):
    """A VM that runs, and what happens to it then."""

    async def begin(it):
        await it.apply(**spec)
        await it.until(lambda: it.ready.startswith("True/"))
        await asyncio.sleep(60)
        await then(it)

    return begin


def no_room(**row):
    async def begin(it):
        offered = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "rpool": "on-demand"} | row
        it.cloud.worlds[KEY]["GetAvailability"] = [offered] if row else []
        it.cloud.refuse("CreateServer", 503)
        it.cloud.makes = False
        await it.apply()

    return begin


async def vanish(it):
    it.cloud.vms.clear()


async def fail(it):
    for _, record in it.cloud.vms.values():
        record["status"] = "FAILED"


def refuse(operation, code, then):
    async def begin(it):
        it.cloud.refuse(operation, code)
        await then(it)

    return begin


async def delete(it):
    it.delete()


async def no_snapshots(it):
    async def refused(_plural, _namespace, _body):
        raise KubeError(403, "Forbidden", "exceeded quota")

    it.kube.create_resource = refused
    it.delete()


async def delete_in_vain(it):
    it.cloud.idle = True
    it.delete()


async def stop(it):
    it.change(spec={"powerState": "Stopped"})


async def pause(it):
    it.change(annotations={"gpucloud.dev/paused": "true"})


async def pause_in_deletion(it):
    await pause(it)
    await asyncio.sleep(5)
    it.change(annotations={"gpucloud.dev/paused": "true"}, deletionTimestamp="2026-01-01T00:00:00Z")


async def lookalike(it):
    it.cloud.vms.clear()
    it.cloud.add("train-tagaa-zzzzzzzzzz")


async def limited(it):
    await it.start(max_vms_per_namespace=1)
    await asyncio.sleep(30)
    it._show("ADDED", a_resource("GpuVM", name="other", uid="u-b"))
    it.cloud.vms.clear()


async def full_namespace(it):
    await it.start(max_vms_per_namespace=1)
    it._show("ADDED", a_resource("GpuVM", name="other", uid="u-b"))
    await asyncio.sleep(30)
    await it.apply()


async def other_owner(it):
    it._show("ADDED", a_resource("GpuVM", name="other", uid="u-b", spec={"vmName": "prod"}))
    await asyncio.sleep(30)
    await it.apply(vmName="prod")


async def strangers_name(it):
    it.cloud.add("prod")
    await it.apply(vmName="prod")


async def recreated_often(it):
    for _ in range(3):
        it.cloud.vms.clear()
        await asyncio.sleep(300)
    it.cloud.vms.clear()


async def status_lost(it):
    """Its status is gone, and a cluster beside its own, where its VM may be, cannot be listed."""
    it.cloud.worlds[KEY]["GetAll"] = ["Msc1", "Hou1"]
    it.cloud.vms.clear()
    await it.engine.stop(0.0)
    it.kube.bodies["u-train"].pop("status")
    await it.start()


async def observe_only(it):
    await it.start(observe_only=True)
    await it.apply()


async def terminating(it):
    it.kube.dying.add("team")
    await it.apply()


async def occupied(it):
    it.cloud.worlds[KEY]["GetVpcs"] = [{"id": "9", "name": "acme-train", "cluster": "Msc1", "tenancyName": "acme"}]
    it.cloud.add("stranger", namespace="acme-train")
    order = an_order("acme-train", vpc="acme-train", cloud_id="9").model_dump(mode="json", by_alias=True)
    await it.apply(status={"vpcId": "9", "order": order, "account": OWN_ACCOUNT})
    await asyncio.sleep(30)
    it.delete()


WAITS = {
    "capacity, listed as none": Wait(
        "one query of what is free serves all",
        no_room(available=False, count=0),
        "False/WaitingForCapacity",
        calls={"GetAvailability": 360},
    ),
    "capacity, not listed": Wait(
        "ordered again every few minutes, each time after fresh listings",
        no_room(),
        "False/WaitingForCapacity",
        extra=3 * TRIES,
        calls={"GetAvailability": 360, "CreateServer": TRIES},
        writes=3 * TRIES,
    ),
    "a start without capacity": Wait(
        "as for an order",
        applied(odd={"status": "OFFLINE"}, answers={"StartServer": 503}),
        "False/WaitingForCapacity",
        extra=2 * TRIES,
        calls={"GetAvailability": 360, "StartServer": TRIES},
        writes=2 * TRIES,
    ),
    "rejected": Wait("a person must act", applied(answers={"CreateServer": 400}, makes=False), "False/Rejected"),
    "no permission": Wait(
        "tried every five minutes",
        applied(answers={"CreateServer": 403}, makes=False),
        "False/PermissionDenied",
        extra=2 * TRIES,
        calls={"CreateServer": TRIES},
        writes=2 * TRIES,
    ),
    "too many requests": Wait(
        "tried ever more rarely",
        applied(answers={"CreateServer": 429}, makes=False),
        "False/ProgressDeadlineExceeded",
        extra=2 * TRIES,
        calls={"CreateServer": TRIES},
        writes=2 * TRIES,
    ),
    "errors": Wait(
        "tried every five minutes, after a grace of looking",
        applied(answers={"CreateServer": 500}, makes=False),
        "False/ApiError",
        extra=4 * TRIES,
        calls={"CreateServer": TRIES},
        writes=3 * TRIES,
    ),
    "a stranger's name": Wait("a listing shows when it is free", strangers_name, "False/Conflict"),
    "another object's name": Wait("the other object wakes it", other_owner, "False/Conflict"),
    "no room in the namespace": Wait("checked every minute, without a listing", full_namespace, "False/LimitReached"),
    "a missing Secret": Wait(
        "read every five seconds, without a listing",
        applied(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "keys", "key": "a"}}]),
        "False/SSHKeysNotFound",
    ),
    "a missing VPC": Wait("the GpuVpc wakes it", applied(vpc=None, vpcRef={"name": "net"}), "False/DependencyNotReady"),
    "a missing account": Wait("the account wakes it", applied(accountRef={"name": "prod"}), "False/AccountNotReady", listed=()),
    "a terminating namespace": Wait("nothing is created in it", terminating, "False/NamespaceTerminating"),
    "an unknown cluster": Wait(
        "its listing is refused, and tried every five minutes", applied(cluster="Nowhere"), "False/InvalidSpec"
    ),
    "nothing listed": Wait(
        "tried every 30 s, to notice when that is over",
        applied(answers={"GetServers": 403}),
        "False/PermissionDenied",
        extra=STEADY,
    ),
    "accepted, and never listed": Wait("a person must act", applied(makes=False), "False/OrderOverdue"),
    "provisioning without end": Wait(
        "Stalled after its deadline", applied(odd={"status": "PENDING"}), "False/ProgressDeadlineExceeded"
    ),
    "paused": Wait("a person ends it", running(pause), "True/Running"),
    "paused in deletion": Wait("a person ends it", running(pause_in_deletion), "False/DeletionBlocked"),
    "lost": Wait("a person must act", running(vanish), "False/VMLost"),
    "failed": Wait("a person must act", running(fail), "False/VMFailed"),
    "recreated too often": Wait(
        "at most an hour, by its own time",
        running(recreated_often, onLoss="Recreate"),
        "False/RecreationLimited",
        settles=600,
        seconds=1200,
    ),
    "a recreation beside a lookalike": Wait(
        "checked every minute, without a listing", running(lookalike, onLoss="Recreate"), "False/PossibleDuplicate"
    ),
    "a recreation beyond the quota": Wait(
        "checked every minute, without a listing", running(limited, onLoss="Recreate"), "False/LimitReached"
    ),
    "a lost status, and a cluster that is not listed": Wait(
        "the other cluster is tried every 30 s", running(status_lost), "False/ProgressDeadlineExceeded", extra=2 * STEADY
    ),
    "only observed": Wait("nothing is done", observe_only, "Unknown/ObserveOnly"),
    "a final snapshot that the apiserver refuses": Wait(
        "tried every five minutes",
        running(no_snapshots, deletion={"finalSnapshot": "Required"}),
        "False/DeletionBlocked",
        listed=("GetServers", "GetSnapshots"),
        extra=4 * TRIES,
    ),
    "a stop that is refused": Wait(
        "tried every five minutes",
        running(refuse("StopServer", 403, stop)),
        "False/PermissionDenied",
        extra=2 * TRIES,
        calls={"StopServer": TRIES},
    ),
    "occupied VPC": Wait("a listing shows when it is empty", occupied, "False/DeletionBlocked", listed=LISTINGS, kind="GpuVpc"),
    "a snapshot of no VM": Wait(
        "the GpuVM wakes it", applied(), "False/DependencyNotReady", listed=("GetServers", "GetSnapshots"), kind="GpuSnapshot"
    ),
}
for code, reason in (
    (400, "Rejected"),
    (403, "PermissionDenied"),
    (409, "ApiError"),
    (500, "ApiError"),
    (503, "WaitingForCapacity"),
):
    tries = {"extra": 2 * TRIES, "calls": {"DestroyServer": TRIES}, "writes": TRIES}  # each call is announced
    WAITS[f"a recreation whose destruction is refused ({code})"] = Wait(
        "tried every five minutes", running(refuse("DestroyServer", code, fail), onLoss="Recreate"), f"False/{reason}", **tries
    )
    WAITS[f"a deletion that is refused ({code})"] = Wait(
        "tried every five minutes", running(refuse("DestroyServer", code, delete)), "False/DeletionBlocked", **tries
    )
WAITS["a deletion without effect"] = Wait(
    "repeated every 15 minutes", running(delete_in_vain), "False/DeletionBlocked", extra=8, calls={"DestroyServer": 4}, writes=4
)


@pytest.fixture
async def at_work(monkeypatch):
    started = []

    async def start(kind):
        cloud = StubbornCloud()
        monkeypatch.setattr(connection_module, "real_transport", lambda _options: cloud)
        started.append(await History(cloud, kind).start())
        return started[-1]

    yield start
    for it in started:
        await it.engine.stop(1.0)


@pytest.mark.parametrize("wait", WAITS.values(), ids=list(WAITS))
async def test_a_wait_costs_no_more_than_the_steady_listings_and_its_own_tries(at_work, wait):
    it = await at_work(wait.kind)
    await wait.begin(it)
    await asyncio.sleep(wait.settles)
    assert it.ready == wait.ready, it.status
    before, written = Counter(call[1] for call in it.cloud.calls), len(it.kube.statuses)
    await asyncio.sleep(wait.seconds)
    asked = Counter(call[1] for call in it.cloud.calls) - before
    steady = {name: SCANS.get(name, 0) + STEADY * (name in wait.listed) + 1 for name in LISTINGS}
    surplus = {name: asked[name] - most for name, most in steady.items() if asked[name] > most}
    own = {name: count for name, count in asked.items() if name not in LISTINGS and not name.startswith(("GetAll", "GetConf"))}
    assert sum(surplus.values()) <= wait.extra, asked
    assert own.keys() <= wait.calls.keys(), own
    assert all(own[name] <= wait.calls[name] for name in own), own
    assert len(it.kube.statuses) - written <= wait.writes
