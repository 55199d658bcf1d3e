"""For what a person is truly needed: each reason of Stalled, and what must be so in the world for it.

A reason that is not here excuses nothing: what failed is tried again by the operator itself, as its messages promise, and must
come to its end. Where the world tells whether a reason holds, the operator's word is not asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.books import TABLES
from simulation.choosing import accepted
from simulation.cloud import name_of, place_of
from simulation.credentials import TENANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.books import Life
    from simulation.cloud import Row
    from simulation.world import World

TENANT = "acme"  # of the good key
KEYS = "ssh-ed25519 "  # so begin the keys that people give here, and they are good
MOST_ORDERS = 4  # of what is accepted and never made (docs/adr/0013)
REFERENCES = (("vpcRef", "GpuVpc"), ("vmRef", "GpuVM"), ("snapshotRef", "GpuSnapshot"))
MAY_EXIST = frozenset({"Accepted", "Unclear", "Overdue", "Seen", "Destroying"})


class Calling:
    """Says whether a person is called for something that is so."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._needs: dict[str, Callable[[Life], bool]] = {
            # What the spec asks for cannot be, and specs are not changed by operators.
            "InvalidSpec": self._is_elsewhere,
            "InvalidReference": self._refers,
            "InvalidSSHKeys": lambda life: not all(key.startswith(KEYS) for key in life.spec.get("sshKeys") or ("",)),
            "Mismatch": self._differs,
            "Replacing": self._stays,
            "Rejected": self._was_refused,
            "ApiError": self._is_refused_in_disguise,
            "NotFound": lambda life: self._is_required(life) or self._lacks_its_image(life),
            "SourceNotFound": self._lacks_its_source,
            # Something else is in the way.
            "Conflict": self._is_in_conflict,
            "Ambiguous": self._is_ambiguous,
            "PossibleDuplicate": self._has_lookalikes,
            # The cloud has not done what it accepted, or somebody has undone it.
            "CreateFailed": self._is_broken,
            "VMFailed": self._is_broken,
            "OrderOverdue": self._is_overdue,
            "RecreationLimited": self._is_recreated_often,
            "VMLost": lambda life: not self._has_its_own(life),
            "SnapshotLost": lambda life: not self._has_its_own(life),
            "VPCLost": lambda life: not self._has_its_own(life),
            # The credential, at the end of a history good again wherever there is an account for it.
            "NoAccount": self._has_an_account_of_its_own,
            "CredentialsRefused": self.lacks_its_credential,
            "TenantMismatch": lambda life: self.lacks_its_credential(life) or self._shows_no_tenant(life),
            # What guards and limits hold is judged by ``guarding``.
            "DeletionHeld": self._is_held,
            "LimitReached": lambda _: True,
            "DeletionBlocked": self._cannot_go,
        }

    def needs_a_person(self, life: Life) -> bool:
        """Whether it calls a person, and what it calls for is so. A deadline that has passed calls one while work goes on."""
        stalled = life.condition("Stalled")
        if stalled.get("status") != "True":
            return False
        is_so = self._needs.get(str(stalled.get("reason")))
        return is_so is not None and is_so(life)

    # The cloud.

    def _rows(self, life: Life) -> Iterator[tuple[Row, str]]:
        return ((row, maker) for table, row, maker in self._world.cloud.live() if table == TABLES[life.kind])

    def _called(self, life: Life) -> list[Row]:
        """What bears a name that the object has chosen or recorded."""
        names = claims(life) | life.records()
        return [row for row, _ in self._rows(life) if name_of(row) in names]

    def _is_ambiguous(self, life: Life) -> bool:
        """Whether several things bear the name, or one of which who runs cannot know that it is the object's."""
        called = self._called(life)
        if len(called) != 1:
            return bool(called)
        return self._world.judge.is_unproven(life) or self._has_an_unheard_name(life, called[0])

    def _has_an_unheard_name(self, life: Life, row: Row) -> bool:
        """Whether the cloud named it, and a process runs that had no answer which says so: a status can be edited."""
        asked = self._world.cloud_names.get(name_of(row))
        heard = {one.sender for one in self._world.cloud.orders.of(life.uid) if one.name == asked}
        return asked is not None and any(one.alive and one.name not in heard for one in self._world.processes)

    def _has_its_own(self, life: Life) -> bool:
        """Whether what bears the object's own mark is there."""
        ours = (row for row, maker in self._rows(life) if maker == life.uid and not getattr(row, "leaving", False))
        return any(not self._world.judge.is_unmarked(life, row) for row in ours)

    def _is_in_conflict(self, life: Life) -> bool:
        """Whether the name is another's, in the cloud or of another object, or says nothing of whose it is.

        What the cloud named itself only the process that ordered it knows to be the object's: a status can be edited.
        """
        others = (one for one in self._world.judge.books.standing() if one.kind == life.kind and one is not life)
        names = claims(life) | life.records()
        if names & {name for one in others for name in claims(one) | _ordered(one)}:
            return True
        there = ((row, maker) for row, maker in self._rows(life) if name_of(row) in names)
        return any(maker != life.uid or self._world.judge.is_unmarked(life, row) for row, maker in there)

    def _has_lookalikes(self, life: Life) -> bool:
        """Whether there is a VM of its name, or made for an object of this name, which no object claims.

        Its own is one, too, if the name says nothing of that, or its record was lost and the spec names another place.
        """
        name, chosen, judge = f"{life.last['metadata']['name']}-", claims(life), self._world.judge
        standing = {one.uid for one in judge.books.standing()}
        rows = ((row, maker) for row, maker in self._rows(life) if name_of(row).startswith(name) or name_of(row) in chosen)
        return any(
            judge.is_unmarked(life, row) or not life.names_cluster(place_of(row)[0])
            if maker == life.uid
            else maker not in standing
            for row, maker in rows
        )

    def _is_recreated_often(self, life: Life) -> bool:
        return self._world.judge.recreating.is_limited(life)

    def _is_broken(self, life: Life) -> bool:
        """Whether its VM has failed: what it ordered, what it adopted, or what passes for its own under the chosen name."""
        rows = [*(row for row, maker in self._rows(life) if maker == life.uid), *self._called(life)]
        return any("FAILED" in str(getattr(row, "status", "")) for row in rows)

    def _is_overdue(self, life: Life) -> bool:
        """Whether the cloud accepted as many orders as may be sent, or gave one a name of its own, and nothing came of it."""
        orders = self._world.cloud.orders.of(life.uid)
        renamed = {self._world.cloud_names.get(one.name) for one in orders} | {one.name for one in orders}
        named = any(asked in renamed for asked in self._world.cloud_names.values())
        many = sum(one.told == "accepted" or one.unread or one.told == "unclear" for one in orders) >= MOST_ORDERS
        return (many or named) and not self._has_its_own(life)

    # The order.

    def _was_refused(self, life: Life) -> bool:
        """Whether the cloud has refused an order of this object; of a GpuVM, each configuration that its spec accepts."""
        refused = {one.configuration for one in self._world.cloud.orders.of(life.uid) if one.told == "refused"}
        return refused >= accepted(life) if life.kind == "GpuVM" else bool(refused)

    def _is_refused_in_disguise(self, life: Life) -> bool:
        """Whether this cloud says of what it refuses for good that it failed, or that it succeeded, and has made nothing."""
        plain = self._world.cloud.world.rules.knobs.refusals == "as_listed"
        return not plain and bool(self._world.cloud.orders.of(life.uid)) and not self._has_its_own(life)

    def _is_elsewhere(self, life: Life) -> bool:
        """Whether the spec names another place, or another name, than the record of what was ordered."""
        order = life.status.get("order") or {}
        same = all(
            not life.spec.get(field) or not order.get(field) or str(life.spec[field]).casefold() == str(order[field]).casefold()
            for field in ("cluster", "vpc")
        )
        chosen = claims(life)
        return (
            not same or bool(order.get("name") and chosen and order["name"] not in chosen) or self._lost_its_name(life, order)
        )

    @staticmethod
    def _lost_its_name(life: Life, order: dict[str, Any]) -> bool:
        """Whether what was ordered under a chosen name is recorded, and the spec chooses none any more."""
        own = str(life.last["metadata"]["name"])
        return bool(order.get("name")) and not life.chosen and not str(order["name"]).startswith(own)

    def _is_required(self, life: Life) -> bool:
        """Whether the spec wants what is there, and there is none in its cluster."""
        cluster = str(life.spec.get("cluster")).casefold()
        there = (name_of(row) == life.wanted_name and place_of(row)[0] == cluster for row, _ in self._rows(life))
        return life.spec.get("adoption") == "Required" and not any(there)

    def _lacks_its_image(self, life: Life) -> bool:
        """Whether the GpuSnapshot that its disk is made from has no snapshot in the VPC of its order."""
        named = ((life.spec.get("image") or {}).get("snapshotRef") or {}).get("name")
        order, namespace = life.status.get("order") or {}, life.last["metadata"]["namespace"]
        place = (str(order.get("cluster")).casefold(), order.get("vpc"))
        sources = [
            one
            for one in self._world.judge.books.standing()
            if one.kind == "GpuSnapshot"
            and (one.last["metadata"]["namespace"], one.last["metadata"]["name"]) == (namespace, named)
        ]
        return any(place not in {place_of(row) for row in self._called(one)} for one in sources)

    def _lacks_its_source(self, life: Life) -> bool:
        """Whether there is no VM of the name, VPC and cluster that a snapshot's spec says."""
        source = life.spec.get("vm") or {}
        place = (source.get("name"), source.get("vpc"), str(source.get("cluster")).casefold())
        vms = [row for _, row, _ in self._world.cloud.live() if isinstance(row, Vm)]
        return not any((name_of(row), row.order.vpc, row.order.cluster.casefold()) == place for row in vms)

    def _stays(self, life: Life) -> bool:
        """Whether its VM is not as its spec says, and the cloud offers nothing else in its cluster that the spec accepts."""
        recreating = self._world.judge.recreating
        return recreating.was_made_otherwise(life) and not recreating.has_another(life)

    def _refers(self, life: Life) -> bool:
        """Whether it names something that it cannot use: what others may own, or what is in another place, or made from it."""
        if self._world.scenario.own_account and any(life.spec.get(field) for field in ("vm", "image", "adoption")):
            return True
        return any(self._is_unusable(life, field, one) for field, one in self._referred(life))

    def _referred(self, life: Life) -> Iterator[tuple[str, Life]]:
        for field, kind in REFERENCES:
            named = (life.spec.get(field) or (life.spec.get("image") or {}).get(field) or {}).get("name")
            for one in self._world.judge.books.standing():
                meta = one.last["metadata"]
                if (one.kind, meta["namespace"], meta["name"]) == (kind, life.namespace, named):
                    yield field, one

    def _is_unusable(self, life: Life, field: str, needed: Life) -> bool:
        """Whether a needed object is in another cluster or tenant, of another account, made from this one, or recreated."""
        # A snapshot is where its VM is, whatever alternative that took.
        ordered = (needed.status.get("order") or {}).get("cluster")
        places = (life.spec.get("cluster"), needed.spec.get("cluster") or ordered)
        accounts = [(one.spec.get("accountRef") or {}).get("name", "default") for one in (life, needed)]
        vpc, elsewhere = (life.status.get("order") or {}).get("vpc"), needed.status.get("tenancy") not in {None, TENANT}
        if all(places) and places[0].casefold() != places[1].casefold():
            return True
        made_from = any(one is life for _, one in self._referred(needed))
        moved = field == "vpcRef" and bool(vpc) and vpc != needed.spec.get("name")
        return accounts[0] != accounts[1] or elsewhere or made_from or moved

    def _differs(self, life: Life) -> bool:
        """Whether a VPC of its name, a VM that it would adopt, or the one that was made for it, is not as its spec asks."""
        if life.kind == "GpuVM" and self._world.judge.recreating.was_made_otherwise(life):
            return True
        vms = [row for row in self._called(life) if isinstance(row, Vm) and life.may_adopt("GpuVM", name_of(row))]
        if any(row.order.configuration != life.spec.get("configuration") for row in vms):
            return True
        asked = [life.spec.get(field) for field in ("blockIntraVpcComms", "isDefault")]
        there = ([row.blocks_inside, row.is_default] for row in self._called(life) if isinstance(row, Vpc))
        return any(want is not None and want != has for found in there for want, has in zip(asked, found, strict=True))

    # The credential.

    def _has_an_account_of_its_own(self, life: Life) -> bool:
        """Whether it uses an account that may name an endpoint which nobody has declared."""
        return str((life.spec.get("accountRef") or {}).get("name", "default")) != "default"

    def lacks_its_credential(self, life: Life) -> bool:
        """Whether no later key puts right what the object waits for.

        Its Secret was deleted, and stays for those who have something in the cloud; or an object of the account was ordered
        with the other tenant's key; or before the good key had shown its tenant, and then the other's did: whose the order is,
        and so which key is meant, a person must say, whom the account calls. Or the account names an endpoint of its own; or
        its namespace is being deleted, and the Secret is gone with it: none can be put there any more.
        """
        judge = self._world.judge
        users = [one for one in judge.books.standing() if one.namespace == life.namespace]
        elsewhere = any(one.status.get("tenancy") not in {None, TENANT} for one in users)
        unproven = any(_may_exist(one) and one.status.get("tenancy") is None for one in users)
        calls = unproven and judge.account_calls(life.namespace)
        bare = self._has_an_account_of_its_own(life) or self._has_no_secret(life.namespace)
        return elsewhere or calls or bare or judge.secret_is_going(life.namespace)

    def _has_no_secret(self, namespace: str) -> bool:
        """Whether the Secret of a namespace is gone, at the end of a history with the namespace."""
        secret = self._world.actors.admin.get(f"/api/v1/namespaces/{namespace}/secrets/key")
        return secret is None and not self._world.scenario.own_account

    def _shows_no_tenant(self, life: Life) -> bool:
        """Whether the good credential has nothing to show by which its tenant would be known."""
        return not any(self._tenant(row) in TENANTS.values() for row, _ in self._rows(life))

    @staticmethod
    def _tenant(row: Row) -> str:
        return row.order.tenant if isinstance(row, Vm) else row.tenant

    # The end.

    def _is_held(self, life: Life) -> bool:
        return self._world.judge.guarding.may_hold(life)

    def holds_its_vpc(self, life: Life) -> bool:
        """Whether something is in a VPC that is to go, or an object is to be made in it; the cloud keeps the default one."""
        if life.kind != "GpuVpc":
            return False
        name, meta = life.spec.get("name"), life.last["metadata"]
        if any(
            name in {getattr(getattr(row, "order", row), field, None) for field in ("vpc", "namespace")}
            for _, row, _ in self._world.cloud.live()
        ):
            return True
        others = (one.spec for one in self._world.judge.books.standing() if one is not life)
        return any(name == spec.get("vpc") or meta["name"] == (spec.get("vpcRef") or {}).get("name") for spec in others)

    def _cannot_go(self, life: Life) -> bool:
        """Whether the operator can neither see nor prove what it is to destroy, or the cloud does not let it."""
        order = life.status.get("order") or {}
        names = {order.get("name"), order.get("cloudId")}
        renamed = bool(names & (set(self._world.cloud_names) | set(self._world.cloud_names.values())))
        unplaced = life.kind == "GpuSnapshot" and not order.get("vpc") and not life.spec.get("vm")
        default = any(getattr(row, "is_default", False) and name_of(row) in claims(life) for row, _ in self._rows(life))
        blind = self.lacks_its_credential(life) or self._is_elsewhere(life)
        unsaved = self._world.judge.saving.lacks_one(life)
        return renamed or unplaced or default or blind or unsaved or self._is_ambiguous(life)


def claims(life: Life) -> set[str]:
    """The name that its spec chooses."""
    return {life.spec[field] for field in ("vmName", "snapshotName", "name") if life.spec.get(field)}


def _ordered(life: Life) -> set[str]:
    """The name that its record says was ordered and may be there, whatever its spec chooses by now."""
    name = (life.status.get("order") or {}).get("name")
    return {name} if name and _may_exist(life) else set()


def _may_exist(life: Life) -> bool:
    return (life.status.get("order") or {}).get("state") in MAY_EXIST
