"""Names that prove ownership. The service has no tags or labels, so the name is the only place where ours can be told.

``<name>-<tag>-<fingerprint>``: the object's name for people; the installation's tag, to tell our orphan from another
cluster's VM; a hash of the object's UID, so that any process at any time can ask "did I already create it?" by name alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

MAX_LENGTH = 52  # service-api: CreateServer, name
TAG_LENGTH = 5
FINGERPRINT_LENGTH = 10  # 50 bits: a chance of 1 in 10^9 that any two of a million objects share one

_OURS = re.compile(r"(?P<base>[a-z0-9][a-z0-9-]*-(?P<tag>[a-z0-9]{3,8})-)(?P<fingerprint>[a-z2-7]{10})")


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one VM from every other: the service holds at most one of a name in a VPC of a cluster."""

    cluster: str
    vpc: str
    name: str


def same_cluster(some: str, other: str) -> bool:
    """Whether two names mean one cluster. The service takes a name in any letter case and lists its own spelling."""
    return some.casefold() == other.casefold()


@dataclass(frozen=True, slots=True)
class Mark:
    """What a name of ours tells: the base name of the object it was made for, and the fingerprint of that object's UID."""

    base: str
    fingerprint: str


def fingerprint(uid: str) -> str:
    """The part of a name that only the object with this UID can have."""
    return _letters(uid, FINGERPRINT_LENGTH)


def installation_tag(cluster_uid: str) -> str:
    """The tag of the installation in the Kubernetes cluster of this identity (the UID of kube-system)."""
    return _letters(cluster_uid, TAG_LENGTH)


def base_name(object_name: str, tag: str) -> str:
    """What all VMs of objects of one name share, whatever their UID: ``<name shortened>-<tag>-``."""
    reconciler = MAX_LENGTH - len(tag) - FINGERPRINT_LENGTH - 2
    readable = re.sub(r"[^a-z0-9-]+", "-", object_name.lower())[:reconciler].strip("-")
    return f"{readable}-{tag}-"


def external_name(object_name: str, uid: str, tag: str) -> str:
    """The deterministic cloud name, at most 52 characters, of the object's VM or snapshot."""
    return base_name(object_name, tag) + fingerprint(uid)


def proves(name: str, uid: str) -> bool:
    """Whether a cloud name bears the fingerprint of this UID, and so could only have been given for that object."""
    return name.endswith("-" + fingerprint(uid))


def read_mark(name: str, tag: str) -> Mark | None:
    """The mark in a cloud name of the form that this installation gives; None for every other name."""
    found = _OURS.fullmatch(name)
    if found is None or found["tag"] != tag or len(name) > MAX_LENGTH:
        return None
    return Mark(found["base"], found["fingerprint"])


@lru_cache(maxsize=65536)  # asked for several times in each pass over an object, and always the same
def _letters(text: str, length: int) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:length]
