"""What a message names, looked up where it is defined: commands and their flags, fields, annotations, variables, pages.

A way out that names something that does not exist leads nowhere, so a message is judged by what its names stand for.
"""

from __future__ import annotations

import argparse
import importlib
import re
from functools import cache
from typing import TYPE_CHECKING

import gpucloud.kinds.meta
from gpucloud.cli.main import COMMANDS
from gpucloud.cli.plugin.usage.commands import VERBS
from gpucloud.cli.variables import OTHERS
from gpucloud.flags import variables
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import DEFINITIONS, GPUOFFER
from gpucloud.reconcile.commands import KUBECTL
from gpucloud.website import SITE
from support.crdschema import fields
from support.messages.program import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

# What looks like a command, wherever it stands: one that is spelled wrongly is to be found, too.
_COMMAND = re.compile(r"(?<![\w/.-])(kubectl(?: gpucloud)?|gpucloud)(?= [a-z-])((?: [^\s'`|;,:)]+)*)")
_FIELD = re.compile(r"(?<![\w/.-])(?:spec|status)\.[A-Za-z]\w*(?:(?:\[\w*\])?\.[A-Za-z]\w*)*")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![\w…-])")
_OF_OTHERS = re.compile(r"\b(?:kubectl(?! gpucloud)|helm) [^`;]*?(?=\. |`|$)")  # commands whose flags are defined elsewhere
_KEY = re.compile(r"(?<![\w./-])gpucloud\.dev/[a-z][\w-]*\w")
_VARIABLE = re.compile(r"\bGPUCLOUD_[A-Z_]*[A-Z]\b")
_PAGE = re.compile(r"(?<![\w/])(?:docs|how-to|reference|explanation)/[\w/.-]+\.md(?:#[\w-]+)?")
_ADDRESS = re.compile(rf"{re.escape(SITE)}([\w/-]*[\w-])/(#[\w-]+)?")
_MAKE = re.compile(r"'make ([a-z-]+)'")
_FILE_OF_SECRET = "_FILE"  # after the name of a secret's variable: of a file that holds it
_PLAIN = frozenset({"--help", "--version"})


def unreal(text: str) -> list[str]:
    """Everything that the text names and that nothing here defines: empty for a message whose names all lead somewhere."""
    found = [what for command in _COMMAND.finditer(text) for what in _of_command(command[1], command[2].split())]
    rest = _COMMAND.sub("", _OF_OTHERS.sub("", text))
    looked_up = ((_FIELD, text, _fields()), (_KEY, text, _keys()), (_VARIABLE, text, _variables()), (_FLAG, rest, _all_flags()))
    for pattern, where, known in looked_up:
        found += [name for name in pattern.findall(where) if re.sub(r"\[\w*\]", "", name) not in known]
    found += [f"make {target}" for target in _MAKE.findall(text) if f"\n{target}:" not in _makefile()]
    pages = [*_PAGE.findall(text), *(f"{page}.md{anchor}" for page, anchor in _ADDRESS.findall(text))]
    return found + [page for page in pages if not _is_page(page)]


def names(text: str) -> bool:
    """Whether the text names a command, field, annotation, variable, flag or page, which ``unreal`` looks up."""
    return any(pattern.search(text) for pattern in (_COMMAND, _FIELD, _KEY, _VARIABLE, _PAGE, _ADDRESS, _FLAG))


def _of_command(program: str, words: list[str]) -> Iterator[str]:
    verb = words[0].rstrip(".?")
    known = {"kubectl": {*KUBECTL, "gpucloud"}, "kubectl gpucloud": VERBS, "gpucloud": COMMANDS}[program]
    if not re.fullmatch(r"[a-z-]+", verb):  # a placeholder, or the name of something else
        return
    if verb not in known and not verb.startswith("-"):
        yield f"{program} {verb}"
    elif program != "kubectl":
        flags = _flags()[f"{program} {verb}" if verb in known else program]
        yield from (f"{program} {verb} {flag}" for flag in _FLAG.findall(" ".join(words)) if flag not in flags)
    elif verb in ("annotate", "delete", "edit", "get", "describe", "explain") and re.match(r"gpu|g[a-z]+/", words[1]):
        yield from (f"{program} {verb} {kind}" for kind in _kinds_in(words[1]) if kind not in _kinds())


def _kinds_in(word: str) -> list[str]:
    return re.split(r"[/.]", word)[0].split(",")


@cache
def _kinds() -> frozenset[str]:
    found = {"gpucloud"}  # the category of all
    for item in (*DEFINITIONS, GPUOFFER):
        found |= {item.kind.lower(), item.plural, item.short_name}
    return frozenset(found)


@cache
def _fields() -> frozenset[str]:
    found: set[str] = {"status.conditions"}
    for item in DEFINITIONS:
        (version,) = custom_resource_definition(item)["spec"]["versions"]
        found |= {path.replace("[]", "") for path, _ in fields(version["schema"]["openAPIV3Schema"])}
    return frozenset(found)


@cache
def _keys() -> frozenset[str]:
    """Every name of our domain: annotations, labels, finalizers, the version of the API."""
    own = vars(gpucloud.kinds.meta)
    texts = {value for value in own.values() if isinstance(value, str)}
    return frozenset(texts | {key.value for key in own["Annotation"]})


@cache
def _flags() -> dict[str, frozenset[str]]:
    """The flags of each command, by its name."""
    found = {f"kubectl gpucloud {name}": {*_PLAIN, *(n for p in verb.options for n in p.names)} for name, verb in VERBS.items()}
    for name in COMMANDS:
        parser = argparse.ArgumentParser()
        importlib.import_module(f"gpucloud.cli.{name}").add_arguments(parser)
        found[f"gpucloud {name}"] = {*_PLAIN, *_FLAG.findall(parser.format_help())}
    return {name: frozenset(flags) for name, flags in {**found, "gpucloud": _PLAIN, "kubectl gpucloud": _PLAIN}.items()}


@cache
def _all_flags() -> frozenset[str]:
    return frozenset().union(*_flags().values())


@cache
def _variables() -> frozenset[str]:
    own = variables() | set(OTHERS)
    return frozenset(own | {f"{name}{_FILE_OF_SECRET}" for name in own})


@cache
def _makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def _is_page(page: str) -> bool:
    """Whether the documents have this page, and the heading after the #."""
    path, _, anchor = page.removeprefix("docs/").partition("#")
    file = ROOT / "docs" / path
    if not file.is_file():
        return False
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return not anchor or anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
