"""/api/tasks: the tasks with their plans, actions and threads, and everything of one as a ZIP file."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from acud.base.errors import AcudError, NotFound
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskList,
    TaskListReply,
    TaskReply,
    TaskThread,
    TaskThreadReply,
    TaskUpdate,
)
from acud.protocol.web import Scope
from acud.types.tasks import ActionView, PlanItem, Task, TaskStatus, TaskView
from acud_client.task_export import Manifest, Question, Steps, advance, export
from acud_web.access import Revocations
from acud_web.api.operation import ApiRequest, Body, Nothing, Operation, Query, make_unseen_fault


class TasksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Those in any of the statuses given, or all."""

    status: tuple[TaskStatus, ...] = ()
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class TaskQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest actions come with it."""

    actions: Annotated[int, Meta(ge=0, le=1000)] = 200


class ThreadQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest messages."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class StatusBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Pausing stops judging, deadlines run on; an end cancels the task's waits and ends its display."""

    status: TaskStatus


class TaskWhole(Struct, frozen=True):
    """A task with its plan and its newest actions, oldest of them first, of `total_actions`."""

    task: Task
    items: tuple[PlanItem, ...]
    live_waits: int
    actions: tuple[ActionView, ...]
    total_actions: int


async def tasks(api_request: ApiRequest[TasksQuery, Nothing]) -> TaskListReply:
    """List tasks that the access token may see, newest first."""
    statuses, seen = api_request.query.status or tuple(TaskStatus), api_request.access_token
    request = TaskList(statuses, limit=api_request.query.limit, tasks=seen.tasks, displays=seen.displays)
    return await api_request.ask(request, TaskListReply)


async def task(api_request: ApiRequest[TaskQuery, Nothing]) -> TaskWhole:
    """Show a task: its plan, its actions and their logs."""
    view = await task_seen(api_request, api_request.place("id"))
    request = TaskActions(view.task.task_id, api_request.query.actions)
    done = await api_request.find(request, TaskActionsReply)
    return TaskWhole(view.task, view.items, view.live_waits, done.actions, done.total)


async def thread(request: ApiRequest[ThreadQuery, Nothing]) -> TaskThreadReply:
    """Show the newest messages of a task, oldest of them first."""
    view = await task_seen(request, request.place("id"))
    return await request.find(TaskThread(view.task.task_id, request.query.limit), TaskThreadReply)


async def set_status(request: ApiRequest[Nothing, StatusBody]) -> TaskReply:
    """Pause, resume or end a task."""
    view = await task_seen(request, request.place("id"))
    return await request.find(TaskUpdate(view.task.task_id, status=(await request.body()).status), TaskReply)


async def task_seen(request: ApiRequest[Query, Body], task_id: str) -> TaskView:
    """Return the task with this whole id. Raises: NotFound; HttpFault 403 where the access token may not see it."""
    found = await request.ask(TaskList(tuple(TaskStatus), limit=1, tasks=(task_id,)), TaskListReply)
    if found.tasks:
        view = found.tasks[0]
        request.must_see(display=view.task.display, task_id=view.task.task_id)
        return view
    if not request.access_token.sees_task(task_id):
        raise make_unseen_fault()
    raise NotFound(f"no task {task_id[:80]}", hint="GET /api/tasks lists them")


_AT_ONCE = 2
"""Exports under way: each keeps a thread of the web process busy."""
_places = asyncio.Semaphore(_AT_ONCE)


class ZipAnswer(Response):
    """Sends the file as `steps` make it. It ends short, so that no reader takes it for whole, when the access token
    ends or the daemon does.
    """

    def __init__(self, request: ApiRequest[Nothing, Nothing], task_id: str, steps: Steps) -> None:
        super().__init__(media_type="application/zip")
        del self.headers["content-length"]
        self.headers["Content-Disposition"] = f'attachment; filename="{task_id}.zip"'
        self.headers["Cache-Control"] = "no-store"
        self._asked = request
        self._steps = steps
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="export")
        self._begun = False

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Send it. Raises: AcudError before anything was sent."""
        async with _places:
            revocations: Revocations = self._asked.connection.state.revocations
            ended: asyncio.Future[Any] = asyncio.ensure_future(revocations.until_ended(self._asked.access_token))
            sending: asyncio.Future[Any] = asyncio.ensure_future(self._send_parts(send))
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

    async def _send_parts(self, send: Send) -> None:
        answer: Struct | AcudError | None = None
        loop = asyncio.get_running_loop()
        while True:
            step = await loop.run_in_executor(self._thread, advance, self._steps, answer)
            answer = None
            if isinstance(step, Manifest):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            if isinstance(step, Question):
                answer = await self._answer_question(step)
            else:
                await self._send_part(send, step)

    async def _send_part(self, send: Send, part: bytes) -> None:
        if not self._begun:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        self._begun = True
        await send({"type": "http.response.body", "body": part, "more_body": True})

    async def _answer_question(self, question: Question[Any]) -> Struct | AcudError:
        try:
            found: Struct = await self._asked.ask(question.request, question.kind)
        except AcudError as fault:
            return fault
        return found


async def whole(request: ApiRequest[Nothing, Nothing]) -> Response:
    """Download everything of a task as a ZIP file: plan, actions, messages, waits with verdicts and pictures, runs,
    recordings, and a manifest with the SHA-256 of each file.
    """
    view = await task_seen(request, request.place("id"))
    return ZipAnswer(request, view.task.task_id, export(view.task.task_id))


OPERATIONS = (
    Operation("GET", "/api/tasks", Scope.READ, tasks, TaskListReply, TasksQuery),
    Operation("GET", "/api/tasks/{id}", Scope.READ, task, TaskWhole, TaskQuery, statuses=(404,)),
    Operation("GET", "/api/tasks/{id}/messages", Scope.READ, thread, TaskThreadReply, ThreadQuery, statuses=(404,)),
    Operation("POST", "/api/tasks/{id}/status", Scope.ACT, set_status, TaskReply, body=StatusBody, statuses=(404, 409)),
    Operation("GET", "/api/tasks/{id}/export", Scope.READ, whole, media="application/zip", statuses=(404,)),
)
