"""Public SSH keys from the spec and from Secrets and ConfigMaps of the object's own namespace, read by name, never listed."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from gpucloud.engine.kube.errors import KubeError
from gpucloud.reconcile.facts import KeyTrouble, SSHKeys
from gpucloud.reconcile.text import listed

if TYPE_CHECKING:
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.kinds.gpuvm import GpuVMSpec, SSHKeySource

# As the CRD's rule for spec.sshKeys. Every public key begins with the length of its type, which is AAAA in base64.
LONGEST_KEY = 8192  # as in the CRD
MOST_KEYS = 256
_PUBLIC = re.compile(r"(ssh-|ecdsa-|sk-ssh-|sk-ecdsa-)\S+ AAAA.*")


class KeyProblemError(Exception):
    """The keys of one source cannot be used. The message never contains the source's content."""

    def __init__(self, trouble: KeyTrouble, detail: str, *, may_be_misnamed: bool = False) -> None:
        super().__init__(detail)
        self.keys = SSHKeys(trouble=trouble, detail=detail, may_be_misnamed=may_be_misnamed)


async def resolve(kube: KubeClient, namespace: str, spec: GpuVMSpec) -> SSHKeys:
    """Return all keys to install, in the order of the spec, without repeats.

    Raises:
        KubeError: the apiserver did not answer; a 403 counts as a missing source.
    """
    lines = list(spec.ssh_keys)
    try:
        for source in spec.ssh_keys_from:
            lines += await _read(kube, namespace, source)
    except KeyProblemError as problem:
        return problem.keys
    keys = tuple(dict.fromkeys(lines))
    if len(keys) > MOST_KEYS:  # a Secret may hold a megabyte, and each CreateServer would send it
        detail = f"spec.sshKeys and spec.sshKeysFrom give {len(keys)} keys. Give at most {MOST_KEYS}."
        return SSHKeys(trouble=KeyTrouble.INVALID, detail=detail)
    return SSHKeys(keys)


async def _read(kube: KubeClient, namespace: str, source: SSHKeySource) -> list[str]:
    secret, selector = source.secret_key_ref is not None, source.secret_key_ref or source.config_map_key_ref
    if selector is None:
        raise KeyProblemError(
            KeyTrouble.INVALID, "An entry of spec.sshKeysFrom names no source. Set its secretKeyRef or its configMapKeyRef."
        )
    name, key = selector.name, selector.key
    what = f"{'Secret' if secret else 'ConfigMap'} {name!r} in namespace {namespace!r}"
    data = await _data_of(kube, "secrets" if secret else "configmaps", namespace, name, what)
    if data is None:
        create = f"kubectl create {'secret generic' if secret else 'configmap'} {name} --namespace={namespace}"
        words = f"Waiting for {what}: there is none. Create it: {create} --from-file={key}=FILE;"
        raise KeyProblemError(KeyTrouble.MISSING, words, may_be_misnamed=True)
    if key not in data:
        there = listed(tuple(map(repr, sorted(data)))) or "no key"
        words = f"Waiting for the key {key!r} of {what}, which has {there}. Add it."
        raise KeyProblemError(KeyTrouble.MISSING, words, may_be_misnamed=True)
    return parse(_decoded(data[key], what) if secret else data[key], f"Key {key!r} of the {what}")


async def _data_of(kube: KubeClient, resource: str, namespace: str, name: str, what: str) -> dict[str, str] | None:
    try:
        return await kube.data_of(resource, namespace, name)
    except KubeError as error:
        if error.status != 403:
            raise
        detail = f"The operator may not read the {what}. Grant its ServiceAccount the verb get on {resource} in this namespace."
        raise KeyProblemError(KeyTrouble.MISSING, detail) from None


def _decoded(value: str, what: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise KeyProblemError(
            KeyTrouble.INVALID, f"The {what} holds no text. Put OpenSSH public keys there, one on each line."
        ) from None


def parse(text: str, where: str) -> list[str]:
    """Return the public keys in an authorized_keys file: one per line, without empty lines and comments.

    Raises:
        KeyProblemError: there is no key, a line is not a public key, or the text contains a private key.
    """
    if "PRIVATE KEY" in text:
        raise KeyProblemError(
            KeyTrouble.INVALID,
            f"{where} holds a private key. Put the public key there, and replace this key pair: it is no longer secret.",
        )
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise KeyProblemError(KeyTrouble.MISSING, f"{where} is empty. Put an OpenSSH public key there.")
    wrong = next((number for number, line in enumerate(lines, 1) if not _PUBLIC.fullmatch(line)), None)
    if wrong is not None:
        raise KeyProblemError(
            KeyTrouble.INVALID,
            f"{where}: entry {wrong} is not an OpenSSH public key. Put the line of a .pub file there.",
        )
    long = next((number for number, line in enumerate(lines, 1) if len(line) > LONGEST_KEY), None)
    if long is not None:
        raise KeyProblemError(
            KeyTrouble.INVALID,
            f"{where}: entry {long} is longer than {LONGEST_KEY} characters. Use a shorter key, such as ssh-ed25519.",
        )
    return lines
