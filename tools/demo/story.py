"""The story, step by step: each is the command that a user would type, and what must have come true after it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from demo import proof, view
from demo.errors import DemoError
from demo.kubectl import TICK_SECONDS, Kubectl
from demo.processes import NAMESPACE, PROVISION_SECONDS, REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from demo.processes import Stage
    from demo.screen import Screen
    from demo.view import Row
    from demo.watch import Watch

MANIFESTS = ("gpuvm.yaml", "gpuvm-keys-from-secret.yaml", "gpuvm-stopped.yaml")
TRAIN, NOTEBOOK = "train", "notebook"
ACCOUNT = ("gpucloud-operator", "gpucloud-system")  # name and namespace, as in operator-rbac.yaml
PATIENCE = "--timeout=60s"
RESTART = "gpucloud.dev/restart-requested-at"
CHECK_SECONDS = 1.0


class Story:
    """One telling. ``rows`` is what was seen last."""

    def __init__(self, stage: Stage, screen: Screen) -> None:
        self._stage = stage
        self._screen = screen
        self._kubectl = Kubectl(stage.plane.kubectl, stage.kubeconfig, REPOSITORY, screen, self._tick)
        self._watch: Watch | None = None
        self._next_check = 0.0
        self.cloud = ""
        self.rows: dict[str, Row] = {}

    def until_ready(self) -> None:
        """From nothing to three VMs that are as their manifests ask.

        Raises:
            DemoError: it did not come to that.
        """
        self._install()
        self._apply()
        self._screen.say("The Secret arrives, and the VM that waited for it is created.")
        keys = "--from-file=authorized_keys=deploy/examples/team-keys.pub"
        self._kubectl("create", "secret", "generic", "team-keys", keys)
        self._kubectl("wait", "gpuvm", "--all", "--for=condition=Ready", PATIENCE)
        self._kubectl("get", "gpuvm")

    def power(self) -> None:
        """Stop one, start it again, restart it.

        Raises:
            DemoError: it did not do so.
        """
        self._screen.say("Power is a field of the spec.")
        self._switch("Stopped")
        self._switch("Running")
        self._screen.say("A restart is a request, so it is an annotation; status says when it has been carried out.")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._kubectl("annotate", "gpuvm", TRAIN, f"{RESTART}={now}")
        self._kubectl("wait", f"gpuvm/{TRAIN}", f"--for=jsonpath={{.status.lastHandledRestartAt}}={now}")
        self._wait_ready(TRAIN)

    def the_end(self) -> None:
        """Delete all, and have the cloud itself confirm that nothing is left.

        Raises:
            DemoError: something is left, or was bought or destroyed more than once.
        """
        bought = len(self.rows)
        self._screen.say("Deleting an object destroys its VM. kubectl returns when the cloud no longer lists it.")
        self._kubectl("delete", "gpuvm", "--all", PATIENCE)
        left = proof.living(proof.ask(self.cloud, "world"))
        ledger = proof.ask(self.cloud, "ledger")["entries"]
        received = proof.calls(ledger)
        proof.judge(left, received, bought)
        changing = {entry["operation"] for entry in ledger if entry["mutating"]}
        audit_log = self._stage.plane.audit_log
        user = ":".join(("system:serviceaccount", *reversed(ACCOUNT)))
        written = proof.writes(audit_log, user) if audit_log else None
        self._screen.say("\n".join(proof.summary(received, changing, written)))
        self._screen.say(
            f"The cloud is empty: it holds no VM. {bought} were bought, each once, and {bought} destroyed, each once."
        )

    def _install(self) -> None:
        plane = self._stage.plane
        self._screen.say(f"A Kubernetes control plane is up ({plane.how}).")
        self._screen.output(f"export KUBECONFIG={self._stage.kubeconfig}")
        self._kubectl("create", "namespace", NAMESPACE)
        self._stage.own_namespace()
        self._kubectl("apply", "-f", "crds/")
        self._kubectl("wait", "--for=condition=Established", "crd/gpuvms.gpucloud.dev", PATIENCE)
        self.cloud = self._stage.start_cloud()
        self._screen.say(f"A simulated GPU cloud is up; a VM takes {PROVISION_SECONDS} seconds. The operator joins it:")
        self._kubectl("apply", "-f", "deploy/examples/operator-rbac.yaml")
        self._screen.command(f"gpucloud operator --endpoint default={self.cloud} --namespace {NAMESPACE}")
        name, namespace = ACCOUNT
        token = self._kubectl.quietly("create", "token", name, f"--namespace={namespace}", "--duration=24h")
        self._stage.start_operator(self.cloud, token.strip())
        self._watch = self._stage.start_watch()

    def _apply(self) -> None:
        self._screen.say("Three GPU VMs: one plain, one that waits for a Secret, one that is to be powered off.")
        for manifest in MANIFESTS:
            self._kubectl("apply", "-f", f"deploy/examples/{manifest}")
        self._until(lambda: self._reason(NOTEBOOK) == "SSHKeysNotFound", f"{NOTEBOOK} waits for its Secret")

    def _switch(self, state: str) -> None:
        self._kubectl("patch", "gpuvm", TRAIN, "--type=merge", "-p", f'{{"spec":{{"powerState":"{state}"}}}}')
        self._wait_ready(TRAIN)

    def _wait_ready(self, name: str) -> None:
        self._kubectl("wait", f"gpuvm/{name}", "--for=condition=Ready", PATIENCE)

    def _reason(self, name: str) -> str:
        return self.rows[name].reason if name in self.rows else ""

    def _until(self, met: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
        deadline = time.monotonic() + seconds
        while not met():
            if time.monotonic() > deadline:
                raise DemoError(f"Not within {seconds:.0f} s: {what}.")
            self._tick()
            time.sleep(TICK_SECONDS)

    def _tick(self) -> None:
        """Keep the view moving, and notice at once when a process has ended."""
        if time.monotonic() >= self._next_check:
            self._stage.check()
            self._next_check = time.monotonic() + CHECK_SECONDS
        if self._watch is None:
            return
        if self._watch.read():
            self.rows = {name: view.row(self._watch.objects[name]) for name in sorted(self._watch.objects)}
        self._screen.show(self.rows)
