"""A session bus of its own with a notification server that keeps what it is told, and plays its moods."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from acud.config.notify import KINDS
from tests.fixtures.patience import LONG_S

STEADY_KINDS = [kind for kind in KINDS if kind != "wake_undelivered"]
"""What `[notify]` tells, whether a test is slow or fast: a wake that is not fetched at once reached nobody."""
_NAME = "org.freedesktop.Notifications"


class Shown(NamedTuple):
    """One notification as it came."""

    title: str
    body: str
    urgency: int


class NotificationServer:
    """Runs in a thread. `markup`: whether it reads tags. `mood`: "" (takes all), "refuses" or "hangs"."""

    def __init__(self, *, markup: bool = False) -> None:
        self.shown: list[Shown] = []
        self.mood = ""
        self._markup = markup
        self._folder = tempfile.TemporaryDirectory(prefix="acud-test-bus-")
        self.address = f"unix:path={self._folder.name}/bus"
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        command = ["dbus-daemon", "--session", "--nofork", f"--address={self.address}", "--print-address=1"]
        self._bus = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._bus.stdout is not None
        assert self._bus.stdout.readline()
        self._thread.start()
        assert self._ready.wait(LONG_S), "the notification server did not start"
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.leave()
        self._bus.kill()
        self._bus.wait()
        assert self._bus.stdout is not None
        self._bus.stdout.close()
        self._folder.cleanup()

    def leave(self) -> None:
        """Leave the bus, which goes on without a notification server; twice is harmless."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(LONG_S)

    def end_bus(self) -> None:
        self.leave()
        self._bus.kill()
        self._bus.wait()
        with contextlib.suppress(FileNotFoundError):
            Path(self.address.partition("=")[2]).unlink()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        bus = await MessageBus(self.address).connect()
        bus.add_message_handler(self._answer)
        await bus.request_name(_NAME)
        self._ready.set()
        await self._end.wait()
        bus.disconnect()
        await bus.wait_for_disconnect()

    def _answer(self, message: Message) -> Any:
        if message.message_type is not MessageType.METHOD_CALL or message.interface != _NAME:
            return None
        if self.mood == "hangs":
            return True  # it took the call, and says nothing
        if self.mood == "refuses":
            return Message.new_error(message, "org.example.Refused", "not now")
        if message.member == "GetServerInformation":
            return Message.new_method_return(message, "ssss", ["keeper", "acud tests", "1", "1.2"])
        if message.member == "GetCapabilities":
            return Message.new_method_return(message, "as", [["body"] + ["body-markup"] * self._markup])
        self.shown.append(Shown(message.body[3], message.body[4], message.body[6]["urgency"].value))
        return Message.new_method_return(message, "u", [len(self.shown)])
