"""The REST API: each operation as data (`OPERATIONS`), and the routes of all (`ROUTES`)."""

from __future__ import annotations

from acud_web.api import displays, events, export, looks, push, recordings, tasks, waits, wakes
from acud_web.api.operation import Operation
from acud_web.route_table import Row

OPERATIONS: tuple[Operation, ...] = (
    *looks.OPERATIONS,
    *displays.OPERATIONS,
    *tasks.OPERATIONS,
    *export.OPERATIONS,
    *waits.OPERATIONS,
    *recordings.OPERATIONS,
    *wakes.OPERATIONS,
    *push.OPERATIONS,
    *events.OPERATIONS,
)

ROUTES: tuple[Row, ...] = (*(one.row for one in OPERATIONS), *events.ROWS)
