"""What a pod reads: its volumes as folders, its variables as text, its service account as a kubeconfig.

The in-cluster login wants a fixed path and the name kubernetes.default.svc; here the same token and the same authority are in a
kubeconfig instead.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.podrunner.reading import ACCOUNT, NotRunnableError, NotYetError

if TYPE_CHECKING:
    from pathlib import Path

    from support.podrunner.api import Api
    from support.podrunner.reading import Place


def fill(api: Api, pod: dict[str, Any], container: dict[str, Any], place: Place) -> None:
    """Write all volumes anew, and the kubeconfig if the pod has a service account's token.

    Raises:
        NotYetError: a Secret or ConfigMap is not there yet.
        NotRunnableError: a volume of a kind that we do not make.
    """
    for volume in pod["spec"].get("volumes", []):
        folder = place.volume(volume["name"])
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in _files(api, pod, volume).items():
            _write(folder / name, content)
    account = next((item["name"] for item in container.get("volumeMounts", []) if item["mountPath"] == ACCOUNT), None)
    if account is not None:
        _write(place.folder / "kubeconfig", json.dumps(_kubeconfig(api.server, place.volume(account))).encode())


def variables(api: Api, pod: dict[str, Any], container: dict[str, Any], place: Place) -> dict[str, str]:
    """The container's variables, with what is read from elsewhere.

    Raises:
        NotYetError: a Secret or ConfigMap is not there yet.
        NotRunnableError: a variable from a source that we do not read.
    """
    found = {}
    for item in container.get("env", []):
        match item.get("valueFrom"):
            case None:
                found[item["name"]] = item.get("value", "")
            case {"secretKeyRef": {"name": name, "key": key}}:
                found[item["name"]] = _data(api, pod, "secrets", name)[key].decode()
            case {"configMapKeyRef": {"name": name, "key": key}}:
                found[item["name"]] = _data(api, pod, "configmaps", name)[key].decode()
            case {"fieldRef": {"fieldPath": path}}:
                found[item["name"]] = _field(pod, path, place.address)
            case other:
                raise NotRunnableError(f"The variable {item['name']} comes from {', '.join(other)}.")
    return found


def _files(api: Api, pod: dict[str, Any], volume: dict[str, Any]) -> dict[str, bytes]:
    match volume:
        case {"emptyDir": _}:
            return {}
        case {"secret": {"secretName": name, **more}}:
            return _chosen(_data(api, pod, "secrets", name), more.get("items"))
        case {"configMap": {"name": name, **more}}:
            return _chosen(_data(api, pod, "configmaps", name), more.get("items"))
        case {"projected": {"sources": sources}}:
            return {name: text for source in sources for name, text in _projected(api, pod, source).items()}
    raise NotRunnableError(f"The volume {volume['name']} is of a kind that the runner does not make.")


def _projected(api: Api, pod: dict[str, Any], source: dict[str, Any]) -> dict[str, bytes]:
    match source:
        case {"serviceAccountToken": {"path": path, "expirationSeconds": seconds}}:
            token = api.token(pod, seconds)
            if token is None:
                raise NotYetError("The namespace is being deleted.")
            return {path: token.encode()}
        case {"configMap": {"name": name, **more}}:
            return _chosen(_data(api, pod, "configmaps", name), more.get("items"))
        case {"downwardAPI": {"items": items}}:
            return {item["path"]: _field(pod, item["fieldRef"]["fieldPath"]).encode() for item in items}
    raise NotRunnableError(f"A projected volume has a source that the runner does not know: {', '.join(source)}.")


def _data(api: Api, pod: dict[str, Any], plural: str, name: str) -> dict[str, bytes]:
    found = api.data(plural, pod["metadata"]["namespace"], name)
    if found is None:
        raise NotYetError(f"There is no {plural.removesuffix('s')} {name}.")
    return found


def _chosen(data: dict[str, bytes], items: list[dict[str, Any]] | None) -> dict[str, bytes]:
    return data if items is None else {item["path"]: data[item["key"]] for item in items}


def _field(pod: dict[str, Any], path: str, address: str = "") -> str:
    fields = {
        "metadata.name": pod["metadata"]["name"],
        "metadata.namespace": pod["metadata"]["namespace"],
        "metadata.uid": pod["metadata"]["uid"],
        "spec.serviceAccountName": pod["spec"]["serviceAccountName"],
        "status.podIP": address,
    }
    if path not in fields:
        raise NotRunnableError(f"The runner does not know the field {path}.")
    return str(fields[path])


def _kubeconfig(server: str, account: Path) -> dict[str, Any]:
    """Whom the pod speaks to, whom it trusts and who it is: all from the files that it was given."""
    namespace, token = ((account / name).read_text() for name in ("namespace", "token"))
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": server, "certificate-authority": str(account / "ca.crt")}}],
        "users": [{"name": "pod", "user": {"token": token}}],
        "contexts": [{"name": "pod", "context": {"cluster": "here", "user": "pod", "namespace": namespace}}],
        "current-context": "pod",
    }


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
