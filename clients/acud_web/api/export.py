"""/api/tasks/{id}/export: everything of a task as a ZIP file, made while it is sent."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from acud.errors import AcudError
from acud.protocol.web import Scope as PassScope
from acud_client.task_export import Manifest, Question, Steps, advance, export
from acud_web.access import Revocations
from acud_web.api.operation import ApiRequest, Nothing, Operation
from acud_web.api.tasks import task_seen

_AT_ONCE = 2
"""Exports under way: each keeps a thread of the web process busy."""
_places = asyncio.Semaphore(_AT_ONCE)


class ZipAnswer(Response):
    """Sends the file as `steps` make it. It ends short, so that no reader takes it for whole, when the pass ends or the
    daemon does.
    """

    def __init__(self, asked: ApiRequest[Nothing, Nothing], task_id: str, steps: Steps) -> None:
        super().__init__(media_type="application/zip")
        del self.headers["content-length"]
        self.headers["Content-Disposition"] = f'attachment; filename="{task_id}.zip"'
        self.headers["Cache-Control"] = "no-store"
        self._asked = asked
        self._steps = steps
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="export")
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Raises: AcudError before anything was sent."""
        async with _places:
            revocations: Revocations = self._asked.connection.state.revocations
            ended: asyncio.Future[Any] = asyncio.ensure_future(revocations.until_ended(self._asked.pass_))
            sending: asyncio.Future[Any] = asyncio.ensure_future(self._send(send))
            try:
                await asyncio.wait({ended, sending}, return_when=asyncio.FIRST_COMPLETED)
                if sending.done() and (not self._begun or sending.exception() is None):
                    sending.result()
            finally:
                for task in (ended, sending):
                    task.cancel()
                await asyncio.gather(ended, sending, return_exceptions=True)
                # After the step that may be under way: it has the thread to itself.
                self._thread.submit(self._steps.close)
                self._thread.shutdown(wait=False)

    async def _send(self, send: Send) -> None:
        answer: Struct | AcudError | None = None
        loop = asyncio.get_running_loop()
        while True:
            step = await loop.run_in_executor(self._thread, advance, self._steps, answer)
            answer = None
            if isinstance(step, Manifest):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            if isinstance(step, Question):
                answer = await self._answer(step)
            else:
                await self._say(send, step)

    async def _say(self, send: Send, part: bytes) -> None:
        if not self._begun:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        self._begun = True
        await send({"type": "http.response.body", "body": part, "more_body": True})

    async def _answer(self, question: Question[Any]) -> Struct | AcudError:
        try:
            found: Struct = await self._asked.ask(question.request, question.kind)
        except AcudError as fault:
            return fault
        return found


async def whole(asked: ApiRequest[Nothing, Nothing]) -> Response:
    """Download everything of a task as a ZIP file: plan, actions, messages, waits with verdicts and pictures, runs,
    recordings, and a manifest with the SHA-256 of each file.
    """
    view = await task_seen(asked, asked.place("id"))
    return ZipAnswer(asked, view.task.task_id, export(view.task.task_id))


OPERATIONS = (
    Operation("GET", "/api/tasks/{id}/export", PassScope.READ, whole, media="application/zip", statuses=(404,)),
)
