"""Publishes and withdraws what spec.connection of a GpuVM asks for: the step beside its calls of the cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.kinds import audit, request
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.engine.kube.published import NotCurrentError, NotOwnedError, Publication, Publications
from gpucloud.kinds.connection import SSH_PORT, PortProtocol
from gpucloud.kinds.gpuvm import KIND, GpuVMSpec, GpuVMStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Refusal, Verb
from gpucloud.reconcile.gpuvm.connection import CONFIG_MAPS, SERVICES, SLICES, WITHDRAW_SECONDS, wanted_connection
from gpucloud.reconcile.text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.kinds.connection import Connection, PublishedConnection
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.plan import Plan


REASSERT_SECONDS = 60.0  # at least, between two looks at what is published for one VM
REASSERTS_PER_SECOND = 5.0  # of all VMs together
RIGHTS = "Let the operator get, create, update and delete ConfigMaps, Services and EndpointSlices."
_OTHER = {Verb.PUBLISH: Verb.WITHDRAW, Verb.WITHDRAW: Verb.PUBLISH}
_KINDS = {409: ErrorKind.CONFLICT, 403: ErrorKind.FORBIDDEN, 422: ErrorKind.INVALID}


class Publisher:
    """Publishes and withdraws for all GpuVMs of this process."""

    def __init__(self, kube: KubeClient, store: Store[GpuVMSpec, GpuVMStatus], tracker: OrderTracker) -> None:
        self._kube, self._store, self._tracker = kube, store, tracker
        self._publishers = set[str]()  # UIDs of VMs that publish something

    @property
    def reassert_seconds(self) -> float:
        """How long what is published for one VM is not looked at: the longer, the more VMs publish something."""
        return max(REASSERT_SECONDS, len(self._publishers) / REASSERTS_PER_SECOND)

    def drop(self, uid: str) -> None:
        """Forget a deleted object."""
        self._publishers.discard(uid)

    async def act(self, facts: VmFacts, plan: Plan[GpuVMStatus], verb: Verb) -> Event | None:
        """Publish or withdraw, and record the outcome; return the Event, None if nothing was to be written.

        The last call of the other verb is forgotten before anything is sent: from then on it says nothing of what stands.
        """
        uid = facts.meta.uid
        gathered = self._store.entries.part(uid, request.Gathered).stored
        if gathered is None:
            return None
        self._tracker.forget_calls(uid, {_OTHER[verb]})
        (self._publishers.add if verb is Verb.PUBLISH else self._publishers.discard)(uid)
        target = Publications(self._kube, facts.meta, lambda: self._store.is_current(gathered))
        refusal, changed = None, dict[str, bool]()
        try:
            await (_publish(target, facts, changed) if verb is Verb.PUBLISH else _withdraw(target, plan.targets, changed))
        except NotCurrentError:
            return None
        except (KubeError, NotOwnedError) as error:
            refusal = _refusal(verb, error)
        self._tracker.record_call(uid, verb, facts.asked, refusal, plan.targets)
        return _event(facts, verb, changed, refusal)


async def _publish(target: Publications, facts: VmFacts, changed: dict[str, bool]) -> None:
    """Publish everything that can be; note in ``changed`` what was written.

    Raises:
        KubeError, NotOwnedError: the first failure; what does not depend on it is published all the same.
    """
    spec, wanted, failure = facts.spec.connection, wanted_connection(facts), None
    for group in () if spec is None or wanted is None else _groups(spec, wanted):
        try:
            for one in group:
                changed[f"{one.resource}/{one.name}"] = await target.put(one)
        except (KubeError, NotOwnedError) as error:
            failure = failure or error
    if failure is not None:
        raise failure


async def _withdraw(target: Publications, targets: tuple[str, ...], changed: dict[str, bool]) -> None:
    """Withdraw everything that can be; note in ``changed`` what was deleted.

    Raises:
        KubeError: the first failure; the others are withdrawn all the same.
    """
    failure = None
    for one in targets:
        try:
            changed[one] = await target.remove(*one.split("/", 1))
        except KubeError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _groups(spec: Connection, wanted: PublishedConnection) -> Iterator[tuple[Publication, ...]]:
    """Yield the objects to publish, each group in the order of its dependence."""
    if wanted.config_map is not None:
        data = {"host": wanted.host, "privateAddress": wanted.private_address, "port": str(SSH_PORT), "user": spec.user}
        yield (Publication(CONFIG_MAPS, wanted.config_map, {"data": data}),)
    if spec.service is None or wanted.service is None or wanted.address is None:
        return
    ports = [{"name": one.name, "port": one.port, "protocol": one.protocol or PortProtocol.TCP} for one in spec.service.ports]
    fields: dict[str, Any] = {
        "spec": {"type": "ClusterIP", "selector": None, "ports": [{**one, "targetPort": one["port"]} for one in ports]}
    }
    family = {"addressType": "IPv6" if ":" in wanted.address else "IPv4"}
    endpoint = {"addresses": [wanted.address], "conditions": {"ready": True}}
    yield (
        Publication(SERVICES, wanted.service, fields, empty=fields),
        Publication(
            SLICES,
            wanted.service,
            {**family, "endpoints": [endpoint], "ports": ports},
            empty={**family, "endpoints": []},
            labels={
                "kubernetes.io/service-name": wanted.service,
                "endpointslice.kubernetes.io/managed-by": "gpucloud-operator.gpucloud.dev",
            },
            fixed=("addressType",),
        ),
    )


def _refusal(verb: Verb, error: KubeError | NotOwnedError) -> Refusal:
    """Return why it failed, with the way out."""
    if isinstance(error, NotOwnedError):
        words = (
            f"{error} exists and does not belong to this GpuVM: nothing in it is changed. Delete it, or choose another name in "
            "spec.connection."
        )
        return Refusal(ErrorKind.CONFLICT, words, ambiguous=False)
    kind = _KINDS.get(error.status, ErrorKind.SERVER)
    rights = f" {RIGHTS}" if kind is ErrorKind.FORBIDDEN and not error.namespace_terminating else ""
    said = f"The apiserver says: {quoted(str(error), kind)}."
    if verb is Verb.PUBLISH:
        words = f"spec.connection cannot be published; it is tried again.{rights} {said}"
    else:
        words = (
            "What is published cannot be deleted; it is tried again. A stop or destruction waits "
            f"{WITHDRAW_SECONDS:.0f} s, then is sent anyway.{rights} {said}"
        )
    return Refusal(kind, words, ambiguous=error.status == 0)


def _event(facts: VmFacts, verb: Verb, changed: dict[str, bool], refusal: Refusal | None) -> Event | None:
    """Return the Event of an attempt, and log it; None if there was nothing to do."""
    publishes, what = verb is Verb.PUBLISH, ", ".join(name for name, written in changed.items() if written)
    if refusal is not None:
        reason = Reason.PUBLISH_FAILED if publishes else Reason.WITHDRAW_FAILED
        audit.failed(verb, KIND, facts.meta, reason, refusal.message)
        return Event(reason, refusal.message, verb, warning=True)
    if not what:
        return None
    reason = Reason.PUBLISHED if publishes else Reason.WITHDRAWN
    audit.done(verb, KIND, facts.meta, reason, target=what)
    return Event(reason, f"{'Published the VM in' if publishes else 'Withdrew'} {what}.", verb)
