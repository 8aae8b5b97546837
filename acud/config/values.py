"""Kinds of values that many settings share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=10_000)]
Positive = Annotated[float, Meta(gt=0)]
