"""/api/recordings/{id}/replay: a condition tried on a recording, answered line by line as it is judged."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from acud.protocol.replay import ReplayAsk
from acud.protocol.web import Scope
from acud.types import Budget, JudgeChoice, JudgeName, Policy, Rect, Until
from acud_http.errors import wrong
from acud_web.access import Revocations, first_of
from acud_web.api.operation import ApiRequest, Nothing, Operation
from acud_web.api.recordings import recording_seen

_LINE_BYTES = 1 << 20
_MEDIA = "application/x-ndjson"


class TrialBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A condition, and what of the recording's pictures it looks at: `screen` or `region:x,y,w,h`. Without `timeout_s`
    it goes on to the end of what is replayed, `from_s` to `to_s`. `judges`: each has a run of its own.
    """

    until: Until
    target: Annotated[str, Meta(max_length=200)] = "screen"
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    judges: Annotated[tuple[JudgeChoice, ...], Meta(min_length=1, max_length=8)] = (JudgeName.AUTO,)
    policy: Policy = Policy()
    budget: Budget = Budget()
    timeout_s: float | None = None
    from_s: Annotated[float, Meta(ge=0)] = 0.0
    to_s: float | None = None


_place = asyncio.Semaphore(1)
"""One at a time: a replay loads judges of its own, and keeps a core busy."""


class Trial(Response):
    """Sends the lines of the replay's process as they come. The process ends with the client, and with its token."""

    def __init__(self, connection: HTTPConnection, ask: ReplayAsk) -> None:
        super().__init__(media_type=_MEDIA)
        del self.headers["content-length"]
        self.headers["Cache-Control"] = "no-store"
        self._connection = connection
        self._ask = ask
        self._is_told = False

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Send it; it ends when the next one may begin. Raises: HttpFault 429 while another is under way."""
        if _place.locked():
            raise wrong(429, "too_many", "a condition is being tried on a recording already: try again in a moment")
        revocations: Revocations = self._connection.state.revocations
        async with _place, _run_replay(self._ask) as lines:
            ended = revocations.until_ended(self._connection.state.access_token)
            await first_of(self._send_lines(lines, send), ended, _wait_until_gone(receive))
        if self._is_told:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_lines(self, lines: asyncio.StreamReader, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while line := await lines.readline():
            await send({"type": "http.response.body", "body": line, "more_body": True})
        self._is_told = True


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def _run_replay(ask: ReplayAsk) -> AsyncIterator[asyncio.StreamReader]:
    """Run the replay's process, and give its lines; it is gone afterwards."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "acud.features.recording.replay",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(ask))
        process.stdin.close()
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def replay(request: ApiRequest[Nothing, TrialBody]) -> Response:
    """Try a condition on a recording, as if it happened now, with judges of its own. The answer is lines of JSON as of
    `acud replay` (`began`, `row`, `run`, `pair`, `fault`), and at last `done`. Nothing is armed.
    """
    found = await recording_seen(request)
    body = await request.body()
    given = msgspec.structs.asdict(body)
    return Trial(request.connection, ReplayAsk(found.recording_id, parent_pid=os.getpid(), **given))


OPERATIONS = (
    Operation(
        "POST", "/api/recordings/{id}/replay", Scope.WAIT, replay, body=TrialBody, media=_MEDIA, statuses=(404, 429)
    ),
)
