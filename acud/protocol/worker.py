"""The options that `acud fleet worker` hands to the worker process. Every user can read arguments, so no secrets."""

from __future__ import annotations

from msgspec import Struct


class WorkerAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """`backends`: asked in turn. `kind` "" and `concurrency` 0: as in `[jobs]`. `ray`: on actors, see `[ray]`."""

    backends: tuple[str, ...]
    kind: str = ""
    concurrency: int = 0
    ray: bool = False
