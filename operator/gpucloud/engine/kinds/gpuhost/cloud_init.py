"""The cloud-init of a reprovisioning: read from a Secret of the object's own namespace, by name, and encoded for the wire.

No message, log line or status ever holds any of its content.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.gpuhost import CloudInit

if TYPE_CHECKING:
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.kinds.gpuhost import SecretKey

# Before encoding. The service states no limit; OpenStack, whose metal service reads the same user data, takes 65,535 bytes.
MAX_BYTES = 64 * 1024


async def read(kube: KubeClient, namespace: str, source: SecretKey) -> CloudInit:
    """Return the cloud-init in base64, or why it cannot be used.

    Raises:
        KubeError: the apiserver did not answer; a 403 counts as a Secret that cannot be used.
    """
    what = f"Secret {source.name!r} of spec.reprovision.cloudInitSecretRef"
    try:
        data = await kube.data_of("secrets", namespace, source.name)
    except KubeError as error:
        if error.status != 403:
            raise
        return _trouble(Reason.INVALID_SECRET, f"The operator may not read the {what}. Grant the operator get on secrets.")
    if data is None:
        create = f"kubectl create secret generic {source.name} --namespace={namespace} --from-file={source.key}=FILE"
        return _trouble(Reason.SECRET_NOT_FOUND, f"Waiting for the {what}. Create it: {create}")
    if source.key not in data:
        keys = f"Waiting for the key {source.key!r} of the {what}."
        return _trouble(Reason.SECRET_NOT_FOUND, f"{keys} Add the key to the Secret, or name another one in the spec.")
    return _encoded(data[source.key], f"Key {source.key!r} of the {what}")


def _encoded(value: str, where: str) -> CloudInit:
    try:
        content = base64.b64decode(value, validate=True)
    except binascii.Error:
        return _trouble(Reason.INVALID_SECRET, f"{where} cannot be decoded. Write the Secret again.")
    if not content:
        return _trouble(Reason.INVALID_SECRET, f"{where} is empty. Put the cloud-init YAML there.")
    if len(content) > MAX_BYTES:
        size = f"holds {len(content)} bytes; at most {MAX_BYTES} are taken"
        return _trouble(Reason.INVALID_SECRET, f"{where} {size}. Let cloud-init fetch large files.")
    return CloudInit(base64.b64encode(content).decode())


def _trouble(reason: Reason, words: str) -> CloudInit:
    return CloudInit(trouble=reason, words=f"The reprovisioning has not been requested. {words}")
