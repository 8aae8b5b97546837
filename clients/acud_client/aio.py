"""The client for asyncio: the same methods as `Client`, awaited."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
import zmq
import zmq.asyncio

from acud import paths as places
from acud.errors import AcudError, Conflict
from acud.fleet import Labels
from acud.protocol.requests.daemon import (
    Doctor,
    DoctorReply,
    EventsSince,
    EventsSinceReply,
    Metrics,
    MetricsReply,
    Shutdown,
    ShutdownReply,
    Status,
    StatusReply,
)
from acud.protocol.requests.displays import (
    DisplayAdd,
    DisplayCreate,
    DisplayList,
    DisplayListReply,
    DisplayRemove,
    DisplayReply,
)
from acud.protocol.requests.looks import Baseline, BaselineReply, Look, Picture
from acud.protocol.requests.notifications import NotifyTest, NotifyTestReply
from acud.protocol.requests.waits import (
    ChangeReply,
    EvidenceGet,
    EvidenceReply,
    WaitCancel,
    WaitCreate,
    WaitForChange,
    WaitList,
    WaitListReply,
    WaitReply,
    WaitResult,
    WaitResultReply,
    WaitShow,
    WaitShowReply,
    WaitUpdate,
)
from acud.protocol.requests.wakes import WakeList, WakeListReply, WakeRetry, WakeRetryReply, WakeTest, WakeTestReply
from acud.types import Budget, JudgeName, Policy, Rect, RouteName, Until, WaitState, WakeAddress, WakeState
from acud_client.acting import AsyncActCalls
from acud_client.agents import AsyncAgentCalls
from acud_client.annotating import AsyncAnnotateCalls
from acud_client.call import PAUSE_S, ClientCall, ClientLimits, Step
from acud_client.carrying import AsyncCarryCalls
from acud_client.commentary import AsyncCommentaryCalls
from acud_client.door import Door
from acud_client.fleet import AsyncFleetCalls
from acud_client.grounding import AsyncGroundingCalls
from acud_client.here import Here, names_no_display
from acud_client.limits import DEFAULT_S, poll_s, total_s
from acud_client.links import Links, Loan
from acud_client.passes import AsyncPassCalls
from acud_client.push import AsyncPushCalls
from acud_client.recording import AsyncRecordingCalls
from acud_client.scenes import AsyncSceneCalls
from acud_client.stream import AsyncEventStream
from acud_client.sync import EvidencePart, PictureFormat
from acud_client.tasks import AsyncTaskCalls
from acud_client.upkeep import AsyncUpkeepCalls

Reply = TypeVar("Reply", bound=msgspec.Struct)


class AsyncClient(
    AsyncActCalls,
    AsyncAnnotateCalls,
    AsyncGroundingCalls,
    AsyncSceneCalls,
    AsyncTaskCalls,
    AsyncAgentCalls,
    AsyncCommentaryCalls,
    AsyncRecordingCalls,
    AsyncPassCalls,
    AsyncPushCalls,
    AsyncUpkeepCalls,
    AsyncCarryCalls,
    AsyncFleetCalls,
):
    """A connection to the daemon of `paths` (None: as ACU_HOME and HOME say), for one event loop. Close it, or use it
    in an `async with`. `timeout_s` and `patience_s` mean what they mean to `Client`; calls may run side by side.
    """

    def __init__(
        self,
        paths: places.Paths | None = None,
        *,
        timeout_s: float = DEFAULT_S,
        patience_s: float = 0.0,
        fleet: bool = False,
        here: Here | None = None,
    ) -> None:
        found = paths or places.resolve(os.environ)
        self._paths = found.of_fleet() if fleet else found
        self.timeout_s = timeout_s
        self.patience_s = patience_s
        self._here = None if fleet else here
        self.door = Door(self._paths.run / "control", self._paths.fleet)
        self._context = zmq.asyncio.Context()
        self._links: Links[zmq.asyncio.Socket] = Links(self._context, self._paths.endpoint("control"))

    @property
    def paths(self) -> places.Paths:
        """Where this client's daemon lives."""
        return self._paths

    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply, which is a `kind`; see `Client.ask`."""
        if self._here is not None and names_no_display(request):
            request = await self._placed(request, self._here)
        limits = ClientLimits(total_s(request, self.timeout_s), self.patience_s)
        reply = await self._exchange(ClientCall(request, limits, self.door, time.monotonic(), request_id))
        assert isinstance(reply, kind)
        return reply

    async def _placed(self, request: msgspec.Struct, here: Here) -> msgspec.Struct:
        placed, add = here.on(request, await self.display_list())
        if add is not None:
            try:
                await self.ask(add, DisplayReply)
            except Conflict:
                pass  # somebody else has it watched since
            except AcudError as fault:
                raise here.fault(fault) from fault
        return placed

    async def _exchange(self, call: ClientCall) -> Any:
        with Loan(self._links, self.door) as loan:
            while True:
                step = call.next(time.monotonic(), loan.sight)
                if step is Step.SEND:
                    await loan.fresh().send(call.frame)
                elif step is Step.PAUSE:
                    loan.drop()
                    await asyncio.sleep(PAUSE_S)
                if loan.link is not None and await loan.link.poll(call.listen_ms(time.monotonic())):
                    reply = call.accept(await loan.link.recv_multipart())
                    if reply is not None:
                        loan.keep()
                        return reply
                loan.look()

    # ---- the daemon ----

    async def status(self) -> StatusReply:
        """Return what the daemon is doing now: version, displays, children, judges, numbers of waits, cost."""
        return await self.ask(Status(), StatusReply)

    async def doctor(self) -> DoctorReply:
        """Return the daemon's findings about its own health; `acud doctor` adds what can only be seen from outside."""
        return await self.ask(Doctor(), DoctorReply)

    async def metrics(self) -> MetricsReply:
        """Return every figure that the daemon measures; `acud_client.exposition` makes text of them."""
        return await self.ask(Metrics(), MetricsReply)

    async def shutdown(self, *, keep_displays: bool = False) -> ShutdownReply:
        """Have the daemon end in good order; wait for the process `pid` of the reply. Live waits stay armed."""
        return await self.ask(Shutdown(keep_displays), ShutdownReply)

    # ---- displays ----

    async def display_list(self, *, ended: bool = False) -> DisplayListReply:
        """Return the displays, the ended ones too with `ended`, and which of them `screen` means."""
        return await self.ask(DisplayList(ended), DisplayListReply)

    async def display_add(self, name: str, *, auth_file: str = "", owner: int = -1) -> DisplayReply:
        """Watch the existing display `name` (`:0`). `auth_file`: its Xauthority ("" tries the usual places).
        `owner`: the uid that may serve it besides the daemon's user and root.
        """
        return await self.ask(DisplayAdd(name, auth_file, owner), DisplayReply)

    async def display_create(
        self, width: int = 0, height: int = 0, *, window_manager: str = "", labels: Labels | None = None
    ) -> DisplayReply:
        """Start a managed display of that size in pixels (0: as in the settings); programs find it by its `name`
        and `auth_file` (DISPLAY, XAUTHORITY). `labels`: what its host must carry."""
        return await self.ask(DisplayCreate(width, height, window_manager, dict(labels or {})), DisplayReply)

    async def display_remove(self, name: str, *, force: bool = False) -> DisplayReply:
        """End a managed display, or stop watching an adopted one. Raises: Conflict while waits look at it."""
        return await self.ask(DisplayRemove(name, force), DisplayReply)

    # ---- pictures ----

    async def look(
        self,
        target: str = "screen",
        *,
        display: str = "",
        format: PictureFormat = "png",  # noqa: A002 - the protocol's word
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
        redacted: bool = False,
    ) -> Picture:
        """Return a picture of `target` from a grab made after this call. `max_side_px` 0 keeps the size.

        With a `task_id`, `screen` is that task's display, and the look is logged there. `redacted`: as the picture may
        leave this machine. Raises: Unavailable where that cannot be told."""
        return await self.ask(Look(target, display, format, max_side_px, quality, task_id, redacted), Picture)

    async def baseline(self, target: str = "screen", *, display: str = "", task_id: str = "") -> BaselineReply:
        """Return a token for now, to be taken before an action and handed to the change wait after it."""
        return await self.ask(Baseline(target, display, task_id), BaselineReply)

    async def evidence(self, wait_id: str, *, part: EvidencePart = "after") -> EvidenceReply:
        """Return a kept picture of a wait as PNG bytes: as it resolved, as it was before, or what differs.
        Raises: NotFound, saying why there is none."""
        return await self.ask(EvidenceGet(wait_id, part), EvidenceReply)

    # ---- waits ----

    async def wait_create(
        self,
        until: Until,
        target: str = "screen",
        *,
        display: str = "",
        ignore: Sequence[Rect] = (),
        timeout_s: float | None = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        judge: JudgeName = JudgeName.AUTO,
        task_id: str = "",
        label: str = "",
        wake: WakeAddress = WakeAddress(),  # noqa: B008 - frozen
        budget: Budget = Budget(),  # noqa: B008 - frozen
        force: bool = False,
    ) -> WaitReply:
        """Arm a wait and return at once. `timeout_s` None: as set in the settings; 0: look once.
        `ignore`: in target pixels.
        `wake`: how to wake whoever waits. `budget`: what judging may cost. Raises: NoJudge for a sentence that no
        configured judge could answer, unless `force`."""
        boxes = tuple(ignore)
        given = (timeout_s, policy, judge, task_id, label, wake, budget, force)
        request = WaitCreate(until, target, display, boxes, *given)
        return await self.ask(request, WaitReply)

    async def wait_list(
        self,
        *,
        states: Sequence[WaitState] = (),
        ended: bool = False,
        limit: int = 100,
        tasks: Sequence[str] = (),
        displays: Sequence[str] = (),
    ) -> WaitListReply:
        """Return waits, newest first: the live ones, or those in `states`, or all with `ended`; any of `tasks` (whole
        ids) and `displays` alone, where some are named."""
        return await self.ask(WaitList(tuple(states), ended, limit, tuple(tasks), tuple(displays)), WaitListReply)

    async def wait_show(self, wait_id: str, *, evaluations: int = 50) -> WaitShowReply:
        """Return one wait with its newest evaluations; a unique beginning of its id is enough."""
        return await self.ask(WaitShow(wait_id, evaluations), WaitShowReply)

    async def wait_update(
        self,
        wait_id: str,
        *,
        until: Until | None = None,
        timeout_s: float | None = None,
        policy: Policy | None = None,
        budget: Budget | None = None,
        force: bool = False,
    ) -> WaitReply:
        """Change a live wait; a timeout restarts its clock. Raises: Conflict when it has ended; NoJudge."""
        return await self.ask(WaitUpdate(wait_id, until, timeout_s, policy, budget, force), WaitReply)

    async def wait_cancel(self, wait_id: str, *, reason: str = "") -> WaitReply:
        """End a live wait without a verdict. Raises: Conflict, saying how it ended, when it has."""
        return await self.ask(WaitCancel(wait_id, reason), WaitReply)

    async def wait_result(self, wait_id: str, *, block_s: float = 0.0, peek: bool = False) -> WaitResultReply:
        """Return when the wait has ended, or after `block_s` with its state so far. Giving up never cancels it. The end
        counts as seen by whoever was to be woken, unless this is only a `peek`."""
        return await self.ask(WaitResult(wait_id, block_s, peek), WaitResultReply)

    async def wait_end(self, wait_id: str, *, timeout_s: float | None = None) -> WaitResultReply:
        """Return when the wait has ended, however long that takes, or after `timeout_s` with its state so far."""
        end_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            reply = await self.wait_result(wait_id, block_s=poll_s(end_s - time.monotonic()))
            if reply.ended or time.monotonic() >= end_s:
                return reply

    async def wait_for_change(
        self,
        target: str = "screen",
        *,
        display: str = "",
        ignore: Sequence[Rect] = (),
        timeout_s: float = 10.0,
        settle_s: float = 0.0,
        share: float = 0.0,
        baseline: str = "",
        format: PictureFormat = "png",  # noqa: A002 - the protocol's word
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
    ) -> ChangeReply:
        """Block until `target` changed since `baseline` ("": now) or `timeout_s` passed; one picture either way."""
        boxes = tuple(ignore)
        request = WaitForChange(
            target, display, boxes, timeout_s, settle_s, share, baseline, format, max_side_px, quality, task_id
        )
        return await self.ask(request, ChangeReply)

    # ---- wakes ----

    async def wake_list(
        self, *, states: Sequence[WakeState] = (), seen: bool = False, wait_id: str = "", limit: int = 100
    ) -> WakeListReply:
        """Return wakes, newest first: those nobody has seen yet, or those in `states`, or all with `seen`."""
        return await self.ask(WakeList(tuple(states), seen, wait_id, limit), WakeListReply)

    async def wake_retry(self, wake_ids: Sequence[str] = (), *, undelivered: bool = False) -> WakeRetryReply:
        """Try wakes again now, or every undelivered one. Raises: Conflict for one that was seen."""
        return await self.ask(WakeRetry(tuple(wake_ids), undelivered), WakeRetryReply)

    async def wake_test(
        self,
        routes: Sequence[RouteName] = (),
        *,
        address: WakeAddress = WakeAddress(),  # noqa: B008 - frozen
    ) -> WakeTestReply:
        """Send a test over each of `routes` (none named: those in the settings) and return how each did."""
        return await self.ask(WakeTest(tuple(routes), address), WakeTestReply)

    async def notify_test(self) -> NotifyTestReply:
        """Show a notification on the administrator's desktop. Raises: Unavailable when nobody takes it."""
        return await self.ask(NotifyTest(), NotifyTestReply)

    # ---- events ----

    async def events_since(self, after: int = 0, *, topic: str = "", limit: int = 200) -> EventsSinceReply:
        """Return stored events with a number above `after`, oldest first, of topics that begin with `topic`."""
        return await self.ask(EventsSince(after, topic, limit), EventsSinceReply)

    def events(self, *, topic: str = "", after: int | None = None) -> AsyncEventStream:
        """Return an async iterator over events of topics that begin with `topic`: those after the number `after`, else
        those from now on. It misses none, and must be closed (`async with`)."""
        return AsyncEventStream(self, self._paths.endpoint("events"), topic, after)

    # ---- life ----

    async def close(self) -> None:
        """Close every socket; calls still running are cancelled. Twice is harmless."""
        self._links.close()
        self._context.destroy(linger=0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
