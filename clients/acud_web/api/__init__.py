"""The REST API: each operation as data (`OPERATIONS`), and the routes of all (`ROUTES`)."""

from __future__ import annotations

from acud_web.api import daemon, displays, events, recordings, tasks, waits, wakes
from acud_web.api.operation import Operation
from acud_web.route_table import Row

OPERATIONS: tuple[Operation, ...] = (
    *daemon.OPERATIONS,
    *displays.OPERATIONS,
    *tasks.OPERATIONS,
    *waits.OPERATIONS,
    *recordings.OPERATIONS,
    *wakes.OPERATIONS,
    *events.OPERATIONS,
)

ROUTES: tuple[Row, ...] = (*(one.row for one in OPERATIONS), *events.ROWS, *daemon.ROWS)
