"""What refers to what, what waits for what, and where the waiting begins: the root causes. Pure functions of frozen data."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.model.health import URGENCY, Standing, reason, standing
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS, SNAPSHOT, VM, VPC, Key, Thing
from gpucloud.cli.plugin.model.reasons import OF_MISSING_DATA, SHARED_WITH_ACCOUNT, WAITS_FOR_ACCOUNT, WAITS_FOR_REFERENCES
from gpucloud.kinds.meta import FINAL_SNAPSHOT_OF, Reason
from gpucloud.kinds.names import DEFAULT_ACCOUNT, OWN_ACCOUNT
from gpucloud.reconcile.price import FAILED
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# States of the order record, as ``reconcile/transitions.py`` and ``reconcile/order.py`` group them.
LOST, OVERDUE = "Lost", "Overdue"
BEING_MADE = frozenset({"Intended", "Accepted", "Unclear", OVERDUE})
MAY_EXIST = BEING_MADE | {"Seen", "Destroying"}
IN_A_VPC = frozenset({VM, SNAPSHOT})  # kinds whose resource is in a VPC, and blocks its deletion


@dataclass(frozen=True, slots=True)
class World:
    """All our objects of some namespaces at one time."""

    things: Mapping[Key, Thing]
    unlisted: frozenset[str] = (
        frozenset()
    )  # plurals of kinds that could not be listed: of these no object is known to be missing

    @classmethod
    def of(cls, things: Iterable[Thing], unlisted: Iterable[str] = ()) -> World:
        """These objects."""
        return cls({item.key: item for item in sorted(things, key=lambda item: item.key)}, frozenset(unlisted))

    def account(self, item: Thing) -> Key | None:
        """The account that it uses; None for an account, and where it is the operator's own or nobody's."""
        if item.key.kind == ACCOUNT:
            return None
        named, frozen = _name(item, "accountRef"), item.text("account")
        if named or (frozen and frozen != OWN_ACCOUNT):
            return Key(item.key.namespace, ACCOUNT, named or frozen)
        default = Key(item.key.namespace, ACCOUNT, DEFAULT_ACCOUNT)
        return default if not frozen and default in self.things else None

    def references(self, item: Thing) -> tuple[Key, ...]:
        """What its spec names beside the account."""
        namespace, image = item.key.namespace, item.spec.get("image")
        named = {
            VPC: _name(item, "vpcRef") if item.key.kind == VM else "",
            SNAPSHOT: _named(image.get("snapshotRef")) if item.key.kind == VM and isinstance(image, dict) else "",
            VM: _name(item, "vmRef") if item.key.kind == SNAPSHOT else "",
        }
        return tuple(Key(namespace, kind, name) for kind, name in named.items() if name)

    def vpc(self, item: Thing) -> Key | None:
        """The GpuVpc of a VM or snapshot: the one in ``vpcRef``; else the owner of the VPC that it is ordered in, or names."""
        if item.key.kind not in IN_A_VPC:
            return None
        referred = _name(item, "vpcRef")
        if referred:
            return Key(item.key.namespace, VPC, referred)
        return next((other.key for other in self.things.values() if self._is_vpc_of(other, item)), None)

    def _is_vpc_of(self, vpc: Thing, item: Thing) -> bool:
        """Whether a GpuVpc owns the VPC that this is in: not in Conflict over it, and not of another account's cloud."""
        if (
            vpc.key.kind != VPC
            or vpc.key.namespace != item.key.namespace
            or not vpc.text("vpcId")
            or reason(vpc) == Reason.CONFLICT
        ):
            return False
        tenants = vpc.text("tenancy"), item.text("tenancy")
        same_owner = tenants[0] == tenants[1] if all(tenants) else self.account(vpc) == self.account(item)
        named, cluster = vpc.spec.get("name"), vpc.spec.get("cluster")
        return same_owner and isinstance(cluster, str) and _place(item) == (cluster.casefold(), named)

    def parent(self, item: Thing) -> Key | None:
        """Under which object people look for it: a snapshot under its VM, else, as a VM, in its VPC; or the account."""
        source = next(iter(self.references(item)), None) if item.key.kind == SNAPSHOT else None
        closest = source if source in self.things else self.vpc(item)
        chosen = closest if closest in self.things else self.account(item)
        return chosen if chosen in self.things else None

    def children(self) -> Mapping[Key | None, tuple[Key, ...]]:
        """By parent; under None what stands at the top."""
        found: dict[Key | None, list[Key]] = defaultdict(list)
        for item in self.things.values():
            found[self.parent(item)].append(item.key)
        return {parent: tuple(keys) for parent, keys in found.items()}

    def waits_for(self, item: Thing) -> tuple[Key, ...]:
        """The other objects, existing or missing, that this one waits for, by its own conditions.

        Without those of kinds that were not listed: nobody knows here how they stand.
        """
        return tuple(key for key in self._waits_for(item) if key in self.things or KINDS[key.kind].plural not in self.unlisted)

    def _waits_for(self, item: Thing) -> tuple[Key, ...]:
        if standing(item) in {Standing.READY, Standing.UNSEEN} or item.paused:
            return ()
        account, why = self.account(item), reason(item)
        if account is not None and not self.is_ready(account) and self._is_accounts_trouble(why, account):
            return (account,)
        if item.deleting is not None:
            return self._users(item) if why == Reason.DELETION_BLOCKED else ()
        if why in WAITS_FOR_REFERENCES:
            return tuple(key for key in self.references(item) if not self.is_ready(key))
        return ()

    def _is_accounts_trouble(self, why: str, account: Key) -> bool:
        if why in WAITS_FOR_ACCOUNT:
            return True
        return why in SHARED_WITH_ACCOUNT and account in self.things and reason(self.things[account]) == why

    def is_ready(self, key: Key) -> bool:
        """Whether it is there, and as asked."""
        return key in self.things and standing(self.things[key]) is Standing.READY

    def names(self, kind: str, namespace: str) -> tuple[str, ...]:
        """The names of all objects of a kind in a namespace."""
        return tuple(key.name for key in self.things if (key.kind, key.namespace) == (kind, namespace))

    def roots(self, key: Key) -> tuple[Key, ...]:
        """Where the waiting begins: objects that wait for no other. Of a ring of waits, the object itself.

        An object in deletion that others still use is one, too, unless all of them are being deleted: a person decides
        between them, and its own message names them. Who needs that object is not helped when one of its users is gone.
        """
        seen, leaves, todo = {key}, [], [(key, False)]
        while todo:
            here, needed = todo.pop()
            further = self.waits_for(self.things[here]) if here in self.things else ()
            if self.is_in_use(here):
                further = () if needed else tuple(user for user in further if self.is_going(user))
                leaves.append(here)
            elif not further:
                leaves.append(here)
            for following in further:
                if following not in seen:
                    seen.add(following)
                    todo.append((following, not self.is_user(following, here)))
        return tuple(sorted(leaves)) or (key,)

    def is_in_use(self, key: Key) -> bool:
        """Whether it is being deleted, and waits for an object that is not."""
        item = self.things.get(key)
        if item is None or item.deleting is None or reason(item) != Reason.DELETION_BLOCKED:
            return False
        return any(not self.is_going(user) for user in self._users(item))

    def is_going(self, key: Key) -> bool:
        """Whether it is being deleted, which cannot be taken back."""
        return key in self.things and self.things[key].deleting is not None

    def is_user(self, key: Key, of: Key) -> bool:
        """Whether this object uses another one that is in deletion, and blocks that."""
        item = self.things.get(of)
        blocked = item is not None and item.deleting is not None and reason(item) == Reason.DELETION_BLOCKED
        return blocked and item is not None and key in self._users(item)

    def count_users(self, key: Key) -> int:
        """How many objects use this one."""
        return len(self._users(self.things[key]))

    def _users(self, item: Thing) -> tuple[Key, ...]:
        """The objects that block this one's deletion: those that need it as long as they exist, or until they are Ready."""
        return tuple(other.key for other in self.things.values() if self._needs(other, item))

    def _needs(self, user: Thing, item: Thing) -> bool:
        """Whether an object blocks the deletion of another one, by the operator's rules (``engine/kinds/dependents.py``).

        A VM or snapshot that another one names as the cloud does is not followed: that takes the installation's tag.
        """
        if item.key.kind == ACCOUNT:
            return user.is_held and self.account(user) == item.key
        if user.key.namespace != item.key.namespace or user.key.kind not in IN_A_VPC:
            return False
        refers = item.key in self.references(user)
        if item.key.kind == VPC:
            needs = refers and _order(item).get("state") != LOST
            return user.is_held and (needs or _is_ordered_in(user, item))
        is_final = item.uid != "" and user.annotations.get(FINAL_SNAPSHOT_OF) == item.uid  # the deletion itself has it taken
        return refers and not is_final and _is_being_made(user, item)


@dataclass(frozen=True, slots=True)
class Blocked:
    """An object in deletion that goes when all its users are gone: one of them is the cause, and these are the others."""

    key: Key
    others: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Where a waiting begins: an object that is missing, not as asked, or in use of what is to go; and who waits for it."""

    key: Key
    thing: Thing | None
    waiting: tuple[Key, ...]
    blocked: tuple[Blocked, ...] = ()  # of these: objects in deletion that this one uses
    suggestion: str = ""  # of what is missing: the object that may be meant, as a question
    is_in_use: bool = False  # it is being deleted, and waits for an object that is not
    is_awaited_in_vain: bool = False  # it is being deleted, and an object that is not waits for it

    @property
    def standing(self) -> Standing:
        """How it stands; what is missing is for a person to make."""
        return Standing.STALLED if self.thing is None else standing(self.thing)

    @property
    def calls_a_person(self) -> bool:
        """Whether it, or what waits for it, stays as it is until a person acts."""
        paused = self.thing is not None and self.thing.paused and self.standing is not Standing.READY
        return paused or self.is_wrong

    @property
    def is_wrong(self) -> bool:
        """Whether that is more than a pause: it is Stalled or missing, lacks data, or is awaited and will be gone."""
        return self.standing is Standing.STALLED or self.lacks_data or self.is_awaited_in_vain

    @property
    def lacks_data(self) -> bool:
        """Whether it waits for a Secret, a ConfigMap, or a key in one, which is as missing as an object is."""
        return self.thing is not None and self.standing is Standing.WORKING and reason(self.thing) in OF_MISSING_DATA


def absence(cause: Cause) -> str:
    """Say that an object is missing, and which other one may be meant."""
    return f"There is no {cause.key} in namespace {cause.key.namespace!r}.{cause.suggestion}"


def absence_way_out(cause: Cause) -> str:
    """What to do about an object that is missing: first about a slip of its name, where there is one that is near."""
    anew = "delete the objects that wait for it and create them again with the right one"
    if cause.suggestion:
        return f"If its name is wrong, {anew}; else create {cause.key}."
    return f"Create {cause.key}; or, if its name is wrong, {anew}."


def causes(world: World) -> tuple[Cause, ...]:
    """All root causes: what a person must see to first, of these what most others wait for."""
    waiting: dict[Key, list[Key]] = defaultdict(list)
    for item in world.things.values():
        if standing(item) is not Standing.READY:
            for root in world.roots(item.key):
                waiting[root] += [item.key] if item.key != root else []
    found = [
        Cause(
            key,
            world.things.get(key),
            tuple(sorted(keys)),
            tuple(Blocked(other, world.count_users(other) - 1) for other in sorted(keys) if world.is_user(key, other)),
            "" if key in world.things else question(nearest(key.name, world.names(key.kind, key.namespace))),
            world.is_in_use(key),
            world.is_going(key) and any(not world.is_going(other) and not world.is_user(key, other) for other in keys),
        )
        for key, keys in waiting.items()
    ]
    return tuple(sorted(found, key=lambda cause: (URGENCY[cause.standing], -len(cause.waiting), cause.key)))


def _order(item: Thing) -> Mapping[str, Any]:
    """The record of its order; nothing where it has none of its own, as after a restore from a backup."""
    from gpucloud.reconcile.ownership import is_recorded_for  # noqa: PLC0415 - it loads hashlib, which costs 5 ms

    order = item.status.get("order")
    if not isinstance(order, dict):
        return {}
    return order if is_recorded_for(item.uid, str(order.get("name") or ""), str(order.get("id") or "")) else {}


def _is_ordered_in(user: Thing, vpc: Thing) -> bool:
    """Whether it has or may have a resource in a VPC. An unknown tenant counts as the same."""
    order, tenants = _order(user), {item.text("tenancy") for item in (user, vpc)} - {""}
    here = (str(vpc.spec.get("cluster", "")).casefold(), vpc.spec.get("name"))
    there = (str(order.get("cluster", "")).casefold(), order.get("vpc"))
    return _may_come(user, vpc) and here == there and len(tenants) < 2


def _is_being_made(user: Thing, source: Thing) -> bool:
    """Whether a VM or snapshot needs what it is made from: it is ordered and not finished, or nothing is known of it yet."""
    if user.deleting is not None or (not _order(user) and user.observed < 0):
        return user.deleting is None
    if not user.is_held or not _may_come(user, source):
        return False
    if user.key.kind == SNAPSHOT:
        finished = bool(user.status.get("readyToUse"))
    else:
        finished = user.status.get("settledGeneration") is not None or user.text("state").upper() in FAILED
    return _order(user).get("state") in BEING_MADE or not finished


def _may_come(user: Thing, needed: Thing) -> bool:
    """Whether what was ordered for it exists or may yet come. An overdue order is not repeated with what is being deleted."""
    state = _order(user).get("state")
    return state in MAY_EXIST and not (state == OVERDUE and needed.deleting is not None)


def _place(item: Thing) -> tuple[str, object]:
    """The cluster, in lower case, and the VPC that a VM or snapshot was ordered in; without an order those of its spec."""
    order, source = item.status.get("order"), item.spec.get("vm")  # a snapshot may name its VM as the cloud does
    asked = source if item.key.kind == SNAPSHOT and isinstance(source, dict) else item.spec
    ordered = order if isinstance(order, dict) and order.get("vpc") else asked
    return str(ordered.get("cluster", "")).casefold(), ordered.get("vpc")


def _name(item: Thing, field: str) -> str:
    return _named(item.spec.get(field))


def _named(reference: object) -> str:
    name = reference.get("name") if isinstance(reference, dict) else None
    return name if isinstance(name, str) else ""
