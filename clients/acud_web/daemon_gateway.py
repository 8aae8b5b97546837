"""The daemon, asked on behalf of HTTP clients: a bounded number of questions at once; and the owner of each object."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TypeVar
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from acud.base.errors import NotFound
from acud.base.paths import Paths
from acud.protocol.events import Event
from acud.protocol.requests import find_command
from acud.protocol.requests.recordings import RecordReply, RecordShow
from acud.protocol.requests.tasks import TaskList, TaskListReply
from acud.protocol.requests.waits import WaitShow, WaitShowReply
from acud.protocol.web import AccessToken
from acud.types.tasks import TaskStatus
from acud_client.aio import AsyncClient
from acud_client.stream import AsyncEventStream

_AT_ONCE = 64
"""Each question takes a ZeroMQ socket, of which a context has 1,023."""
_BLOCKING_AT_ONCE = 256
"""Requests that take time by themselves (the result of a wait) have places of their own, so that no others wait
behind.
"""

Reply = TypeVar("Reply", bound=msgspec.Struct)


class DaemonGateway:
    """Borrows `client`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._blocking = asyncio.Semaphore(_BLOCKING_AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def paths(self) -> Paths:
        return self._client.paths

    def events(self) -> AsyncEventStream:
        """Return a subscription to all events from now on; close it."""
        return self._client.events()

    async def ask(self, request: msgspec.Struct, kind: type[Reply], request_id: str = "") -> Reply:
        """Return the daemon's reply to `request`, which is a `kind`. Raises: AcudError of the daemon.

        A repeat with the same `request_id` gets the first answer; it waits while the first is under way.
        """
        turn = self._turns.setdefault(request_id, asyncio.Lock()) if request_id else nullcontext()
        async with turn, self._blocking if _is_blocking(request) else self._places:
            return await self._client.ask(request, kind, request_id=request_id)


def _is_blocking(request: msgspec.Struct) -> bool:
    asked_s = find_command(type(request)).asked_s
    return asked_s is not None and asked_s(request) > 0


_KEPT = 4096


class Owner(Struct, frozen=True):
    """A display's name and a task's id; "" for none."""

    display: str = ""
    task_id: str = ""


NOBODY = Owner()


class Owners:
    """Borrows `gateway`. Objects that are gone have no owner."""

    def __init__(self, gateway: DaemonGateway) -> None:
        self._gateway = gateway
        self._known: OrderedDict[tuple[str, str], Owner] = OrderedDict()

    async def sees(self, access_token: AccessToken, event: Event) -> bool:
        """Return whether `access_token` may be sent `event`. Raises: AcudError of the daemon."""
        if access_token.unlimited or event.topic.startswith("daemon."):
            return True
        owner = await self.find_owner(event)
        return access_token.sees(owner.display, owner.task_id)

    async def find_owner(self, event: Event) -> Owner:
        kind = event.topic.partition(".")[0]
        if kind in ("display", "scene"):
            return Owner(event.subject)
        if kind in _FINDERS and event.subject:  # without: of a task that was deleted
            found = await self._find_owner(kind, event.subject)
            return found if found != NOBODY else _read_owner(event)
        told = _read_owner(event)
        if not told.display and event.data.get("wait_id"):
            return await self.find_wait_owner(str(event.data["wait_id"]))
        return told

    async def find_wait_owner(self, wait_id: str) -> Owner:
        return await self._find_owner("wait", wait_id)

    async def _find_owner(self, kind: str, subject: str) -> Owner:
        known = self._known.get((kind, subject))
        if known is not None:
            return known
        try:
            owner = await _FINDERS[kind](self._gateway, subject)
        except NotFound:
            return NOBODY
        self._known[kind, subject] = owner
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return owner


async def _find_owner_of_wait(gateway: DaemonGateway, wait_id: str) -> Owner:
    wait = (await gateway.ask(WaitShow(wait_id, 0), WaitShowReply)).wait
    return Owner(wait.display, wait.spec.task_id)


async def _find_owner_of_task(gateway: DaemonGateway, task_id: str) -> Owner:
    request = TaskList(tuple(TaskStatus), limit=1, tasks=(task_id,))
    found = (await gateway.ask(request, TaskListReply)).tasks
    return Owner(found[0].task.display, task_id) if found else NOBODY


async def _find_owner_of_recording(gateway: DaemonGateway, recording_id: str) -> Owner:
    recording = (await gateway.ask(RecordShow(recording_id), RecordReply)).recording
    return Owner(recording.display, recording.task_id)


def _read_owner(event: Event) -> Owner:
    task_id = event.subject if event.topic.startswith("task.") else str(event.data.get("task_id", ""))
    return Owner(str(event.data.get("display", "")), task_id)


_FINDERS: dict[str, Callable[[DaemonGateway, str], Awaitable[Owner]]] = {
    "wait": _find_owner_of_wait,
    "task": _find_owner_of_task,
    "recording": _find_owner_of_recording,
}
