"""kubectl as tests use it: apply, look, patch, delete, wait.

It is what users have, so it is what tests speak to the cluster with. What is asked too often for a program to start each time
goes without it, by ``support.kubeapi``: reading objects as JSON, trying manifests, and tidying up.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.kubeapi import KubeApi, kube_api

if TYPE_CHECKING:
    from collections.abc import Iterable

Manifest = dict[str, Any] | list[dict[str, Any]] | str | Path


@dataclass(frozen=True)
class Kubectl:
    """A kubectl program with somebody's kubeconfig; ``namespace`` is the default of every call."""

    path: Path
    kubeconfig: Path
    namespace: str | None = None

    def in_namespace(self, namespace: str) -> Kubectl:
        return replace(self, namespace=namespace)

    @property
    def api(self) -> KubeApi:
        """The same apiserver as the same user, without kubectl. It knows no namespace by itself."""
        return kube_api(self.kubeconfig)

    def run(self, *args: str, stdin: str | None = None, ns: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run any command; the result is the caller's to judge."""
        scope = ns or self.namespace
        command = [
            str(self.path),
            f"--kubeconfig={self.kubeconfig}",
            *([f"--namespace={scope}"] if scope else []),
            *args,
        ]
        # Its discovery cache lives and dies with the kubeconfig's folder, never in the home of whoever runs the tests.
        env = {**os.environ, "KUBECACHEDIR": str(self.kubeconfig.parent / "kubectl-cache")}
        quiet = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        return subprocess.run(  # noqa: S603  # kubectl, with arguments of the tests
            command, capture_output=True, text=True, timeout=120, check=False, env=env, **quiet
        )

    def ok(self, *args: str, stdin: str | None = None, ns: str | None = None) -> str:
        """Run a command that must succeed and return what it prints."""
        done = self.run(*args, stdin=stdin, ns=ns)
        assert done.returncode == 0, f"kubectl {' '.join(args)} failed:\n{done.stderr.strip()}"
        return done.stdout

    def apply(self, manifest: Manifest, *args: str, ns: str | None = None, expect_error: bool = False) -> str:
        """Apply a manifest and return what kubectl says; with ``expect_error`` it must be refused, and says why."""
        done = self.run("apply", *args, "-f", "-", stdin=_as_text(manifest), ns=ns)
        if expect_error:
            assert done.returncode != 0, f"kubectl apply was expected to be refused, but said: {done.stdout.strip()}"
            return done.stderr
        assert done.returncode == 0, f"kubectl apply failed:\n{done.stderr.strip()}"
        return done.stdout

    def get(self, kind: str, name: str, ns: str | None = None) -> dict[str, Any] | None:
        """Return an object, or None when there is no such object."""
        return self.api.get(kind, name, ns or self.namespace)

    def list(self, kind: str, ns: str | None = None) -> list[dict[str, Any]]:
        """Return all objects of a kind, or of several with commas between."""
        return self.api.list(kind, ns or self.namespace)

    def events(self) -> list[tuple[str, str]]:
        """Return whom each Event is about, by name, and its reason."""
        return [(item["regarding"]["name"], item["reason"]) for item in self.list("events.events.k8s.io")]

    def delete(self, kind: str, name: str, ns: str | None = None, *, wait: bool = True, timeout: float = 60.0) -> None:
        """Delete an object, and by default wait until it is gone."""
        self.ok("delete", kind, name, f"--wait={str(wait).lower()}", f"--timeout={timeout:g}s", ns=ns)

    def patch(
        self,
        kind: str,
        name: str,
        body: dict[str, Any],
        ns: str | None = None,
        *,
        subresource: str | None = None,
        expect_error: bool = False,
    ) -> str:
        """Send a merge patch; with ``expect_error`` it must be refused, and the complaint is returned."""
        extra = [f"--subresource={subresource}"] if subresource else []
        done = self.run("patch", kind, name, "--type=merge", f"--patch={json.dumps(body)}", *extra, ns=ns)
        if expect_error:
            assert done.returncode != 0, f"kubectl patch was expected to be refused, but said: {done.stdout.strip()}"
            return done.stderr
        assert done.returncode == 0, f"kubectl patch {kind} {name} failed:\n{done.stderr.strip()}"
        return done.stdout

    def annotate(self, kind: str, name: str, ns: str | None = None, **annotations: str | None) -> None:
        """Set annotations, or remove those given as None."""
        self.patch(kind, name, {"metadata": {"annotations": annotations}}, ns)

    def may(self, user: str, verb: str, resource: str, *, group: str = "", name: str = "", ns: str | None = None) -> bool:
        """Whether the apiserver lets a user do this by now; asked in our own name, so that the audit log has it as ours."""
        attributes = {"verb": verb, "resource": resource, "group": group, "name": name, "namespace": ns or self.namespace or ""}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": attributes},
        }
        answer = self.ok("create", "--output=json", "-f", "-", stdin=json.dumps(review))
        return bool(json.loads(answer)["status"]["allowed"])

    def wait(self, kind: str, name: str, condition: str, ns: str | None = None, timeout: float = 60.0) -> dict[str, Any]:
        """Wait as ``kubectl wait --for`` does (``condition=Ready``, ``delete``); a failure shows the object."""
        done = self.run("wait", f"{kind}/{name}", f"--for={condition}", f"--timeout={timeout:g}s", ns=ns)
        seen = self.get(kind, name, ns)
        shown = json.dumps({"status": (seen or {}).get("status"), "metadata": (seen or {}).get("metadata")}, indent=1)
        assert done.returncode == 0, f"{kind}/{name} never met {condition}: {done.stderr.strip()}\nit is now: {shown}"
        return seen or {}


def remove_objects(kubectl: Kubectl, kinds: Iterable[str], namespace: str) -> None:
    """Remove all objects of these kinds from a namespace, whatever finalizers they have."""
    for item in kubectl.list(",".join(kinds), ns=namespace):
        kind, name = item["kind"].lower(), item["metadata"]["name"]
        kubectl.api.delete(kind, name, namespace)
        kubectl.api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace)


def _as_text(manifest: Manifest) -> str:
    match manifest:
        case Path():
            return manifest.read_text()
        case str():
            return manifest
        case list():
            return json.dumps({"apiVersion": "v1", "kind": "List", "items": manifest})
        case _:
            return json.dumps(manifest)
