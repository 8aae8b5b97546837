"""The delivery process: takes deliveries, sends their outcomes and heartbeats."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping

from acud.base import log
from acud.delivery.routes import DeliveryOutcome, Route
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.delivery import Deliver, Delivered, DeliveryHello, Notified, Notify, Push, Pushed, ToDelivery
from acud.types import RouteName

_LOG = log.logger("relay")
_GRACE_S = 2.0
"""How long deliveries under way may take after `Stop`: the supervisor kills the process after three seconds."""
ShowNotification = Callable[[Notify], Awaitable[Notified]]
SendPush = Callable[[Push], Awaitable[Pushed]]


class DeliveryService:
    """Makes deliveries in parallel, at most as many on each route as it has places, until `Stop`.

    `show` shows a notification and `sends` sends a push, both in bounded time.
    """

    def __init__(
        self, child: AsyncChild[ToDelivery], routes: Mapping[RouteName, Route], show: ShowNotification, sends: SendPush
    ) -> None:
        self._child, self._routes, self._show, self._sends = child, routes, show, sends
        self._places = {name: asyncio.Semaphore(route.places) for name, route in routes.items()}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._counts = {"sent": 0.0, "retry": 0.0, "refused": 0.0}

    async def run(self) -> None:
        """Serve until `Stop` or SIGTERM; then finish deliveries under way, within two seconds. An unexpected fault ends
        the process: the supervisor restarts it and sends the deliveries again.
        """
        async with asyncio.TaskGroup() as group:
            receiving = group.create_task(self._handle_messages(group))
            beating = group.create_task(self._child.send_beats(self._build_heartbeat))
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, receiving.cancel)
            await asyncio.wait([receiving])
            if self._tasks:
                await asyncio.wait(list(self._tasks.values()), timeout=_GRACE_S)
            for task in (beating, *self._tasks.values()):
                task.cancel()

    async def _handle_messages(self, group: asyncio.TaskGroup) -> None:
        await self._child.send(DeliveryHello(os.getpid()))
        async for message in self._child.messages():
            match message:
                case Deliver():
                    self._begin_delivery(message, group)
                case Notify():
                    self._keep_task(f"notice/{message.number}", group.create_task(self._show_notification(message)))
                case Push():
                    self._keep_task(f"push/{message.number}", group.create_task(self._send_push(message)))
                case Stop():
                    return

    def _begin_delivery(self, delivery: Deliver, group: asyncio.TaskGroup) -> None:
        key = f"{delivery.wake_id}/{delivery.attempt}/{delivery.route}"
        self._keep_task(key, group.create_task(self._make_delivery(delivery)))

    def _keep_task(self, key: str, task: asyncio.Task[None]) -> None:
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key))

    async def _show_notification(self, notice: Notify) -> None:
        outcome = await self._show(notice)
        _LOG.info("notice.tried", server=outcome.server, fault=outcome.fault)
        await self._child.send(outcome)

    async def _send_push(self, push: Push) -> None:
        sent = await self._sends(push)
        _LOG.info("push.tried", result=sent.result, reason=sent.reason)
        await self._child.send(sent)

    async def _make_delivery(self, delivery: Deliver) -> None:
        began = time.monotonic()
        outcome = await self._deliver_over_route(delivery)
        ms = round((time.monotonic() - began) * 1000, 1)
        self._counts[outcome.result] += 1
        _LOG.info("wake.tried", wake=delivery.wake_id, route=delivery.route, result=outcome.result, ms=ms)
        await self._child.send(
            Delivered(
                delivery.wake_id,
                delivery.attempt,
                delivery.route,
                outcome.result,
                outcome.reason,
                outcome.retry_after_s,
                ms,
                outcome.ends_route,
            )
        )

    async def _deliver_over_route(self, delivery: Deliver) -> DeliveryOutcome:
        route = self._routes.get(delivery.route)
        if route is None:
            return DeliveryOutcome("refused", f"route {delivery.route} is not set up in [wake]")
        async with self._places[delivery.route]:
            return await route.deliver(delivery)

    def _build_heartbeat(self) -> Heartbeat:
        return Heartbeat(jobs=tuple(self._tasks), rss_mb=child_process.rss_mb(), counters=dict(self._counts))
