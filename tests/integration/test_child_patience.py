"""How long a child may be silent: one that only starts longer than one that was heard; on a clock of the test's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zmq

from acud.config import DaemonSettings
from acud.loop import Loop
from acud.protocol.bootstrap import CaptureOptions
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message

_SETTINGS = DaemonSettings(child_silent_s=10, child_start_s=45)


class _Owner:
    def __init__(self) -> None:
        self.reasons: list[str] = []

    def child_said(self, child: Child, message: Message) -> None:
        """Nothing is done with words."""

    def child_ended(self, child: Child, reason: str) -> None:
        self.reasons.append(reason)


class _Rig:
    def __init__(self, folder: Path) -> None:
        self.now_s = 0.0
        self.loop = Loop(lambda: self.now_s)
        self.owner = _Owner()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        endpoint = f"ipc://{folder}/children"
        self._socket.bind(endpoint)
        self._words = (folder / "log").open("ab")
        self.keeper = ChildKeeper(self._socket, self.loop, lambda: self.now_s, _SETTINGS, self._words, endpoint)

    def child(self, display: str) -> Child:
        child = Child(display, "capture", "tests.integration.wordless_child", self.owner)
        self.keeper.start(child, CaptureOptions(display, "", "", 4, 30.0, 30.0, "auto"))
        return child

    def later(self, seconds: float) -> None:
        """Let that time pass, as the keeper and its loop see it."""
        self.now_s += seconds
        self.loop.turn(0)

    def until(self, holds: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < deadline_s, (self.now_s, self.owner.reasons)
            self.loop.turn(0.05)

    def close(self) -> None:
        self.keeper.kill_all()
        self._words.close()
        self._socket.close()
        self._context.term()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[_Rig]:
    """A keeper of children whose time is the test's."""
    made = _Rig(tmp_path)
    yield made
    made.close()


def test_a_child_that_only_starts_has_a_deadline_of_its_own(rig: _Rig) -> None:
    child = rig.child(":1")
    rig.later(_SETTINGS.child_start_s - 1)
    assert (child.state, child.ending) == (ChildState.STARTING, "")
    rig.later(2)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["it was silent for 46 s and was killed"]


def test_a_child_that_was_heard_is_hung_sooner(rig: _Rig) -> None:
    child = rig.child(":2")
    rig.until(lambda: child.state is ChildState.READY)
    rig.later(_SETTINGS.child_silent_s - 1)
    assert child.ending == ""
    rig.later(2)
    rig.until(lambda: bool(rig.owner.reasons))
    assert rig.owner.reasons == ["it was silent for 11 s and was killed"]
