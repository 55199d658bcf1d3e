"""A kubelet of our own chart: runs its pods as processes of this machine and says how they are. See docs/adr/0012."""

from __future__ import annotations

import random
import shutil
import threading
from typing import TYPE_CHECKING, Self

from support.podrunner import reading
from support.podrunner.api import Api
from support.podrunner.life import PodLife
from support.podrunner.logs import LogServer
from support.podrunner.reading import NotYetError, Place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LOOK_SECONDS = 0.2
_SHOWN_LINES = 60


class PodRunner:
    """Use it as a context; at its end all that runs is killed.

    Every pod gets an address of its own within 127.0.0.0/8, since pods of the same port live side by side. Listening on all
    addresses becomes listening on that one.
    """

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self._api = Api(kubeconfig)
        self._folder = folder
        self._pods: dict[str, PodLife] = {}
        self._logs = LogServer(self._log_of)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="podrunner", daemon=True)

    def printed(self, namespace: str) -> list[str]:
        """The last that each pod of a namespace has printed, the ended ones included."""
        lines = []
        for pod in self._pods.values():
            meta = pod.pod["metadata"]
            if meta["namespace"] == namespace and pod.log.exists():
                lines += [f"--- {meta['name']}:", *pod.log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]]
        return lines

    def __enter__(self) -> Self:
        self._api.be_a_node(self._logs.port)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.end()
        for pod in self._pods.values():
            pod.join()
        self._logs.close()
        self._api.close()
        shutil.rmtree(self._folder)

    def _run(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            found = {pod["metadata"]["uid"]: pod for pod in self._api.pods()}
            for uid, life in self._pods.items():
                life.item = found.get(uid)
            for uid in found.keys() - self._pods.keys():
                place = Place(_address(), self._folder / uid)
                place.folder.mkdir(parents=True, mode=0o700)
                self._pods[uid] = PodLife(self._api, found[uid], place, self._resolve)
                self._pods[uid].start()

    def _log_of(self, namespace: str, name: str) -> Path | None:
        for pod in list(self._pods.values()):
            meta = pod.pod["metadata"]
            if (meta["namespace"], meta["name"]) == (namespace, name) and pod.log.exists():
                return pod.log
        return None

    def _resolve(self, words: Iterable[str]) -> dict[str, str]:
        """The address of a pod behind each Service that is named.

        Raises:
            NotYetError: there is no such Service, or no pod behind it.
        """
        named = reading.named_services(words)
        if not named:
            return {}
        services = {f"{item['metadata']['name']}.{item['metadata']['namespace']}": item for item in self._api.services()}
        living = [pod.item for pod in list(self._pods.values()) if pod.item is not None]
        addresses = {}
        for name in named:
            uid = reading.behind(services[name], living) if name in services else None
            if uid is None:
                raise NotYetError(f"Nothing is behind the Service {name}.")
            addresses[name] = self._pods[uid].place.address
        return addresses


def _address() -> str:
    """One that no other pod of this machine has, nor will anybody's test server."""
    return ".".join(["127", *(str(random.randint(low, 254)) for low in (16, 0, 1))])
