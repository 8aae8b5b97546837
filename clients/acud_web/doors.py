"""What one process listens for: what can't be had now is tried again, while the other is served."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack

from acud.errors import AcudError
from acud.paths import Paths
from acud.protocol.bootstrap import WebOptions
from acud.protocol.serving import WebHello
from acud_web.gateway_listening import GatewayListening
from acud_web.listening import Listening
from acud_web.serving import Serving

_AGAIN_S = 10.0


class Doors:
    """The relay endpoints and the gateway, each where `options` asks for it. `stack` closes their sockets.

    Raises: Refused or ConfigError when none of those that are asked for can be had.
    """

    def __init__(self, options: WebOptions, paths: Paths, stack: ExitStack) -> None:
        self._options = options
        self._paths = paths
        self._stack = stack
        self._relay: Listening | None = None
        self._gateway: GatewayListening | None = None
        self._faults: dict[str, AcudError] = {}
        self._servings: list[Serving] = []
        self._stopping = asyncio.Event()
        opened = self._open()
        if not opened and self._faults:
            raise next(iter(self._faults.values()))

    @property
    def hello(self) -> WebHello:
        """Return what is served as of now, and why something is not."""
        relay, gateway = self._relay, self._gateway
        fault = next(iter(self._faults.values()), None)
        return WebHello(
            os.getpid(),
            url=relay.url if relay is not None else "",
            token_file=relay.token_file if relay is not None else "",
            gateway_url=gateway.url if gateway is not None else "",
            fault=fault.message if fault is not None else "",
            fix=fault.hint if fault is not None else "",
        )

    async def run(self, opened: Callable[[], object]) -> None:
        """Serve until `stop`; tell `opened` when something could be had at last."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._stopping.wait())  # a process that only sends traces has no door
            for serving in self._servings:
                group.create_task(serving.run())
            while self._faults and not await self._stopped_within(_AGAIN_S):
                for serving in self._open():
                    group.create_task(serving.run())
                    opened()

    def stop(self) -> None:
        """End in good order."""
        self._stopping.set()
        for serving in self._servings:
            serving.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused, since the start."""
        told = [serving.counters() for serving in self._servings]
        return {name: sum(one[name] for one in told) for name in ("requests", "refused")}

    def _open(self) -> list[Serving]:
        wanted, door = self._options.listener, self._options.gateway
        made: list[Serving] = []
        if wanted.enabled and self._relay is None:
            with _Trying("relay", self._faults):
                self._relay = self._stack.enter_context(Listening(wanted, self._paths, self._options.listener_fd))
                made.append(Serving(self._relay, None, self._paths))
        if door.enabled and self._gateway is None:
            with _Trying("gateway", self._faults):
                self._gateway = self._stack.enter_context(GatewayListening(door, self._options.gateway_fd))
                made.append(Serving(None, self._gateway, self._paths))
        self._servings += made
        return made

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False


class _Trying:
    """Notes under `name` why its block failed, or that it did not."""

    def __init__(self, name: str, faults: dict[str, AcudError]) -> None:
        self._name = name
        self._faults = faults

    def __enter__(self) -> None:
        self._faults.pop(self._name, None)

    def __exit__(self, kind: object, fault: BaseException | None, at: object) -> bool:
        if isinstance(fault, AcudError):
            self._faults[self._name] = fault
            return True
        return False
