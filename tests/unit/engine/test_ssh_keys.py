"""Keys from Secrets and ConfigMaps: what is taken, what is refused, and that no message tells what was read."""

import base64

import pytest

from gpucloud.engine.kube.ssh_keys import KeyProblemError, parse, resolve
from gpucloud.reconcile.facts import KeyTrouble
from support.builders import a_spec
from support.fakes import FakeKube

ONE = "ssh-ed25519 AAAAMADEUPONE ann@example"
TWO = "ecdsa-sha2-nistp256 AAAAMADEUPTWO"
CANARY = "canarycanary"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (ONE, [ONE]),
        (ONE + "\n", [ONE]),
        (f"{ONE}\r\n{TWO}\r\n", [ONE, TWO]),
        (f"# people\n\n  {ONE}  \n\t# more\n{TWO}", [ONE, TWO]),
        ("ssh-rsa AAAAMADEUP+/== a comment of many words", ["ssh-rsa AAAAMADEUP+/== a comment of many words"]),
        ("sk-ssh-ed25519@openssh.com AAAAMADEUP", ["sk-ssh-ed25519@openssh.com AAAAMADEUP"]),
    ],
)
def test_public_keys_are_read_line_by_line(text, keys):
    assert parse(text, "here") == keys


@pytest.mark.parametrize(
    ("text", "trouble", "says"),
    [
        ("", KeyTrouble.MISSING, "empty"),
        ("# nothing yet\n", KeyTrouble.MISSING, "empty"),  # somebody may be about to fill it
        (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n", KeyTrouble.INVALID, "private key"),
        (f"{ONE}\n-----BEGIN RSA PRIVATE KEY-----\n{CANARY}", KeyTrouble.INVALID, "private key"),
        (f"{ONE}\n{CANARY}", KeyTrouble.INVALID, "entry 2"),
        (f"ssh-ed25519{CANARY}", KeyTrouble.INVALID, "entry 1"),
        (f'command="{CANARY}" {ONE}', KeyTrouble.INVALID, "entry 1"),  # options are not for a cloud's API
    ],
)
def test_what_is_no_public_key_is_refused_without_repeating_it(text, trouble, says):
    with pytest.raises(KeyProblemError) as caught:
        parse(text, "Key 'k' of the Secret 's'")
    assert caught.value.keys.trouble is trouble
    assert says in caught.value.keys.detail
    for told in (str(caught.value), repr(caught.value), caught.value.keys.detail):
        assert CANARY not in told


def encoded(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def source(kind="secretKeyRef", name="keys", key="id.pub"):
    return {kind: {"name": name, "key": key}}


async def ask(objects, *sources, keys=()):
    kube = FakeKube()
    kube.objects = objects
    return kube, await resolve(kube, "team", a_spec(sshKeys=list(keys), sshKeysFrom=list(sources)))


async def test_all_sources_in_the_order_of_the_spec_without_repeats():
    objects = {
        ("secrets", "team", "keys"): {"id.pub": encoded(TWO)},
        ("configmaps", "team", "people"): {"id.pub": f"{ONE}\n{TWO}"},
    }
    kube, found = await ask(objects, source(), source("configMapKeyRef", "people"), keys=[ONE])
    assert found.lines == (ONE, TWO)
    assert found.trouble is None
    assert kube.reads == [("secrets", "team", "keys"), ("configmaps", "team", "people")], "by name, in its own namespace"


async def test_keys_in_the_spec_cost_no_read():
    kube, found = await ask({}, keys=[ONE])
    assert (found.lines, kube.reads) == ((ONE,), [])


@pytest.mark.parametrize(
    ("data", "trouble", "says"),
    [
        (
            None,
            KeyTrouble.MISSING,
            (
                "Waiting for Secret 'keys' in namespace 'team': there is none. Create it: kubectl create secret generic keys "
                "--namespace=team --from-file=id.pub=FILE;"
            ),
        ),
        (
            {},
            KeyTrouble.MISSING,
            "Waiting for the key 'id.pub' of Secret 'keys' in namespace 'team', which has no key. Add it.",
        ),
        (
            {"b": CANARY, "a": CANARY},
            KeyTrouble.MISSING,
            "key 'id.pub' of Secret 'keys' in namespace 'team', which has 'a', 'b'.",
        ),
        ({f"k{n}": "" for n in range(9)}, KeyTrouble.MISSING, "which has 'k0', 'k1', 'k2', 'k3', 'k4' and 4 more. Add it."),
        ({"id.pub": encoded(b"\xff\xfe" + CANARY.encode())}, KeyTrouble.INVALID, "no text"),
        ({"id.pub": "not base64"}, KeyTrouble.INVALID, "no text"),
        ({"id.pub": encoded(f"-----BEGIN PRIVATE KEY-----{CANARY}")}, KeyTrouble.INVALID, "private key"),
    ],
)
async def test_what_keeps_keys_from_being_known(data, trouble, says):
    _, found = await ask({} if data is None else {("secrets", "team", "keys"): data}, source())
    assert (found.trouble, found.lines) == (trouble, ())
    assert says in found.detail
    assert CANARY not in found.detail


async def test_a_missing_config_map_is_created_by_its_own_command():
    _, found = await ask({}, source("configMapKeyRef", "people"))
    assert "kubectl create configmap people --namespace=team --from-file=id.pub=FILE;" in found.detail
    assert found.may_be_misnamed


async def test_a_secret_of_another_namespace_is_not_seen():
    _, found = await ask({("secrets", "others", "keys"): {"id.pub": encoded(ONE)}}, source())
    assert found.trouble is KeyTrouble.MISSING
