"""Store: the newest view of each custom resource, from watch events and from answers to the operator's own writes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ValidationError

from gpucloud.engine.cache.entries import Entries
from gpucloud.kinds.meta import FINALIZER, GROUP
from gpucloud.kinds.model import Model
from gpucloud.reconcile.facts import ObjectFacts
from gpucloud.reconcile.ownership import own_record
from gpucloud.reconcile.tenancy import may_change
from gpucloud.reconcile.text import MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping

    from gpucloud.kinds.common import Order

P = TypeVar("P", bound=Model)
S = TypeVar("S", bound=Model)

TENANCY = "tenancy"  # the frozen field that an order brings: it changes with the order, whichever process writes it


@dataclass(frozen=True, slots=True)
class CachedObject(Generic[P, S]):
    """One object, parsed once. ``spec`` is None if it cannot be parsed; ``flaw`` then says why.

    ``amended``: somebody edited a frozen field of the status in the apiserver; ``status`` has the former value.
    """

    raw_meta: Mapping[str, Any]
    meta: ObjectFacts
    spec: P | None
    status: S
    flaw: str = ""
    amended: bool = False
    order: Order | None = field(init=False, compare=False)
    """The order record in status, if it is this object's own; None for a kind without orders."""

    def __post_init__(self) -> None:
        """Check once whose record the status holds: each reconcile asks some fifteen times."""
        object.__setattr__(self, "order", own_record(getattr(self.status, "order", None), self.meta.uid))

    def same_facts_as(self, other: CachedObject[P, S]) -> bool:
        """Whether both views are equal in everything that a decision depends on."""
        return (self.meta, self.spec, self.status) == (other.meta, other.spec, other.status)

    @property
    def version(self) -> int:
        """The resourceVersion; comparable since Kubernetes 1.35, and in every etcd-backed version before."""
        return int(self.raw_meta["resourceVersion"])


class Store(Generic[P, S]):
    """All objects of one kind, by UID."""

    def __init__(
        self,
        spec_type: type[P],
        status_type: type[S],
        frozen: tuple[str, ...] = (),
        entries: Entries | None = None,
        indexer: Callable[[CachedObject[P, S]], Iterable[Hashable]] = lambda _stored: (),
    ) -> None:
        """``frozen`` names status fields that never change once they are set; a person's edit of them is ignored.

        ``indexer`` yields the keys under which ``indexed`` finds an object, from its view alone.
        """
        self._indexer = indexer
        self._index: dict[Hashable, set[str]] = {}
        self._keys: dict[str, frozenset[Hashable]] = {}  # index keys by UID
        self.entries = Entries() if entries is None else entries
        self._spec_type = spec_type
        self._status_type = status_type
        self._frozen = frozen
        self._objects: dict[str, CachedObject[P, S]] = {}
        self._names: dict[str, dict[str, str]] = {}  # UIDs by name, by namespace

    def __iter__(self) -> Iterator[CachedObject[P, S]]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, uid: str) -> CachedObject[P, S] | None:
        """Return the cached object, or None if it was deleted."""
        return self._objects.get(uid)

    def named(self, namespace: str, name: str) -> CachedObject[P, S] | None:
        """Return the cached object of this name, or None."""
        return self._objects.get(self._names.get(namespace, {}).get(name, ""))

    def names(self, namespace: str) -> Collection[str]:
        """Return the names of the cached objects of a namespace."""
        return self._names.get(namespace, {}).keys()

    def indexed(self, *keys: Hashable) -> list[CachedObject[P, S]]:
        """Return the objects with any of these keys, in the order in which they were first seen."""
        uids = {uid for key in keys for uid in self._index.get(key, ())}
        return [self._objects[uid] for uid in sorted(uids, key=self.entries.number)]

    def is_current(self, stored: CachedObject[P, S]) -> bool:
        """Whether the cached object still equals this view in everything that a decision depends on."""
        latest = self._objects.get(stored.meta.uid)
        return latest is not None and latest.same_facts_as(stored)

    def lacks(self, uids: set[str]) -> int:
        """Return how many of these UIDs are not cached."""
        return len(uids - self._objects.keys())

    def put(self, body: Mapping[str, Any]) -> bool:
        """Cache a newer view of an object; return whether anything changed that a decision depends on.

        A view older than the cached one (a watch event that arrives after the answer to our own write) is ignored.
        """
        meta = body["metadata"]
        known = self._objects.get(meta["uid"])
        if known is not None and int(meta["resourceVersion"]) <= known.version:
            return False  # the echo of our own write, in most cases: not worth parsing
        return self._take(self._parse(body), known)

    def put_written(
        self, before: CachedObject[P, S], answer: Mapping[str, Any], document: Mapping[str, Any], status: S
    ) -> CachedObject[P, S]:
        """Cache the answer to a write of ``status``, sent as ``document``; return its view.

        The apiserver accepted the write with the resourceVersion of ``before``, so the spec is the same, unless the metadata
        differ. The status is parsed only if it differs from what was sent.
        """
        meta = answer["metadata"]
        if answer.get("status") == document and _facts(meta) == before.meta:
            shown = replace(before, raw_meta=_slim(meta), status=status, amended=False)
        else:
            shown = self._parse(answer)
        known = self._objects.get(shown.meta.uid)
        if known is None or shown.version > known.version:
            self._take(shown, known)
        return shown

    def _take(self, fresh: CachedObject[P, S], known: CachedObject[P, S] | None) -> bool:
        fresh = fresh if known is None else self._amend(fresh, known)
        self._objects[fresh.meta.uid] = fresh
        self.entries.open(fresh.meta.uid)
        self._reindex(fresh.meta.uid, frozenset(self._indexer(fresh)))
        namesake = self.named(fresh.meta.namespace, fresh.meta.name)
        if namesake is None or namesake.version <= fresh.version:  # a late event of a deleted object must not take the name
            self._names.setdefault(fresh.meta.namespace, {})[fresh.meta.name] = fresh.meta.uid
        if known is None or fresh.amended:
            return True
        return not fresh.same_facts_as(known)

    def drop(self, uid: str) -> None:
        """Remove a deleted object, its index keys and its entry."""
        self._reindex(uid, frozenset())
        self.entries.drop(uid)
        gone = self._objects.pop(uid, None)
        names = {} if gone is None else self._names.get(gone.meta.namespace, {})
        if gone is not None and names.get(gone.meta.name) == uid:
            del names[gone.meta.name]
            if not names:
                del self._names[gone.meta.namespace]

    def _reindex(self, uid: str, keys: frozenset[Hashable]) -> None:
        """Replace the keys of an object."""
        known = self._keys.get(uid, frozenset())
        for key in known - keys:
            self._index[key].discard(uid)
            if not self._index[key]:
                del self._index[key]
        for key in keys - known:
            self._index.setdefault(key, set()).add(uid)
        if keys:
            self._keys[uid] = keys
        else:
            self._keys.pop(uid, None)

    def _amend(self, fresh: CachedObject[P, S], known: CachedObject[P, S]) -> CachedObject[P, S]:
        """Return the view with the former values of frozen fields that it lacks or that differ, as after a person's edit."""
        former = {name: getattr(known.status, name) for name in self._frozen}
        edited = {name: value for name, value in former.items() if value not in (None, getattr(fresh.status, name))}
        if TENANCY in edited and may_change(known.order, fresh.order, getattr(fresh.status, TENANCY)):
            del edited[TENANCY]
        return replace(fresh, status=fresh.status.model_copy(update=edited), amended=True) if edited else fresh

    def _parse(self, body: Mapping[str, Any]) -> CachedObject[P, S]:
        meta = body["metadata"]
        spec, flaw = None, ""
        try:
            spec = self._spec_type.model_validate(body.get("spec") or {})
        except ValidationError as error:
            flaw = "; ".join(f"spec.{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:3])
        try:
            status = self._status_type.model_validate(body.get("status") or {})
        except ValidationError:
            status = self._status_type()  # a person made it unreadable: start from an empty status
        return CachedObject(_slim(meta), _facts(meta), spec, status, flaw)


def _slim(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Keep only the metadata that writes need; managedFields would double the memory of 10,000 objects."""
    return {
        name: meta[name]
        for name in ("name", "namespace", "uid", "resourceVersion", "finalizers", "creationTimestamp")
        if name in meta
    }


def _facts(meta: Mapping[str, Any]) -> ObjectFacts:
    annotations = meta.get("annotations") or {}
    return ObjectFacts(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        generation=int(meta.get("generation", 0)),
        deleting="deletionTimestamp" in meta,
        has_finalizer=FINALIZER in meta.get("finalizers", ()),
        # Cut to the length that status can repeat: a status that cannot be written would block every reconcile.
        annotations={name: value[:MAX_TEXT] for name, value in annotations.items() if name.startswith(GROUP + "/")},
        deleted_at=_time(meta, "deletionTimestamp"),
        created_at=_time(meta, "creationTimestamp"),
    )


def _time(meta: Mapping[str, Any], name: str) -> datetime | None:
    return datetime.fromisoformat(meta[name]) if name in meta else None
