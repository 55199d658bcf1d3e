"""The guard of an uninstall, against an apiserver with as much sense as it needs."""

from __future__ import annotations

import copy

import pytest

from gpucloud.cli.operations import uninstall as module
from gpucloud.cli.operations.uninstall import Left, NotDoneError, Policy, Uninstall, UninstallClient
from gpucloud.engine.kube.errors import KubeError
from support.kubeserver import Answering, NoConnection

PLURALS = {
    "GpuVM": "gpuvms",
    "GpuVpc": "gpuvpcs",
    "GpuSnapshot": "gpusnapshots",
    "GpuHost": "gpuhosts",
    "GpuCloudAccount": "gpucloudaccounts",
}


class Ticking:
    """Each reading is a second later, so that a wait without end ends."""

    def __init__(self):
        self.now = 0.0

    def mono(self):
        self.now += 1
        return self.now

    def wall(self):
        raise AssertionError("durations are monotonic")


class Objects:
    """The objects of a cluster, and an operator that lets go of a deleted one after some looks."""

    def __init__(self, *bodies, looks=1, blocked=()):
        self.bodies = list(bodies)
        self.looks = looks
        self.blocked = set(blocked)
        self.sent = []
        self.fails = []
        self.undefined = set()
        self.denied = set()
        self.seen_in = []

    async def resources(self, plural, namespaces):
        self.seen_in.append(namespaces)
        self._may("list")
        if self.fails:
            raise self.fails.pop(0)
        if plural in self.undefined:
            raise KubeError(404, "NotFound", "no such resource")
        for body in [item for item in self.bodies if PLURALS[item["kind"]] == plural]:
            yield {key: value for key, value in copy.deepcopy(body).items() if key != "kind"}  # a list's items bear no kind
        self._let_go(plural)

    async def serves(self, plural):
        return plural not in self.undefined

    def _let_go(self, plural):
        for body in [item for item in self.bodies if PLURALS[item["kind"]] == plural]:
            if "deletionTimestamp" in body["metadata"] and body["metadata"]["name"] not in self.blocked:
                body["looks"] = body.get("looks", 0) + 1
                if body["looks"] >= self.looks:
                    self.bodies.remove(body)

    def _find(self, plural, meta):
        for body in self.bodies:
            if PLURALS[body["kind"]] == plural and body["metadata"]["name"] == meta["name"]:
                if body["metadata"]["uid"] != meta["uid"]:
                    raise KubeError(409, "Conflict", "another of this name")
                return body
        raise KubeError(404, "NotFound", "gone")

    def _may(self, verb):
        if verb in self.denied:
            raise KubeError(403, "Forbidden", f"may not {verb}")

    async def delete(self, plural, meta):
        self._may("delete")
        self.sent.append(("delete", plural, meta["name"]))
        self._find(plural, meta)["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    async def retain(self, plural, meta):
        self._may("patch")
        self.sent.append(("retain", plural, meta["name"]))
        self._find(plural, meta).setdefault("spec", {})["deletion"] = {"policy": "Retain"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(module, "POLL_SECONDS", 0.0)


def body(kind, name, **more):
    ready = {"type": "Ready", "status": "True", "reason": "Running", "message": "It runs."}
    meta = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    return {"kind": kind, "metadata": meta, "spec": {}, "status": {"conditions": [ready]}, **more}


def guard(kube, namespaces=()):
    return Uninstall(kube, namespaces, Ticking())


def told(_text):
    """Nobody listens."""


async def test_what_lives_is_named_with_its_own_words():
    kube = Objects(body("GpuVM", "train"), body("GpuCloudAccount", "default", status=None))
    assert await guard(kube).left() == (
        Left("GpuVM", "team", "train", "Running", "It runs."),
        Left("GpuCloudAccount", "team", "default", "", ""),
    )
    assert kube.sent == [], "to look changes nothing"


async def test_only_the_given_namespaces_are_looked_at():
    kube = Objects()
    await guard(kube, ("a", "b")).left()
    assert set(kube.seen_in) == {("a", "b")}


async def test_where_nothing_is_defined_nothing_lives():
    kube = Objects()
    kube.undefined = set(PLURALS.values())
    assert await guard(kube).left() == ()


async def test_a_definition_that_goes_between_the_look_and_the_deletion_stops_nothing():
    """Somebody deletes the definitions meanwhile: the next look tells that nothing is left."""

    class Undefining(Objects):
        async def delete(self, plural, _meta):
            self.undefined = set(PLURALS.values())
            raise KubeError(404, "NoDefinition", f"the apiserver does not know {plural}")

    assert await guard(Undefining(body("GpuVM", "train"))).clear(Policy.DRAIN, 100, told) == ()


async def test_that_it_may_not_list_is_no_empty_list():
    kube = Objects()
    kube.fails = [KubeError(403, "Forbidden", "no")]
    with pytest.raises(KubeError, match="403"):
        await guard(kube).left()


async def test_an_answer_that_is_no_list_is_no_empty_list():
    """As of a proxy that asks for a login: the uninstall went on while VMs were there."""
    kube = UninstallClient(NoConnection, transport=Answering(200, ""))
    with pytest.raises(NotDoneError, match="could not be listed: the answer is not a list"):
        await guard(kube).left()


@pytest.mark.parametrize(
    ("policy", "retained", "why"),
    [
        (Policy.DRAIN, [], "as people delete them"),
        (Policy.RETAIN, ["gpuvms", "gpuvpcs", "gpusnapshots"], "each spec says so before; the others destroy nothing"),
    ],
)
async def test_everything_is_let_go_of_and_waited_for(policy, retained, why):
    kube = Objects(*(body(kind, kind.lower()) for kind in PLURALS), looks=3)
    assert await guard(kube).clear(policy, 60, told) == ()
    assert [plural for verb, plural, _ in kube.sent if verb == "retain"] == retained, why
    assert sorted(plural for verb, plural, _ in kube.sent if verb == "delete") == sorted(PLURALS.values())
    for plural in retained:
        sent = [verb for verb, of, _ in kube.sent if of == plural]
        assert sent == ["retain", "delete"], "never the other way round: it would be destroyed"


async def test_what_is_going_already_is_still_retained():
    kube = Objects(body("GpuVM", "train"), looks=2)
    kube.bodies[0]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert await guard(kube).clear(Policy.RETAIN, 60, told) == ()
    assert kube.sent == [("retain", "gpuvms", "train")]


async def test_what_takes_the_final_snapshot_of_a_vm_goes_after_it():
    """The operator made it for the VM that is drained; without it the operator would make another one, and so on."""
    taker = body("GpuSnapshot", "train-final")
    taker["metadata"]["annotations"] = {"gpucloud.dev/final-snapshot-of": "uid-train"}
    kube = Objects(taker, body("GpuSnapshot", "nightly"), body("GpuVM", "train"), looks=3)
    vms = []

    class Watched(list):
        def append(self, call):
            super().append(call)
            vms.append((call[2], [item["metadata"]["name"] for item in kube.bodies if item["kind"] == "GpuVM"]))

    kube.sent = Watched()
    assert await guard(kube).clear(Policy.DRAIN, 60, told) == ()
    assert sorted(vms) == [("nightly", ["train"]), ("train", ["train"]), ("train-final", [])]


async def test_what_comes_meanwhile_goes_too():
    kube = Objects(body("GpuVM", "train"), looks=2)
    said = []

    def say(text):
        said.append(text)
        if len(said) == 1:
            kube.bodies.append(body("GpuVM", "late"))

    assert await guard(kube).clear(Policy.DRAIN, 60, say) == ()
    assert ("delete", "gpuvms", "late") in kube.sent
    assert said[:2] == ["1 still there", "2 still there"]


RETAINED, DELETED = {"deletion": {"policy": "Retain"}}, {"deletion": {"policy": "Delete"}}
STAYING = [
    (body("GpuVM", "x", spec=RETAINED), True, "its owner wants to keep it"),
    (body("GpuSnapshot", "x", spec=RETAINED), True, "its owner wants to keep it"),
    (body("GpuVpc", "x", spec=RETAINED), True, "its owner wants to keep it"),
    (body("GpuVpc", "x", status={"adopted": True}), True, "it was there before, and nothing is said of it"),
    (body("GpuVM", "x", status={"adopted": True}), True, "it was there before, too"),
    (body("GpuVpc", "x", status={"adopted": True}, spec=DELETED), False, "adopted, and its owner wants it gone"),
    (body("GpuVpc", "x", status={"adopted": False}), False, "made for this object"),
    (body("GpuVM", "x", spec=DELETED), False, "destroyed, as it says"),
    (body("GpuVM", "x", spec={"deletion": None}, status=None), False, "destroyed, since nothing is said"),
    (body("GpuCloudAccount", "x"), False, "it stands for nothing in the cloud"),
]


@pytest.mark.parametrize(("one", "stays", "why"), STAYING, ids=[f"{row[0]['kind']}: {row[2]}" for row in STAYING])
async def test_a_drain_tells_what_it_leaves_in_the_cloud(one, stays, why):
    said = []
    assert await guard(Objects(one)).clear(Policy.DRAIN, 60, said.append) == ()
    expected = [f"{module.STAYING}\n  {one['kind']} team/x"] if stays else []
    assert [text for text in said if "still there" not in text] == expected, why


async def test_it_is_told_before_anything_is_deleted_all_of_it_and_once():
    kube = Objects(*(body("GpuVM", f"vm-{number}", spec=RETAINED) for number in range(40)), looks=3)
    said = []

    def say(text):
        if text.startswith(module.STAYING):
            said.append((text, list(kube.sent)))

    assert await guard(kube).clear(Policy.DRAIN, 60, say) == ()
    ((text, sent),) = said
    assert sent == []
    assert len(text.splitlines()) == 41, "afterwards nobody knows them, so none is left out"


async def test_what_is_retained_while_the_drain_waits_is_told_too():
    kube = Objects(body("GpuVM", "stuck"), looks=3)
    said = []

    def say(text):
        said.append(text)
        kube.bodies[0]["spec"] = RETAINED

    assert await guard(kube).clear(Policy.DRAIN, 60, say) == ()
    assert said == ["1 still there", f"{module.STAYING}\n  GpuVM team/stuck"]


async def test_to_retain_says_by_its_name_that_everything_stays():
    said = []
    assert await guard(Objects(body("GpuVM", "train", spec=RETAINED))).clear(Policy.RETAIN, 60, said.append) == ()
    assert said == ["1 still there"]


async def test_when_the_time_is_over_it_says_what_is_left():
    kube = Objects(body("GpuVM", "train"), body("GpuVM", "held"), blocked={"held"})
    left = await guard(kube).clear(Policy.DRAIN, 10, told)
    assert [item.name for item in left] == ["held"]


async def test_another_of_the_same_name_is_not_deleted_for_it():
    kube = Objects(body("GpuVM", "train"))
    real, kube.delete = kube.delete, None

    async def replaced_before(plural, meta):
        kube.bodies[0]["metadata"]["uid"] = "uid-other"
        kube.delete = real
        await real(plural, meta)

    kube.delete = replaced_before
    assert await guard(kube).clear(Policy.DRAIN, 60, told) == ()
    assert kube.sent.count(("delete", "gpuvms", "train")) == 2, "refused by its UID, then seen as what it is"


@pytest.mark.parametrize("status", [0, 429, 503])
async def test_a_break_of_the_apiserver_is_waited_out(status):
    kube = Objects(body("GpuVM", "train"))
    kube.fails = [KubeError(status, "Away", "no answer")] * 3
    assert await guard(kube).clear(Policy.DRAIN, 60, told) == ()


async def test_but_not_for_ever():
    kube = Objects(body("GpuVM", "train"))
    kube.fails = [KubeError(0, "Away", "no answer")] * 1000
    with pytest.raises(KubeError):
        await guard(kube).clear(Policy.DRAIN, 10, told)


async def test_a_missing_right_is_said_at_once():
    kube = Objects(body("GpuVM", "train"))
    kube.fails = [KubeError(403, "Forbidden", "no")]
    with pytest.raises(KubeError, match="403"):
        await guard(kube).clear(Policy.DRAIN, 60, told)


ALL = "kubectl get gpuvms.gpucloud.dev --all-namespaces"
ONE = "kubectl get gpuvms.gpucloud.dev/train --namespace=team --output=yaml"


@pytest.mark.parametrize(
    ("verb", "policy", "said", "command"),
    [
        ("list", Policy.DRAIN, "gpuvms could not be listed: 403 Forbidden: may not list", ALL),
        ("delete", Policy.DRAIN, "GpuVM team/train could not be deleted: 403 Forbidden: may not delete", ONE),
        ("patch", Policy.RETAIN, "GpuVM team/train could not be set to Retain: 403 Forbidden: may not patch", ONE),
        ("delete", Policy.RETAIN, "GpuVM team/train could not be deleted: 403 Forbidden: may not delete", ONE),
    ],
)
async def test_it_says_what_could_not_be_done_in_whose_words_and_how_to_look(verb, policy, said, command):
    kube = Objects(body("GpuVM", "train"))
    kube.denied = {verb}
    with pytest.raises(KubeError) as failed:
        await guard(kube).clear(policy, 60, told)
    assert str(failed.value) == f"{said}. Correct that, then run it again. To look: {command}"


class Wire(UninstallClient):
    """What would be sent."""

    def __init__(self):
        super().__init__(lambda: None)
        self.sent = []

    async def call(self, method, path, body=None, **more):
        self.sent.append((method, path, body, more.get("content_type")))


async def test_what_is_sent_names_the_uid_so_that_no_other_is_met():
    wire, meta = Wire(), {"namespace": "team", "name": "train", "uid": "u-1", "resourceVersion": "7"}
    path = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/train"
    await wire.delete("gpuvms", meta)
    await wire.retain("gpuvms", meta)
    change = {"metadata": {"uid": "u-1"}, "spec": {"deletion": {"policy": "Retain"}}}
    assert wire.sent == [
        ("DELETE", path, {"preconditions": {"uid": "u-1"}}, None),
        ("PATCH", path, change, "application/merge-patch+json"),
    ]
