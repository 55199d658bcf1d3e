"""Only public SSH keys pass, from a spec as from a Secret (S12): a cloud's API readers see what is installed."""

from __future__ import annotations

import pytest

from gpucloud.engine.kube.ssh_keys import KeyProblemError, parse, resolve
from gpucloud.reconcile.facts import KeyTrouble
from support.builders import a_spec
from support.fakes import FakeKube

CANARY = "MADEUPMADEUPMADEUP"
PUBLIC = "ssh-ed25519 AAAAMADEUP nobody@example"

# What people have in their ~/.ssh, in their password stores, and on their clipboards.
PRIVATE = {
    "OpenSSH": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n-----END OPENSSH PRIVATE KEY-----",
    "RSA": f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----",
    "RSA, encrypted": f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{CANARY}\n-----END RSA PRIVATE KEY-----",
    "DSA": f"-----BEGIN DSA PRIVATE KEY-----\n{CANARY}\n-----END DSA PRIVATE KEY-----",
    "EC": f"-----BEGIN EC PRIVATE KEY-----\n{CANARY}\n-----END EC PRIVATE KEY-----",
    "PKCS#8": f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----",
    "PKCS#8, encrypted": f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{CANARY}\n-----END ENCRYPTED PRIVATE KEY-----",
    "SSH2": f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{CANARY}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    "PGP": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{CANARY}\n-----END PGP PRIVATE KEY BLOCK-----",
    "PuTTY 2": f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n{CANARY}",
    "PuTTY 3": f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{CANARY}",
    "a JSON web key": f'{{"kty": "OKP", "crv": "Ed25519", "d": "{CANARY}"}}',
    "age": f"AGE-SECRET-KEY-1{CANARY}",
    "on one line": f"-----BEGIN OPENSSH PRIVATE KEY----- {CANARY} -----END OPENSSH PRIVATE KEY-----",
    "the lines without the header": f"{CANARY}\n{CANARY}",
    "with escaped line breaks": f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{CANARY}\\n-----END OPENSSH PRIVATE KEY-----",
    "in base64": f"LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0K{CANARY}",
    "behind a public one": f"{PUBLIC} -----BEGIN OPENSSH PRIVATE KEY----- {CANARY}",
    "after a type, as if it were public": f"ssh-ed25519 b3BlbnNzaC1rZXktdjEAAAAABG5vbmU{CANARY}",
    "of RSA after a type": f"ssh-rsa MIIEpAIBAAKCAQEA{CANARY}",
    "of another type after a type": f"ecdsa-sha2-nistp256 MHcCAQEEI{CANARY} nobody@example",
}


@pytest.mark.parametrize("text", PRIVATE.values(), ids=PRIVATE)
def test_a_private_key_in_a_secret_is_refused_and_not_repeated(text):
    for given in (text, f"{PUBLIC}\n{text}\n", f"{text}\n{PUBLIC}"):
        with pytest.raises(KeyProblemError) as caught:
            parse(given, "Key 'k' of the Secret 's'")
        assert CANARY not in f"{caught.value} {caught.value!r} {caught.value.keys}"


@pytest.mark.parametrize(
    "line",
    [
        PUBLIC,
        "ssh-rsa AAAAB3NzaC1yc2EMADEUP",
        "ssh-dss AAAAB3NzaC1kc3MMADEUP x",
        "ecdsa-sha2-nistp521 AAAAE2VjZHNhMADEUP a comment of many words",
        "sk-ssh-ed25519@openssh.com AAAAGnNrMADEUP",
        "sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrMADEUP me",
        "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaMADEUP",
    ],
)
def test_public_keys_of_every_type_pass(line):
    assert parse(line, "here") == [line]


def test_twenty_were_tried():
    assert len(PRIVATE) >= 20


def test_a_key_is_no_longer_than_a_spec_allows():
    with pytest.raises(KeyProblemError) as caught:
        parse(f"ssh-rsa AAAA{'B' * 8192}", "here")
    assert "8192" in str(caught.value)


async def test_there_are_no_more_keys_than_anybody_has():
    """Sixteen Secrets of a mebibyte each would make one order of 16 MB."""
    kube = FakeKube()
    many = "\n".join(f"ssh-ed25519 AAAA{number}" for number in range(300))
    kube.objects = {("configmaps", "team", "keys"): {"all": many}}
    spec = a_spec(sshKeys=[], sshKeysFrom=[{"configMapKeyRef": {"name": "keys", "key": "all"}}])
    found = await resolve(kube, "team", spec)
    assert (found.trouble, found.lines) == (KeyTrouble.INVALID, ())
    assert "300" in found.detail
