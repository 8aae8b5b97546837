"""Settings of workers that judge for a fleet."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Count


class RaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ray]`: actors that hold local models, behind a worker."""

    address: str = ""
    actors: Count = 1
    calls_per_actor: Count = 4
    cpus_per_actor: Annotated[float, Meta(ge=0)] = 1
    gpus_per_actor: Annotated[float, Meta(ge=0)] = 0
    judge: str = ""
