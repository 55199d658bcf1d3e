"""What programs read of each verb is what docs/reference/plugin-output.md says, by the keys of its documents."""

import ast
import json
import re
from pathlib import Path

import pytest

from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cli.plugin.verbs import adopt, cloud, orphans
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.cloud.queries import ClusterRecords, Records
from gpucloud.reconcile.naming import external_name
from support.newvm import OFFERED
from support.pluginworld import CREATED, a_body

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "plugin-output.md"
ROWS = {
    verb: shape
    for verbs, shape in re.findall(r"^\| (`.*?) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for verb in re.findall(r"`([\w-]+)`", verbs)
}
READING = sorted(name for name, verb in VERBS.items() if any(item.key == "output" for item in verb.takes))
TAG = "abcde"
ORPHAN = external_name("gone", "uid-of-what-is-gone", TAG)
# The words of each verb, after the verb.
WORDS = {
    "status": ["gvm/train"],
    "tree": ["gvm/train"],
    "logs": ["train"],
    "orphans": ["--install-tag", TAG],
    "adopt": ["gvm/old"],
}
WHOLE = {"manifests", "spec", "metadata"}  # objects of Kubernetes: their shape is that of their kind


class Source:
    """An account that sees three VMs without objects: one of this installation, and one that is being stopped."""

    def boot_log(self, _vm, _limit):
        return "booting"

    def offers(self, _cluster):
        return OFFERED

    def records(self, **_hosts):
        vms = (a_record("old"), a_record(ORPHAN), a_record("stopping", status="PENDING"))
        return Records(clusters=(ClusterRecords(cluster="Msc1", vms=vms),))


def a_record(name, status="ONLINE"):
    return VmRecord(id=name, namespace="acme", configuration="A100_40GB_PCIe_1x", status=status)


@pytest.fixture
def document(api, plugin, monkeypatch):
    """A function from a verb to what it prints for programs, in a world where it has something to tell."""
    for module in (adopt, cloud, orphans):
        monkeypatch.setattr(module, "source_of", lambda *_: Source())
    spec = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpcRef": {"name": "lab"}}
    api.add(
        a_body("GpuVM", "train", "Working", "DependencyNotReady", spec=spec, status={"vmId": "train-1"}),
        a_body("GpuVpc", "lab", "Stalled", "Rejected", spec={"cluster": "Msc1", "name": "acme-lab"}),
        a_body("GpuCloudAccount", "default", reason="Connected", status={"tenant": "acme"}),
    )
    event = {"type": "Normal", "reason": "Created", "message": "So it is.", "lastTimestamp": CREATED}
    api.canned["/api/v1/namespaces/team/events"] = {"items": [{"metadata": {"name": "train.1"}, **event}]}
    lease = {"metadata": {"name": "gpucloud-operator"}, "spec": {"holderIdentity": "op-1_1", "renewTime": CREATED}}
    api.canned["/apis/coordination.k8s.io/v1/namespaces/gpucloud-system/leases"] = {"items": [lease]}

    def printed(verb):
        _, out, err = plugin(verb, *WORDS.get(verb, []), "-o", "json")
        assert out, err
        return json.loads(out)

    return printed


def keys(found):
    """All keys of a document, those of its parts included."""
    if isinstance(found, list):
        return set().union(*map(keys, found))
    if not isinstance(found, dict):
        return set()
    return set(found).union(*(keys(value) for key, value in found.items() if key not in WHOLE))


def test_every_verb_that_reads_has_a_row():
    assert sorted(ROWS) == READING


@pytest.mark.parametrize("verb", READING)
def test_the_row_of_a_verb_has_the_keys_of_its_document(verb, document):
    found = keys(document(verb))
    told = {word.removesuffix("[]") for word in re.findall(r"`([A-Za-z]+(?:\[\])?)`", ROWS[verb])}
    assert found
    assert (sorted(found - told), sorted(told - found)) == ([], [])


OF_WORDS_ONLY = {"test_completion.py", "test_habits.py", "test_usage.py", Path(__file__).name}  # they run no verb for its work


def first_words():
    """What the tests call the plugin with: the first word of a call, and of a row that a call takes."""
    for path in Path(__file__).parent.glob("test_*.py"):
        if path.name not in OF_WORDS_ONLY:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Call(args=[ast.Constant(value=str(word)), *_]) if ast.unparse(node.func) == "plugin":
                        yield word
                    case (
                        ast.List(elts=[ast.Constant(value=str(word)), *_]) | ast.Tuple(elts=[ast.Constant(value=str(word)), *_])
                    ):
                        yield word


def test_every_verb_is_called_by_some_test():
    assert sorted(set(VERBS) - set(first_words())) == []
