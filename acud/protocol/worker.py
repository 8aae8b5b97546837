"""What `acud fleet worker` tells the process that it becomes. Arguments are seen by all: no secrets."""

from __future__ import annotations

from msgspec import Struct


class WorkerAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """`backends`: asked in turn. `kind` "" and `concurrency` 0: what `[jobs]` says. `ray`: on actors, see `[ray]`."""

    backends: tuple[str, ...]
    kind: str = ""
    concurrency: int = 0
    ray: bool = False
