"""uvicorn around the application: bounded, quiet, and ended by whoever owns it, not by its own signal handlers."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator

import uvicorn

from acud.paths import Paths
from acud_client.aio import AsyncClient
from acud_web.app import application
from acud_web.connection import PatientConnection
from acud_web.desk import Desk
from acud_web.guard import Guard
from acud_web.listening import Listening

_GRACE_S = 1
"""What answers under way may take at the end: the supervisor kills its children after three seconds."""
_KEEP_ALIVE_S = 30
_CONNECTIONS = 500
"""Connections and answers at once; more are told 503. A process may open 1,024 files."""


class Serving:
    """One run of the server on `listening`, for the daemon of `paths`. Made inside or outside of a loop; run once."""

    def __init__(self, listening: Listening, paths: Paths) -> None:
        self._listening = listening
        self._paths = paths
        self._guard = Guard(application, listening.settings, listening.token)
        config = uvicorn.Config(
            self._guard,
            log_config=None,
            log_level="error",
            access_log=False,  # paths may hold what clients look for
            server_header=False,
            date_header=False,
            proxy_headers=False,
            http=PatientConnection,
            ws="none",
            lifespan="off",
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = _Server(config)
        _log_with_ours()

    async def run(self) -> None:
        """Serve until `stop`."""
        async with AsyncClient(self._paths) as client:
            self._guard.desk = Desk(client)
            await self._server.serve(sockets=[self._listening.socket])

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        self._server.should_exit = True

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused at the door, since the start."""
        return {"requests": float(self._guard.passed), "refused": float(self._guard.refused)}


def _log_with_ours() -> None:
    """Have uvicorn's own faults (a traceback of the application) written as acud's log is."""
    theirs = logging.getLogger("uvicorn")
    theirs.handlers, theirs.propagate = logging.getLogger("acud").handlers, False


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the owner of the process."""
        yield
