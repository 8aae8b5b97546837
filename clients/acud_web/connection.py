"""A connection whose requests have to come: uvicorn ends one that is idle after an answer, but not one that never asks
or sends half a head, and each holds a file descriptor.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""From the connection, or the first byte after an answer, to the end of the request's head."""


class PatientConnection(H11Protocol):
    """uvicorn's own protocol, with a limit for heads."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait on while it is less than a head."""
        super().data_received(data)
        # Its base says so of an attribute that is None until the first request.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._expect()
        else:
            self._rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._rest()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(HEAD_S, self._give_up)

    def _rest(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        self.transport.close()
