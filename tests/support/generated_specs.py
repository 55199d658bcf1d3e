"""Specs and statuses drawn from the printed schemas, valid ones and ones that break the contract in one named way.

Everything is drawn with a ``random.Random``; hypothesis hands in one of its own, so that a failing case shrinks. What CEL rules
ask for is known here once more, by the rule's text: a rule that is not known fails the test that counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from support.crdschema import rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

Spec = dict[str, Any]
CRDS = Path(__file__).parents[2] / "crds"
DOCUMENTS = {
    item["spec"]["names"]["kind"]: item for item in map(yaml.safe_load, map(Path.read_text, sorted(CRDS.glob("*.yaml"))))
}
del DOCUMENTS["GpuOffer"]  # the operator writes it, and it has no spec
SCHEMAS = {kind: item["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] for kind, item in DOCUMENTS.items()}
PLURALS = {kind: item["spec"]["names"]["plural"] for kind, item in DOCUMENTS.items()}

LOWER, LETTERS = "abcxyz0189", "abcXYZ0189"
ODD = "a\u00fc\u4e2d\U0001f9e8 \t\r\n\x00\x1b[31m{}%s'\"\\<>&\u2028\u202e\u0301$`;|"
MOMENTS = (
    "2026-01-02T03:04:05Z",
    "1970-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0999-06-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-01-02T03:04:05.123456789+14:00",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
)

# --- words that satisfy a rule ----------------------------------------------------------------------------------------

OBJECT_NAME = "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')"
DATA_KEY = "self.matches('^[A-Za-z0-9._-]+$')"
CLOUD_NAME = "self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')"
VPC_NAME = "self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')"
CONFIG_MAP_NAME = "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')"
SERVICE_NAME = "self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"
PORT_NAME = "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"
LOGIN_USER = "self.matches('^[a-z_][a-z0-9_-]*$')"
HOST_ID = "self.matches('^[!-~]+$')"
URL = "self.matches('^https?://[^/?#\\\\s]+([/?#]\\\\S*)?$')"
NO_USER = "!self.matches('^[a-z]+://[^/?#]*@')"
NO_URL = "!self.contains(':') && !self.contains('/')"
ABSOLUTE = "self.startsWith('/')"
NOT_PRIVATE, ONE_LINE = "!self.contains('PRIVATE KEY')", "!self.matches('[\\n\\r]')"
PUBLIC = "self.matches('^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[^ ]+ AAAA')"


def size(r: Random, least: int, most: int) -> int:
    """A length, the ends often; long ones seldom, since they cost."""
    return r.choice((least, least, min(most, least + 1), min(most, 12), min(most, 12), min(most, 30), most))


def named(ends: str, between: str) -> Callable[[Random, int], str]:
    """Words of these characters that start and end with some of them."""

    def make(r: Random, length: int) -> str:
        inner = "".join(r.choice(ends + between) for _ in range(length - 2))
        return r.choice(ends) + (inner + r.choice(ends) if length > 1 else "")

    return make


def text(r: Random, length: int) -> str:
    """Any text at all; what is long is one piece over and over."""
    piece = "".join(r.choice(ODD) for _ in range(min(length, 12)))
    return (piece * (length // max(len(piece), 1) + 1))[:length]


def public_key(r: Random, length: int) -> str:
    """A line that the rules for keys let pass, whatever it is worth."""
    start = r.choice(("ssh-ed25519 AAAA", "ecdsa-sha2-nistp256 AAAA", "sk-ssh-a@b AAAA", "ssh-1 AAAA"))
    rest = text(r, max(length - len(start), 0)).replace("\n", "n").replace("\r", "r")
    return (start + rest)[: max(length, len(start))]


def url(r: Random, length: int) -> str:
    """A URL that the rules let pass: its host is made of anything but what ends it."""
    start = r.choice(("http://", "https://"))
    host = "".join(r.choice(LETTERS + "._-:%[]") for _ in range(max(1, min(length - len(start), 12))))
    rest = "".join(r.choice(LETTERS + "/?#&=%@:") for _ in range(length))
    return f"{start}{host}/{rest}"[: max(length, len(start) + 1)]


WORDS: dict[str, Callable[[Random, int], str]] = {
    OBJECT_NAME: named(LOWER, ".-"),
    DATA_KEY: named(LETTERS + "._-", ""),
    VPC_NAME: named(LETTERS, "._-"),
    CONFIG_MAP_NAME: named(LOWER, "-"),
    SERVICE_NAME: named("abcxyz", "-"),
    PORT_NAME: named(LOWER, "-"),
    LOGIN_USER: named("abc_xyz", "-0189"),
    HOST_ID: named(LETTERS, "!~/@#:._-"),
    URL: url,
    NO_URL: lambda r, length: text(r, length).replace(":", ";").replace("/", "|"),
    ABSOLUTE: lambda r, length: "/" + text(r, length - 1),
    NOT_PRIVATE: public_key,
}
# What breaks a rule about one word.
BAD_WORDS: dict[str, tuple[str, ...]] = {
    OBJECT_NAME: ("It", "-a", "a-", ".a", "a/b", "a_b", "a\n", "\u00e4", "a b"),
    DATA_KEY: ("a/b", "a b", "\u00e4", "a\n"),
    VPC_NAME: ("-a", "a-", "_a", "a.", "a/b", "a b", "a\n", "\u00e4"),
    CONFIG_MAP_NAME: ("It", "-a", "a-", "a..b", "a_b", "a\n", "\u00e4"),
    SERVICE_NAME: ("It", "1a", "-a", "a-", "a.b", "a_b", "a\n", "\u00e4"),
    PORT_NAME: ("It", "-a", "a-", "a.b", "a_b", "a\n", "\u00e4"),
    LOGIN_USER: ("It", "-a", "1a", "a.b", "a b", "a\n", "\u00e4"),
    HOST_ID: ("a b", " a", "a\n", "\u00e4"),
    URL: ("a", "ftp://a", "https://", "https:///a", "https://a b", "HTTPS://a", "//a", "https://a\n"),
    NO_USER: ("https://me@a", "https://me:made-up@a/b", "http://@a"),
    NO_URL: ("a:b", "a/b", "https://a", ":", "/"),
    ABSOLUTE: ("a", "~/a", "./a", " /a", "\\a"),
    NOT_PRIVATE: ("ssh-rsa -----BEGIN MADE UP " + "PRIVATE KEY-----",),
    ONE_LINE: ("ssh-rsa AAAA\n", "ssh-rsa AAAA\rx", "\nssh-rsa AAAA"),
    PUBLIC: (
        "AAAA",
        "SSH-rsa AAAA",
        " ssh-rsa AAAA",
        "rsa-sha2 AAAA",
        "ssh- AAAA",
        "ssh-rsa MIIE",
        "ssh-rsa aaaa",
        "ssh-rsa  AAAA",
    ),
}


# --- what is valid ----------------------------------------------------------------------------------------------------


def value(r: Random, schema: Spec, often: float = 0.5) -> Any:
    """What a schema accepts; ``often`` is how often an optional field is there. Rules about objects are not kept yet."""
    match schema["type"]:
        case "object":
            required, fields = schema.get("required", ()), schema["properties"].items()
            return {name: value(r, field, often) for name, field in fields if name in required or r.random() < often}
        case "array":
            return items(r, schema, often)
        case "integer":
            least, most = schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1)
            return r.choice((least, most, min(least + 1, most), r.randint(least, most)))
        case "boolean":
            return r.random() < 0.5
    return word(r, schema)


def items(r: Random, schema: Spec, often: float) -> list[Any]:
    """A short list, whose items differ where they must."""
    found = [value(r, schema["items"], often) for _ in range(max(r.choice((0, 1, 1, 2, 3)), schema.get("minItems", 0)))]
    match schema["x-kubernetes-list-type"]:
        case "set":
            return list(dict.fromkeys(found))
        case "map":
            (key,) = schema["x-kubernetes-list-map-keys"]
            return list({item[key]: item for item in found}.values())
    return found


def word(r: Random, schema: Spec) -> str:
    """A text, by its first rule if it has any."""
    if "enum" in schema:
        return str(r.choice(schema["enum"]))
    if schema.get("format") == "date-time":
        return r.choice(MOMENTS)
    if "pattern" in schema:
        return r.choice(("Ready", "Stalled", "Paused", "Running", "A"))
    first = next((rule["rule"] for rule in schema.get("x-kubernetes-validations", ())), None)
    return WORDS.get(first, text)(r, size(r, schema.get("minLength", 0), schema["maxLength"]))


def valid(r: Random, kind: str) -> Spec:
    """A spec that the apiserver accepts."""
    spec = value(r, SCHEMAS[kind]["spec"], r.choice((0.1, 0.5, 0.9)))
    return REPAIRS.get(kind, lambda _r, it: it)(r, spec)


def one_of(r: Random, within: Spec, names: tuple[str, ...], otherwise: Any = None) -> Spec:
    """Keep one of these fields, or add ``otherwise`` of the first when none is there."""
    given = [name for name in names if name in within]
    kept = r.choice(given) if given else None
    left = {name: item for name, item in within.items() if name not in names or name == kept}
    return left if kept is not None or otherwise is None else {**left, names[0]: otherwise}


def repaired_name(r: Random, spec: Spec, field: str) -> Spec:
    """The rules about adoption: what is adopted is named, and what may be created is named safely."""
    if field not in spec:
        return {name: item for name, item in spec.items() if name != "adoption"}
    if spec.get("adoption") != "Required":
        spec[field] = named(LOWER, "-")(r, len(spec[field]))
    return spec


def repaired_vm(r: Random, spec: Spec) -> Spec:
    """The rules about the whole of a GpuVM's spec."""
    spec = repaired_name(r, one_of(r, spec, ("vpc", "vpcRef"), "acme"), "vmName")
    ref = {"name": "keys", "key": "id.pub"}
    if spec.get("sshKeysFrom"):
        names = ("secretKeyRef", "configMapKeyRef")
        spec["sshKeysFrom"] = [one_of(r, item, names, ref) for item in spec["sshKeysFrom"]]
    if not (spec.get("sshKeys") or spec.get("sshKeysFrom") or spec.get("adoption") == "Required"):
        spec["sshKeys"] = ["ssh-ed25519 AAAAMADEUP"]
    if "nodeName" in spec and spec.get("resourcePool", "on-demand") == "on-demand":
        spec["resourcePool"] = "reserved-acme"
    if "image" in spec:
        spec["image"] = one_of(r, spec["image"], ("operatingSystem", "customFile", "snapshotRef", "snapshot"))
    if "connection" in spec:
        spec["connection"] = repaired_connection(spec["connection"])
    for alternative in spec.get("placement", {}).get("alternatives", ()):
        bound = {"vpcRef", "vmName", "nodeName"} & spec.keys() or {"snapshot", "snapshotRef"} & spec.get("image", {}).keys()
        if bound:
            alternative.pop("cluster", None)
        if "nodeName" in spec or not alternative:
            alternative.pop("resourcePool", None)
            alternative.setdefault("configuration", "A100_40GB_PCIe_2x")
    return spec


def repaired_connection(connection: Spec) -> Spec:
    """The rules about spec.connection: it publishes something, and no two ports are the same."""
    if not connection.keys() & {"configMapName", "service"}:
        connection["configMapName"] = "addresses"
    if "service" in connection:
        ports = connection["service"]["ports"]
        connection["service"]["ports"] = list({(port["port"], port.get("protocol", "TCP")): port for port in ports}.values())
    return connection


REPAIRS: dict[str, Callable[[Random, Spec], Spec]] = {
    "GpuVM": repaired_vm,
    "GpuSnapshot": lambda r, spec: repaired_name(r, one_of(r, spec, ("vmRef", "vm"), {"name": "train"}), "snapshotName"),
}


def status(r: Random, kind: str) -> Spec:
    """A status that the apiserver lets anybody write who may."""
    return value(r, SCHEMAS[kind]["status"], r.choice((0.3, 0.8)))


# --- what is not ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Break:
    """A spec that breaks the contract in one way: how, which field is to be blamed, and the spec."""

    why: str
    blamed: str
    spec: Spec


ONE_CLUSTER = "!has(self.placement) || !has(self.placement.alternatives) || self.placement.alternatives.all(a, !has(a.cluster))"

WRONG_TYPES: dict[str, tuple[Any, ...]] = {
    "object": ("x", 7, True, ["x"]),
    "array": ("x", 7, {"x": 1}),
    "integer": ("7", 7.5, True, [7]),
    "boolean": ("true", 1, []),
    "string": (7, True, ["x"], {"x": "y"}),
}
KEY, REF = "ssh-ed25519 AAAAMADEUP", {"name": "x"}
# What breaks a rule about an object: the rule, and what is put into it (None: taken out).
BAD_OBJECTS: dict[str, tuple[Spec, ...]] = {
    "has(self.secretKeyRef) != has(self.configMapKeyRef)": (
        {"secretKeyRef": None, "configMapKeyRef": None},
        {"secretKeyRef": {"name": "a", "key": "b"}, "configMapKeyRef": {"name": "a", "key": "b"}},
    ),
    "[has(self.operatingSystem), has(self.customFile), has(self.snapshotRef), has(self.snapshot)]"
    ".filter(given, given).size() < 2": (
        {"operatingSystem": "a", "snapshot": "b"},
        {"customFile": "a", "snapshotRef": REF},
        {"operatingSystem": "a", "customFile": "a", "snapshotRef": REF, "snapshot": "b"},
    ),
    "self.adoption == 'Required' || (has(self.sshKeys) && size(self.sshKeys) > 0) || "
    "(has(self.sshKeysFrom) && size(self.sshKeysFrom) > 0)": (
        {"adoption": None, "sshKeys": None, "sshKeysFrom": None},
        {"adoption": "Never", "sshKeys": [], "sshKeysFrom": []},
    ),
    **{
        f"self.adoption == 'Never' || has(self.{field})": ({"adoption": "Required", field: None},)
        for field in ("vmName", "snapshotName")
    },
    **{
        f"self.adoption == 'Required' || !has(self.{field}) || {CLOUD_NAME.replace('self', f'self.{field}', 1)}": tuple(
            {"adoption": adoption, field: bad} for adoption, bad in (("Never", "It"), ("IfExists", "a_b"), (None, "a.b"))
        )
        for field in ("vmName", "snapshotName")
    },
    "has(self.vpc) || has(self.vpcRef)": ({"vpc": None, "vpcRef": None},),
    "!(has(self.vpc) && has(self.vpcRef))": ({"vpc": "acme", "vpcRef": REF},),
    "!has(self.nodeName) || (has(self.resourcePool) && self.resourcePool != 'on-demand')": (
        {"nodeName": "n", "resourcePool": None},
        {"nodeName": "n", "resourcePool": "on-demand"},
    ),
    "has(self.configMapName) || has(self.service)": ({"configMapName": None, "service": None},),
    "has(self.cluster) || has(self.configuration) || has(self.resourcePool)": (
        {"cluster": None, "configuration": None, "resourcePool": None},
    ),
    **{
        f"!({given}) || {ONE_CLUSTER}": ({**broken, "placement": {"alternatives": [{"cluster": "Hou1"}]}},)
        for given, broken in {
            "has(self.vpcRef)": {"vpc": None, "vpcRef": REF},
            "has(self.vmName)": {"vmName": "prod"},
            "has(self.nodeName)": {"nodeName": "n", "resourcePool": "p"},
            "has(self.image) && (has(self.image.snapshot) || has(self.image.snapshotRef))": {"image": {"snapshot": "s"}},
        }.items()
    },
    "!has(self.nodeName) || !has(self.placement) || !has(self.placement.alternatives) || "
    "self.placement.alternatives.all(a, !has(a.resourcePool))": (
        {"nodeName": "n", "resourcePool": "p", "placement": {"alternatives": [{"resourcePool": "q"}]}},
    ),
    "has(self.vmRef) || has(self.vm)": ({"vmRef": None, "vm": None},),
    "!(has(self.vmRef) && has(self.vm))": ({"vmRef": REF, "vm": {"cluster": "a", "vpc": "b", "name": "c"}},),
}

# What breaks a rule about a list.
BAD_LISTS: dict[str, tuple[list[Spec], ...]] = {
    "self.all(a, self.filter(b, a.port == b.port && (has(a.protocol) ? a.protocol : 'TCP') == "
    "(has(b.protocol) ? b.protocol : 'TCP')).size() == 1)": (
        [{"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "TCP"}],
    ),
}


def known_rules(kind: str) -> tuple[list[str], list[str]]:
    """The rules of a kind about a new object, and those of them that can be broken here."""
    found = [rule["rule"] for _, rule in rules(SCHEMAS[kind]["spec"], "spec") if "oldSelf" not in rule["rule"]]
    return found, [rule for rule in found if rule in BAD_WORDS or rule in BAD_OBJECTS or rule in BAD_LISTS]


def breaks(r: Random, schema: Spec, path: str, whole: Any) -> Iterator[tuple[str, str, Any]]:
    """Every way to break a value: (how, the field to blame, the broken value)."""
    kind = schema["type"]
    for wrong in WRONG_TYPES[kind]:
        yield f"{wrong!r} for {kind}", path, wrong
    for rule in schema.get("x-kubernetes-validations", ()):
        blamed = path + rule.get("fieldPath", "")
        for bad in (*BAD_WORDS.get(rule["rule"], ()), *BAD_LISTS.get(rule["rule"], ())):
            yield f"{bad!r} against {rule['rule']}", blamed, bad
        for change in BAD_OBJECTS.get(rule["rule"], ()):
            changed = {name: item for name, item in {**whole, **change}.items() if item is not None}
            yield f"{change} against {rule['rule']}", blamed, changed
    yield from {"object": object_breaks, "array": array_breaks, "integer": integer_breaks, "string": string_breaks}.get(
        kind, lambda *_: iter(())
    )(r, schema, path, whole)


def object_breaks(r: Random, schema: Spec, path: str, whole: Any) -> Iterator[tuple[str, str, Any]]:
    yield "an unknown field", f"{path}.colour", {**whole, "colour": "red"}
    for name in schema.get("required", ()):
        yield f"no {name}", f"{path}.{name}", {field: item for field, item in whole.items() if field != name}
    for name, field in schema["properties"].items():
        inner = whole[name] if name in whole else value(r, field)
        for why, blamed, broken in breaks(r, field, f"{path}.{name}", inner):
            yield why, blamed, {**whole, name: broken}


def array_breaks(r: Random, schema: Spec, path: str, whole: Any) -> Iterator[tuple[str, str, Any]]:
    good = whole[0] if whole else value(r, schema["items"], 1.0)
    unique = schema["x-kubernetes-list-type"] == "set"
    many = [f"item-{number}" for number in range(schema["maxItems"] + 1)] if unique else [good] * (schema["maxItems"] + 1)
    yield "too many items", path, many
    if unique:
        yield "one item twice", f"{path}[1]", [good, good]
    for why, blamed, broken in breaks(r, schema["items"], f"{path}[{len(whole)}]", good):
        yield why, blamed, [*whole, broken]


def integer_breaks(r: Random, schema: Spec, path: str, whole: Any) -> Iterator[tuple[str, str, Any]]:  # noqa: ARG001
    for word, beyond in (("minimum", -1), ("maximum", 1)):
        if word in schema:
            yield f"beyond the {word}", path, schema[word] + beyond


def string_breaks(r: Random, schema: Spec, path: str, whole: Any) -> Iterator[tuple[str, str, Any]]:  # noqa: ARG001
    if "enum" in schema:
        yield from ((f"{bad!r} is none of its words", path, bad) for bad in ("", "delete", "Other", schema["enum"][0] + " "))
        return
    if schema.get("minLength"):
        yield "empty", path, ""
    yield "too long", path, "a" * (schema["maxLength"] + 1)


def all_breaks(r: Random, kind: str) -> list[Break]:
    """Each way to break one valid spec of this kind."""
    return [Break(*item) for item in breaks(r, SCHEMAS[kind]["spec"], "spec", valid(r, kind))]
