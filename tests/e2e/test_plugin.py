"""``kubectl gpucloud`` as its users run it: by kubectl, with their own rights, against a real apiserver, operator and cloud."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.cluster import OPERATOR_PODS
from support.kstatus import condition
from support.manifests import PUBLIC_KEY, gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import RBAC, USER
from support.pluginproc import BIN, FLAGS, ok
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

CONSOLE_RIGHTS = RBAC.parents[1] / "console-rbac.yaml"
SLOW = ("--timeout", "120s")
PASSWORD = "made-up-p4ssphrase"


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
    told = ok(plugin("wait", "gvm/train", "gsnap/before", "--for", "gone", *SLOW))
    assert len(re.findall(": gone|there is no such object", told)) == 2, "one may be gone before the first look"
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
    done = plugin("wait", "gca/default")
    assert (done.returncode, "failed: SecretDeleting: Secret 'cloud-credential' is being deleted" in done.stdout) == (3, True)
    here.apply(gpuvm("late"))
    done = plugin("wait", "gvm/late", *SLOW)
    wanted = (
        "GpuVM/late: failed: it waits in vain for GpuCloudAccount/default: SecretDeleting: Secret 'cloud-credential' is being"
    )
    assert (done.returncode, done.stdout.startswith(wanted)) == (3, True), done.stdout

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
    ok(plugin("wait", "gvm/late", *SLOW))
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
    assert f"create it again, corrected: kubectl delete gvm/train --namespace={here.namespace}; The same" in whole
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
    (line,) = process.logged("serving the console")
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
    assert "the apiserver forwards no port of pod 'op'" in done.stderr, done.stderr
    assert ("get and create on pods/portforward" in done.stderr) is refused, f"{why}: {done.stderr}"


def test_a_reader_sees_and_cannot_steer(here, plugin, person, operator):
    operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    viewer = person("viewer", rule("gpuvms,gpuvpcs,gpusnapshots,gpuhosts,gpucloudaccounts", "get", "list"))
    assert "GpuVM/train  Ready" in ok(plugin("status", kubeconfig=viewer))
    done = plugin("stop", "train", kubeconfig=viewer)
    assert (done.returncode, done.stderr.count("kubectl gpucloud: ")) == (1, 1)
    assert "Ask for the right to patch gpuvms.gpucloud.dev" in done.stderr
    done = plugin("doctor", kubeconfig=viewer)
    assert done.returncode == 0, done.stdout
    assert "You (system:serviceaccount:" in done.stdout
    assert "may not: create, patch, delete gpuvpcs" in done.stdout
    assert base64.b64encode(API_KEY.encode()).decode() not in done.stdout
