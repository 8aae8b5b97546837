"""A turn whose commit fails: who wrote gets the fault, who only read gets what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq

from acud.base.errors import AcudError, NotFound, StoreUnavailable
from acud.config import StoreSettings
from acud.process.event_loop import EventLoop
from acud.protocol import VERSION, codec
from acud.protocol.envelope import ReplyEnvelope, RequestEnvelope
from acud.protocol.requests.daemon import EventsSince, EventsSinceReply
from acud.protocol.requests.recordings import RecordStart
from acud.protocol.requests.waits import WaitCancel, WaitResult
from acud.store.store import Store
from acud.supervisor.control import Call, Control, FaultGuard
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.journal import Journal
from acud.supervisor.replies import RequestDigest
from tests.fixtures.manual_clock import ManualClock

_PATIENCE_MS = 60_000


class Rig:
    """A control socket over a real store, with one request that writes and one that reads."""

    def __init__(self, folder: Path, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        clock = ManualClock()
        self.store = Store(folder / "data.db", folder, StoreSettings(), 1.0)
        loop = self.loop = EventLoop(clock.monotonic_s)
        self.journal = Journal(self.store, loop, clock)
        self.path = folder / "control"
        self.served = 0
        handlers = {
            "wait_cancel": self._write,
            "events_since": self._read,
            "wait_result": self._wait,
            "record_start": self._step,
        }
        self.resume: list[Resume[msgspec.Struct]] = []
        digest = RequestDigest(folder / "key")
        self.control = Control(
            self.path, loop, self.journal, 8, clock, digest, handlers, lambda command, request: None, FaultGuard()
        )
        self.waiting: list[Call] = []
        self.reading: Callable[[], None] = lambda: None
        self.fault: AcudError | None = None
        self._context = context

    def _write(self, _: Any, call: Call) -> msgspec.Struct:
        self.served += 1
        self.journal.event("wait.cancelled", "wait-1")
        return EventsSinceReply((), 0, 0)

    def _read(self, _: Any, call: Call) -> msgspec.Struct:
        self.served += 1
        self.reading()
        page = self.store.events.since(0, "", 100)
        return EventsSinceReply(tuple(page.events), 0, 0)

    def _wait(self, _: Any, call: Call) -> None:
        self.served += 1
        self.waiting.append(call)

    async def _step(self, _: Any, call: Call) -> msgspec.Struct:
        self.served += 1
        self.journal.event("wait.updated", "wait-1")
        answer = await Callback[msgspec.Struct](self.resume.append)
        self.journal.event("wait.updated", "wait-2")
        await Callback[None](lambda resume: resume(None))
        if self.fault is not None:
            raise self.fault
        return answer

    def ask(self, request: msgspec.Struct) -> zmq.Socket[bytes]:
        """Send a request and have it handled; the reply comes with the end of the turn."""
        line = self._context.socket(zmq.REQ)
        line.connect(f"ipc://{self.path}")
        line.send(codec.encode(RequestEnvelope(VERSION, f"req-{id(line)}", msgspec.to_builtins(request))))
        wanted = self.served + 1
        for _ in range(_PATIENCE_MS // 10):
            if self.served == wanted:
                return line
            self.loop.turn(0.01)
        raise AssertionError("the request did not come")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A rig whose sockets and store are closed."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    made = Rig(tmp_path, context)
    with made.store:
        yield made
        made.control.server.shut()
    context.destroy(linger=0)


def _reply(line: zmq.Socket[bytes]) -> ReplyEnvelope:
    with line:
        assert line.poll(_PATIENCE_MS)
        return codec.decode(line.recv(), ReplyEnvelope)


def _fail(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the turn as the supervisor does on a full disk."""

    def full() -> None:
        raise StoreUnavailable("no space left on the disk", hint="free some")

    with monkeypatch.context() as patch:
        patch.setattr(rig.store, "commit_turn", full)
        fault = rig.journal.end_turn()
    assert fault is not None
    rig.control.flush_failed(0, fault)


def test_who_writes_gets_the_fault_and_who_reads_gets_what_is_stored(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = rig.ask(WaitCancel("wait-1")), rig.ask(EventsSince())
    _fail(rig, monkeypatch)
    refused, read = _reply(writer), _reply(reader)
    assert refused.error is not None
    assert refused.error.code == "store_unavailable"
    assert read.error is None
    assert read.body["events"] == []  # what the turn wrote before is undone, and was never told


def test_who_waited_gets_its_answer_though_others_in_that_turn_write_in_vain(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiter = rig.ask(WaitResult("wait-1", block_s=1))
    assert rig.journal.end_turn() is None
    rig.control.flush(rig.journal.newest)
    writer = rig.ask(WaitCancel("wait-1"))
    (call,) = rig.waiting
    left: list[bool] = []
    call.reply(EventsSinceReply((), 7, 0), lambda: left.append(True))
    _fail(rig, monkeypatch)
    assert _reply(writer).error is not None
    told = _reply(waiter)
    assert (told.error, told.body["newest"], left) == (None, 7, [True])


def test_a_read_that_fails_the_second_time_says_why(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = rig.ask(WaitCancel("wait-1")), rig.ask(EventsSince())

    def broken() -> None:
        raise StoreUnavailable("the file is gone", hint="restore it")

    rig.reading = broken
    _fail(rig, monkeypatch)
    assert _reply(writer).error is not None
    read = _reply(reader)
    assert read.error is not None
    assert read.error.message == "the file is gone"


@pytest.mark.parametrize("fault", [None, NotFound("it is gone")])
def test_a_handler_of_several_steps_answers_with_what_it_returns_and_undoes_the_step_that_fails(
    rig: Rig, fault: AcudError | None
) -> None:
    rig.fault = fault
    line = rig.ask(RecordStart())
    assert rig.journal.end_turn() is None
    (resume,) = rig.resume
    resume(EventsSinceReply((), 7, 0))
    resume(EventsSinceReply((), 8, 0))  # one too many changes nothing
    assert rig.journal.end_turn() is None
    rig.control.flush(rig.journal.newest)
    reply = _reply(line)
    kept = [event.subject for event in rig.store.events.since(0, "", 100).events]
    if fault is None:
        assert (reply.body["newest"], kept) == (7, ["wait-1", "wait-2"])
    else:
        assert reply.error is not None
        assert (reply.error.code, kept) == ("not_found", ["wait-1"])
