"""Names that prove ownership. The service has no tags or labels, so the name is the only mark of our own resources.

``<name>-<tag>-<fingerprint>``: the object's name for people; the installation's tag, to tell our orphan from another
cluster's VM; a hash of the object's UID, so that any process at any time can ask "did I already create it?" by name alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

MAX_LENGTH = 52  # characters; service-api: CreateServer, name
TAG_LENGTH = 5
NO_VPC = "-"  # as the VPC of an Identity: the resource is in none
FINGERPRINT_LENGTH = 10  # 50 bits: a chance of 1 in 10^9 that any two of a million objects have the same

_OURS = re.compile(r"(?P<base>[a-z0-9][a-z0-9-]*-(?P<tag>[a-z0-9]{3,8})-)(?P<fingerprint>[a-z2-7]{10})")


class Identity(NamedTuple):
    """Identity of a resource in the cloud. The service has at most one VM of a name in a VPC of a cluster.

    A tuple, since each listing looks up every identity several times: it is hashed and compared without a call of Python's.
    """

    cluster: str
    vpc: str
    name: str


def same_cluster(some: str, other: str) -> bool:
    """Whether two names mean one cluster. The service accepts any letter case and lists its own spelling."""
    return some.casefold() == other.casefold()


@dataclass(frozen=True, slots=True)
class Mark:
    """Parts of a cloud name of ours: the object's base name, and the fingerprint of the object's UID."""

    base: str
    fingerprint: str


def fingerprint(uid: str) -> str:
    """Return the part of a name that only the object with this UID can have."""
    return digest(uid, FINGERPRINT_LENGTH)


def installation_tag(cluster_uid: str) -> str:
    """Return the installation's tag, from the UID of the namespace kube-system."""
    return digest(cluster_uid, TAG_LENGTH)


def base_name(object_name: str, tag: str) -> str:
    """Return the prefix of the VMs of all objects of one name, whatever their UID: ``<name shortened>-<tag>-``."""
    room = MAX_LENGTH - len(tag) - FINGERPRINT_LENGTH - 2
    readable = re.sub(r"[^a-z0-9-]+", "-", object_name.lower())[:room].strip("-")
    return f"{readable}-{tag}-"


def external_name(object_name: str, uid: str, tag: str) -> str:
    """Return the deterministic cloud name, at most 52 characters, of an object's VM or snapshot."""
    return base_name(object_name, tag) + fingerprint(uid)


def proves(name: str, uid: str) -> bool:
    """Whether a cloud name has the fingerprint of this UID, and so can only have been given for that object."""
    return name.endswith("-" + fingerprint(uid))


def read_mark(name: str, tag: str) -> Mark | None:
    """Parse a cloud name that this installation gave; None for every other name."""
    found = _OURS.fullmatch(name)
    if found is None or found["tag"] != tag or len(name) > MAX_LENGTH:
        return None
    return Mark(found["base"], found["fingerprint"])


@lru_cache(maxsize=65536)  # each reconcile calls it several times with the same arguments
def digest(text: str, length: int) -> str:
    """Return the first characters of a text's hash: lower-case letters and the digits 2 to 7."""
    hashed = hashlib.sha256(text.encode()).digest()
    return base64.b32encode(hashed).decode().lower()[:length]
