"""Defects, one at a time planted in a copy of the product: the world alone must find each (``hunt.py``).

A world without violations says nothing about the world; that it finds what is wrong on purpose, does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.production import IN_PRODUCTION

if TYPE_CHECKING:
    from simulation.planting import Change

# Histories that somebody has met: on a second cloud, or by reading.
MET: dict[str, tuple[Change, ...]] = {
    "a lost chosen name stays ours": (
        (
            "        OrderState.DESTROYING,\n    }\n)\n",
            "        OrderState.DESTROYING,\n        OrderState.LOST,\n    }\n)\n",
        ),
    ),
    "what came back after a doubted listing is taken for the same": (
        (
            "for here in self.missed if here",
            "for here in self.missed if self.missed[here] > 1 and here",
        ),
        ("tracked.sighted is None or tracked.sighted < found.shown_since", "tracked.sighted is None"),
    ),
    "what came back is taken for the same": (
        (
            "    return None if proofs.marked or proofs.unique_id else _made_anew(tracked, found, proofs, now)\n",
            "    return None\n",
        ),
    ),
    "an order that is proven never made stays unclear": (
        (
            "    (S.UNCLEAR, E.MISSING): Transition(\n        S.REFUSED,",
            "    (S.UNCLEAR, E.MISSING): Transition(\n        S.UNCLEAR,",
        ),
    ),
    "the words 'not found' make a 5xx a certain refusal": (
        ("    if safe:\n", "    if safe or kind is ErrorKind.NOT_FOUND:\n"),
    ),
    "what the acceptance names is not read": (("    return Placement(*(text and", "    return Placement(*(None and"),),
    "an accepted order is repeated without end": (
        ("    if f.order.reorders < MOST_REORDERS and", "    if f.order.reorders >= 0 or"),
    ),
    "a listing with another cluster's record is complete": (
        ("    if foreign is None:\n", "    if foreign is None or foreign:\n"),
        ("total > listed:", "total > 10 * listed + 10:"),
    ),
    "a restart shortens the waits": (
        (
            "    if tracked.state is OrderState.ACCEPTED or tracked.unresolved:",
            "    if not tracked.own:\n        return first_seen\n    if tracked.state is OrderState.ACCEPTED:",
        ),
    ),
    "gone after one listing": (("        return confirmed is not None and confirmed >= from_\n", "        return True\n"),),
    "what was destroyed waits like what was accepted": (
        (
            "        return confirmed is not None and confirmed >= from_\n",
            "        return confirmed is not None and confirmed >= from_ + ACCEPTED_GRACES * grace\n",
        ),
    ),
    "an accepted absence stays in force": (
        (".of_credential(account.since)", ""),
        ("not accepted.covers(since)", "accepted.until < 0"),
        (
            "    if account.tenants and tenancy not in account.tenants:",
            "    if account.tenants and tenancy not in account.tenants and accepted.until < 0:",
        ),
    ),
    "a snapshot under way does not hold its VM": (
        ("    return orders.being_made(snapshot.order) or not snapshot.status.ready_to_use", "    return False"),
    ),
    "a VM takes along a snapshot that another is made from": (
        ("if next(self.dependents_of_snapshot(snapshot), None) is not None:", "if False:"),
    ),
    "a namespace copies the disk of another's VM": (("    if not _only_ours(holders, snapshot):", "    if False:"),),
    "a namespace adopts the VPC of another": (
        ("    if spec.adoption is Adoption.NEVER or not is_isolated(objects, account):", "    if True:"),
    ),
    "a restart annotation counts again when the status was wiped": (
        (" and f.status.order is not None else None", " else None"),
        ("    if f.status.order is not None or plan", "    if f.status is not None or plan"),
    ),
    "a spec that names another place overwrites the record": (
        ("    return elsewhere or bool(order.vpc", "    return False and bool(order.vpc"),
    ),
    "objects that wait for each other quote each other": (
        ('return f"({ready.reason})" if ready.reason in WAITS else', "return"),
    ),
    "a status write that was refused or undone is repeated at once": (
        ("        return max(pace.not_before, pace.budget_from if spent else -math.inf)", "        return -math.inf"),
        (
            '        answer: dict[str, Any] = await self._call("PUT", path, body)\n        return answer\n',
            (
                '        body["metadata"].pop("resourceVersion")\n'
                '        applied = "application/apply-patch+yaml"\n'
                '        answer: dict[str, Any] = await self._call("PATCH", path + "&force=true", body, content_type=applied)\n'
                "        return answer\n"
            ),
        ),
    ),
    "a poller that dies stays dead": (
        ("            if not restart:\n", "            if not essential:\n"),
        (
            "        except Exception as error:\n            self._meter",
            "        except ZeroDivisionError as error:\n            self._meter",
        ),
    ),
    "something is bought with a Secret that is being deleted": (
        ("        return not account.deleting and account.blocker is None\n", "        return True\n"),
        ("    if account.blocker is not None:\n        yield account.blocker\n", ""),
    ),
    "a Secret is held for objects that have bought nothing": (
        ("not f.users_with_resources and not f.shared)", "not f.users and not f.shared)"),
        ("f.secret.deleting and not f.users_with_resources and", "f.secret.deleting and not f.users and"),
    ),
}

# What somebody might do who wants it to go wrong, or knows no better.
HOSTILE: dict[str, tuple[Change, ...]] = {
    "nobody asks for the Lease before a changing call": (
        ("        return self.election.is_leader()\n", "        return True\n"),
    ),
    "an order is sent before the finalizer is visible": (
        (
            "return not (meta.has_finalizer or meta.deleting or limits.observe_only)",
            "return False",
        ),
    ),
    "whatever exists is adopted": (
        ("        return Adoption.NEVER\n", "        return Adoption.IF_EXISTS\n"),
        ("is not Adoption.NEVER and self._ownership.owner(stored.meta.uid) is None", "is not None"),
    ),
    "what bears the name is destroyed without proof": (
        ("        return made and (not self.unproven_place or self.tracked.own)", "        return True"),
    ),
    "the finalizer goes with the answer to the destroying call": (
        (
            "    if failed.in_backoff(f, attempt):\n        return plan_status(f, refused",
            (
                '    if attempt.refusal is None:\n        return release_finalizer(f, Reason.GONE, "It was destroyed.")\n'
                "    if failed.in_backoff(f, attempt):\n        return plan_status(f, refused"
            ),
        ),
    ),
    "a record of gone is believed after a restart": (
        ("    (S.GONE, E.TAKEN_OVER): Transition(S.DESTROYING,", "    (S.GONE, E.TAKEN_OVER): Transition(S.GONE,"),
    ),
    "Ready stands while the cloud cannot be listed": (("    if f.now.mono < f.found.since + patience:", "    if f.seen:"),),
    "what vanished while the watch was broken is believed for ever": (
        ("                controller.on_delete(Key(", "                str(Key("),
    ),
    "an etcd that went back in time is not noticed": (
        ("                self._broken()\n                return\n", "                return\n"),
    ),
    "a stale listing proves that a name is free": (
        ("        return self.now.mono - FRESH_INTERVALS", "        return -1e9 + self.now.mono - FRESH_INTERVALS"),
        (
            "    return orders.missing_from(f.tracked, f.limits.grace, f.history.first_seen)",
            "    return f.history.first_seen - 1e9",
        ),
    ),
    "an order without a clear answer is sent again at once": (
        (
            "    (S.INTENDED, E.UNANSWERED): Transition(S.UNCLEAR,",
            "    (S.INTENDED, E.UNANSWERED): Transition(S.REFUSED,",
        ),
    ),
    "what the owner says while a call waits does not count": (
        ("        return latest is not None and latest.same_facts_as(stored)", "        return latest is not None"),
        (
            "        if before - self._known(key.uid).confirmed < STALE_FACTS_SECONDS:",
            "        if before:",
        ),
        ("        if self._clock.mono() - facts.now.mono > STALE_FACTS_SECONDS:", "        if not facts:"),
    ),
    "the pause annotation is not heeded": (
        (
            '    """\n    if not pause.is_paused(f.meta.annotations):\n',
            '    """\n    if f.limits:\n',
        ),
    ),
    "Retain is heeded only when the VM was adopted": (
        (
            "    if f.policy is DeletionPolicy.RETAIN:\n",
            "    if f.policy is DeletionPolicy.RETAIN and f.adopted:\n",
        ),
    ),
    "a VPC is destroyed with what is in it": (
        ("prepare=lambda: _emptied(f))", "prepare=lambda: None)"),
        (
            "            if refers or (_ordered_in(vm, vpc, spec) and self._may_share_tenant(vm, vpc)):",
            "            if vm.spec is refers:",
        ),
    ),
    "orphans are never looked for": (("            await self.scan()\n", ""),),
    "another's finding under a chosen name is taken for the order": (
        (
            "    (S.INTENDED, E.NAME_TAKEN): Transition(S.REFUSED,",
            "    (S.INTENDED, E.NAME_TAKEN): Transition(S.SEEN,",
        ),
    ),
    "a status is written over whatever has changed meanwhile": (
        (
            '        body = {\n            "apiVersion": API_VERSION,\n            "kind": kind,\n',
            (
                "        found = await self.read(plural, owner)\n"
                '        owner = {**owner, "resourceVersion": found["metadata"]["resourceVersion"]}\n'
                '        body = {\n            "apiVersion": API_VERSION,\n            "kind": kind,\n'
            ),
        ),
    ),
    "the finalizer is taken off whatever has changed meanwhile": (
        (
            '            {"op": "test", "path": "/metadata/resourceVersion", "value": owner["resourceVersion"]},\n',
            "",
        ),
    ),
    "a power call is repeated before it can show": (
        ("    return attempt.at + (f.limits.grace if settling else 0.0)", "    return attempt.at"),
    ),
    "a VM that somebody stopped stays Ready": (
        (
            "return was != now\n",
            "return bool(was) != bool(now)\n",
        ),
    ),
}

DEFECTS = MET | HOSTILE | {name: told.changes for name, told in IN_PRODUCTION.items()}
