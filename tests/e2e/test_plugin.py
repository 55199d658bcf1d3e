"""``kubectl gpucloud`` as its users run it: by kubectl, with their own rights, against a real apiserver, operator and cloud."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.cluster import OPERATOR_PODS
from support.kstatus import condition, ready
from support.manifests import PUBLIC_KEY, gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import RBAC, USER
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

BIN = Path(sys.executable).parent
CONSOLE_RIGHTS = RBAC.parents[1] / "console-rbac.yaml"
FLAGS = {"poll_steady_seconds": 0.5, "create_grace_seconds": 1, "cloud_qps": 500, "cloud_burst": 100}
SLOW = ("--timeout", "120s")
PASSWORD = "made-up-p4ssphrase"


@pytest.fixture
def plugin(control_plane, namespace):
    """A function from words to the finished process; ``kubeconfig`` and ``env`` say as whom, and with what around."""

    def run(*words, kubeconfig=control_plane.kubeconfig, ns=namespace, **env):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GPUCLOUD_", "COLUMNS"))}
        path = os.pathsep.join([str(BIN), str(control_plane.kubectl.parent), inherited.get("PATH", "")])
        before, after = (words, ()) if "--" not in words else (words[: words.index("--")], words[words.index("--") :])
        done = subprocess.run(  # noqa: S603  # our own command
            [str(control_plane.kubectl), "gpucloud", *before, *(("-n", ns) if ns else ()), *after],
            env={**inherited, "PATH": path, "KUBECONFIG": str(kubeconfig), **env},
            capture_output=True, text=True, timeout=180, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        assert "\x1b" not in done.stdout + done.stderr, "no colours and no live view in a pipe"
        return done

    return run


@pytest.fixture
def person(control_plane, here, namespace, tmp_path):
    """A factory of kubeconfigs: somebody who may do what is listed in the test's namespace, and nothing else."""

    def make(name, *rules):
        here.ok("create", "serviceaccount", name)
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name}, "rules": list(rules)}
        here.apply(role)
        here.ok("create", "rolebinding", name, f"--role={name}", f"--serviceaccount={namespace}:{name}")
        config = yaml.safe_load(Path(control_plane.kubeconfig).read_text())
        config["users"] = [{**entry, "user": {"token": here.ok("create", "token", name).strip()}} for entry in config["users"]]
        path = tmp_path / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    return make


def rule(resources, *verbs, group="gpucloud.dev"):
    return {"apiGroups": [group], "resources": resources.split(","), "verbs": list(verbs)}


def ok(done):
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def objects(done):
    return {f"{item['kind']}/{item['name']}": item for item in json.loads(done.stdout)["objects"]}


def test_the_life_of_a_vm_by_the_plugin_alone(here, plugin, sim, operator):
    operator(**FLAGS)
    assert "There are no GPU cloud objects" in ok(plugin("status"))
    here.apply(gpuvpc("lab"))
    here.apply(gpuvm("train", vpc=None, vpcRef={"name": "lab"}))
    assert "GpuVM/train: ready" in ok(plugin("wait", "gvm/train", "gvpc/lab", *SLOW))
    assert "GpuSnapshot/before: ready" in ok(plugin("snapshot", "train", "--name", "before", "--wait", *SLOW))
    ok(plugin("stop", "train", "--wait", *SLOW))
    ok(plugin("start", "train", "--wait", *SLOW))
    ok(plugin("restart", "train", "--wait", *SLOW))
    ok(plugin("pause", "train", "gvpc/lab"))
    done = plugin("stop", "train", "--wait")
    assert (done.returncode, "kubectl gpucloud resume gvm/train" in done.stderr) == (1, True)
    ok(plugin("resume", "train", "gvpc/lab"))
    assert [len(sim.committed(operation)) for operation in ("StopServer", "StartServer")] == [2, 2]
    found = objects(plugin("status", "-o", "json"))
    assert {name: item["standing"] for name, item in found.items()} == dict.fromkeys(
        ("GpuVpc/lab", "GpuVM/train", "GpuSnapshot/before"), "Ready"
    )
    assert found["GpuSnapshot/before"]["parent"]["name"] == "train"
    shown = ok(plugin("status", "gvm/train", COLUMNS="80"))
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "Events of GpuVM/train" in shown
    assert "Requested " in shown
    address = found["GpuVM/train"]["ip"]
    assert ok(plugin("ssh", "train", "--print", "--", "-p", "22")) == f"ssh -l ubuntu {address} -p 22\n"
    here.ok("delete", "gsnap/before", "gvm/train", "--wait=false")
    assert ok(plugin("wait", "gvm/train", "gsnap/before", "--for", "gone", *SLOW)).count(": gone") == 2
    assert sim.vms() == []


@pytest.mark.parametrize("data", [{"apikey": API_KEY}, {"username": "ann", "password": PASSWORD}], ids=["key", "login"])
def test_the_commands_that_doctor_prints_end_the_deletion_of_a_secret_in_use(data, here, plugin, sim, operator, control_plane):
    operator(**FLAGS)
    here.apply([secret(**data), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers"), what="the Secret to be held")
    held = here.get("secret", "cloud-credential")["data"]
    here.delete("secret", "cloud-credential", wait=False)
    reach(here, "gpucloudaccount", "default", "True/SecretDeleting", says="It stays for GpuVM 'train'.")
    told = eventually(  # it is posted after the status
        lambda: [event["type"] for event in here.list("events.events.k8s.io") if event["reason"] == "SecretDeleting"],
        what="the event of the deletion",
    )
    assert told == ["Warning"]

    done = plugin("doctor", COLUMNS="80")
    assert (done.returncode, "1 VM needs it: GpuVM/train." in " ".join(done.stdout.split())) == (3, True)
    commands = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("kubectl ")]
    assert len(commands) == 1
    path = os.pathsep.join([str(control_plane.kubectl.parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "KUBECONFIG": str(control_plane.kubeconfig)}
    here.apply(secret("cloud-credential-2", apikey="another-account-s"))
    assert subprocess.run(["/bin/sh", "-c", *commands], env=environ, check=False, timeout=60).returncode  # noqa: S603
    used = here.get("gpucloudaccount", "default")["spec"]["secretRef"]["name"]
    assert used == "cloud-credential", "a Secret that was there already is not put to use"
    here.delete("secret", "cloud-credential-2")
    subprocess.run(["/bin/sh", "-c", *commands], env=environ, check=True, timeout=60)  # noqa: S603 - as it is pasted
    eventually(lambda: here.get("secret", "cloud-credential") is None, 60, "the deletion to end")
    reach(here, "gpucloudaccount", "default", "True/Connected", says="'cloud-credential-2'")
    assert here.get("secret", "cloud-credential-2")["data"] == held
    here.apply(gpuvm("late"))
    reach(here, "gpuvm", "late", "True/Running")
    assert plugin("doctor").returncode == 0
    here.ok("delete", "gpuvm", "--all", "--timeout=60s")
    sim.assert_empty()


def test_what_is_wrong_is_told_whole_and_with_who_waits(here, plugin, sim, operator, control_plane):
    operator(**FLAGS)
    here.apply(gpuvm("train", configuration="no-such-configuration"))
    here.apply(gpusnapshot("before"))
    reach(here, "gpusnapshot", "before", "False/DependencyNotReady")
    whole = condition(reach(here, "gpuvm", "train", "False/Rejected"), "Ready")["message"]
    assert whole.endswith(f": kubectl gpucloud retry gvm/train --namespace={here.namespace}")
    done = plugin("wait", "gvm/train", "--timeout", "1h")
    assert done.returncode == 3
    assert whole in done.stdout
    done = plugin("status")
    assert done.returncode == 3
    assert whole in done.stdout
    assert "1 waits for it: GpuSnapshot/before" in done.stdout
    assert "The cloud refuses the request" in ok(plugin("explain", "rejected", ns=None))
    orders = len(sim.calls("CreateServer"))
    done = plugin("retry", "gvm/train", "--wait", *SLOW)
    assert (done.returncode, whole in done.stdout) == (3, True), "it waited until the cloud had refused it again"
    assert len(sim.calls("CreateServer")) > orders
    ok(plugin("retain", "gvm/train"))
    assert here.get("gpuvm", "train")["spec"]["deletion"]["policy"] == "Retain"
    assert "Kubernetes: v1." in ok(plugin("version"))
    here.ok("annotate", "gvm/train", "gpucloud.dev/pasued=true")
    done = plugin("doctor", "-o", "json")
    findings = {item["check"]: item for item in json.loads(done.stdout)["findings"]}
    assert done.returncode == 3
    assert set(findings) == {"stalled", "annotations", "operator"}
    assert findings["operator"]["severity"] == "note", "a single operator has no Lease, and is well"
    assert "gpucloud.dev/paused" in findings["annotations"]["message"]
    assert plugin("wait", "gvm/train", "--for", "gone", "--timeout", "0").returncode == 4
    assert plugin("wait", "gvm/none").returncode == 1
    assert plugin("wait", "pod/train").returncode == 2
    completed = subprocess.run(  # noqa: S603  # our own command
        [BIN / "kubectl_complete-gpucloud", "stop", "-n", here.namespace, ""],
        env={**os.environ, "KUBECONFIG": str(control_plane.kubeconfig)}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert completed.stdout == "train\n:4\n"


def test_a_report_holds_what_happened_and_no_secret(here, plugin, operator, tmp_path):
    operator(api_key_file=None, **FLAGS)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm("train"), gpuvm("wrong", configuration="no-such")])
    reach(here, "gpuvm", "train", "True/Running")
    reach(here, "gpuvm", "wrong", "False/Rejected")
    path = tmp_path / "report.tar.gz"
    assert str(path) in ok(plugin("report", "--file", str(path)))
    with tarfile.open(path) as tar:
        files = {name.partition("/")[2]: tar.extractfile(name).read().decode() for name in tar.getnames()}
    whole = "".join(files.values())
    assert '"Rejected"' in files["objects.json"]
    assert "GpuVM/wrong" in files["events.json"]
    for private in (API_KEY, base64.b64encode(API_KEY.encode()).decode(), PUBLIC_KEY):
        assert private not in whole


def test_the_cloud_through_a_secret_that_the_user_may_read(here, plugin, sim, operator, tmp_path):
    operator(**FLAGS, install_tag="plug1")
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    here.apply(gpuvm())
    name = reach(here, "gpuvm", "train", "True/Running")["status"]["vmId"]
    sim.create_vpc("acme-theirs")
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    assert name in ok(plugin("logs", "train", "--limit", "3", **there))
    offers = json.loads(ok(plugin("offers", "--cluster", "Msc1", "-o", "json", **there)))["offers"]
    assert {"A100_40GB_PCIe_1x"} <= {item["configuration"] for item in offers}
    assert json.loads(ok(plugin("orphans", "--install-tag", "plug1", "-o", "json", **there)))["orphans"] == []
    key = tmp_path / "key.pub"
    key.write_text(gpuvm()["spec"]["sshKeys"][0])
    wanted = ("second", "-c", "A100_40GB_PCIe_1x", "--cluster", "msc1", "--vpc", "acme", "--ssh-key", str(key))
    printed = yaml.safe_load(ok(plugin("create", *wanted, **there)))
    here.ok("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(printed))
    assert "GpuVM/second: ready" in ok(plugin("create", *wanted, "--apply", "--wait", *SLOW, **there))
    assert "Did you mean 'A100" in plugin("create", "third", "-c", "A100", *wanted[3:], **there).stderr
    exported = plugin("export", "--kind", "gvpc", **there)
    manifests = [item for item in yaml.safe_load_all(ok(exported)) if item["spec"]["name"] == "acme-theirs"]
    here.apply(manifests)
    adopted = reach(here, "gpuvpc", "acme-theirs", "True/Adopted")
    assert adopted["status"]["adopted"] is True
    sim.fault(kind="status", operation="De*", status=500)
    here.ok("delete", "gvm/train", "--wait=false")
    eventually(lambda: sim.calls("DestroyServer"), what="the operator to have tried")  # its next try comes later
    here.ok("patch", "gvm/train", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
    gone(here, "gpuvm", "train")
    sim.clear_faults()
    done = plugin("orphans", "--install-tag", "plug1", **there)
    assert done.returncode == 3
    assert name in done.stdout
    done = plugin("export", "-o", "json", **there)
    assert name in {item["spec"].get("vmName") for item in json.loads(ok(done))["manifests"]}
    assert API_KEY not in done.stdout + done.stderr
    done = plugin("logs", "train")
    assert done.returncode == 1


def test_what_is_exported_is_adopted_and_nothing_is_changed(here, plugin, sim, operator):
    """A tenant full of things that nobody declared: applied as they are printed, all are Ready, and the cloud is only read."""
    sim.turn(snapshot_seconds=0.2, stop_seconds=0.2)
    sim.create_vm("old-trainer")
    sim.create_vm("Old_VM.2")
    sim.create_vpc("acme-lab")
    sim.force("old-trainer", "ONLINE")
    sim.create_snapshot("golden", "old-trainer")
    sim.force("Old_VM.2", "OFFLINE")
    before, last = sim.control("world"), sim.control("ledger")["last"]
    operator(**FLAGS)
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    reach(here, "gpucloudaccount", "default", "True/Connected")
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    exported = ok(plugin("export", "--cluster", "msc1", **there))
    here.ok("apply", "--validate=strict", "-f", "-", stdin=exported)
    manifests = list(yaml.safe_load_all(exported))
    reached = {}
    for item in manifests:
        kind, name = item["kind"].lower(), item["metadata"]["name"]
        is_ready = lambda kind=kind, name=name: ready(here.get(kind, name)).startswith("True/")  # noqa: E731 - of this one
        eventually(is_ready, what=f"{kind} {name} to be Ready")
        found = here.get(kind, name)
        assert (found["status"]["adopted"], found["status"]["deletionPolicy"]) == (True, "Retain")
        reached[f"{kind}/{name}"] = ready(found)
    assert reached == {
        "gpuvm/old-trainer": "True/Running",
        "gpuvm/old-vm-2": "True/PoweredOff",
        "gpusnapshot/golden": "True/Completed",
        "gpuvpc/acme": "True/Adopted",
        "gpuvpc/acme-lab": "True/Adopted",
    }
    assert ok(plugin("export", "--kind", "gvm", "-o", "json", **there)).count("vmName") == 0, "all have an object now"
    again = here.ok("apply", "-f", "-", stdin=exported)
    assert all(line.endswith(" unchanged") for line in again.splitlines())
    here.ok("delete", "--wait", "--timeout=60s", "-f", "-", stdin=exported)
    assert sim.control(f"ledger?since={last}&mutating=true")["entries"] == []
    assert names_of(sim.control("world")) == names_of(before)


def test_one_vm_is_adopted_by_its_name(here, plugin, sim, operator):
    operator(**FLAGS)
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    sim.create_vm("old-trainer")
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    printed = yaml.safe_load(ok(plugin("adopt", "old-trainer", **there)))
    assert (printed["spec"]["vmName"], printed["spec"]["adoption"]) == ("old-trainer", "Required")
    assert "created; it adopts the VM 'old-trainer'" in ok(plugin("adopt", "gvm/old-trainer", "--apply", **there))
    assert reach(here, "gpuvm", "old-trainer", "True/Running")["status"]["adopted"]
    again = plugin("adopt", "old-trainer", **there)
    assert (again.returncode, "no object stands for" in again.stderr) == (1, True)
    assert plugin("adopt", "gca/default", **there).returncode == 2


def names_of(world):
    return {
        kind: sorted(one["order"]["name"] if kind == "vms" else one["name"] for one in world[kind])
        for kind in ("vms", "snapshots", "vpcs")
    }


@pytest.fixture
def console_rights(kubectl):
    """What an operator with a console may do beside the rest."""
    kubectl.apply(CONSOLE_RIGHTS.read_text().replace("namespace: gpucloud-system", "namespace: default"))
    kubectl.run(
        "create", "clusterrolebinding", "console-of-the-tests", "--clusterrole=gpucloud-operator-console", f"--user={USER}"
    )


@pytest.mark.usefixtures("console_rights")
def test_the_cloud_through_the_operators_console(here, plugin, person, sim, operator, new_namespace):
    """Who may read the object gets its log without the Secret; who may not gets nothing, and the cloud is not asked."""
    process = operator(**FLAGS, console=True, console_port=0)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    (line,) = [item for item in process.logs() if item.get("event") == "serving the console"]
    there = {"GPUCLOUD_CONSOLE_URL": f"http://127.0.0.1:{line['port']}"}
    reader = person("reader", rule("gpuvms,gpucloudaccounts", "get", "list"))
    stranger = person("stranger", rule("gpucloudaccounts", "list"))
    assert "sshd listens on port 22" in ok(plugin("logs", "train", kubeconfig=reader, **there))
    assert "A100_40GB_PCIe_1x" in ok(plugin("offers", kubeconfig=reader, **there))
    asked = len(sim.calls("GetVirtualMachineBootLogs"))
    refused = plugin("logs", "train", kubeconfig=stranger, **there)
    assert (refused.returncode, len(sim.calls("GetVirtualMachineBootLogs"))) == (1, asked)
    other = new_namespace()
    here.apply(gpuvm("theirs"), ns=other)
    assert plugin("logs", "theirs", ns=other, kubeconfig=reader, **there).returncode == 1
    done = plugin("orphans", "--install-tag", "x1234", kubeconfig=reader, **there)
    assert done.returncode == 1, "all that an account sees is for who may read its Secret"
    token = yaml.safe_load(reader.read_text())["users"][0]["user"]["token"]
    assert process.stop() == 0  # all that it logs is there then
    assert token not in "\n".join(process.process.lines())


@pytest.fixture
def pod_of_an_operator(here):
    """As the apiserver shows one that runs; no node has it."""
    labels = dict(pair.split("=") for pair in OPERATOR_PODS.split(","))
    spec = {"containers": [{"name": "operator", "image": "registry.example/gpucloud-operator:0.1.0"}]}
    here.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "op", "labels": labels}, "spec": spec})
    here.ok("patch", "pod", "op", "--subresource=status", "--type=merge", "--patch", '{"status": {"phase": "Running"}}')


@pytest.mark.usefixtures("pod_of_an_operator")
@pytest.mark.parametrize(
    ("forward", "refused", "why"),
    [
        (None, False, "the documented Role: the apiserver looks for the pod's node, which is missing here"),
        (["create"], True, "a websocket is a GET"),
        (["get"], True, "and a creation of a way"),
    ],
    ids=["documented", "create", "get"],
)
def test_the_way_to_the_console_is_open_to_its_users(here, plugin, person, forward, refused, why):
    here.apply(gpuvm())
    (role,) = [item for item in yaml.safe_load_all(CONSOLE_RIGHTS.read_text()) if item["kind"] == "Role"]
    for item in role["rules"]:
        item["verbs"] = forward or item["verbs"] if item["resources"] == ["pods/portforward"] else item["verbs"]
    user = person("user", rule("gpuvms,gpucloudaccounts", "get", "list"), *role["rules"])
    done = plugin("logs", "train", "--operator-namespace", here.namespace, kubeconfig=user)
    assert "the operator's console does not answer" in done.stderr, done.stderr
    assert ("403" in done.stderr) is refused, f"{why}: {done.stderr}"


def test_a_reader_sees_and_cannot_steer(here, plugin, person, operator):
    operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    viewer = person("viewer", rule("gpuvms,gpuvpcs,gpusnapshots,gpuhosts,gpucloudaccounts", "get", "list"))
    assert "GpuVM/train  Ready" in ok(plugin("status", kubeconfig=viewer))
    done = plugin("stop", "train", kubeconfig=viewer)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "ask for the right" in done.stderr
    done = plugin("doctor", kubeconfig=viewer)
    assert done.returncode == 0, done.stdout
    assert "You (system:serviceaccount:" in done.stdout
    assert "may not: create, patch, delete gpuvpcs" in done.stdout
    assert base64.b64encode(API_KEY.encode()).decode() not in done.stdout
