"""The command lines of etcd, kube-apiserver and kube-controller-manager for a throw-away control plane. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ETCD = "etcd"
APISERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
_LOOPBACK = "127.0.0.1"
_TIDYING = ("namespace-controller", "garbage-collector-controller", "resourcequota-controller")
# What makes pods of Deployments and Jobs, and lets them speak to the apiserver. Not what fills EndpointSlices: the apiserver
# refuses loopback addresses in them.
_WORKLOADS = (
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "disruption-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
)


@dataclass(frozen=True)
class Layout:
    """Where everything is: the private folder and three ports on loopback."""

    folder: Path
    etcd_client_port: int
    etcd_peer_port: int
    apiserver_port: int

    @property
    def server(self) -> str:
        """The apiserver's URL."""
        return f"https://{_LOOPBACK}:{self.apiserver_port}"

    @property
    def certificate(self) -> Path:
        """The certificate chain that kube-apiserver makes for itself at its first start; it is kept over restarts."""
        return self.folder / "certs" / "apiserver.crt"

    @property
    def tokens(self) -> Path:
        """The static token file."""
        return self.folder / "tokens.csv"

    @property
    def audit_policy(self) -> Path:
        """The audit policy file."""
        return self.folder / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        """The audit log, JSON lines."""
        return self.folder / "audit.log"


def etcd(program: Path, layout: Layout) -> list[str]:
    """Run a single member that never waits for the disk: its data does not outlive it anyway."""
    client = f"http://{_LOOPBACK}:{layout.etcd_client_port}"
    peer = f"http://{_LOOPBACK}:{layout.etcd_peer_port}"
    return [
        str(program),
        f"--data-dir={layout.folder / f'etcd-{layout.etcd_client_port}'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
    ]


def apiserver(program: Path, layout: Layout, *, audit: bool, workloads: bool = False) -> list[str]:
    """Run with RBAC and static tokens.

    The key that signs service account tokens is the one kube-apiserver makes for its own certificate: it writes it
    into ``--cert-dir`` before it reads the service account flags, so no key has to be made beforehand.
    """
    key = layout.certificate.with_suffix(".key")
    command = [
        str(program),
        f"--etcd-servers=http://{_LOOPBACK}:{layout.etcd_client_port}",
        f"--bind-address={_LOOPBACK}",
        f"--advertise-address={_LOOPBACK}",
        f"--secure-port={layout.apiserver_port}",
        f"--cert-dir={layout.certificate.parent}",
        f"--token-auth-file={layout.tokens}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--endpoint-reconciler-type=none",  # a loopback address cannot be an endpoint
    ]
    if not workloads:
        command.append("--disable-admission-plugins=ServiceAccount")  # it needs controllers that do not run then
    if audit:
        command += [
            f"--audit-policy-file={layout.audit_policy}",
            f"--audit-log-path={layout.audit_log}",
            "--audit-log-maxsize=100000",  # megabytes: never rotated, since readers count whole runs
        ]
    return command


def controller_manager(program: Path, kubeconfig: Path, layout: Layout, *, workloads: bool = False) -> list[str]:
    """Run only what empties namespaces and collects garbage and, on request, what makes pods; it serves nothing."""
    return [
        str(program),
        f"--kubeconfig={kubeconfig}",
        f"--controllers={','.join([*_TIDYING, *(_WORKLOADS if workloads else ())])}",
        f"--root-ca-file={layout.certificate}",  # what pods are told to trust
        "--leader-elect=false",
        "--secure-port=0",
    ]
