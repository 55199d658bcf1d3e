"""The few things that the verbs write: they change objects of ours, and make them.

A write whose answer is lost is followed by a look at the object, which shows what came of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import lost_answers, path_of, refusals
from gpucloud.cli.plugin.cluster.rights import right_to
from gpucloud.cli.plugin.errors import REQUESTED, PluginError, UnansweredError
from gpucloud.cli.plugin.kube.access import FIELD_MANAGER, RefusedError
from gpucloud.cli.plugin.kube.answers import the_object, unreadable
from gpucloud.kinds.meta import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.model.objects import Key, Thing

SERVER_ERROR = 500  # from here on a refused write may have been carried out


class NameTakenError(PluginError):
    """Another object of this name exists."""

    def __init__(self, key: Key) -> None:
        there = f"{key} exists already in namespace {key.namespace!r}."
        super().__init__(there, do=f"Choose another name, or see what is there: {key.command('status')}")


class Made(NamedTuple):
    """An object as it was sent; ``is_new``: this call made it, else an earlier one did, as one whose answer was lost."""

    thing: Thing
    is_new: bool = True


def patch(here: Cluster, item: Thing, body: Mapping[str, Any]) -> Thing:
    """Change fields or annotations of this very object: another one of its name, made meanwhile, is left alone.

    Raises:
        PluginError: it was refused, or nobody knows what came of it.
    """
    key, query = item.key, {"fieldManager": FIELD_MANAGER}
    if not item.uid:
        raise unreadable(f"{key} with its UID")
    change = {**body, "metadata": {**body.get("metadata", {}), "uid": item.uid}}
    try:
        with _lost_answers(f"change {key}", key):
            return the_object(key, here.api.call("PATCH", path_of(key.kind, key.namespace, key.name), query, change))
    except RefusedError as error:
        needed = here.needed(error, key.namespace, right_to("patch", key.kind))
        raise refusals.refusal(error, f"change {key} in namespace {key.namespace!r}", key.namespace, needed, key) from None
    except lost_answers.LostAnswerError as error:
        why = error.why
    found, looked = here.look(key)
    if found is None or found.uid != item.uid or not lost_answers.shows(found, change):
        raise lost_answers.not_changed(key, why, looked=looked)
    show.tell(f"{key} is changed as it was asked, although the answer was lost: do not send it again.")
    return found


def create(here: Cluster, key: Key, spec: Mapping[str, Any], again: str = lost_answers.SAME_NAME) -> Made:
    """Make an object. ``again`` is the way to repeat it after an answer that is lost.

    Raises:
        NameTakenError: there is another object of this name.
        PluginError: it was refused, or nobody knows what came of it.
    """
    body = {"apiVersion": API_VERSION, "kind": key.kind, "metadata": {"name": key.name}, "spec": spec}
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
    try:
        with _lost_answers(f"create {key}", key):
            return Made(the_object(key, here.api.call("POST", path_of(key.kind, key.namespace), query, body)))
    except RefusedError as error:
        if error.is_name_taken:
            there = here.glimpse(key)
            if there is None or not lost_answers.stands_for(there, body):
                raise NameTakenError(key) from None
            return Made(there, is_new=False)
        if error.status == 404:
            here.check_namespace(key.namespace)
        needed = here.needed(error, key.namespace, right_to("create", key.kind))
        raise refusals.refusal(error, f"create {key} in namespace {key.namespace!r}", key.namespace, needed, key) from None
    except lost_answers.LostAnswerError as error:
        why = error.why
    found, looked = here.look(key)
    if found is None:
        raise lost_answers.not_created(key, why, again, looked=looked)
    if not lost_answers.stands_for(found, body):
        raise NameTakenError(key)
    show.tell(f"{key} is there as it was sent, although the answer was lost: do not send it again.")
    return Made(found)


@contextmanager
def _lost_answers(what: str, key: Key) -> Iterator[None]:
    """Send a write, whose answer may be lost.

    Raises:
        LostAnswerError: the write may have been carried out.
        RefusedError, UnansweredError: it was not.
    """
    REQUESTED.set(True)  # before the call, which may arrive although its answer does not
    try:
        yield
    except RefusedError as error:
        if error.status < SERVER_ERROR:
            raise
        raise lost_answers.LostAnswerError(lost_answers.words_of(error, what, key)) from None
    except UnansweredError as error:
        if not error.sent:
            raise
        raise lost_answers.LostAnswerError(error.why) from None
