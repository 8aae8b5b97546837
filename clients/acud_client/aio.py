"""The client for asyncio: the same methods as `Client`, awaited."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

import msgspec
import zmq
import zmq.asyncio

from acud.base import paths as places
from acud.base.errors import AcudError, Conflict
from acud.protocol.requests.displays import DisplayReply
from acud.protocol.requests.scenes import Annotation, SceneAnnotated, SceneSubscribed
from acud.protocol.requests.waits import WaitResultReply
from acud.types.scene import Scene, SceneMode
from acud_client.call import DEFAULT_S, PAUSE_S, ClientCall, ClientLimits, Step, poll_s, total_s
from acud_client.connections import ConnectionPool, PooledConnection
from acud_client.daemon_socket import DaemonSocket
from acud_client.own_display import OwnDisplay, names_no_display
from acud_client.request_methods import AsyncRequestMethods
from acud_client.scenes import TOPIC, SceneSubscriber, scene_of
from acud_client.stream import AsyncEventStream

Reply = TypeVar("Reply", bound=msgspec.Struct)


class AsyncClient(AsyncRequestMethods):
    """A connection to the daemon of `paths` (None: from ACU_HOME and HOME), for one event loop. Close it, or use it in
    an `async with`. `timeout_s` and `patience_s` mean what they mean to `Client`; calls may run side by side.
    """

    def __init__(
        self,
        paths: places.Paths | None = None,
        *,
        timeout_s: float = DEFAULT_S,
        patience_s: float = 0.0,
        fleet: bool = False,
        here: OwnDisplay | None = None,
    ) -> None:
        found = paths or places.resolve(os.environ)
        self._paths = found.of_fleet() if fleet else found
        self.timeout_s = timeout_s
        self.patience_s = patience_s
        self._here = None if fleet else here
        self.daemon_socket = DaemonSocket(self._paths.run / "control", self._paths.fleet)
        self._context = zmq.asyncio.Context()
        self._connections: ConnectionPool[zmq.asyncio.Socket] = ConnectionPool(
            self._context, self._paths.endpoint("control")
        )

    @property
    def paths(self) -> places.Paths:
        """Where this client's daemon lives."""
        return self._paths

    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply, which is a `kind`; see `Client.ask`."""
        if self._here is not None and names_no_display(request):
            request = await self._place_request(request, self._here)
        limits = ClientLimits(total_s(request, self.timeout_s), self.patience_s)
        reply = await self._exchange(ClientCall(request, limits, self.daemon_socket, time.monotonic(), request_id))
        assert isinstance(reply, kind)
        return reply

    async def _place_request(self, request: msgspec.Struct, here: OwnDisplay) -> msgspec.Struct:
        placed, add = here.direct_request(request, await self.display_list())
        if add is not None:
            try:
                await self.ask(add, DisplayReply)
            except Conflict:
                pass  # another client has it watched since
            except AcudError as fault:
                raise here.fault(fault) from fault
        return placed

    async def _exchange(self, call: ClientCall) -> Any:
        with PooledConnection(self._connections, self.daemon_socket) as connection:
            while True:
                step = call.next_step(time.monotonic(), connection.status)
                if step is Step.SEND:
                    await connection.take_fresh().send(call.frame)
                elif step is Step.PAUSE:
                    connection.drop()
                    await asyncio.sleep(PAUSE_S)
                if connection.socket is not None and await connection.socket.poll(call.listen_ms(time.monotonic())):
                    reply = call.accept(await connection.socket.recv_multipart())
                    if reply is not None:
                        connection.keep()
                        return reply
                connection.look_at_socket()

    async def wait_end(self, wait_id: str, *, timeout_s: float | None = None) -> WaitResultReply:
        """Return when the wait has ended, however long that takes, or after `timeout_s` with its state so far."""
        end_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            reply = await self.wait_result(wait_id, block_s=poll_s(end_s - time.monotonic()))
            if reply.ended or time.monotonic() >= end_s:
                return reply

    def events(self, *, topic: str = "", after: int | None = None) -> AsyncEventStream:
        """Return an async iterator over events of topics that begin with `topic`: those after the number `after`, else
        those from its `async with` on. It misses none, and must be closed (`async with`)."""
        return AsyncEventStream(self, self._paths.endpoint("events"), topic, after)

    async def current_scene(self, displays: Sequence[str] = ()) -> Scene:
        """Return the last scene that was read of `displays` (none: all), without looking anew."""
        return scene_of(await self.scene(None, displays))

    async def refresh_scene(
        self, mode: SceneMode = SceneMode.AGENT_TURN, displays: Sequence[str] = (), *, within_s: float = 45.0
    ) -> Scene:
        """Return the scene of a frame grabbed after this call, by a look of the strength `mode`. What was not read
        after `within_s` seconds is as it was read before, or unknown, as its provider's state shows.
        """
        return scene_of(await self.scene(mode, displays, within_s=within_s))

    async def subscribe_scene(self, displays: Sequence[str] = ()) -> AsyncGenerator[Scene, None]:
        """Yield the scene of `displays` (none: all) now, and each time it differs; see `Client.subscribe_scene`."""
        reader = SceneSubscriber(displays)
        async with self.events(topic=TOPIC) as stream:
            try:
                while True:
                    reader.subscription = (await self.ask(reader.make_request(), SceneSubscribed)).subscription
                    until_s = reader.schedule_renewal()
                    while True:
                        if reader.is_news(scene := await self.current_scene(reader.displays)):
                            yield scene
                        if (left_s := until_s - time.monotonic()) <= 0:
                            break
                        with suppress(TimeoutError):
                            async with asyncio.timeout(left_s):
                                await anext(stream)
            finally:
                if reader.subscription:
                    await self.ask(reader.make_request(0.0), SceneSubscribed)

    async def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Set what a model saw of `display`; see `scene_annotate`."""
        return await self.scene_annotate(display, vlm_scene, vlm_elements, scene_id=scene_id, task_id=task_id)

    async def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend describe `display`; the reply includes what that cost."""
        return await self.scene_annotate(display, ask=backend, task_id=task_id)

    async def close(self) -> None:
        """Close every socket; calls still running are cancelled. Twice is harmless."""
        self._connections.close()
        self._context.destroy(linger=0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
