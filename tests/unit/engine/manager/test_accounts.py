"""The whole engine: the operator's own account, accounts of namespaces, and their credentials."""

import asyncio

import pytest

from gpucloud.engine.cloud.account_session import EVIDENCE_SECONDS
from gpucloud.engine.cloud.configuration import credential
from gpucloud.engine.cloud.operator_account import INTERVAL_SECONDS as CREDENTIALS_SECONDS
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.naming import external_name
from gpucloud.settings import Credentials, SettingsError
from support.builders import KEY as PUBLIC_KEY
from support.builders import TAG, an_order
from support.enginerig import KEY, OURS, OWN, vm
from support.fakes import DOWN, GOING, NO_DEFINITION, SECRET_WORDS, a_resource, a_secret

pytestmark = pytest.mark.looptime


async def test_without_an_account_of_its_own_the_operator_waits_for_others(rig):
    it = await rig(credentials=Credentials())
    it.show("GpuVM")
    await asyncio.sleep(10)
    assert (it.ready(), it.cloud.calls) == ("NoAccount", [])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    await asyncio.sleep(10)
    assert it.ready() == "Creating"
    assert {key for key, _, _ in it.cloud.calls} == {KEY}
    assert it.status()["account"] == "default"


ACCOUNT = ("gpucloudaccounts", "team", "default")


async def test_an_account_applied_before_the_object_is_used_though_its_watch_shows_it_later(rig):
    """The watches of kinds are independent of each other: one `kubectl apply` of both must not buy on the operator's own."""
    it = await rig()
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.kube.unseen[ACCOUNT] = a_resource("GpuCloudAccount", "default", uid="u-default", version=1)
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(10)
    assert {key for key, _, _ in it.cloud.asked("CreateServer")} == {KEY}
    assert it.status()["account"] == "default"
    assert it.kube.looked_for.count(ACCOUNT) == 1


async def test_an_account_applied_with_an_edit_of_an_object_that_waited_is_used(rig):
    """It was read when the object was first seen, and was not there yet."""
    it = await rig()
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuVM", meta={"finalizers": [], "annotations": {"gpucloud.dev/paused": "true"}})
    await asyncio.sleep(60)
    assert it.kube.looked_for.count(ACCOUNT) == 1
    it.kube.unseen[ACCOUNT] = a_resource("GpuCloudAccount", "default", uid="u-default", version=1)
    it.show("GpuVM", meta={"finalizers": [], "generation": 2})
    await asyncio.sleep(10)
    assert {key for key, _, _ in it.cloud.asked("CreateServer")} == {KEY}
    assert it.status()["account"] == "default"


async def test_an_account_applied_with_the_keys_that_an_object_waited_for_is_used(rig):
    """Nothing shows the object anew: the operator polls the ConfigMap."""
    it = await rig()
    keys = {"configMapKeyRef": {"name": "team-keys", "key": "authorized_keys"}}
    it.show("GpuVM", meta={"finalizers": []}, spec={"sshKeys": None, "sshKeysFrom": [keys]})
    await asyncio.sleep(60)
    assert it.ready() == "SSHKeysNotFound"
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.kube.unseen[ACCOUNT] = a_resource("GpuCloudAccount", "default", uid="u-default", version=1)
    it.kube.objects["configmaps", "team", "team-keys"] = {"authorized_keys": PUBLIC_KEY}
    await asyncio.sleep(60)
    assert {key for key, _, _ in it.cloud.asked("CreateServer")} == {KEY}


async def test_an_account_that_was_deleted_after_it_was_read_is_not_there(rig):
    it = await rig()
    body = a_resource("GpuCloudAccount", "default", uid="u-default", version=1)
    it.engine.on_event("GpuCloudAccount", "DELETED", body)
    it.kube.unseen[ACCOUNT] = body
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(10)
    assert it.status()["account"] == OWN_ACCOUNT


async def test_objects_that_come_together_share_the_read_and_later_ones_read_anew(rig):
    it = await rig()
    for number in range(20):
        it.show("GpuVM", f"many-{number}", meta={"finalizers": []})
    await asyncio.sleep(10)
    assert it.kube.looked_for.count(ACCOUNT) == 1
    it.show("GpuVM", "late", meta={"finalizers": []})
    await asyncio.sleep(200)
    assert it.kube.looked_for.count(ACCOUNT) == 2, "one more, and none for objects whose status names their account"


@pytest.mark.parametrize("answer", [DOWN, NO_DEFINITION])
async def test_an_apiserver_that_does_not_tell_the_account_delays_the_order_and_not_for_good(rig, answer):
    """An apiserver that does not serve the accounts' definition yet has not said that the VM's object was deleted."""
    it = await rig()
    it.kube.unseen[ACCOUNT] = answer
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(20)
    assert it.cloud.asked("CreateServer") == []
    del it.kube.unseen[ACCOUNT]
    await asyncio.sleep(60)
    assert len(it.cloud.asked("CreateServer")) == 1


async def test_a_namespace_that_the_own_account_does_not_serve_gets_none(rig):
    it = await rig(own_account_namespace=("others",))
    it.show("GpuVM", status={"account": OWN_ACCOUNT})
    await asyncio.sleep(10)
    assert it.ready() == "NoAccount"
    assert it.cloud.asked("CreateServer") == []


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_text(OWN)
    monkeypatch.setenv("GPUCLOUD_API_KEY_FILE", str(path))
    return path


async def test_a_rotated_file_is_taken_up_without_a_restart(rig, key_file):
    it = await rig()
    it.show("GpuVM", meta={"finalizers": []})
    await asyncio.sleep(5)
    before = it.engine.parts.shared.accounts.own.session
    key_file.write_text(KEY)
    await asyncio.sleep(CREDENTIALS_SECONDS + 1)
    after = it.engine.parts.shared.accounts.own.session
    assert after is not before
    assert (set(before.vms._watched), set(after.vms._watched)) == (set(), {"u-train"})
    asked = len(it.cloud.asked("GetServers", OWN))
    await asyncio.sleep(600)
    assert len(it.cloud.asked("GetServers", OWN)) == asked
    assert it.cloud.asked("GetServers", KEY)


@pytest.mark.parametrize("content", ["", "two words", b"\xff\xfe", None])
async def test_a_file_that_cannot_be_used_leaves_the_last_credential_and_the_next_is_taken_up(rig, key_file, logs, content):
    it = await rig()
    before = it.engine.parts.shared.accounts.own.session
    if content is None:
        key_file.unlink()
    elif isinstance(content, bytes):
        key_file.write_bytes(content)
    else:
        key_file.write_text(content)
    await asyncio.sleep(3 * CREDENTIALS_SECONDS)
    assert it.engine.parts.shared.accounts.own.session is before
    assert "two words" not in repr(logs)
    key_file.write_text(KEY)
    await asyncio.sleep(CREDENTIALS_SECONDS + 1)
    assert it.engine.parts.shared.accounts.own.session is not before


async def test_an_own_account_may_come_later(rig, key_file):
    key_file.write_text("")
    it = await rig(credentials=Credentials())
    it.show("GpuVM")
    await asyncio.sleep(5)
    assert it.ready() == "NoAccount"
    key_file.write_text(OWN)
    await asyncio.sleep(CREDENTIALS_SECONDS + 10)
    assert it.ready() == "Creating"


@pytest.mark.parametrize("key", [f"two {SECRET_WORDS}", "gehëim"])
def test_an_own_key_that_cannot_be_sent_is_refused_without_being_told(key):
    with pytest.raises(SettingsError, match="GPUCLOUD_API_KEY") as caught:
        credential(Credentials(api_key=key))
    assert key not in str(caught.value)
    assert SECRET_WORDS not in str(caught.value)


async def test_a_rotated_secret_moves_its_objects(rig):
    it = await rig(credentials=Credentials())
    it.cloud.world("second", GetVpcs=[{"id": "8", "name": "acme", "tenancyName": "acme"}])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    it.cloud.worlds[KEY]["GetServers"] = it.cloud.worlds["second"]["GetServers"] = [vm(OURS)]
    it.show("GpuVM", status={"vmId": OURS, "order": an_order(OURS).model_dump(mode="json", by_alias=True)})
    await asyncio.sleep(10)
    assert it.ready() == "Running"
    it.kube.secrets["team", "key"] = a_secret(apikey="second", version="2")
    await asyncio.sleep(120)
    asked = len(it.cloud.asked("GetServers", KEY))
    await asyncio.sleep(600)
    assert it.ready() == "Running"
    assert len(it.cloud.asked("GetServers", KEY)) == asked
    assert it.cloud.asked("GetServers", "second")


async def test_another_tenants_valid_key_destroys_creates_and_forgets_nothing(rig):
    """The dearest mistake: with it everything of ours looks gone."""
    it = await rig(credentials=Credentials())
    it.cloud.world("theirs", GetVpcs=[{"id": "1", "name": "other", "tenancyName": "other"}])
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    it.cloud.worlds[KEY]["GetServers"] = [vm(OURS), vm(external_name("going", "u-going", TAG))]
    for name in ("train", "going"):
        known = external_name(name, f"u-{name}", TAG)
        it.show("GpuVM", name, status={"vmId": known, "order": an_order(known).model_dump(mode="json", by_alias=True)})
    await asyncio.sleep(10)
    it.kube.secrets["team", "key"] = a_secret(apikey="theirs", version="2")
    await asyncio.sleep(60)
    it.show("GpuVM", "going", event="MODIFIED", status=it.status("going"), meta=GOING)
    await asyncio.sleep(3600)
    mutations = {operation for key, operation, _ in it.cloud.calls if key == "theirs" and not operation.startswith("Get")}
    assert (mutations, it.kube.released) == (set(), [])
    assert it.ready() == "TenantMismatch"
    assert it.ready("going") == "DeletionBlocked"


async def test_a_deletion_ends_though_the_cloud_was_down_when_the_operator_began(rig):
    """The evidence of the tenant fails at first; nobody wakes the object later but the evidence itself."""
    cloud_is_down = ("GetVpcs", "GetServers", "GetSnapshots", "GetAll")
    it = await rig(credentials=Credentials())
    for operation in cloud_is_down:
        it.cloud.refuse(operation, 503)
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "default")
    known = {"vmId": OURS, "order": an_order(OURS).model_dump(mode="json", by_alias=True), "tenancy": "acme"}
    it.show("GpuVM", status=known | {"account": "default"}, meta=GOING)
    await asyncio.sleep(20)
    it.cloud.heal()
    it.cloud.refuse("DestroyServer", 404)
    await asyncio.sleep(EVIDENCE_SECONDS + 180)
    assert it.kube.released == ["u-train"]


async def test_two_accounts_of_one_credential_share_its_listings(rig):
    it = await rig(credentials=Credentials())
    names = {space: external_name(f"vm-{space}", f"u-vm-{space}", TAG) for space in ("team", "others")}
    it.cloud.worlds[KEY]["GetServers"] = [vm(name) for name in names.values()]
    for space, name in names.items():
        it.kube.secrets[space, "key"] = a_secret(apikey=KEY)
        it.show("GpuCloudAccount", "shared", uid=f"u-{space}", meta={"namespace": space})
        known = {"vmId": name, "order": an_order(name).model_dump(mode="json", by_alias=True)}
        it.show("GpuVM", f"vm-{space}", spec={"accountRef": {"name": "shared"}}, status=known, meta={"namespace": space})
    await asyncio.sleep(60)
    assert [it.ready(f"vm-{space}") for space in names] == ["Running", "Running"]
    before = len([where for _, _, where in it.cloud.asked("GetServers") if where])
    await asyncio.sleep(600)
    assert len([where for _, _, where in it.cloud.asked("GetServers") if where]) - before in {10, 11}
