"""Acts asked of a capture process under test, and what programs make of them."""

from __future__ import annotations

import functools
import itertools
import json
import os
import select
import subprocess
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from Xlib import X

from acud.protocol.capture import Act, Acted, DropActs
from acud.types.actions import InputAction
from acud.x11.connection import Connection
from acud.x11.keyboard import Xkb
from tests.fixtures.patience import LONG_S, until
from tests.integration.capture_rig import CaptureRig
from tests.integration.halting import go_on, halt
from tests.integration.xserver import XServer


class HandsRig(CaptureRig):
    """A capture rig that acts."""

    numbers = itertools.count(1)

    def ask(self, action: InputAction, window: int = 0) -> str:
        """Ask for `action`, for `window` alone (0: for any), and return its id."""
        act_id = f"act-{next(self.numbers)}"
        self.send(Act(act_id, action, window))
        return act_id

    def answer(self, act_id: str) -> Acted:
        since = next((n for n, m in enumerate(self.said) if isinstance(m, Acted) and m.act_id == act_id), None)
        answer: Acted = self.until(lambda m: isinstance(m, Acted) and m.act_id == act_id, since)
        return answer

    def do(self, action: InputAction) -> Acted:
        """Do `action`, and return its answer, which must be good."""
        answer = self.answer(self.ask(action))
        assert not answer.code, answer
        return answer

    def fail(self, action: InputAction, window: int = 0) -> Acted:
        answer = self.answer(self.ask(action, window))
        assert answer.code, answer
        return answer

    def amid(self, action: InputAction, holds: Callable[[], bool]) -> str:
        """Do `action`, and have the process stand still at a moment of it for which `holds`; return the act's id.

        Who looks too late, for the machine is not ours alone, does it again.
        """
        assert self.process is not None
        while True:
            act_id = self.ask(action)
            while not holds() and not self._has_answered(act_id):
                pass
            halt(self.process.pid)
            if holds():
                return act_id
            go_on(self.process.pid)
            self.answer(act_id)

    def _has_answered(self, act_id: str) -> bool:
        while self._socket.poll(0):
            self.take()
        return any(isinstance(m, Acted) and m.act_id == act_id for m in self.said)

    def drop(self, reason: str) -> None:
        self.send(DropActs(reason))


class Witness:
    """A second client, which sees the state of the devices and waits for it to become so."""

    def __init__(self, server: XServer) -> None:
        self.connection = Connection(server.display, server.auth_file)
        self.xkb = Xkb(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.connection.close()

    def keys(self) -> list[int]:
        """Return the keycodes that are down (QueryKeymap)."""
        bits = self.connection.xlib.query_keymap()
        return [code for code in range(256) if bits[code // 8] >> code % 8 & 1]

    def buttons(self) -> int:
        """Return the state of buttons and modifiers (QueryPointer)."""
        return int(self.connection.root.query_pointer().mask)

    def is_dragging(self) -> bool:
        """Tell whether the left button is down and the pointer on its way from (10, 10), with a long way to go."""
        pointer = self.connection.root.query_pointer()
        return pointer.mask & X.Button1Mask != 0 and 50 < pointer.root_x < 300

    def managed(self) -> list[int]:
        """Return the windows that a window manager lists (_NET_CLIENT_LIST_STACKING), lowest first."""
        atom = self.connection.wire.get_atom("_NET_CLIENT_LIST_STACKING")
        found = self.connection.root.get_full_property(atom, X.AnyPropertyType)
        return list(found.value) if found else []

    def active(self) -> int:
        """Return the window that a window manager names as the active one (0: none)."""
        found = self.connection.root.get_full_property(
            self.connection.wire.get_atom("_NET_ACTIVE_WINDOW"), X.AnyPropertyType
        )
        return int(found.value[0]) if found else 0

    def keymap(self) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.connection.xlib.get_keyboard_mapping(8, 248)]

    def until(self, holds: Callable[[], bool]) -> None:
        """Ask the server again and again until `holds`."""
        until(holds)


class Program:
    """A program on the display that says JSON lines; ended by `close`."""

    def __init__(self, server: XServer, *command: str) -> None:
        env = {**server.env(), "LC_ALL": "C.UTF-8", "NO_AT_BRIDGE": "1"}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.said: list[dict[str, Any]] = []

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def lines(self) -> Iterator[str]:
        """Yield what it says, line by line; each within the deadline."""
        assert self.process.stdout is not None
        pending = b""
        while True:
            assert select.select([self.process.stdout], [], [], LONG_S)[0], f"it says no more than {self.said[-3:]}"
            part = os.read(self.process.stdout.fileno(), 65536)
            assert part, "it ended"
            *whole, pending = (pending + part).split(b"\n")
            yield from (line.decode() for line in whole)

    def until_line(self, part: str) -> list[str]:
        """Return the lines it says up to one that holds `part`, that one included."""
        heard = []
        for line in self._lines:
            heard.append(line)
            if part in line:
                return heard
        raise AssertionError

    def until(self, **facts: Any) -> dict[str, Any]:
        """Return the next object it says that has these facts; `...` is any value."""
        for line in self._lines:
            self.said.append(json.loads(line))
            if all(k in self.said[-1] and v in (..., self.said[-1][k]) for k, v in facts.items()):
                return self.said[-1]
        raise AssertionError

    @functools.cached_property
    def _lines(self) -> Iterator[str]:
        return self.lines()
