"""The delivery process: hello, deliveries side by side, bounded places, a stop that lets deliveries end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import zmq

from acud.config import WakeSettings
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, DeliveryOptions
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.delivery import Deliver, Delivered, DeliveryHello, FromDelivery
from acud.types import RouteName, WakeKind
from tests.fixtures.patience import LONG_S
from tests.fixtures.wake_receiver import TOKEN, Receiver
from tests.integration.halting import go_on, halt


class DeliveryProcess:
    """The process as a child, on a ROUTER of our own. A context manager that ends the child."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self._context: zmq.Context[Any] = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        endpoint = f"ipc://{home / 'children'}"
        self._socket.bind(endpoint)
        wake = WakeSettings(openclaw_token="-", webhook_secret="-", **settings)
        self._bootstrap = Bootstrap(endpoint, "relay", os.getpid(), 1.0, False, DeliveryOptions(wake, TOKEN, "s"))

    def __enter__(self) -> Self:
        self.child = subprocess.Popen([sys.executable, "-m", "acud.delivery"], stdin=subprocess.PIPE)
        assert self.child.stdin is not None
        self.child.stdin.write(codec.encode(self._bootstrap))
        self.child.stdin.close()
        self.next(DeliveryHello)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self._socket.close(linger=0)
        self._context.term()

    def send(self, message: Any) -> None:
        self._socket.send_multipart([b"relay", codec.encode(message)])

    def next(self, kind: type) -> Any:
        """Return the next message of `kind`, leaving out what comes before."""
        while self._socket.poll(LONG_S * 1000):
            message: Any = codec.decode(self._socket.recv_multipart()[1], FromDelivery)  # type: ignore[arg-type]
            if isinstance(message, kind):
                return message
        raise AssertionError(f"no {kind.__name__} within {LONG_S} s")


def _delivery(number: int, route: RouteName) -> Deliver:
    return Deliver(f"wake-{number}", 1, route, WakeKind.TEST, f"text {number}", 0.0)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def other() -> Iterator[Receiver]:
    with Receiver("hang") as running:
        yield running


def test_a_hanging_route_delays_no_other_and_places_are_bounded(
    tmp_path: Path, hook: Receiver, other: Receiver
) -> None:
    with DeliveryProcess(
        tmp_path, openclaw_url=hook.url, webhook_url=other.url, http_concurrency=3, http_timeout_s=60
    ) as process:
        for number in range(20):
            process.send(_delivery(number, RouteName.WEBHOOK))
        for number in range(20, 40):
            process.send(_delivery(number, RouteName.OPENCLAW))
        done = [process.next(Delivered) for _ in range(20)]
        assert {(one.route, one.result) for one in done} == {(RouteName.OPENCLAW, "sent")}
        assert {one.wake_id for one in done} == {f"wake-{number}" for number in range(20, 40)}
        beat = process.next(Heartbeat)
        while len(beat.jobs) != 20:
            beat = process.next(Heartbeat)
        assert beat.counters["sent"] == 20
        other.wait_for(3)  # its places are taken before the heartbeat, what they bring may be on its way
        assert len(other.taken) == 3
        other.release.set()
        assert {process.next(Delivered).result for _ in range(20)} == {"retry"}


def test_a_stop_lets_deliveries_end(tmp_path: Path, other: Receiver) -> None:
    with DeliveryProcess(tmp_path, openclaw_url=other.url) as process:
        process.send(_delivery(1, RouteName.OPENCLAW))
        other.wait_for(1)
        halt(process.child.pid)  # its grace begins when it reads the order, however late we are run
        process.send(Stop())
        other.release.set()
        assert other.hung_up.wait(LONG_S)
        go_on(process.child.pid)
        assert process.next(Delivered).wake_id == "wake-1"
        assert process.child.wait(LONG_S) == 0


def test_a_stop_does_not_wait_for_ever(tmp_path: Path, other: Receiver) -> None:
    with DeliveryProcess(tmp_path, openclaw_url=other.url) as process:
        process.send(_delivery(1, RouteName.OPENCLAW))
        other.wait_for(1)
        process.send(Stop())
        assert process.child.wait(LONG_S) == 0


def test_a_route_that_is_not_set_up_is_refused(tmp_path: Path) -> None:
    with DeliveryProcess(tmp_path) as process:
        process.send(_delivery(1, RouteName.COMMAND))
        told = process.next(Delivered)
        assert (told.result, told.reason) == ("refused", "route command is not set up in [wake]")


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    wrong = Bootstrap("ipc:///nowhere", "relay", 1, 1.0, False, DeliveryOptions(WakeSettings(), "", ""))
    child = subprocess.Popen([sys.executable, "-m", "acud.delivery"], stdin=subprocess.PIPE)
    child.communicate(codec.encode(wrong), timeout=LONG_S)
    assert child.returncode == 3
