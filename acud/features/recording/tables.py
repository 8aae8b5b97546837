"""The recordings, one row each (the supervisor handles their files), and the events during them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from acud.base.errors import NotFound
from acud.base.typed_values import convert, decode_json
from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.recordings import Mark, WaitSpan
from acud.store.connection import Table
from acud.store.rows import EVERYONE, OwnerFilter, Row, RowCodec, Value, load
from acud.types import Verdict, WaitSpec, condition_text
from acud.types.actions import Point

_FIXED = (
    "recording_id", "display", "display_number", "folder", "fps", "crf", "created_utc_s", "task_id", "automatic",
    "target",
)  # fmt: skip
_CODEC = RowCodec(RecordingInfo, fixed=_FIXED)
_SQL = load("tables", _CODEC, folder=Path(__file__).parent)
_OLDEST = 100
_ALL = 1_000_000
"""More than a millisecond holds."""
_MOST_SPANS = 200
"""More lanes than a page can show."""


class RecordingTable(Table):
    """The table `recordings`."""

    def insert(self, recording: RecordingInfo) -> None:
        """Keep a new recording. Raises: Conflict when its id is there already."""
        self._database.write(_SQL["recordings_insert"], _CODEC.bind(recording))

    def update(self, recording: RecordingInfo) -> None:
        """Replace what can change of a recording; a deleted one stays deleted."""
        self._database.write(_SQL["recordings_update"], _CODEC.bind(recording))

    def delete(self, recording_id: str) -> None:
        """Forget a recording; harmless when it does not exist."""
        self._database.write(_SQL["recordings_delete"], {"recording_id": recording_id})

    def find(self, part: str) -> RecordingInfo:
        """Return the recording with an id that is, begins with or ends with `part`.

        Raises: NotFound; InvalidRequest if several match.
        """
        unknown = NotFound(f"no recording {part[:80]}", hint="acud record list; old ones may have been deleted")
        return self._find_named(_CODEC, _SQL, "several recordings", part, unknown)

    def list_unfinished(self) -> tuple[RecordingInfo, ...]:
        """Return the recordings in progress, oldest first."""
        return self._read_all(_CODEC, _SQL["recordings_unfinished"])

    def newest(self, limit: int, of: OwnerFilter = EVERYONE, offset: int = 0) -> tuple[RecordingInfo, ...]:
        """Return the newest recordings of `of` from the `offset`th on, newest first."""
        return self._read_all(_CODEC, _SQL["recordings_newest"], {"limit": limit, "offset": offset, **of.to_bindings()})

    def of_task(self, task_id: str) -> tuple[RecordingInfo, ...]:
        """Return every recording of a task, oldest first."""
        return self._read_all(_CODEC, _SQL["recordings_of_task"], {"task_id": task_id})

    def ids(self) -> frozenset[str]:
        return frozenset(str(row["recording_id"]) for row in self._database.read(_SQL["recordings_ids"]))

    def ended_bytes(self) -> int:
        """Return the total size of all that ended."""
        return self._read_number(_SQL["recordings_ended_bytes"])

    def too_old(self, before_utc_s: float) -> tuple[RecordingInfo, ...]:
        return self._read_all(_CODEC, _SQL["recordings_too_old"], {"before_utc_s": before_utc_s})

    def oldest(self) -> tuple[RecordingInfo, ...]:
        """Return those that ended first, at most 100."""
        return self._read_all(_CODEC, _SQL["recordings_oldest"], {"limit": _OLDEST})


class TimelineSpan(Struct, frozen=True):
    """From `from_s` to `end_s` (UTC), on the display `display` (`number`), in the task `task_id` ("": in none)."""

    from_s: float
    end_s: float
    display: str
    number: int
    task_id: str


class _Pressing(Struct, frozen=True):
    """The points in an action's data, which may be anything."""

    points: tuple[Point, ...] = ()


class Timeline(Table):
    """Reads waits, evaluations, actions, messages and tasks. `page` may raise StoreUnavailable."""

    def page(self, span: TimelineSpan, limit: int) -> tuple[tuple[Mark, ...], bool]:
        """Return the earliest marks of `span`, in the order of their times, and whether there may be more.

        At most `limit`, but all marks of one millisecond together: the next page begins after it.
        """
        found = self._read_span(span, limit + 1)
        if len(found) <= limit:
            return found, False
        whole = tuple(mark for mark in found if mark.utc_ms < found[limit].utc_ms)
        return whole or self._read_moment(span, found[0].utc_ms), True

    def waits(self, span: TimelineSpan) -> tuple[WaitSpan, ...]:
        """Return the waits that ran at any moment of `span`, the earliest first; at most the newest 200."""
        rows = self._database.read(_SQL["timeline_wait_spans"], {**asdict(span), "limit": _MOST_SPANS})
        return tuple(_wait_span(row) for row in reversed(list(rows)))

    def _read_moment(self, span: TimelineSpan, utc_ms: int) -> tuple[Mark, ...]:
        near = replace(span, from_s=max(span.from_s, utc_ms / 1000), end_s=(utc_ms + 1) / 1000)
        return tuple(mark for mark in self._read_span(near, _ALL) if mark.utc_ms == utc_ms)

    def _read_span(self, span: TimelineSpan, limit: int) -> tuple[Mark, ...]:
        bindings: Row = {**asdict(span), "limit": limit}
        marks = [_read_mark(row) for block in _MARKS for row in self._database.read(_SQL[block], bindings)]
        return tuple(sorted(marks, key=lambda mark: mark.utc_ms)[:limit])


_MARKS = tuple(
    f"timeline_{what}"
    for what in ("tasks_made", "waits_made", "verdicts", "actions", "messages", "waits_ended", "tasks_ended")
)
"""In the order in which marks of one moment are listed."""


def _read_mark(row: Row) -> Mark:
    spec, verdict = row.pop("spec", None), row.pop("verdict", None)
    acted = [row.pop(name) for name in ("output_data", "input_data") if name in row]
    mark = convert(row, Mark)
    if spec is None:
        return replace(mark, points=_read_points(acted))
    condition = _describe_condition(spec)
    if verdict is None:
        return replace(mark, text=condition)
    said = decode_json(str(verdict), Verdict)
    if mark.kind == "verdict":
        return replace(mark, title=f"{condition} ({mark.title})", text=said.detail, answer=said.answer)
    return replace(mark, text=f"{condition}: {said.detail}" if said.detail else condition, answer=said.answer)


def _wait_span(row: Row) -> WaitSpan:
    condition, verdict = _describe_condition(row.pop("spec")), row.pop("verdict")
    answer = decode_json(str(verdict), Verdict).answer
    return convert({**row, "condition": condition, "answer": answer}, WaitSpan)


def _describe_condition(spec: Value) -> str:
    wait = decode_json(str(spec), WaitSpec)
    return wait.label or condition_text(wait.until)


def _read_points(acted: list[Value]) -> tuple[Point, ...]:
    """Return where an action clicked: acud's own actions have it in their output, agents' in either."""
    for data in acted:
        with suppress(msgspec.ValidationError):
            found = decode_json(str(data), _Pressing)
            if found.points:
                return found.points
    return ()
