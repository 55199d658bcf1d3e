"""ObjectMeta: what the server sets, what may change, and what is refused."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion")
DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
QUALIFIED = re.compile(rf"({DNS_NAME.pattern}/)?{NAME_PART}")
LABEL_VALUE = re.compile(rf"({NAME_PART})?")
LONGEST_NAME = 253
LONGEST_ANNOTATIONS = 256 * 1024


def tidy(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Without empty fields."""
    return {name: value for name, value in meta.items() if value not in ({}, [], "", None)}


def kept(meta: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """What a client sent, with the fields of the server as they were."""
    mine = {
        name: value for name, value in meta.items() if name not in SYSTEM and name not in {"name", "namespace", "generateName"}
    }
    theirs = {name: old[name] for name in (*SYSTEM, "name", "namespace", "generateName") if name in old}
    return tidy(mine | theirs)


def causes(meta: Mapping[str, Any]) -> list[Cause]:
    """What is wrong with names, labels and finalizers."""
    found = []
    name = meta.get("name", "")
    if not name:
        found.append(Cause("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    elif not DNS_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        found.append(_bad("metadata.name", name))
    for key, value in meta.get("labels", {}).items():
        found += [_bad("metadata.labels", key)] if not _qualified(key) else []
        found += [_bad("metadata.labels", value)] if not LABEL_VALUE.fullmatch(value) else []
    annotations = meta.get("annotations", {})
    found += [_bad("metadata.annotations", key) for key in annotations if not _qualified(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > LONGEST_ANNOTATIONS:
        found.append(Cause("FieldValueTooLong", "metadata.annotations", "Too long: may not be more than 262144 bytes"))
    found += [_bad("metadata.finalizers", name) for name in meta.get("finalizers", ()) if not _qualified(name)]
    return found


def changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """What may not change."""
    found = []
    if new.get("uid", old["uid"]) != old["uid"]:
        found.append(Cause("FieldValueInvalid", "metadata.uid", f'Invalid value: "{new["uid"]}": field is immutable'))
    added = [name for name in new.get("finalizers", ()) if name not in old.get("finalizers", ())]
    if added and "deletionTimestamp" in old:
        told = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {added}"
        found.append(Cause("FieldValueForbidden", "metadata.finalizers", told))
    return found


@lru_cache(maxsize=1024)
def _qualified(name: str) -> bool:
    return QUALIFIED.fullmatch(name) is not None


def _bad(field: str, value: str) -> Cause:
    return Cause("FieldValueInvalid", field, f'Invalid value: "{value}"')
