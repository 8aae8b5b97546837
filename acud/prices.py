"""What tokens cost, by model. Without a price, or without token counts, a cost is not known: it is never 0 then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

_PER = 1_000_000
PerMillion = Annotated[float, Meta(ge=0)]


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens of a model, as read on the day `as_of` (YYYY-MM-DD)."""

    input: PerMillion
    output: PerMillion
    as_of: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]


def cost_usd(model: str, tokens_in: float | None, tokens_out: int | None, prices: Mapping[str, Price]) -> float | None:
    """Return what an answer of `model` cost, or None when its price or its tokens are not known.

    `tokens_in` counts tokens of full price; a cache makes some of them parts. A model that is priced at nothing costs
    nothing, however many tokens it took.
    """
    price = prices.get(model)
    if price is None:
        return None
    if price.input == 0 and price.output == 0:
        return 0.0
    if tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price.input + tokens_out * price.output) / _PER
