"""What ``doctor`` finds, gathered through the user's own rights; a report holds the same. For people, ``doctor`` prints it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster import leases
from gpucloud.cli.plugin.cluster.rights import WANTED_RIGHTS
from gpucloud.cli.plugin.doctor.facts import Facts, Finding
from gpucloud.cli.plugin.doctor.operator_findings import watched
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS
from gpucloud.cli.plugin.targets import listed
from gpucloud.cli.terminal.marks import pasteable
from gpucloud.kinds.meta import GROUP, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.model.objects import Key, Thing


def gather(here: Cluster, namespace: str | None, operator_namespace: str) -> Facts:
    """Everything that may be seen; what may not is None, and the findings know."""
    things, unread = listed(here, namespace)
    discovery = here.read(f"/apis/{GROUP}/{VERSION}")
    pods = here.operator_pods(operator_namespace)
    served = None if discovery is None else frozenset(str(item.get("name")) for item in discovery.get("resources") or ())
    return Facts(
        now=datetime.now(UTC),
        namespace=namespace,
        who=here.whoami(),
        kinds=served,
        definitions=_definitions(here),
        rights={right: here.may(right, namespace or "") for right in WANTED_RIGHTS},
        operator_namespace=operator_namespace,
        leases=leases.leases(here, operator_namespace),
        things=things,
        unread={plural: str(error) for plural, error in unread.items()},
        watched=watched(pods or ()),
        pods=None if pods is None else tuple(str(pod["metadata"]["name"]) for pod in pods),
        namespaces=here.other_namespaces(namespace) if namespace is not None and not things else None,
    )


def dying_secrets(here: Cluster, things: Iterable[Thing]) -> frozenset[Key]:
    """The accounts whose Secret is seen in deletion."""
    return frozenset(item.key for item in things if _is_secret_dying(here, item))


def _is_secret_dying(here: Cluster, item: Thing) -> bool:
    """Whether the Secret of an account is in deletion, as far as the user may see: the operator says so a little later."""
    reference = item.spec.get("secretRef") if item.key.kind == ACCOUNT else None
    name = str(reference.get("name", "")) if isinstance(reference, dict) else ""
    return bool(name) and here.is_secret_dying(item.key.namespace, name)


def _definitions(here: Cluster) -> dict[str, dict[str, Any]]:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    read = {kind.plural: here.read(f"{path}/{kind.plural}.{GROUP}") for kind in KINDS.values()}
    return {plural: definition for plural, definition in read.items() if definition is not None}


def document(facts: Facts, found: tuple[Finding, ...]) -> dict[str, Any]:
    """The findings, and what they rest upon, for programs."""
    return {
        "namespace": facts.namespace,
        "user": facts.who or None,
        "objects": len(facts.things),
        "leases": [
            {
                "name": lease.name,
                "holder": lease.holder,
                "renewedAt": lease.renewed.isoformat() if lease.renewed else None,
                "version": lease.version or None,
                "isPod": None if facts.pods is None else leases.is_a_pod(lease, facts.pods),
            }
            for lease in facts.leases or ()
        ],
        "rights": [{"verb": right.verb, "resource": right.resource, "allowed": may} for right, may in facts.rights.items()],
        "findings": [
            {
                "severity": finding.severity.value,
                "check": finding.check,
                "object": None if finding.key is None else asdict(finding.key),
                "message": finding.message,
                "advice": pasteable(finding.advice),
            }
            for finding in found
        ],
    }
