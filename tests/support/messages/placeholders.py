"""Placeholders for the names of the tests in the messages that they bring: ``VPC 'acme'`` is printed as ``VPC '{VPC}'``.

The word before a name in quotes says what it is of, else the name itself; any other name in the facts of the tables is a
``'{name}'``. Quoted words of a message's own, such as ``'true'``, stay. Names of objects and namespaces in commands are known
by their places.
"""

from __future__ import annotations

import re

from support.messages.fixturenames import names
from support.messages.kept import Kept

NOUNS = Kept(
    {
        **dict.fromkeys(("GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount", "Secret", "Service"), "name"),
        **dict.fromkeys(("VM", "snapshot", "Snapshot", "snapshots"), "name in the cloud"),
        **dict.fromkeys(("host", "Host"), "host id"),
        **{noun: noun for noun in ("VPC", "cluster", "endpoint", "namespace", "state", "tenant")},
        "account": "name",
        "Account": "name",
        "pool": "resource pool",
        "key": "key",
        "Key": "key",
    }
)
# Names of the tests whose noun stands elsewhere, or nowhere.
NAMES = Kept(
    {
        r"[AH]100_\w+": "configuration",
        r"Ubuntu_[\w.]+|Debian 12": "image",
        r"(?i:msc1|hou1|msc7|mars1)": "cluster",
        r"eu|us|prod|mars|staging": "endpoint",
        r"acme-old|acme-train": "VPC",
        r"theirs|train-tagaa-\w+|vm-of-its-own": "name in the cloud",
        r"2026-[\dTZ:-]+|now|yes": "value",
        r"old|other|srv-1": "name in the cloud",
        r"reserved": "resource pool",
        "team": "namespace",
        r"cloud-credential": "name",
    }
)
_OWN = {"default", "true", "false", "apikey"}  # words of the messages themselves
_WORDS = "words of the cloud"
_QUOTED = re.compile(r"(?P<before>[\w.]+)(?P<gap>:? )'(?P<name>[^']*)'")
_LEFT = re.compile(r"(?<=[ ,(])'(?P<name>[^'{}]+)'")
_TEXTS = [
    # Commands.
    (r"(kubectl (?:annotate|delete|get) gpu\w+) [\w-]+ --namespace=\w+", r"\1 {name} --namespace={namespace}"),
    (r"(kubectl delete) (?:gpu\w+/[\w-]+ ?)+ --namespace=\w+", r"\1 {kind}/{name} … --namespace={namespace}"),
    (r"(kubectl gpucloud retain) (?:gpu\w+/[\w-]+ ?)+ --namespace=\w+", r"\1 {kind}/{name} … --namespace={namespace}"),
    (r"(kubectl (?:get gpu\w+|gpucloud export)) --namespace=\w+", r"\1 --namespace={namespace}"),
    (r"(kubectl annotate namespace) \w+", r"\1 {namespace}"),
    (r"(kubectl create secret generic) [\w-]+ --namespace=\w+", r"\1 {name} --namespace={namespace}"),
    (r"(kubectl patch gpucloudaccount) [\w-]+ --namespace=\w+", r"\1 {name} --namespace={namespace}"),
    (r"(\"secretRef\":\{\"name\":)\"[\w-]+\"", r'\1"{name}"'),
    (r"(kubectl gpucloud adopt) [\w-]+ --namespace=\w+", r"\1 {name} --namespace={namespace}"),
    (r"(kubectl gpucloud logs) \w+ -n \w+", r"\1 {name} -n {namespace}"),
    (r"(kubectl gpucloud (?:resume|retry|retain|status) \w+)/[\w-]+ --namespace=\w+", r"\1/{name} --namespace={namespace}"),
    (r"(kubectl delete (?:gvm|gvpc|gsnap))/[\w-]+ --namespace=\w+", r"\1/{name} --namespace={namespace}"),
    (r"\b(endpointslices|services)/[\w-]+", r"\1/{name}"),
    # The words of others.
    (r"The GpuSnapshot says: .*$", "The GpuSnapshot says: {reason}: {message}"),
    (r"(?<=\")the (cloud|apiserver)'s own words(?=\")", r"{words of the \1}"),
    (r"(?<=\")(?:No|HTTP 502|40[013]|no route|closed|no|no such cluster|quota)(?=\")", "{words of the cloud}"),
    (r"\((\w+): (?:it is taken|quota)\.?\)", r"({reason}: {message})"),
    (r"'The \w+ \"[^\"]*\" was not found'", '"{words of the cloud}"'),
    # Values.
    (r"(Configurations offered|Resource pools seen|Images in use|VPCs seen): .*?\.(?= [A-Z])", r"\1: {names}."),
    (r"(Image files in use): .*?\.(?= [A-Z]|$)", r"\1: {names}."),
    (r"(Clusters that offer '[^']*'): [^.]*\.", r"\1: {clusters}."),
    (r"\b20\d\d-\d\d-\d\dT[\d:]+Z", "{time}"),
    (r"\b\d+\.\d\d dollars", "{price} dollars"),
    (r"costs \d+\.\d\d\b", "costs {price}"),
    (r"Known clusters: Hou1(, Msc1)?", "Known clusters: {clusters}"),
    (r"(spec\.(?:cluster|configuration|image\.operatingSystem|vm\.name|\w+Ref\.name)): [\w. ]*\w(?=\.)", r"\1: {value}"),
]


def generic(words: str) -> str:
    """Return a message with placeholders in braces for the names and values of the tests."""
    for pattern, placeholder in _TEXTS:
        words = re.sub(pattern, placeholder, words)
    words = _QUOTED.sub(_named, words)
    return _LEFT.sub(lambda found: _placed(found["name"], None), words)


def _named(found: re.Match[str]) -> str:
    return f"{found['before']}{found['gap']}{_placed(found['name'], NOUNS.get(found['before']))}"


def _placed(name: str, noun: str | None) -> str:
    if name in _OWN:
        return f"'{name}'"
    placeholder = noun or NAMES.get(NAMES.first(lambda pattern: re.fullmatch(pattern, name)))
    if placeholder is None and name in names():
        placeholder = "name"
    return f"'{name}'" if placeholder is None else f"'{{{placeholder}}}'"
