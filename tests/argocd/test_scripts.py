"""Argo CD's scripts for our kinds, where only what production offers is open, over objects that a real operator has written."""

from __future__ import annotations

import pytest
import yaml
from lupa.lua51 import LuaError

import argocd
from gpucloud.reconcile import pause
from support import argo
from support.manifests import gpuvm

KINDS = ("GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount")
FIXTURES = [
    (kind, test["inputPath"], test["healthStatus"])
    for kind in KINDS
    for test in yaml.safe_load(argo.of(kind, "health_test.yaml").read_text())["tests"]
]


def an_object(*conditions, kind="GpuVM", generation=2, observed=2, **meta):
    status = {"conditions": [dict(zip(("type", "status", "reason", "message"), one, strict=True)) for one in conditions]}
    return {
        "kind": kind,
        "metadata": {"name": "train", "namespace": "team", "generation": generation, **meta},
        "spec": {},
        "status": status | ({} if observed is None else {"observedGeneration": observed}),
    }


@pytest.mark.parametrize(("kind", "path", "wanted"), FIXTURES, ids=[f"{kind} {path}" for kind, path, _ in FIXTURES])
def test_what_an_operator_wrote_is_judged_as_listed(kind, path, wanted):
    item = yaml.safe_load(argo.of(kind, path).read_text())
    assert argo.health(item) == wanted


def test_every_verdict_has_a_fixture():
    for kind in KINDS:
        verdicts = {wanted["status"] for of_kind, _, wanted in FIXTURES if of_kind == kind}
        assert verdicts == {"Healthy", "Progressing", "Degraded"}, kind


GRANT = "Grant the credential this permission; the operator tries again every 5 minutes."


def said(of_kind, path):
    """The object, and each message in its status."""
    item = yaml.safe_load(argo.of(of_kind, path).read_text())
    return item, [one["message"] for one in item["status"].get("conditions", ())]


@pytest.mark.parametrize(("kind", "path", "wanted"), FIXTURES, ids=[f"{kind} {path}" for kind, path, _ in FIXTURES])
def test_a_fixture_has_the_words_of_today(kind, path, wanted):
    """Who learns from them what Argo CD will show reads the same from the operator."""
    item, messages = said(kind, path)
    meta = item["metadata"]
    paused = pause.message(meta.get("annotations", {}), kind, meta["namespace"], meta["name"])
    for words in [*messages, wanted["message"]]:
        assert paused in words or "Paused by" not in words
        assert GRANT in words or "Grant the credential" not in words


READY = ("Ready", "True", "Running", "The VM is running.")
ROWS = [
    (an_object(READY), "Healthy", "Running: The VM is running.", "the plain case"),
    (an_object(("Ready", "True", "PoweredOff", "Off.")), "Healthy", "PoweredOff: Off.", "off as asked holds up no wave"),
    (an_object(READY, observed=1), "Progressing", "Waiting for the operator to see generation 2", "an edit was not seen yet"),
    (an_object(observed=-1), "Progressing", "Waiting for the operator to see generation 2", "as the schema's default has it"),
    (an_object(observed=None), "Progressing", "Waiting for the operator", "no condition at all"),
    (an_object(READY, ("Stalled", "True", "Ambiguous", "Two.")), "Degraded", "Ambiguous: Two.", "Stalled decides"),
    (an_object(READY, ("Stalled", "False", "Fine", "No.")), "Healthy", "Running: The VM is running.", "False is not standing"),
    (an_object(("Ready", "Unknown", "Paused", "Held.")), "Progressing", "Paused: Held.", "not Ready, and nothing to be done"),
    (an_object(("Reconciling", "True", "Creating", "Soon.")), "Progressing", "Creating: Soon.", "under way"),
]


@pytest.mark.parametrize(("item", "status", "message", "why"), ROWS, ids=[row[3] for row in ROWS])
@pytest.mark.parametrize("kind", KINDS)
def test_health(item, status, message, why, kind):
    assert argo.health({**item, "kind": kind}) == {"status": status, "message": message}, why


def test_a_condition_of_an_older_generation_is_not_believed():
    item = an_object(READY)
    item["status"]["conditions"][0]["observedGeneration"] = 1
    assert argo.health(item)["status"] == "Progressing"


def test_an_object_without_a_status_waits():
    item = an_object(READY)
    del item["status"]
    assert argo.health(item) == {"status": "Progressing", "message": "Waiting for the operator"}


@pytest.mark.parametrize("call", ['string.format("%d", 1)', '("x"):upper()', "math.floor(1)", 'require("io")', "os.exit()"])
def test_nothing_else_is_open_here(call, tmp_path):
    script = tmp_path / "health.lua"
    script.write_text(f"return {call}")
    with pytest.raises(LuaError):
        argo.run(script, an_object(READY))


AVAILABLE = [
    ({}, {}, {"stop", "restart", "snapshot"}, "running is the default"),
    ({"powerState": "Running"}, {}, {"stop", "restart", "snapshot"}, "running"),
    ({"powerState": "Stopped"}, {}, {"start", "snapshot"}, "off"),
    ({}, {"deletionTimestamp": "2026-01-02T03:04:05Z"}, set(), "going"),
]


@pytest.mark.parametrize(("spec", "meta", "enabled", "why"), AVAILABLE, ids=[row[3] for row in AVAILABLE])
def test_which_actions_are_offered(spec, meta, enabled, why):
    item = an_object(READY, **meta)
    item["spec"] = spec
    offered = argo.run(argo.of("GpuVM", "actions/discovery.lua"), item)
    assert {name for name, action in offered.items() if not action["disabled"]} == enabled, why
    assert all(action["displayName"] and action["iconClass"].startswith("fa fa-fw fa-") for action in offered.values())


def test_every_action_that_is_offered_exists():
    offered = argo.run(argo.of("GpuVM", "actions/discovery.lua"), an_object(READY))
    assert offered.keys() == {path.parent.name for path in argo.of("GpuVM", "actions").glob("*/action.lua")}


def act(action, item=None, **params):
    return argo.run(argo.of("GpuVM", f"actions/{action}/action.lua"), item or gpuvm(), params)


def test_actions_that_edit_change_that_and_nothing_else():
    item = gpuvm(powerState="Running")
    assert act("stop", item) == {**item, "spec": {**item["spec"], "powerState": "Stopped"}}
    assert act("start", act("stop", item)) == item
    stamp = {"gpucloud.dev/restart-requested-at": "2026-01-02T03:00:00Z"}
    assert act("restart", item) == {**item, "metadata": {**item["metadata"], "annotations": stamp}}
    kept = gpuvm(annotations={"team": "blue"})
    assert act("restart", kept)["metadata"]["annotations"] == {"team": "blue"} | stamp


@pytest.mark.parametrize(("params", "name"), [({}, "train-20260102-030000"), ({"name": "mine"}, "mine"), ({"name": ""}, None)])
def test_a_snapshot_is_made_beside_the_vm_and_is_nobodys_manifest(params, name):
    (made,) = act("snapshot", gpuvm(accountRef={"name": "research"}), **params)
    assert made["operation"] == "create"
    meta, spec = made["resource"]["metadata"], made["resource"]["spec"]
    assert meta["name"] == (name or "train-20260102-030000")
    assert spec == {"vmRef": {"name": "train"}, "accountRef": {"name": "research"}}
    assert meta["annotations"] == {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false",
    }


def test_all_kinds_are_judged_by_one_script():
    assert len({argo.of(kind).read_text() for kind in KINDS}) == 1


def test_the_patch_and_the_values_are_printed_from_the_scripts():
    assert argocd.PATCH.read_text() == argocd.patch(), "run: make argocd"
    assert argocd.VALUES.read_text() == argocd.values(), "run: make argocd"


def by_kustomize():
    return yaml.safe_load(argocd.PATCH.read_text())["data"]


def by_helm():
    return yaml.safe_load(argocd.VALUES.read_text())["configs"]["cm"]


@pytest.mark.parametrize("way", [by_kustomize, by_helm])
def test_what_argo_cd_reads_holds_each_script(way):
    data = way()
    assert data.keys() == {f"resource.customizations.health.gpucloud.dev_{kind}" for kind in KINDS} | {
        "resource.customizations.actions.gpucloud.dev_GpuVM"
    }
    assert {key: data[key] for key in data if ".health." in key} == {
        f"resource.customizations.health.gpucloud.dev_{kind}": argo.of(kind).read_text() for kind in KINDS
    }
    actions = yaml.safe_load(data["resource.customizations.actions.gpucloud.dev_GpuVM"])
    assert actions["discovery.lua"] == argo.of("GpuVM", "actions/discovery.lua").read_text()
    assert {one["name"]: one["action.lua"] for one in actions["definitions"]} == {
        name: argo.of("GpuVM", f"actions/{name}/action.lua").read_text() for name in ("start", "stop", "restart", "snapshot")
    }
