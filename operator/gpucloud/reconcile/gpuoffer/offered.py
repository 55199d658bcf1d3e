"""From the cloud's records to GpuOffers, by their names. Nothing that the cloud may answer makes an object that is refused."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuoffer import TEXT, GpuOffer
from gpucloud.kinds.schema import INT32_MAX
from gpucloud.reconcile.naming import digest, same_cluster
from gpucloud.reconcile.price import ABSURD_PRICE
from gpucloud.reconcile.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord

MOST_OFFERS = 1000  # of one account; an answer with more is no catalogue, and the apiserver would hold it all
NAME_LENGTH = 63  # characters: a name that fits wherever Kubernetes takes one
DIGEST_LENGTH = 10


def offer_name(account: str, configuration: str, cluster: str, pool: str | None) -> str:
    """Return the object's name: what people read of the offer, then a hash of what tells it from every other one.

    The cluster is one by any spelling. Two accounts of a namespace have an object each.
    """
    exact = json.dumps([account, configuration, cluster.casefold(), pool])
    words = "-".join(filter(None, (_slug(part) for part in (configuration, cluster, pool or ""))))
    readable = words[: NAME_LENGTH - DIGEST_LENGTH - 1].strip("-") or "offer"
    return f"{readable}-{digest(exact, DIGEST_LENGTH)}"


def offered(
    account: str,
    cluster: str,
    configurations: Mapping[str, ConfigurationRecord],
    availability: Iterable[AvailabilityRecord],
) -> dict[str, GpuOffer | None]:
    """Return the offers of one cluster by object name; None: it is offered, and its configuration is not described.

    Left out is what no GpuVM could ask for, and what the answer says of another cluster.
    """
    found: dict[str, GpuOffer | None] = {}
    for item in availability:
        words = (item.configuration, cluster, item.rpool)
        if item.configuration is None or not all(word is None or _can_be_asked_for(word) for word in words):
            continue
        if not same_cluster(item.cluster or cluster, cluster):
            continue
        described = configurations.get(item.configuration)
        name = offer_name(account, item.configuration, cluster, item.rpool)
        found.setdefault(name, None if described is None else _offer(account, cluster, described, item))
    return dict(sorted(found.items())[:MOST_OFFERS])


def _offer(account: str, cluster: str, described: ConfigurationRecord, item: AvailabilityRecord) -> GpuOffer:
    model = described.brand or described.type
    return GpuOffer(
        account=account,
        configuration=str(item.configuration),
        cluster=cluster,
        resource_pool=item.rpool,
        gpu_model=None if model is None else printable(model, TEXT),
        gpus=_size(described.gpus),
        vcpus=_size(described.vcpus),
        memory_gb=_size(described.memory),
        storage_gb=_size(described.storage),
        price_per_hour=_price(item.price if item.price is not None else described.price),
        available=item.available,
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _can_be_asked_for(word: str) -> bool:
    """Whether a spec may hold this word, and a terminal may show it; the joiner is a part of many an emoji."""
    return len(word) <= TEXT and word.replace("\N{ZERO WIDTH JOINER}", "").isprintable()


def _size(number: int | None) -> int | None:
    return number if number is not None and 0 <= number <= INT32_MAX else None


def _price(dollars: float | None) -> str | None:
    return f"{dollars:.2f}" if dollars is not None and 0 <= dollars < ABSURD_PRICE else None
