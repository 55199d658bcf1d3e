"""Secrets that a test uses, and the search for any trace of them in what the product shows.

Each is sought plain, escaped (JSON, URL, HTML), in base64 wherever it may stand in the encoded text, and, when it is long,
by every piece of eight characters.
"""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from gpucloud.kinds import names
from support.simcloud import API_KEY, SimCloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from support.kubectl import Kubectl
    from support.operatorproc import OperatorProcess

PIECE = 8  # so short a part of a long secret is a find already
LONG = 2 * PIECE
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
OURS = ",".join(item.plural for item in names.KINDS)
# Words that secrets of the tests begin with and that prove nothing; a PEM header's words may stand in an explanation.
_PUBLIC = ("made-up-", "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----")
_PUBLIC_KEY = re.compile(r"^(ssh-|ecdsa-|sk-)", re.MULTILINE)
_SECRET_VARIABLES = ("GPUCLOUD_API_KEY", "GPUCLOUD_PASSWORD")
# Tokens of the simulated cloud are nowhere else to be known by: 43 characters, of all sorts.
_TOKEN = re.compile(r"(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[A-Za-z0-9_-]{43}(?![\w-])")
_SHOWN = 60  # characters round a find, for whoever looks for the place


@dataclass(frozen=True)
class Canary:
    """One secret, and what it is."""

    what: str
    value: str

    @cached_property
    def needles(self) -> dict[str, str]:
        """What to look for, and in which form it would be."""
        found = {self.value: "plain"}
        found |= {form: "escaped" for form in self._escaped() if form not in found}
        found |= {form: "base64" for form in _in_base64(self.value) if form not in found}
        return found | {piece: "a piece" for piece in self._pieces() if piece not in found}

    def _escaped(self) -> set[str]:
        value = self.value
        escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
        in_url = {quote(value, safe=""), quote(value), quote_plus(value)}
        in_net = {re.sub("%..", lambda code: code[0].lower(), form) for form in in_url} | {_in_net_json(value)}
        return escaped | in_url | in_net | {html.escape(value), html.escape(value).replace("&#x27;", "&#39;")}

    def _pieces(self) -> Iterator[str]:
        """All pieces of each line, plain and as JSON would hold them; what is public is left out."""
        for line in self.value.splitlines():
            if len(line) < LONG or _PUBLIC_KEY.match(line):
                continue
            for form in {line, json.dumps(line)[1:-1]}:
                pieces = (form[at : at + PIECE] for at in range(len(form) - PIECE + 1))
                yield from (piece for piece in pieces if not any(piece in known for known in _PUBLIC))


def _in_net_json(value: str) -> str:
    """As System.Text.Json writes: by number whatever HTML could mistake, and all that is not ASCII."""
    return re.sub(r"[^ -~]|[\"&'+<>`]", lambda char: f"\\u{ord(char[0]):04X}", value.replace("\\", "\\\\"))


class Canaries:
    """All secrets of one test."""

    def __init__(self) -> None:
        self._planted: dict[str, Canary] = {}

    def plant(self, what: str, value: str) -> str:
        """From here on this value is a secret; answers it. What is too short to be told from other text is left out."""
        if len(value) >= PIECE:
            self._planted.setdefault(value, Canary(what, value))
        return value

    def plant_tokens(self, text: str) -> None:
        """The tokens in what a login answered."""
        for token in _TOKEN.findall(text):
            self.plant("a login's token", token)

    def plant_secret(self, manifest: Mapping[str, Any]) -> None:
        """Everything in a Secret but names of users and public keys."""
        name = manifest["metadata"]["name"]
        for key, encoded in (manifest.get("data") or {}).items():
            value = base64.b64decode(encoded).decode("utf-8", "replace").rstrip("\r\n")
            public = _PUBLIC_KEY.search(value) and "PRIVATE KEY" not in value
            if key != "username" and not public:
                self.plant(f"key {key!r} of Secret {name!r}", value)

    def plant_surroundings(self, env: Mapping[str, str]) -> None:
        """The credentials that an operator was started with."""
        for name in _SECRET_VARIABLES:
            self.plant(name, env.get(name, ""))

    def __len__(self) -> int:
        return len(self._planted)

    def found_in(self, places: Iterable[tuple[str, str]]) -> list[str]:
        """Every trace of every secret: what, in which form, where, and what stands round it."""
        found: list[str] = []  # a login may bring another while it looks
        for place, text in places:
            found += [hit for canary in list(self._planted.values()) if (hit := _hit(canary, place, text))]
            found += [_told("a login's token", place, text, *token.span()) for token in _TOKEN.finditer(text)]
        return found


class WatchedCloud(SimCloud):
    """A simulated cloud whose API keys are canaries, from the moment that it makes them."""

    def __init__(self, folder: Path, canaries: Canaries, **flags: object) -> None:
        self.canaries = canaries
        canaries.plant("the API key of the simulated cloud", API_KEY)
        super().__init__(folder, **flags)

    def key(self, owner: str = "ann", **chosen: object) -> dict[str, Any]:
        """Make an API key, as ever."""
        made = super().key(owner, **chosen)
        self.canaries.plant(f"API key {made['id']}", made["value"])
        return made


def shown_in(kubectl: Kubectl, namespace: str, canaries: Canaries) -> Iterator[tuple[str, str]]:
    """What stands in a namespace: statuses, metadata, Events. Its Secrets are where more canaries come from."""
    kinds = f"secrets,{OURS},events.events.k8s.io"
    items = kubectl.api.list(kinds, namespace, managers=True)
    for item in items:
        if item["kind"] == "Secret":
            canaries.plant_secret(item)
    for item in items:
        if item["kind"] != "Secret":
            yield f"{item['kind']} {item['metadata']['name']}", shown_of(item)


def shown_of(item: Mapping[str, Any]) -> str:
    """An object without what its owner wrote: the spec, and kubectl's copy of it."""
    meta = dict(item["metadata"])
    meta["annotations"] = {name: value for name, value in meta.get("annotations", {}).items() if name != LAST_APPLIED}
    return json.dumps({**{name: value for name, value in item.items() if name != "spec"}, "metadata": meta}, ensure_ascii=False)


def everything_shown(
    kubectl: Kubectl, namespaces: Iterable[str], operators: Iterable[OperatorProcess], sim: SimCloud, canaries: Canaries
) -> list[tuple[str, str]]:
    """All that a test's operators have shown, by place. The Secrets of the namespaces become canaries first."""
    standing = [place for namespace in namespaces for place in shown_in(kubectl, namespace, canaries)]
    return [*standing, *(place for operator in operators for place in said_by(operator)), *asked_of(sim)]


def assert_not_shown(
    kubectl: Kubectl, namespaces: Iterable[str], operators: Iterable[OperatorProcess], sim: WatchedCloud
) -> None:
    """Nothing that these operators have shown holds a secret of the cloud or of the namespaces."""
    found = sim.canaries.found_in(everything_shown(kubectl, namespaces, operators, sim, sim.canaries))
    assert not found, "\n".join(found)


@contextmanager
def searched(operator: OperatorProcess, sim: WatchedCloud, kubectl: Kubectl, *namespaces: str) -> Iterator[OperatorProcess]:
    """An operator of a control plane of the test's own: when all has gone well with it, what it has shown is searched."""
    with operator:
        yield operator
        assert_not_shown(kubectl, namespaces, [operator], sim)


def said_by(operator: OperatorProcess) -> Iterator[tuple[str, str]]:
    """An operator's log, and its metrics while it runs."""
    lines = operator.process.lines()
    yield f"log of operator {operator.pid}", "\n".join(lines)
    port = next((record["metrics_port"] for record in operator.logs() if record.get("event") == "listening"), None)
    if port is not None and operator.process.exit_code is None:
        yield f"metrics of operator {operator.pid}", _fetch(f"http://127.0.0.1:{port}/metrics")


def asked_of(sim: SimCloud) -> Iterator[tuple[str, str]]:
    """The URLs of all requests to the cloud; bodies and headers are where secrets belong."""
    for call in sim.calls():
        in_url = call["parameters"] if call["method"] in {"GET", "DELETE"} else {}
        yield f"URL of {call['operation']}", f"{call['path']} {json.dumps(in_url, ensure_ascii=False)}"
        if call["secret_in_url"]:
            raise AssertionError(f"a credential stands in the URL of {call['operation']}, request {call['seq']}")


def _fetch(url: str) -> str:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60) as answer:
            return answer.read().decode()
    except OSError:
        return ""  # it was stopped, or is about to end


def _in_base64(value: str) -> Iterator[str]:
    """The characters that encode it wherever it begins in a longer text, without those that its neighbours share."""
    raw = value.encode()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode()
        first, last = (0, 2, 3)[before], (before + len(raw)) * 8 // 6
        yield encoded[first:last]
        yield encoded[first:last].translate(str.maketrans("+/", "-_"))


def _hit(canary: Canary, place: str, text: str) -> str | None:
    for needle, form in canary.needles.items():
        at = text.find(needle)
        if at >= 0:
            return _told(f"{canary.what} ({form})", place, text, at, at + len(needle))
    return None


def _told(what: str, place: str, text: str, first: int, last: int) -> str:
    return f"{what} in {place}: …{text[max(0, first - _SHOWN) : last + _SHOWN]!r}…"
