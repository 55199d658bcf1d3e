"""Defects, one at a time planted in a copy of the product: the world alone must find each (``hunt.py``).

A world without violations says nothing about the world; that it finds what is wrong on purpose, does. Each defect is a list of
fragments of source text and what stands in their place. A fragment that is not in the code any more, or is there twice, fails
loudly: plant the same defect anew.
"""

from __future__ import annotations

Change = tuple[str, str, str]  # file of the package, the text that stands there, the text that takes its place

ORDER, PLACEMENT, TRANSITIONS = (f"reconcile/{name}.py" for name in ("order", "placement", "transitions"))
CREATE, DELETE, STEPS, FACTS = (f"reconcile/core/{name}.py" for name in ("create", "delete", "steps", "facts"))
CONTROLLER, PACING = "engine/controller/controller.py", "engine/controller/pacing.py"
INVENTORY, KUBE = "engine/cloud/inventory.py", "engine/kube/client.py"
DEPENDENCIES, SHARING = "engine/kinds/dependencies.py", "engine/kinds/sharing.py"
STORE = "engine/cache/store.py"
RECONCILER, RESYNC = "engine/kinds/cloud_reconciler.py", "engine/manager/resync.py"

# Histories that somebody has met: on a second cloud, or by reading.
MET: dict[str, tuple[Change, ...]] = {
    "a lost chosen name stays ours": (
        (
            TRANSITIONS,
            "        OrderState.DESTROYING,\n    }\n)\n",
            "        OrderState.DESTROYING,\n        OrderState.LOST,\n    }\n)\n",
        ),
    ),
    "what came back after a doubted listing is taken for the same": (
        (
            "engine/cloud/cluster_records.py",
            "for here in self.missed if here",
            "for here in self.missed if self.missed[here] > 1 and here",
        ),
    ),
    "what came back is taken for the same": (
        (ORDER, "found.returned is None or found.returned <= standing.since", "True"),
        (ORDER, "standing.order.missing_since is not None", "False"),
    ),
    "an order that is proven never made stays unclear": (
        (
            TRANSITIONS,
            "    (S.UNCLEAR, E.MISSING): Transition(\n        S.REFUSED,",
            "    (S.UNCLEAR, E.MISSING): Transition(\n        S.UNCLEAR,",
        ),
    ),
    "the words 'not found' make a 5xx a certain refusal": (
        ("cloud/errors.py", "    if safe:\n", "    if safe or kind is ErrorKind.NOT_FOUND:\n"),
    ),
    "what the acceptance names is not read": ((PLACEMENT, "    return Placed(*(text and", "    return Placed(*(None and"),),
    "an accepted order is repeated without end": (
        (CREATE, "    if f.order.reorders < MOST_REORDERS and", "    if f.order.reorders >= 0 or"),
    ),
    "a listing with another cluster's record is complete": (
        ("engine/cloud/listings.py", "    if foreign is None:\n", "    if foreign is None or foreign:\n"),
        ("cloud/parsing.py", "total > listed:", "total > 10 * listed + 10:"),
    ),
    "a restart shortens the waits": (
        (
            ORDER,
            "    if standing.state is OrderState.ACCEPTED or standing.unresolved:",
            "    if not standing.own:\n        return first_seen\n    if standing.state is OrderState.ACCEPTED:",
        ),
    ),
    "gone after one listing": (
        (ORDER, "        return confirmed is not None and confirmed >= from_\n", "        return True\n"),
    ),
    "what was destroyed waits like what was accepted": (
        (
            ORDER,
            "        return confirmed is not None and confirmed >= from_\n",
            "        return confirmed is not None and confirmed >= from_ + ACCEPTED_GRACES * grace\n",
        ),
    ),
    "an accepted absence stays in force": (
        ("engine/cloud/observation.py", ".of_credential(account.since)", ""),
        ("reconcile/tenancy.py", "not accepted.covers(since)", "accepted.until < 0"),
        (
            "reconcile/tenancy.py",
            "    if account.tenants and tenancy not in account.tenants:",
            "    if account.tenants and tenancy not in account.tenants and accepted.until < 0:",
        ),
    ),
    "a snapshot under way does not hold its VM": (
        (DEPENDENCIES, "    return orders.being_made(order) or not snapshot.status.ready_to_use", "    return False"),
    ),
    "a VM takes along a snapshot that another is made from": (
        (DEPENDENCIES, "if next(self.dependents_of_snapshot(snapshot), None) is not None:", "if False:"),
    ),
    "a namespace copies the disk of another's VM": ((SHARING, "    if not _only_ours(holders, snapshot):", "    if False:"),),
    "a namespace adopts the VPC of another": (
        (SHARING, "    if spec.adoption is Adoption.NEVER or not is_isolated(objects, account):", "    if True:"),
    ),
    "a restart annotation counts again when the status was wiped": (
        ("reconcile/gpuvm/power.py", " and f.status.order is not None else None", " else None"),
        ("reconcile/gpuvm/decide.py", "    if f.status.order is not None or plan", "    if f.status is not None or plan"),
    ),
    "a spec that names another place overwrites the record": (
        (PLACEMENT, "    return elsewhere or bool(order.vpc", "    return False and bool(order.vpc"),
    ),
    "objects that wait for each other quote each other": (
        (DEPENDENCIES, 'return f"({ready.reason})" if ready.reason in WAITS else', "return"),
    ),
    "a status write that was refused or undone is repeated at once": (
        (PACING, "        return max(pace.not_before, pace.budget_from if spent else -math.inf)", "        return -math.inf"),
        (
            KUBE,
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
        ("engine/runtime/supervisor.py", "            if not restart:\n", "            if not essential:\n"),
        (
            INVENTORY,
            "        except Exception as error:\n            self._meter",
            "        except ZeroDivisionError as error:\n            self._meter",
        ),
    ),
    "something is bought with a Secret that is being deleted": (
        (RECONCILER, "        return not account.leaving and account.bar is None\n", "        return True\n"),
        (DEPENDENCIES, "    if account.bar is not None:\n        yield account.bar\n", ""),
    ),
    "a Secret is held for objects that have bought nothing": (
        ("reconcile/gpucloudaccount/holding.py", "not f.holders and not f.shared)", "not f.users and not f.shared)"),
        ("reconcile/gpucloudaccount/delete.py", "and not f.holders and", "and not f.users and"),
    ),
}

# What somebody might do who wants it to go wrong, or knows no better.
HOSTILE: dict[str, tuple[Change, ...]] = {
    "nobody asks for the Lease before a changing call": (
        ("engine/manager/manager.py", "        return self.election.is_leader()\n", "        return True\n"),
    ),
    "an order is sent before the finalizer is visible": (
        (STEPS, "    if f.meta.has_finalizer or (", "    if not f.meta.deleting or (f.meta.has_finalizer) or ("),
    ),
    "whatever exists is adopted": (
        (FACTS, "        return Adoption.NEVER\n", "        return Adoption.IF_EXISTS\n"),
        (RECONCILER, "is not Adoption.NEVER and self._ownership.owner(stored.meta.uid) is None", "is not None"),
    ),
    "what bears the name is destroyed without proof": (
        (FACTS, "        return made and (not self.foreign_id or self.standing.own)", "        return True"),
    ),
    "the finalizer goes with the answer to the destroying call": (
        (
            DELETE,
            "    if failed.holds(f, attempt):\n        return plan_status(f, refused",
            (
                '    if attempt.refusal is None:\n        return release_finalizer(f, Reason.GONE, "It was destroyed.")\n'
                "    if failed.holds(f, attempt):\n        return plan_status(f, refused"
            ),
        ),
    ),
    "a record of gone is believed after a restart": (
        (TRANSITIONS, "    (S.GONE, E.TAKEN_OVER): Transition(S.DESTROYING,", "    (S.GONE, E.TAKEN_OVER): Transition(S.GONE,"),
    ),
    "Ready stands while the cloud cannot be listed": (
        (STEPS, "    if f.now.mono < f.found.since + patience:", "    if f.seen:"),
    ),
    "what vanished while the watch was broken is believed for ever": (
        (RESYNC, "                controller.on_delete(Key(", "                str(Key("),
    ),
    "an etcd that went back in time is not noticed": (
        (RESYNC, "                self._broken()\n                return\n", "                return\n"),
    ),
    "a stale listing proves that a name is free": (
        (FACTS, "        return self.now.mono - FRESH_INTERVALS", "        return -1e9 + self.now.mono - FRESH_INTERVALS"),
        (
            CREATE,
            "    return orders.missing_from(f.standing, f.limits.grace, f.memory.first_seen)",
            "    return f.memory.first_seen - 1e9",
        ),
    ),
    "an order without a clear answer is sent again at once": (
        (
            TRANSITIONS,
            "    (S.INTENDED, E.UNANSWERED): Transition(S.UNCLEAR,",
            "    (S.INTENDED, E.UNANSWERED): Transition(S.REFUSED,",
        ),
    ),
    "what the owner says while a call waits does not count": (
        (STORE, "        return latest is not None and latest.same_facts_as(stored)", "        return latest is not None"),
        (
            CONTROLLER,
            "        if before - self._known(key.uid).confirmed < STALE_FACTS_SECONDS:",
            "        if before:",
        ),
        (CONTROLLER, "        if self._clock.mono() - facts.now.mono > STALE_FACTS_SECONDS:", "        if not facts:"),
    ),
    "the pause annotation is not heeded": ((STEPS, "    if not pause.is_paused(f.meta.annotations):", "    if f.limits:"),),
    "Retain is heeded only when the VM was adopted": (
        (
            DELETE,
            "    if f.policy is DeletionPolicy.RETAIN:\n",
            "    if f.policy is DeletionPolicy.RETAIN and f.adopted:\n",
        ),
    ),
    "a VPC is destroyed with what is in it": (
        ("reconcile/gpuvpc/decide.py", "prepare=lambda: _emptied(f))", "prepare=lambda: None)"),
        (
            DEPENDENCIES,
            "            if refers or (_ordered_in(vm, spec) and self._may_share_tenant(vm, vpc)):",
            "            if vm.spec is refers:",
        ),
    ),
    "orphans are never looked for": (("engine/orphans/collector.py", "            await self.scan()\n", ""),),
    "another's finding under a chosen name is taken for the order": (
        (
            TRANSITIONS,
            "    (S.INTENDED, E.NAME_TAKEN): Transition(S.REFUSED,",
            "    (S.INTENDED, E.NAME_TAKEN): Transition(S.SEEN,",
        ),
    ),
    "a status is written over whatever has changed meanwhile": (
        (
            KUBE,
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
            KUBE,
            '            {"op": "test", "path": "/metadata/resourceVersion", "value": owner["resourceVersion"]},\n',
            "",
        ),
    ),
    "a power call is repeated before it can show": (
        ("reconcile/gpuvm/power.py", "    return attempt.at + (f.limits.grace if settling else 0.0)", "    return attempt.at"),
    ),
    "a VM that somebody stopped stays Ready": (
        (
            INVENTORY,
            "if _find(before, self._watched[uid]) != _find(records, self._watched[uid])]",
            "if bool(_find(before, self._watched[uid])) != bool(_find(records, self._watched[uid]))]",
        ),
    ),
}

DEFECTS = MET | HOSTILE

# Without this plot, these faults or this setting a history cannot show the defect, or hardly: others are counted and not made.
AIMS: dict[str, tuple[str, ...]] = {
    "a lost chosen name stays ours": ("made again",),
    "what came back after a doubted listing is taken for the same": ("all gone at once",),
    "what came back is taken for the same": ("made again",),
    "the words 'not found' make a 5xx a certain refusal": ("write-not-found",),
    "what the acceptance names is not read": ("own-id",),
    "an accepted order is repeated without end": ("write-ghost",),
    "a listing with another cluster's record is complete": ("list-foreign",),
    "a restart shortens the waits": ("lag", "crash-at-call"),
    "gone after one listing": ("list-partial",),
    "what was destroyed waits like what was accepted": ("deleted at once",),
    "an accepted absence stays in force": ("accepted, then another key", "accounts"),
    "a snapshot under way does not hold its VM": ("snapshot of a VM that goes",),
    "a VM takes along a snapshot that another is made from": ("copied while it goes",),
    "a namespace copies the disk of another's VM": ("shared account", "own account"),
    "a namespace adopts the VPC of another": ("shared account", "own account"),
    "a restart annotation counts again when the status was wiped": ("restart and wipe",),
    "objects that wait for each other quote each other": ("each waits for the other",),
    "a spec that names another place overwrites the record": ("edit immutable",),
    "a poller that dies stays dead": ("cloud-lost",),
    "something is bought with a Secret that is being deleted": ("Secret that goes", "accounts"),
    "a Secret is held for objects that have bought nothing": ("Secret that goes", "accounts"),
    "nobody asks for the Lease before a changing call": ("two replicas", "pause"),
    "what bears the name is destroyed without proof": ("made again",),
    "whatever exists is adopted": ("made again",),
    "the finalizer goes with the answer to the destroying call": (),
    "a record of gone is believed after a restart": ("crash-at-call", "delete"),
    "Ready stands while the cloud cannot be listed": ("long outage",),
    "what vanished while the watch was broken is believed for ever": ("watch-410", "delete"),
    "an etcd that went back in time is not noticed": ("back up etcd", "restore etcd"),
    "what the owner says while a call waits does not count": ("pause", "pause process"),
    "the pause annotation is not heeded": ("pause", "delete"),
    "Retain is heeded only when the VM was adopted": ("edit deletion", "delete"),
    "another's finding under a chosen name is taken for the order": ("stranger makes",),
    "a VPC is destroyed with what is in it": ("VPC with somebody in it",),
    "10-mass-disappearance-believed": ("list-empty",),
    "02-act-though-the-status-was-refused": ("kube-503",),
    "04-after-a-restart-nothing-was-asked-for": ("crash-at-call", "lag"),
    "06-deleted-before-the-id-is-known": ("deleted at once",),
    "09-second-claimant-destroys": ("shared account",),
    "14-credential-goes-before-its-users": ("delete namespace", "accounts"),
    "24-status-believed": ("back up status", "restore status"),
    "11-woken-and-acting-on-old-facts": ("pause", "pause process"),
    "17-older-view-put-over-the-newer": ("watch-slow",),
    "19-failed-listing-read-as-empty": ("cloud-500",),
    "20-partial-listing-believed": ("list-foreign",),
    "21-another-tenants-key-believed": ("accepted, then another key", "accounts"),
    "22-retry-after-ignored": ("cloud-429",),
    "23-secret-in-an-error": ("cloud-500",),
    "12-failed-means-not-done": ("lag", "write-unsaid"),
    "an order without a clear answer is sent again at once": ("lag", "write-unsaid"),
    "13-client-repeats-what-changes": ("write-unsaid",),
    "16-no-total-deadline": ("cloud-slow",),
    "07-vanished-and-nobody-woken": ("made again",),
    "08-claims-not-unique": ("shared account",),
    "25-failed-list-of-objects-read-as-empty": ("kube-500",),
}
