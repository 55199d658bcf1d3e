"""``report``: one archive for a bug report, of what the user may see. No Secret is read for it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gpucloud
from gpucloud.cli.plugin.cluster.versions import of_cluster
from gpucloud.cli.plugin.doctor.diagnosis import document, gather
from gpucloud.cli.plugin.doctor.findings import examine
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model import overview
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.model.objects import KINDS
from gpucloud.cli.plugin.report.contents import archive, of_event, of_object, of_pod
from gpucloud.cli.plugin.targets import cluster
from gpucloud.kinds.meta import GROUP

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At


def report(at: At, *, file: Path | None, operator_namespace: str) -> int:
    """Write it, and print its name."""
    here, now = cluster(at), datetime.now(UTC)
    folder = f"gpucloud-report-{here.namespace}-{now:%Y%m%d-%H%M%S}"
    path = file if file is not None else Path(f"{folder}.tar.gz")
    packed = archive(_files(here, operator_namespace, now), folder, now)
    try:
        with path.open("xb") as target:
            path.chmod(0o600)
            target.write(packed)
    except OSError as error:
        raise PluginError(f"cannot write {path}: {error.strerror}.", do="Name another file with --file.") from None
    print(f"{path} is written. Look through it before you send it: tar -xzf {path}")
    return ExitCode.OK


def _files(here: Cluster, operator_namespace: str, now: datetime) -> dict[str, Any]:
    """By name; what may not be read is named in doctor.json, or is left out."""
    facts = gather(here, here.namespace, operator_namespace)
    events = here.listed("events", f"/api/v1/namespaces/{here.namespace}/events", {"limit": "500"}) or ()
    pods = here.operator_pods(operator_namespace) or ()
    names = [str(pod["metadata"]["name"]) for pod in pods]
    logs = {f"logs/{name}.txt": here.pod_log(operator_namespace, name) for name in names}
    ours = [one for one in events if str((one.get("involvedObject") or {}).get("apiVersion")).startswith(GROUP)]
    return {
        "version.json": {"plugin": gpucloud.__version__} | of_cluster(here, operator_namespace),
        "doctor.json": document(facts, examine(facts)),
        "status.json": overview.as_document(World.of(facts.things, facts.unread), now),
        "objects.json": [
            of_object(body)
            for kind in KINDS
            if KINDS[kind].plural not in facts.unread
            for body in here.bodies(kind, here.namespace)
        ],
        "events.json": [of_event(one) for one in ours],
        "pods.json": [of_pod(pod) for pod in pods],
        **{name: text for name, text in logs.items() if text is not None},
    }
