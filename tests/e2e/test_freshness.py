"""Health is the freshness of data: a process that is alive and silent makes the daemon degraded."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e import faults
from tests.e2e.faults import Judge
from tests.e2e.metrics import scrape
from tests.fixtures.daemon import Daemon


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    judge = Judge(tmp_path_factory.mktemp("judge"))
    # A capture process counts as neither hung nor late for minutes: the age of the frame alone tells.
    limits = {"child_silent_s": 600, "late_s": 4}
    with Daemon(settings=faults.settings(judge, daemon=limits, capture={"floor_s": 1})) as running:
        yield running


@pytest.fixture
def daemon(host: Daemon) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp."""
    yield host
    host.tidy()


@contextmanager
def _stopped(pid: int) -> Iterator[None]:
    """Hold the process: it lives, and does nothing."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _told(daemon: Daemon, words: str) -> bool:
    return any(words in reason for reason in daemon.client.status().degraded)


def _found(daemon: Daemon, part: str) -> str:
    """Return the level of doctor's finding on `part`; "" when there is none."""
    return next((one.level for one in daemon.client.doctor().findings if one.part == part), "")


def test_a_frame_that_is_too_old_while_frames_are_wanted(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    faults.judged(daemon, wait, "no")
    with _stopped(faults.child(daemon, "capture").pid):
        faults.until(lambda: _told(daemon, f"display {display.name}: its newest frame"), "the frame is stale")
        found = scrape(daemon)
        assert found.of("acud_display_stale", display=display.name) == 1
        assert found.of("acud_display_up", display=display.name) == 1
        assert found.of("acud_frame_age_seconds", display=display.name) > 5
        assert found.of("acud_degraded_reasons") >= 1
        assert _found(daemon, f"display {display.name}") == "fault"
    faults.until(lambda: not client.status().degraded, "fresh again")
    faults.until(lambda: scrape(daemon).of("acud_display_stale", display=display.name) == 0, "its figure")
    faults.until(lambda: _found(daemon, f"display {display.name}") == "ok", "the doctor's word")


@pytest.mark.parametrize("kind", ["capture", "evaluator"])
def test_a_child_that_is_not_heard(daemon: Daemon, kind: str) -> None:
    display = daemon.client.display_create().display
    name = display.name if kind == "capture" else "0"
    stopped = faults.running(daemon, kind)
    with _stopped(stopped.pid):
        faults.until(lambda: _told(daemon, f"{kind} {name}: it has said nothing for"), f"the {kind} is late")
        assert faults.child(daemon, kind).state == "ready"
        assert scrape(daemon).of("acud_child_up", kind=kind, name=name) == 0
        assert _found(daemon, f"{kind} {name}") == "fault"
    faults.until(lambda: not daemon.client.status().degraded, "heard again")
    faults.until(lambda: scrape(daemon).of("acud_child_up", kind=kind, name=name) == 1, "its figure")
    assert faults.child(daemon, kind).pid == stopped.pid
