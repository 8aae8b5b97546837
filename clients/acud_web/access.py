"""What the access token of a request is good for, and what ends with it."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

from starlette.requests import HTTPConnection

from acud.errors import AcudError
from acud.protocol.events import Event
from acud.protocol.web import Pass, Scope
from acud_client.aio import AsyncClient
from acud_web.authentication import Authenticator
from acud_web.faults import wrong


def pass_of(request: HTTPConnection) -> Pass:
    """Return the pass that let `request` in; only routes with a scope have one."""
    found: Pass = request.state.pass_
    return found


def need(request: HTTPConnection, scope: Scope) -> Pass:
    """Return the pass when it is good for what needs `scope`. Raises: Fault 403."""
    found = pass_of(request)
    if not found.allows(scope):
        raise wrong(403, "forbidden", f"this needs the scope {scope.value}, and this pass has {found.scope.value}")
    return found


def need_unlimited(request: HTTPConnection, scope: Scope) -> Pass:
    """Return the pass when it has `scope` over everything. Raises: Fault 403 for one limited to displays or tasks."""
    found = need(request, scope)
    if not found.unlimited:
        raise wrong(403, "forbidden", "this pass is limited to some displays or tasks")
    return found


def need_display(request: HTTPConnection, name: str, scope: Scope, task_id: str = "") -> Pass:
    """Return the pass when it has `scope` over the display `name`, or over the task `task_id` whose display that is.
    Raises: Fault 403, in the same words whether there is such a display or not.
    """
    found = need(request, scope)
    if not found.sees(name, task_id):
        raise wrong(403, "forbidden", "this pass is not good for that display")
    return found


_LOOK_S = 30.0
"""Clocks may be set, and machines sleep: an expiry is looked at this often at least."""
_AGAIN_S = 0.5

End = Literal["revoked", "expired"]


class Revocations:
    """Hears `web.revoked`. `run` it beside the server."""

    def __init__(self, admission: Authenticator) -> None:
        self._admission = admission
        self._waiting: dict[str, set[asyncio.Future[End]]] = {}

    async def until_ended(self, watched: Pass) -> End:
        """Return when `watched` is good no longer, and why. Cancel it when what it watched over has ended."""
        told: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(watched.pass_id, set()).add(told)
        try:
            return await self._either(told, watched)
        finally:
            self._leave(watched.pass_id, told)

    async def run(self, client: AsyncClient) -> None:
        """Listen until cancelled; a daemon may come and go meanwhile."""
        async with client.events(topic="web.revoked") as stream:
            while True:
                try:
                    event = await anext(stream)
                except AcudError:
                    await asyncio.sleep(_AGAIN_S)
                    continue
                for pass_id in [event.subject] if isinstance(event, Event) else list(self._waiting):
                    self._end(pass_id)  # of what was trimmed nobody knows whose it was: all log in again or come back

    async def _either(self, told: asyncio.Future[End], watched: Pass) -> End:
        while not watched.expired(time.time()):
            left_s = watched.expires_utc_s - time.time() if watched.expires_utc_s else _LOOK_S
            await asyncio.wait({told}, timeout=min(left_s, _LOOK_S))
            if told.done():
                return told.result()
        return "expired"

    def _end(self, pass_id: str) -> None:
        self._admission.forget(pass_id)
        for told in self._waiting.get(pass_id, ()):
            if not told.done():
                told.set_result("revoked")

    def _leave(self, pass_id: str, told: asyncio.Future[End]) -> None:
        waiting = self._waiting[pass_id]
        waiting.discard(told)
        if not waiting:
            del self._waiting[pass_id]
