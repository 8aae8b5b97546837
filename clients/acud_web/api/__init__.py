"""The REST API: each operation as data (`OPERATIONS`), and the routes of all (`ROUTES`).

An operation that is its request comes from that request's declaration. The others are written here: each looks up the
owner of its object, since an access token may be limited to some displays and tasks.
"""

from __future__ import annotations

from acud.protocol.requests import REQUESTS
from acud_web.api import daemon, displays, events, recordings, tasks, trials, waits, wakes
from acud_web.api.operation import Operation
from acud_web.api.request_operation import make_operation
from acud_web.route_table import Row

OPERATIONS: tuple[Operation, ...] = (
    *daemon.OPERATIONS,
    *displays.OPERATIONS,
    *tasks.OPERATIONS,
    *waits.OPERATIONS,
    *recordings.OPERATIONS,
    *trials.OPERATIONS,
    *wakes.OPERATIONS,
    *events.OPERATIONS,
    *(make_operation(command, command.rest) for command in REQUESTS if command.rest is not None),
)

ROUTES: tuple[Row, ...] = (*(one.row for one in OPERATIONS), *events.ROWS, *daemon.ROWS)
