"""Defects that others had in production: each with its source, and what it would do here.

``make planted`` requires of each that the suite finds it, ``make simulate DEFECTS=1`` that the simulated world does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from simulation.planting import Change


class Told(NamedTuple):
    """A defect, who had it, and what it would do in production."""

    source: str
    harm: str
    changes: tuple[Change, ...]


IN_PRODUCTION: dict[str, Told] = {
    "01-order-before-its-intent": Told(
        "aws-controllers-k8s/community#2062: a crash after the create call, and the id nowhere.",
        (
            "The first order is sent with no intent in status. Killed between the call and the next write, the "
            "operator starts with no record that anything was ever asked for."
        ),
        (("    if _may_send(f):\n", "    if _may_send(f) or f.state is OrderState.NOT_ORDERED:\n"),),
    ),
    "02-act-though-the-status-was-refused": Told(
        "aws-controllers-k8s/community#2267: a conflict on the status patch loses the id.",
        (
            "A status write that the apiserver refuses is shrugged off, and the call that it should have "
            "announced is sent all the same, unrecorded."
        ),
        (
            (
                "            return await self._write(key, stored, plan.status, plan)\n",
                (
                    "            try:\n"
                    "                return await self._write(key, stored, plan.status, plan)\n"
                    "            except KubeError:\n"
                    "                if plan.action is not None:\n"
                    "                    return await self._act(key, stored, facts, plan)\n"
                    "                return Outcome.NOTHING\n"
                ),
            ),
            (
                "    return plan if plan.action is None else replace(plan, action=None, records_order=True)\n",
                "    return plan if plan.action is None else replace(plan, records_order=True)\n",
            ),
        ),
    ),
    "03-name-without-uid": Told(
        "aws-controllers-k8s/community#2066: track before the call, and tag by UID.",
        (
            "Two objects of one name, in two namespaces or one after the other, get one cloud name: the second "
            "finds the first's VM and takes it for its own."
        ),
        (
            (
                "    return base_name(object_name, tag) + fingerprint(uid)\n",
                "    return base_name(object_name, tag) + fingerprint(object_name)\n",
            ),
            (
                '    return name.endswith("-" + fingerprint(uid))\n',
                '    return name.endswith("-" + fingerprint(uid)) or bool(_OURS.fullmatch(name))\n',
            ),
        ),
    ),
    "04-after-a-restart-nothing-was-asked-for": Told(
        ("kubernetes-sigs/cluster-api-provider-aws#5794: a panic after the create; each restart bought another VM."),
        (
            "An order that an earlier process recorded, and may have sent a moment ago, is not waited for: one "
            "listing that lags, and the VM is ordered again."
        ),
        (("(S.INTENDED, E.TAKEN_OVER): Transition(S.UNCLEAR,", "(S.INTENDED, E.TAKEN_OVER): Transition(S.REFUSED,"),),
    ),
    "05-lagging-listing-believed": Told(
        ("kubernetes-sigs/cluster-api-provider-aws#6131: a deferred patch and a listing that lags make two VMs."),
        "An order that the cloud accepted and does not list yet is sent again.",
        (("max(first_seen, tracked.since + ACCEPTED_GRACES * grace)", "first_seen"),),
    ),
    "06-deleted-before-the-id-is-known": Told(
        ("kubernetes-sigs/cluster-api-provider-cloudstack#190, #191: deleted before its id was known, the VM stayed."),
        ("An object that is deleted while its VM is on its way lets go at once; the VM runs on, and nobody knows of it."),
        (
            (
                (
                    "    if not is_free(f):\n"
                    "        return plan_status(f, deleting(f), refresh_after=max(free_from(f), f.now.mono))\n"
                ),
                "",
            ),
        ),
    ),
    "07-vanished-and-nobody-woken": Told(
        ("kubernetes-sigs/cluster-api-provider-vsphere#409: a VM deleted outside was not noticed in seven hours."),
        "A VM that is destroyed from outside stays Ready for as long as nobody touches its object.",
        (
            (
                "return was != now\n",
                "return now not in ((), was)\n",
            ),
        ),
    ),
    "08-claims-not-unique": Told(
        "k8s-proxmox/cluster-api-provider-proxmox#94: three resources with one provider id, one VM.",
        ("Each of two objects that stand for one VM believes itself its owner; the first to be deleted destroys the other's."),
        (
            (
                "key=self._ranked)",
                "key=lambda other: (other != uid, self._ranked(other)))",
            ),
        ),
    ),
    "09-second-claimant-destroys": Told(
        "crossplane/crossplane#5093: two resources may stand for one external resource.",
        "A second claimant, told that the VM is another's, destroys it when it is itself deleted.",
        ((("        if self.owner is not None:\n            return False\n"), ""),),
    ),
    "10-mass-disappearance-believed": Told(
        ("gardener/machine-controller-manager#657: after a restart, with half a view, live VMs were collected as orphans."),
        (
            "A listing that has lost most of the fleet is taken at its word: finalizers go, and what a person "
            "deletes meanwhile is never destroyed."
        ),
        (
            (
                "len(vanished) >= IMPLAUSIBLE_COUNT and len(vanished) > IMPLAUSIBLE_SHARE * len(expected)",
                "len(vanished) > len(expected)",
            ),
        ),
    ),
    "11-woken-and-acting-on-old-facts": Told(
        "gardener/machine-controller-manager#718, #722: frozen, it went on collecting.",
        (
            "A process that was stopped for minutes wakes and sends the call it was about to send, though another "
            "has taken over since."
        ),
        (
            ("        confirmed = await self._is_confirmed(key, stored) and ", "        confirmed = "),
            ("        if self._clock.mono() - facts.now.mono > STALE_FACTS_SECONDS:\n", "        if not facts:\n"),
        ),
    ),
    "12-failed-means-not-done": Told(
        (
            "crossplane/crossplane#3037 and its runtime: what became of a create that was cut short is not known; "
            "one that erred counts as failed, and is sent again."
        ),
        ("An order whose answer was lost is sent again at once, before any listing could show what became of it."),
        (("max(first_seen, tracked.since + grace)", "first_seen"),),
    ),
    "13-client-repeats-what-changes": Told(
        ("crossplane/upjet#681, crossplane-contrib/provider-upjet-aws#1482: what was created is forgotten and created again."),
        ("After a reset connection or a 503 the client itself repeats a CreateServer that may have been carried out."),
        (("max_retries=self._options.max_retries if call.safe else 0", "max_retries=self._options.max_retries"),),
    ),
    "14-credential-goes-before-its-users": Told(
        ("crossplane/crossplane#7801: when a namespace goes, the Secret goes before the resources that need it."),
        (
            "The account lets its Secret go while VMs still need it; they can be neither seen nor destroyed any "
            "more, and go on costing."
        ),
        ((("    if not f.users:\n        return None\n"), ("    if f.users is not None:\n        return None\n")),),
    ),
    "15-endpoint-named-by-the-tenant": Told(
        (
            "CVE-2026-18378, CVE-2026-18381 (koku), CVE-2026-42875 (External Secrets): a URL in a custom resource "
            "receives the operator's credential."
        ),
        "What a tenant writes as endpoint is taken for declared by the administrator.",
        (
            ("        return spec.endpoint if spec.endpoint in declared else None\n", "        return spec.endpoint\n"),
            (
                "deps.sessions.open(deps.endpoints[endpoint], ",
                'deps.sessions.open(deps.endpoints.get(endpoint, f"https://{endpoint}.invalid"), ',
            ),
        ),
    ),
    "16-no-total-deadline": Told(
        "httpx 0.28: timeouts hold for each chunk, so that a body which drips may take for ever.",
        "One slow answer holds a worker, and the object that it works on, for hours.",
        (("asyncio.timeout_at(progress.deadline)", "asyncio.timeout_at(None)"),),
    ),
    "17-older-view-put-over-the-newer": Told(
        (
            "Sieve, stale states: instaclustr/cassandra-operator#402, rabbitmq/cluster-operator#648: an old view "
            "of an object, acted upon, deletes what is in use."
        ),
        "A late watch event puts an old status over our own newer one: the intent just recorded is forgotten.",
        (
            (
                'known is not None and int(meta["resourceVersion"]) <= known.version',
                'known is not None and int(meta["resourceVersion"]) == known.version',
            ),
        ),
    ),
    "18-finalizer-goes-on-a-refusal": Told(
        "kopf 1.45: a PermanentError, or the last of `retries`, removes the finalizer.",
        "A key that may not destroy makes the object go and the VM stay.",
        (
            (
                "    if failed.in_backoff(f, attempt):\n",
                (
                    "    if failed.in_backoff(f, attempt):\n"
                    '        if attempt.refusal is not None and attempt.refusal.kind == "Forbidden":\n'
                    '            return release_finalizer(f, Reason.GONE, "It cannot be destroyed.")\n'
                ),
            ),
        ),
    ),
    "19-failed-listing-read-as-empty": Told(
        (
            "Rainmaker, NSDI'23: one faulty answer of the cloud and what its users make of it; gardener/machine- "
            "controller-manager#657."
        ),
        "While the cloud answers 500, every VM looks gone.",
        (
            (
                "            return self._mark_unknown(cluster, cached, began, error)\n",
                "            return self._accept(cluster, cached, began, ())\n",
            ),
        ),
    ),
    "20-partial-listing-believed": Told(
        ("Sieve, unobserved states: instaclustr/cassandra-operator#398; field notes: entries that cannot be read."),
        "VMs that a damaged listing leaves out are taken for destroyed.",
        (("        if not listing.complete:\n", "        if not listing.items and not listing.complete:\n"),),
    ),
    "21-another-tenants-key-believed": Told(
        ("No public record names it: a Secret swapped for another account's valid key, with which all of ours answers 404."),
        (
            "Every object of the namespace lets its VM go as gone, or buys it anew, on the strength of somebody "
            "else's empty listing."
        ),
        (
            (
                "    if account.tenants and tenancy not in account.tenants:\n",
                "    if account.tenants and tenancy not in account.tenants and isinstance(found, Present):\n",
            ),
        ),
    ),
    "22-retry-after-ignored": Told(
        "Metastable failures, OSDI'22; gRPC A6: retries that keep an outage alive.",
        "A 429 slows only the call that met it; all others of the credential go on at full rate.",
        (("if retry_after is None or status not in {429, 503}:", "if retry_after is None or status not in {503}:"),),
    ),
    "23-secret-in-an-error": Told(
        (
            "external-secrets and koku, the same advisories: credentials in logs and events. The service echoes "
            "what it was sent."
        ),
        "An error that quotes the request puts the API key into status, events and logs.",
        (("one_line(redact(complaint.message))", "one_line(complaint.message)"),),
    ),
    "24-status-believed": Told(
        (
            "Cross-namespace study, arXiv 2507.03387; crossplane's external-name annotation: an id that people "
            "can edit is trusted."
        ),
        ("Whoever may edit a status points it at another tenant's VM, deletes the object, and that VM is destroyed."),
        (
            ("spec.vm_name, spec.vpc, own_record(status.order, meta.uid)", "spec.vm_name, spec.vpc, status.order"),
            (
                "order.name == name if name is not None else naming.proves(order.name, meta.uid)",
                "order.name == name if name is not None else bool(order.name)",
            ),
        ),
    ),
    "25-failed-list-of-objects-read-as-empty": Told(
        ("gardener/machine-controller-manager#718, #722: orphans were collected while the apiserver could not be reached."),
        (
            "While the apiserver is away every object looks gone, and what came back with a restored etcd is "
            "destroyed as an orphan."
        ),
        (
            (
                (
                    '            log.warning("orphan scan skipped: the objects cannot be listed", error=str(error))\n'
                    "            return\n"
                ),
                (
                    '            log.warning("orphan scan skipped: the objects cannot be listed", error=str(error))\n'
                    "            uids = {kind: set() for kind in scan.PLURALS}\n"
                ),
            ),
        ),
    ),
}
