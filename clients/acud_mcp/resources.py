"""Resources: `acud://wait/{id}`, and `acud://task/{id}` where the protocol has tasks; and news of their changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import msgspec

from acud.base.errors import AcudError
from acud.protocol.events import Event
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.waits import WaitList, WaitListReply, WaitShow, WaitShowReply
from acud.types import ConditionWords, condition_text
from acud_mcp.daemon import Daemon
from acud_mcp.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, Message, RpcError
from acud_mcp.next_steps import error_words
from acud_mcp.tool_calls import screen_last, text_of
from acud_mcp.wait_tools import view_wait

WAIT = "acud://wait/"
TASK = "acud://task/"
_TASK_REQUEST = "task_summary"
_JSON = "application/json"
_MAX_ID = 64


def prefixes() -> tuple[str, ...]:
    return (WAIT, TASK) if _TASK_REQUEST in BY_NAME else (WAIT,)


def templates() -> Message:
    words = {WAIT: ("wait", "State and evidence of a wait."), TASK: ("task", "Plan and progress of a task.")}
    rows = [(prefix, *words[prefix]) for prefix in prefixes()]
    return {
        "resourceTemplates": [
            {"uriTemplate": f"{prefix}{{id}}", "name": name, "description": about, "mimeType": _JSON}
            for prefix, name, about in rows
        ]
    }


async def list_live(daemon: Daemon) -> Message:
    """Return the live waits as resources. Raises: RpcError when the daemon can't list them: that is not "none"."""
    try:
        reply: WaitListReply = await daemon.ask(WaitList())
    except AcudError as fault:
        refuse(fault)
    return {
        "resources": [
            {
                "uri": f"{WAIT}{info.wait_id}",
                "name": info.wait_id,
                "description": condition_text(info.spec.until, ConditionWords.BRIEF)[:200],
                "mimeType": _JSON,
            }
            for info in reply.waits
        ]
    }


async def read(daemon: Daemon, uri: str) -> Message:
    """Return a resource as JSON. Raises: RpcError that names what to mend."""
    prefix = next((one for one in prefixes() if uri.startswith(one)), "")
    given = uri[len(prefix) :]
    if not prefix or not 0 < len(given) <= _MAX_ID:
        raise RpcError(INVALID_PARAMS, f"no resource {uri[:100]!r}; addresses are {WAIT}ID")
    try:
        value = await (_read_wait(daemon, given) if prefix == WAIT else _read_task(daemon, given))
    except AcudError as fault:
        refuse(fault)
    text = text_of(screen_last(msgspec.to_builtins(value)))
    return {"contents": [{"uri": uri, "mimeType": _JSON, "text": text}]}


async def _read_wait(daemon: Daemon, wait_id: str) -> msgspec.Struct:
    reply: WaitShowReply = await daemon.ask(WaitShow(wait_id, 0))
    return view_wait(reply.wait, evidence_path=reply.evidence_path, stage_paths=reply.stage_paths)


async def _read_task(daemon: Daemon, task_id: str) -> Any:
    return await daemon.ask(BY_NAME[_TASK_REQUEST].request(task_id))


def refuse(fault: AcudError) -> NoReturn:
    """Raise the daemon's fault as an error of the protocol."""
    raise RpcError(INVALID_PARAMS if fault.code == "not_found" else INTERNAL_ERROR, error_words(fault)) from fault


_ENDS = ("wait.resolved", "wait.timeout", "wait.cancelled", "wait.failed")
_TOLD = ("wait.updated", "wait.note", "wait.stage", *_ENDS, "task.")
_RETRY_S = 2.0
_MAX_SUBSCRIPTIONS = 1024


Notify = Callable[[str], Awaitable[None]]


class Updates:
    """The subscriptions of every client of this server: `subscribe` serves `subscriptions/listen` (from 2026 on), `add`
    and `remove` serve `resources/subscribe` (before). Close it.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._listeners: dict[object, Callable[[str], None]] = {}
        self._legacy: OrderedDict[tuple[str, str], Notify] = OrderedDict()
        self._reading: asyncio.Task[None] | None = None
        self._after: int | None = None
        """Where the next reading begins; None: at what is new then."""

    async def begin(self) -> None:
        """Await this before each subscription: changes after its acknowledgement are then reported, however long the
        reader takes to begin. While the daemon is down there are none.
        """
        if self._reading is None:
            self._after = None
            with contextlib.suppress(AcudError):
                self._after = (await self._daemon.client.events_since(limit=1)).newest

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the address of each resource that changes; return what ends that (twice is harmless)."""
        token = object()
        self._listeners[token] = listener
        self._follow_demand()

        def end() -> None:
            if self._listeners.pop(token, None) is not None:
                self._follow_demand()

        return end

    def add(self, client: str, uri: str, notify: Notify) -> None:
        """Subscribe a client of the handshake era. Beyond the limit the oldest subscription goes, since connections end
        without notice.
        """
        self._legacy[(client, uri)] = notify
        while len(self._legacy) > _MAX_SUBSCRIPTIONS:
            self._legacy.popitem(last=False)
        self._follow_demand()

    def remove(self, client: str, uri: str) -> None:
        """End a subscription; harmless without one."""
        self._legacy.pop((client, uri), None)
        self._follow_demand()

    def _follow_demand(self) -> None:
        wanted = bool(self._listeners or self._legacy)
        if wanted and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read_events())
        elif not wanted and self._reading is not None:
            self._reading.cancel()
            self._reading = None

    async def _read_events(self) -> None:
        async with self._daemon.client.events(after=self._after) as stream:
            while True:
                with contextlib.suppress(AcudError):  # it goes on where it stood
                    async for event in stream:
                        if isinstance(event, Event) and event.topic.startswith(_TOLD):
                            await self._report_event(event)
                await asyncio.sleep(_RETRY_S)

    async def _report_event(self, event: Event) -> None:
        uri = f"acud://{event.topic.partition('.')[0]}/{event.subject}"
        for listener in list(self._listeners.values()):
            listener(uri)
        for (client, wanted), notify in list(self._legacy.items()):
            if wanted == uri:
                await notify(uri)
                if event.topic in _ENDS:  # nothing more will come of it
                    self._legacy.pop((client, wanted), None)

    async def close(self) -> None:
        """Stop reading; twice is harmless."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
