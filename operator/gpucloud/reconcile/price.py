"""Dollars an hour: from text that people may have edited to numbers that can be added up, and back to words."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

NOTHING = Decimal(0)
ABSURD_PRICE = Decimal(10**9)  # no price, and more digits than a status has room for


def dollars(text: str | None) -> Decimal | None:
    """A price as a status or the catalogue writes it; None when it is not known, or no price."""
    try:
        price = Decimal(text or "")
    except InvalidOperation:
        return None
    return price if price.is_finite() and 0 <= price < ABSURD_PRICE else None


def shown(price: Decimal) -> str:
    """A price for people, without what a sum of floats would leave behind."""
    return f"{price:.2f}"


def unknown(count: int) -> str:
    """What a sum leaves out, as a part of a sentence; empty when it leaves out nothing."""
    if not count:
        return ""
    return f" (the price of {'one of them' if count == 1 else f'{count} of them'} is not known and counts as 0)"
