"""The waits that one session armed and whose ends it has not fetched: the subject of `wait_result` without an id."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from acud.base.errors import AcudError, NotFound
from acud.protocol.requests.waits import ActionWait, WaitCancel, WaitCreate, WaitReply, WaitResult, WaitResultReply
from acud_mcp.tool import ToolCall

_MOST = 64
_FETCH_S = 1.0
"""The call that learns of an end fetches it at once; its wake is held back so long."""


class SessionWaits:
    """Their ids, the oldest first."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def note_reply(self, request: msgspec.Struct, reply: Any) -> None:
        """Note, from a request of the session and its reply, a wait that was armed or an end that was fetched."""
        wait = getattr(reply, "wait", None)
        if isinstance(request, WaitCreate) and isinstance(reply, WaitReply):
            self._ids[reply.wait.wait_id] = None
        elif isinstance(wait, ActionWait) and not wait.ended:
            self._ids[wait.wait.wait_id] = None
        elif isinstance(request, WaitCancel) or (isinstance(request, WaitResult) and reply.ended and not request.peek):
            self._ids.pop(reply.wait.wait_id, None)
        for oldest in list(self._ids)[:-_MOST]:
            del self._ids[oldest]

    async def find_first_end(self, call: ToolCall, block_s: float) -> str:
        """Return the wait that has ended or ends first, the newest if none does within `block_s`. Raises: NotFound."""
        if not self._ids:
            raise NotFound("no wait of this session is open", hint="give wait_id; wait_status lists the live waits")
        asking = [asyncio.ensure_future(_find_ended(call, wait_id, block_s)) for wait_id in self._ids]
        try:
            for one in asyncio.as_completed(asking):
                if wait_id := await one:
                    return wait_id
            return next(reversed(self._ids))
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)


async def _find_ended(call: ToolCall, wait_id: str, block_s: float) -> str:
    """Return the id of the wait once it has ended, "" if it does not within `block_s`."""
    try:
        reply: WaitResultReply = await call.ask_slowly(
            WaitResult(wait_id, block_s, peek=True, again_s=_FETCH_S), block_s
        )
    except AcudError:  # which its own fetch then names
        return wait_id
    return wait_id if reply.ended else ""
