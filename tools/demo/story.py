"""The story, step by step: each is the command that a user would type, and what must have come true after it."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING

from demo import proof, view
from demo.errors import DemoError
from demo.kubectl import TICK_SECONDS, Kubectl
from demo.processes import NAMESPACE, PROVISION_SECONDS, REPOSITORY
from demo.view import Key

if TYPE_CHECKING:
    from collections.abc import Callable

    from demo.processes import Stage
    from demo.screen import Screen
    from demo.view import Row
    from demo.watch import Watch

# All manifests of the story, and nothing else in that folder, bear this label.
MANIFESTS = ("-f", "deploy/examples/", "-l", "app.kubernetes.io/part-of=lab")
ACCOUNT, BUILDER, WORKER = Key("GpuCloudAccount", "default"), Key("GpuVM", "builder"), Key("GpuVM", "worker")
SECRET = "cloud-credential"  # noqa: S105 - its name, as in account.yaml
ALL = "gpucloud"  # the category of all our kinds
OPERATOR = ("gpucloud-operator", "gpucloud-system")  # its service account: name and namespace, as in operator-rbac.yaml
PATIENCE = "--timeout=180s"
CHECK_SECONDS = 1.0


class Story:
    """One telling. ``rows`` is what was seen last. ``keep``: what a second terminal needs is told when everything runs."""

    def __init__(self, stage: Stage, screen: Screen, *, keep: bool = False) -> None:
        self._keep = keep
        self._stage = stage
        self._screen = screen
        self._kubectl = Kubectl(stage.plane.kubectl, stage.kubeconfig, REPOSITORY, screen, self._tick)
        self._watches: list[Watch] = []
        self._next_check = 0.0
        self.cloud = ""
        self.rows: dict[Key, Row] = {}

    def until_ready(self) -> None:
        """From nothing to an account, a VPC, two VMs and a snapshot that are as their manifests ask.

        Raises:
            DemoError: it did not come to that.
        """
        self._install()
        self._screen.say(
            "All at once: an account, a VPC, a VM in it, a snapshot of that VM, a VM made from the snapshot. kubectl applies "
            "the files in alphabetical order, so the VPC comes last. Nothing is bought yet: each object says what it waits for."
        )
        self._kubectl("apply", *MANIFESTS)
        self._until(lambda: self._reason(ACCOUNT) == "SecretNotFound", "the account waits for its Secret")
        self._until(lambda: self._reason(WORKER) == "AccountNotReady", "the VM of the snapshot waits for the account")
        self._screen.say("The Secret arrives, and the order sorts itself out: account, VPC, VM, snapshot, VM.")
        self._kubectl(*make_secret(self._stage))
        self._kubectl("wait", ALL, "--all", "--for=condition=Ready", PATIENCE)
        self._kubectl("get", ALL)

    def power(self) -> None:
        """Stop one VM and start it again.

        Raises:
            DemoError: it did not do so.
        """
        self._screen.say("Power is a field of the spec.")
        self._switch("Stopped")
        self._switch("Running")

    def the_end(self) -> None:
        """Delete all at once, and have the cloud itself confirm that nothing is left.

        Raises:
            DemoError: something is left, or was made or destroyed more than once.
        """
        made = proof.orders(key.kind for key in self.rows)
        self._screen.say(
            "Deleted all at once, the order sorts itself out again: the VPC waits until it is empty, the account for the last "
            "of its users. kubectl returns when the cloud no longer lists any of it."
        )
        self._kubectl("delete", *MANIFESTS, PATIENCE)
        self._kubectl("delete", "secret", SECRET, PATIENCE)
        left = proof.living(proof.ask(self.cloud, "world"))
        ledger = proof.ask(self.cloud, "ledger")["entries"]
        received = proof.calls(ledger)
        proof.judge(left, received, made)
        changing = {entry["operation"] for entry in ledger if entry["mutating"]}
        audit_log = self._stage.plane.audit_log
        user = ":".join(("system:serviceaccount", *reversed(OPERATOR)))
        written = proof.writes(audit_log, user) if audit_log else None
        self._screen.say("\n".join(proof.summary(received, changing, written)))
        self._screen.say(proof.verdict(made))

    def _install(self) -> None:
        plane = self._stage.plane
        up = f"A Kubernetes control plane is up ({plane.how})."
        if self._keep:
            self._screen.say(f"{up} What to type in a second terminal is printed at the end, when everything runs.")
        else:
            self._screen.say(f"{up} While it runs, you could type every command of this demo yourself, after these exports:")
            for name, value in self._stage.exports.items():
                self._screen.command(f"export {name}={value}")
        self._kubectl("create", "namespace", NAMESPACE)
        self._stage.own_namespace()
        self._kubectl("apply", "-f", "crds/")
        self._until(self._definitions_have_conditions, "the definitions have conditions")  # else kubectl wait fails at once
        self._kubectl("wait", "--for=condition=Established", "-f", "crds/", PATIENCE)
        self._start_cloud()
        self._start_operator()
        self._watches = self._stage.start_watches()

    def _start_cloud(self) -> None:
        self._screen.say(
            f"A simulated GPU cloud. It accepts the API key in this file, and starts a VM in {PROVISION_SECONDS} seconds:"
        )
        self._screen.command(shlex.join(["gpucloud", *self._stage.cloud_words]))
        self.cloud = self._stage.start_cloud()
        self._screen.output(f"gpucloud sim listening on {self.cloud}")

    def _start_operator(self) -> None:
        self._screen.say("The operator runs with a token of this service account, and without a credential of the cloud:")
        self._kubectl("apply", "-f", "deploy/examples/operator-rbac.yaml")
        name, namespace = OPERATOR
        token = self._kubectl.quietly("create", "token", name, f"--namespace={namespace}", "--duration=24h")
        started = shlex.join(["gpucloud", *self._stage.operator_words(self.cloud)])
        self._screen.command(f"KUBECONFIG={self._stage.operator_kubeconfig} {started}")
        self._stage.start_operator(self.cloud, token.strip())

    def _definitions_have_conditions(self) -> bool:
        items = json.loads(self._kubectl.quietly("get", "-f", "crds/", "-o", "json"))["items"]  # a jsonpath fails without them
        return all(item.get("status", {}).get("conditions") for item in items)

    def _switch(self, state: str) -> None:
        name = BUILDER.name
        self._kubectl("patch", "gpuvm", name, "--type=merge", "-p", f'{{"spec":{{"powerState":"{state}"}}}}')
        self._kubectl("wait", f"gpuvm/{name}", "--for=condition=Ready", PATIENCE)
        shown = {"Stopped": "PoweredOff"}.get(state, state)
        self._until(lambda: self._reason(BUILDER) == shown, f"the view to show {name} as {shown}")

    def _reason(self, key: Key) -> str:
        return self.rows[key].reason if key in self.rows else ""

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
        news = [watch.read() for watch in self._watches]
        if any(news):
            objects = [watch.objects[name] for watch in self._watches for name in sorted(watch.objects)]
            self.rows = {shown.key: shown for shown in map(view.row, objects)}
        if self._watches:
            self._screen.show(self.rows)


def make_secret(stage: Stage) -> tuple[str, ...]:
    """What follows kubectl to make the Secret of the account."""
    return ("create", "secret", "generic", SECRET, f"--from-file=apikey={stage.key_file}")
