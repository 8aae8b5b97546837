"""Settings of judges that are on other machines: jobs through the fleet, and the workers that take them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.config.values import Count, Positive


class JobSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[jobs]`: the backend `fleet` and `acud fleet worker`. 0 in `max_side_px`, `jpeg_quality` and `timeout_s`: what
    `[vision]` says.
    """

    kind: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")] = "vision"
    local: bool = False
    max_side_px: Annotated[int, Meta(ge=0, le=8192)] = 0
    jpeg_quality: Annotated[int, Meta(ge=0, le=100)] = 0
    concurrency: Count = 64
    timeout_s: Annotated[float, Meta(ge=0)] = 0
    ack_wait_s: Annotated[float, Meta(ge=1, le=3600)] = 30
    max_deliver: Annotated[int, Meta(ge=1, le=20)] = 3
    keep_s: Annotated[float, Meta(ge=1)] = 600
    max_mb: Positive = 1024
    worker_concurrency: Count = 8
    drain_s: Annotated[float, Meta(ge=0)] = 60


class RaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ray]`: actors that hold local models, behind a worker."""

    address: str = ""
    actors: Count = 1
    calls_per_actor: Count = 4
    cpus_per_actor: Annotated[float, Meta(ge=0)] = 1
    gpus_per_actor: Annotated[float, Meta(ge=0)] = 0
    judge: str = ""
