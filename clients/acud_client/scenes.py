"""The scene of the displays as methods, sync and async: a part of each client."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import suppress
from typing import Literal, TypeVar

import msgspec

from acud.protocol.requests.scenes import SceneGet, SceneReply, SceneSubscribe, SceneSubscribed
from acud.types.scene import Scene, SceneMode
from acud_client.stream import AsyncEventStream, EventStream

Reply = TypeVar("Reply", bound=msgspec.Struct)

TOPIC = "scene.updated"
LEASE_S = 20.0
"""How long a subscription goes on when its reader vanishes; readers renew it in half of that."""
_FIRST_S = 1.0
"""The first renewal, which also finds what was told before the socket was connected."""


class _Reader:
    """What a subscription's two readers share: which scene was yielded, and when to renew."""

    def __init__(self, displays: Sequence[str]) -> None:
        self.displays = tuple(displays)
        self.subscription = ""
        self.known = -1
        self._renewed = False

    def asked(self, for_s: float = LEASE_S) -> SceneSubscribe:
        """Return the request that begins, renews or (with 0) ends it."""
        return SceneSubscribe(self.displays if for_s else (), for_s, self.subscription)

    def until_s(self) -> float:
        """Return when to renew next, on the monotonic clock."""
        wait_s, self._renewed = (LEASE_S / 2 if self._renewed else _FIRST_S), True
        return time.monotonic() + wait_s

    def is_news(self, scene: Scene) -> bool:
        """Tell whether `scene` was not yielded yet; it counts as yielded then."""
        fresh, self.known = scene.scene_id != self.known, scene.scene_id
        return fresh


class SceneCalls(ABC):
    """The scene requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    @abstractmethod
    def events(self, *, topic: str = "", after: int | None = None) -> EventStream:
        """Return an iterator over events."""

    def scene(
        self,
        mode: SceneMode | None = SceneMode.AGENT_TURN,
        displays: Sequence[str] = (),
        *,
        form: Literal["json", "prompt"] = "json",
        max_tokens: int = 0,
        since: int = 0,
        marks: bool = False,
        task_id: str = "",
        max_side_px: int = 0,
    ) -> SceneReply:
        """Return the scene of `displays` (none: all), looked at as `mode` says (None: not at all); as text of at most
        about `max_tokens`; with the difference from the scene `since`."""
        return self.ask(
            SceneGet(mode, tuple(displays), form, max_tokens, since, marks, task_id, max_side_px), SceneReply
        )

    def scene_subscribe(
        self, displays: Sequence[str] = (), *, for_s: float = 60.0, subscription: str = ""
    ) -> SceneSubscribed:
        """Have `displays` (none: all) looked at as they change, for `for_s` from now on; see `subscribe_scene`."""
        return self.ask(SceneSubscribe(tuple(displays), for_s, subscription), SceneSubscribed)

    def current_scene(self, displays: Sequence[str] = ()) -> Scene:
        """Return the scene of `displays` (none: all) as it was last seen, without looking."""
        return _scene(self.scene(None, displays))

    def refresh_scene(self, mode: SceneMode = SceneMode.AGENT_TURN, displays: Sequence[str] = ()) -> Scene:
        """Return the scene of a frame grabbed after this call, looked at as `mode` says."""
        return _scene(self.scene(mode, displays))

    def subscribe_scene(self, displays: Sequence[str] = ()) -> Generator[Scene, None, None]:
        """Yield the scene of `displays` (none: all) now, and each time it differs, as fast as `[scene]` allows.

        It blocks between scenes; closing the iterator ends the subscription. A slow reader gets the newest scene.
        """
        reader = _Reader(displays)
        with self.events(topic=TOPIC) as stream:
            try:
                while True:
                    reader.subscription = self.ask(reader.asked(), SceneSubscribed).subscription
                    until_s = reader.until_s()
                    while True:
                        if reader.is_news(scene := self.current_scene(reader.displays)):
                            yield scene
                        if stream.next(max(0.0, until_s - time.monotonic())) is None:
                            break
            finally:
                if reader.subscription:
                    self.ask(reader.asked(0.0), SceneSubscribed)


class AsyncSceneCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    @abstractmethod
    def events(self, *, topic: str = "", after: int | None = None) -> AsyncEventStream:
        """Return an iterator over events."""

    async def scene(
        self,
        mode: SceneMode | None = SceneMode.AGENT_TURN,
        displays: Sequence[str] = (),
        *,
        form: Literal["json", "prompt"] = "json",
        max_tokens: int = 0,
        since: int = 0,
        marks: bool = False,
        task_id: str = "",
        max_side_px: int = 0,
    ) -> SceneReply:
        """Return the scene of `displays` (none: all), looked at as `mode` says (None: not at all); as text of at most
        about `max_tokens`; with the difference from the scene `since`."""
        return await self.ask(
            SceneGet(mode, tuple(displays), form, max_tokens, since, marks, task_id, max_side_px), SceneReply
        )

    async def scene_subscribe(
        self, displays: Sequence[str] = (), *, for_s: float = 60.0, subscription: str = ""
    ) -> SceneSubscribed:
        """Have `displays` (none: all) looked at as they change, for `for_s` from now on; see `subscribe_scene`."""
        return await self.ask(SceneSubscribe(tuple(displays), for_s, subscription), SceneSubscribed)

    async def current_scene(self, displays: Sequence[str] = ()) -> Scene:
        """Return the scene of `displays` (none: all) as it was last seen, without looking."""
        return _scene(await self.scene(None, displays))

    async def refresh_scene(self, mode: SceneMode = SceneMode.AGENT_TURN, displays: Sequence[str] = ()) -> Scene:
        """Return the scene of a frame grabbed after this call, looked at as `mode` says."""
        return _scene(await self.scene(mode, displays))

    async def subscribe_scene(self, displays: Sequence[str] = ()) -> AsyncGenerator[Scene, None]:
        """Yield the scene of `displays` (none: all) now, and each time it differs; see `SceneCalls.subscribe_scene`."""
        reader = _Reader(displays)
        async with self.events(topic=TOPIC) as stream:
            try:
                while True:
                    reader.subscription = (await self.ask(reader.asked(), SceneSubscribed)).subscription
                    until_s = reader.until_s()
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
                    await self.ask(reader.asked(0.0), SceneSubscribed)


def _scene(reply: SceneReply) -> Scene:
    assert reply.scene is not None  # the form asked for
    return reply.scene
