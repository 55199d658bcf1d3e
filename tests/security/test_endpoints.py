"""Where credentials are sent is the administrator's word alone, and a word that can be misread is refused (S7, S8)."""

from __future__ import annotations

import pytest

from gpucloud.cloud import ApiKey, SyncCloudClient
from gpucloud.flags import load
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.settings import SettingsError
from support.crdschema import fields

CANARY = "made-up-p4ssphrase"

# Each with what it would lead to if it were taken.
MISLEADING = {
    "https://ann:made-up-p4ssphrase@cloud.example": "a credential in a URL",
    "https://:made-up-p4ssphrase@cloud.example": "a password without a user",
    "https://ann:made/made-up-p4ssphrase@cloud.example": "a password with a slash",
    "https://ann:made\nmade-up-p4ssphrase@cloud.example": "a password with a line break",
    "https://cloud.example?key=a\nmade-up-p4ssphrase": "a key with a line break in a URL",
    "https://ann@cloud.example": "a user name",
    "https://cloud.example@evil.example": "another host than it seems",
    "https://cloud.example\\@evil.example": "another host to some readers",
    "https://cloud.example?key=made-up-p4ssphrase": "a key in a URL",
    "https://cloud.example?": "an empty query before every path",
    "https://cloud.example#made-up-p4ssphrase": "a fragment that swallows every path",
    "https://cloud.example#": "an empty fragment",
    "file:///etc/passwd": "a file",
    "ftp://cloud.example": "another protocol",
    "gopher://cloud.example": "a protocol that can speak others",
    "unix:///var/run/docker.sock": "a socket",
    "data:text/plain,x": "no host at all",
    "javascript:alert(1)": "no host at all",
    "https:cloud.example": "no host",
    "https:///cloud.example": "no host",
    "//cloud.example": "no scheme",
    "cloud.example": "no scheme",
    "https://": "no host",
    "http://": "no host",
    "https://:8080": "no host",
    "": "nothing",
    " https://cloud.example": "a space before it",
    "https://cloud.example ": "a space behind it",
    "https://cloud .example": "a space in the host",
    "https://cloud.example\r\nX-Evil: yes": "another header",
    "https://cloud.example\nHost: evil.example": "another header",
    "https://cloud\t.example": "a tab, which readers drop",
    "https://cloud.example/\x00": "a zero byte",
    "https://cloud.example/\x1b[31m": "an escape sequence for whoever reads the log",
    "https://cloud.example:port": "no port",
    "https://cloud.example:99999": "no port",
    "https://cloud.example:-1": "no port",
    "https://cloud.example:0": "no port",
    "https://[::1": "an address that never ends",
    "https://[not-an-address]": "no address",
    "https://cloud.example,https://evil.example": "two",
    "https://cl\u043eud.example": "a letter of another alphabet",
    "https://\uff43loud.example": "a letter that is turned into another",
    "https://cloud\u200b.example": "a letter that nobody sees",
    "https://%63loud.example": "a host in disguise",
    "https://cloud..example": "an empty label",
    "https://<cloud>.example": "no host",
}

# The administrator may: these are their own network, and no tenant can name any of them.
TRUSTED = {
    "https://cloud.example": "the usual",
    "https://cloud.example:8443/prefix": "with a port and a prefix",
    "HTTPS://cloud.example": "however it is spelt",
    "http://127.0.0.1:8080": "the simulated cloud",
    "http://[::1]:8080": "the same",
    "http://localhost:8080": "the same by its name",
    "http://simulator.gpucloud-system.svc:8080": "a Service of the cluster, by its short name",
    "HTTP://Gateway.team.SVC.cluster.local.": "a Service of the cluster, by its full name",
    "https://10.0.0.1": "a private cloud",
    "https://cloud.internal.svc": "a gateway in the cluster",
    "https://cloud.example.": "a name that is complete",
    "https://xn--cloud-xyz.example": "another alphabet, as it is sent",
}


def settings(url):
    return load({"endpoint": ["other=https://other.example", f"eu={url}"]}, {"GPUCLOUD_API_KEY": "made-up-key"})


@pytest.mark.parametrize("url", MISLEADING, ids=MISLEADING.values())
def test_an_endpoint_that_can_be_misread_is_refused_at_the_start(url):
    with pytest.raises(SettingsError, match="--endpoint") as caught:
        settings(url)
    assert CANARY not in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("url", TRUSTED, ids=TRUSTED.values())
def test_an_administrator_may_name(url):
    assert settings(url).endpoints["eu"] == url


# Each with why a key must not go there without TLS.
NEEDS_TLS = {
    "http://gpu.example.com": "a foreign host",
    "HTTP://gpu.example.com": "however it is spelt",
    "http://10.0.0.1": "another machine of the own network",
    "http://169.254.169.254": "the metadata of a cloud",
    "http://0.0.0.0:8080": "every interface, and none that is said",
    "http://gateway": "a name that a search domain completes",
    "http://gateway.team": "the same",
    "http://localhost.example.com": "a foreign host by a name that looks local",
    "http://127.0.0.1.example.com": "the same",
    "http://team.svc": "no Service: a name of two parts",
    "http://gateway.team.svc.example.com": "a foreign host by the name of a Service",
}


@pytest.mark.parametrize("url", NEEDS_TLS, ids=NEEDS_TLS.values())
def test_no_credential_goes_to_another_host_without_tls(url):
    with pytest.raises(SettingsError, match=r"--endpoint: .* without TLS: use https://"):
        settings(url)
    with pytest.raises(ValueError, match=r"^the base URL .* without TLS: use https://"):
        SyncCloudClient(url, ApiKey("made-up-key"))


def test_at_least_forty_were_tried():
    assert len(MISLEADING) >= 40


# Text of a spec that reaches the cloud's API as text. Whatever is added must be put here by somebody who has thought of it.
TEXT_FOR_THE_CLOUD = {
    "spec.cluster",
    "spec.configuration",
    "spec.resourcePool",
    "spec.placement.alternatives[].cluster",
    "spec.placement.alternatives[].configuration",
    "spec.placement.alternatives[].resourcePool",
    "spec.vpc",
    "spec.sshKeys",
    "spec.image.operatingSystem",
    "spec.image.customFile",
    "spec.image.snapshot",
    "spec.storage.directMountPath",
    "spec.storage.personalMountPath",
    "spec.storage.tenantSharedMountPath",
    "spec.storage.blockStorageNames",
    "spec.nodeName",
    "spec.vmName",
    "spec.name",
    "spec.snapshotName",
    "spec.vm.cluster",
    "spec.vm.vpc",
    "spec.vm.name",
    "spec.defaults.resourcePool",
    "spec.defaults.operatingSystem",
    "spec.hostId",
}
# Addresses that the cloud fetches, from where it stands; the operator never opens them. Their queries may be secret (redacted).
ADDRESSES_FOR_THE_CLOUD = {"spec.reprovision.imageUrl", "spec.reprovision.imageChecksumUrl"}
# Names of other objects, each of the same namespace.
NAMES_OF_OBJECTS = {
    "spec.accountRef.name",
    "spec.vpcRef.name",
    "spec.vmRef.name",
    "spec.image.snapshotRef.name",
    "spec.secretRef.name",
    "spec.sshKeysFrom[].secretKeyRef.name",
    "spec.sshKeysFrom[].secretKeyRef.key",
    "spec.sshKeysFrom[].configMapKeyRef.name",
    "spec.sshKeysFrom[].configMapKeyRef.key",
    "spec.reprovision.cloudInitSecretRef.name",
    "spec.reprovision.cloudInitSecretRef.key",
}
# Names of objects that the operator creates in the same namespace, and what stands in them.
NAMES_OF_PUBLISHED = {
    "spec.connection.configMapName",
    "spec.connection.user",
    "spec.connection.service.name",
    "spec.connection.service.ports[].name",
}
NAMES_OF_ENDPOINTS = {"spec.endpoint"}


def free_text(definition):
    """Every field of a spec that may hold any string."""
    schema = custom_resource_definition(definition)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for path, node in fields(schema, "spec"):
        inner = node.get("items", node)
        if inner.get("type") == "string" and "enum" not in inner:
            yield path


def test_no_field_of_a_spec_is_an_address_or_a_file():
    """A shared credential and a tenant's address can never meet: a tenant names none that the operator opens (S8, S13)."""
    found = {path for definition in DEFINITIONS for path in free_text(definition)}
    named = NAMES_OF_OBJECTS | NAMES_OF_PUBLISHED | NAMES_OF_ENDPOINTS
    assert found == TEXT_FOR_THE_CLOUD | ADDRESSES_FOR_THE_CLOUD | named
