"""What knobs make of every operation alike: which spellings of a cluster are understood and listed, and how much of a listing.

It must not know any single operation, nor the rules of the world.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.payloads import Payload


def understood(payload: Payload, knobs: Knobs, clusters: Iterable[str]) -> Payload:
    """The payload with its cluster as the catalogue spells it, where the knob lets any letter case pass."""
    asked = getattr(payload, "cluster", "")
    if knobs.cluster_spelling == "exact" or not asked:
        return payload
    known = next((name for name in clusters if name.casefold() == asked.casefold()), asked)
    return payload.model_copy(update={"cluster": known})


def shown(data: Any, knobs: Knobs) -> Any:
    """An answer's data with clusters as the knob spells them; of a listing the first page, with the count of all."""
    if not isinstance(data, dict):
        return data
    items = data.get("items")
    if not isinstance(items, list):
        return _respelled(data, knobs)
    page = items[: knobs.page_size] if knobs.page_size else items
    counted = {} if knobs.total_count == "absent" else {"totalCount": len(items)}
    return {**data, "items": [_respelled(item, knobs) for item in page], **counted}


def _respelled(record: Any, knobs: Knobs) -> Any:
    if knobs.cluster_spelling != "upper" or not isinstance(record, dict) or not isinstance(record.get("cluster"), str):
        return record
    return {**record, "cluster": record["cluster"].upper()}
