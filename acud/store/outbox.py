"""The wakes: one row each, written with the event they report and kept until long after an agent saw it."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from acud.base.errors import NotFound
from acud.store.connection import Table
from acud.store.rows import Row, RowCodec, load
from acud.types import WakeInfo, WakeState

_CODEC = RowCodec(
    WakeInfo, fixed=("wake_id", "kind", "text", "wait_id", "task_id", "address", "created_utc_s", "run_id")
)
_SQL = load("outbox", _CODEC)


class WakePage(Struct, frozen=True):
    """Some wakes, newest first, of `total` that match; `counts` by state over all."""

    wakes: tuple[WakeInfo, ...]
    total: int
    counts: dict[str, int]


class Outbox(Table):
    """The table `outbox`."""

    def insert(self, wake: WakeInfo) -> None:
        """Keep a new wake. Raises: Conflict when its id exists already, or its wait has one."""
        self._database.write(_SQL["insert"], _CODEC.bind(wake))

    def update(self, wake: WakeInfo) -> None:
        """Replace what can change of a kept wake; a trimmed one stays deleted."""
        self._database.write(_SQL["update"], _CODEC.bind(wake))

    def find(self, part: str) -> WakeInfo:
        """Return the one wake with an id that is, begins with or ends with `part`. Raises: NotFound; InvalidRequest if
        several match.
        """
        unknown = NotFound(f"no wake {part}", hint="acud wake list --all shows every kept one", wake_id=part)
        return self._find_named(_CODEC, _SQL, "several wakes", part, unknown)

    def of_wait(self, wait_id: str) -> WakeInfo | None:
        """Return the wake of the wait, None when there is none."""
        return self._read_first(_CODEC, _SQL["of_wait"], {"wait_id": wait_id})

    def of_run(self, run_id: str) -> WakeInfo | None:
        """Return the wake of the agent's run, None when there is none."""
        return self._read_first(_CODEC, _SQL["of_run"], {"run_id": run_id})

    def open(self) -> tuple[WakeInfo, ...]:
        """Return every wake that still has a step due, oldest first: a new supervisor continues these."""
        return self._read_all(_CODEC, _SQL["open"])

    def newest(self, states: tuple[WakeState, ...], limit: int, wait_id: str = "", offset: int = 0) -> WakePage:
        """Return the wakes in `states` (of one wait), newest first, at most `limit` from the `offset`th on."""
        wanted = msgspec.json.encode(states).decode()
        bindings: Row = {"states": wanted, "limit": limit, "offset": offset, "wait_id": wait_id}
        rows = self._database.read(_SQL["newest"], bindings)
        counts = self.counts(wait_id)
        total = sum(counts.get(state.value, 0) for state in states)
        return WakePage(tuple(map(_CODEC.read, rows)), total, counts)

    def counts(self, wait_id: str = "") -> dict[str, int]:
        rows = self._database.read(_SQL["counts"], {"wait_id": wait_id})
        return {str(row["state"]): int(row["found"] or 0) for row in rows}

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete wakes made before and no longer being delivered; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})
