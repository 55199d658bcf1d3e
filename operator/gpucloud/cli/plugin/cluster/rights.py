"""Rights in Kubernetes that the plugin's verbs need, in words; and the commands that give them. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS
from gpucloud.cli.terminal.marks import paste
from gpucloud.kinds.meta import GROUP
from gpucloud.reconcile.commands import AFTER_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Right:
    """Something that one may or may not do."""

    verb: str
    resource: str
    group: str = GROUP
    name: str = ""


def right_to(verb: str, kind: str) -> Right:
    """Return the right to do this with objects of a kind of ours."""
    return Right(verb, KINDS[kind].plural)


VERBS = ("list", "create", "patch", "delete")
WANTED_RIGHTS = (
    *(right_to(verb, kind) for kind in KINDS if kind != ACCOUNT for verb in VERBS),
    right_to("list", ACCOUNT),
)
ROLE = "gpucloud-reader"


def listed(lacking: Mapping[str, list[str]]) -> str:
    """Verbs by resource, with those together that lack the same: ``create, patch gpuvms, gpuvpcs; list gpuhosts``."""
    alike: dict[str, list[str]] = {}
    for resource, verbs in lacking.items():
        alike.setdefault(", ".join(verbs), []).append(resource)
    return "; ".join(f"{verbs} {', '.join(resources)}" for verbs, resources in alike.items())


def in_words(namespace: str | None) -> str:
    """Where a right holds: in a namespace, or in all when None."""
    return "in all namespaces" if namespace is None else f"in namespace {namespace!r}"


def unlisted(who: str, namespace: str | None, plurals: Iterable[str]) -> tuple[str, str]:
    """Two sentences: what this user may not list, and which commands give the right."""
    lacking = tuple(plurals)
    return f"You {_may_not_list(who, namespace, lacking)}: this page leaves them out.", _granted(who, namespace, lacking)


def request(namespace: str | None, lacking: Iterable[Right]) -> str:
    """What to ask for; and for each of these rights the command that shows whether one has it."""
    verbs: dict[str, list[str]] = {}
    for right in lacking:
        verbs.setdefault(f"{right.resource}.{right.group}".rstrip("."), []).append(right.verb)
    wanted = ", and to ".join(f"{' and '.join(some)} {resource}" for resource, some in verbs.items())
    scope = "--all-namespaces" if namespace is None else f"--namespace={namespace}"
    commands = tuple(
        paste(f"kubectl auth can-i {verb} {resource} {scope}") for resource, some in verbs.items() for verb in some
    )
    see = "To see whether you have it" if len(commands) == 1 else "To see which of these you have"
    return f"Ask for the right to {wanted}, or name a namespace of yours with -n. {see}: {AFTER_COMMAND.join(commands)}"


def none_listed(who: str, namespace: str | None, plurals: Iterable[str]) -> PluginError:
    """The same for a user who may list no kind at all, and so sees no page."""
    lacking = tuple(plurals)
    instead = "Name a namespace of yours with -n, or ask for the right."
    what = f"you {_may_not_list(who, namespace, lacking)}."
    return PluginError(what, do=f"{instead} {_granted(who, namespace, lacking)}")


def _may_not_list(who: str, namespace: str | None, plurals: tuple[str, ...]) -> str:
    return f"({who or 'of unknown name'}) may not list {', '.join(plurals)} {in_words(namespace)}"


def _granted(who: str, namespace: str | None, plurals: tuple[str, ...]) -> str:
    return f"An administrator of the cluster gives you the right to read them: {grant(who, namespace, plurals)}"


def grant(who: str, namespace: str | None, plurals: Iterable[str]) -> str:
    """The commands by which a user may read these resources, in a namespace or in all when None."""
    kind, scope = ("clusterrole", "") if namespace is None else ("role", f" --namespace={namespace}")
    resources = ",".join(f"{plural}.{GROUP}" for plural in plurals)
    role = paste(f"kubectl create {kind} {ROLE} --verb=get,list,watch --resource={resources}{scope}")
    binding = paste(f"kubectl create {kind}binding {ROLE} --{kind}={ROLE} --user={shlex.quote(who or 'USER')}{scope}")
    return f"{role} && {binding}"
