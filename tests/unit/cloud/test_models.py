"""Each record's fields under the exact names of the specification, and times on a machine that is not on UTC."""

import time
from datetime import UTC, datetime

import pytest

from gpucloud.cloud import (
    AvailabilityRecord,
    BootLogRecord,
    ConfigurationRecord,
    DeletedSnapshot,
    HostRecord,
    LoginResult,
    OperationResult,
    SnapshotRecord,
    VmRecord,
    VmStatus,
    VpcRecord,
)

# Names as the specification's tables spell them: b boolean, n number, t time, l list, plain text otherwise.
WIRE = {
    VmRecord: "id namespace configuration storage:n gpu_type gpus:n vcpus:n memory:n ip privateIp image cluster username "
    "tenancy_name rpool nodeSelector directAttachedStoragePersisted:b storageType rootDiskSize status lastUpdated:t",
    OperationResult: "id cluster status",
    ConfigurationRecord: "id:n user_friendly_name name description storage:n type brand_family brand text_name gpus:n "
    "vcpus:n memory:n price:n compute_network is_gpu_platform:b clusters:l",
    AvailabilityRecord: "configuration cluster rpool price:n available:b count:n maxCount:n availableNodeNames:l",
    BootLogRecord: "id namespace cluster bootLogs",
    HostRecord: "id cluster tenancyName nodeType image privateIp publicIp provisionedHostname operationalStatus "
    "poweredOn:b provisioningState",
    SnapshotRecord: "id namespace sourceName osImage customPackage rootDiskSize creationDate:t username tenancyName "
    "readyToUse:b",
    DeletedSnapshot: "id",
    VpcRecord: "id name cluster tenancyName ipRange createdAt:t blockIntraVpcComms:b isDefault:b",
    LoginResult: "accessToken encryptedAccessToken expireInSeconds:n refreshToken refreshTokenExpireInSeconds:n userId:n "
    "requiresTwoFactorVerification:b shouldResetPassword:b",
}
SAMPLES = {"n": 7, "b": True, "t": "2024-09-30T09:35:00", "l": ["a"], "": "text"}
READ = SAMPLES | {"t": datetime(2024, 9, 30, 9, 35, tzinfo=UTC), "l": ("a",)}


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            model,
            id=model.__name__,
            marks=pytest.mark.proves(*(f"{model.__name__}.{word.partition(':')[0]}" for word in words.split())),
        )
        for model, words in WIRE.items()
    ],
)
def test_every_field_has_the_specifications_name(model):
    fields = [word.partition(":")[::2] for word in WIRE[model].split()]
    record = model.model_validate({name: SAMPLES[form] for name, form in fields})
    assert record.model_dump(by_alias=True) == {name: READ[form] for name, form in fields}


@pytest.mark.proves("record:null", "record:optional")
@pytest.mark.parametrize("model", WIRE, ids=lambda model: model.__name__)
def test_a_record_may_be_empty_or_all_null(model):
    fields = [word.partition(":")[0] for word in WIRE[model].split()]
    assert model.model_validate({}) == model.model_validate(dict.fromkeys(fields)) == model()


@pytest.mark.proves("state:words")
def test_every_status_that_is_named_is_a_known_one():
    named = {"PLANNED", "PENDING", "PENDING_RESOURCES", "PENDING_READINESS", "ONLINE", "OFFLINE"}
    assert named <= set(VmStatus)


@pytest.mark.proves("open:host-words")
@pytest.mark.parametrize("word", ["OK", "provisioned", "a word never met"])
def test_the_words_of_a_host_are_kept_as_they_are(word):
    host = HostRecord.model_validate({"operationalStatus": word, "provisioningState": word})
    assert (host.operational_status, host.provisioning_state) == (word, word)


def test_a_time_without_a_zone_is_utc_wherever_the_machine_is(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert VmRecord.model_validate({"lastUpdated": SAMPLES["t"]}).last_updated == READ["t"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_records_share_the_set_of_the_fields_that_were_given():
    some, other = (VmRecord.model_validate({"id": name, "status": "ONLINE"}) for name in ("a", "b"))
    assert some.model_fields_set is other.model_fields_set, "one set each would be more than half of what a record takes"
