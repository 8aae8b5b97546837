"""What the daemon measures moves as it should: a wait resolves, a judge fails, a capture dies, a request is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acud.base.errors import AcudError
from acud.metrics.catalogue import FAMILIES
from acud.types import DisplayInfo, WakeState
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.e2e.faults import Judge
from tests.e2e.metrics import Scrape, scrape
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.fixtures.wake_receiver import TOKEN, Receiver


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of the lamp."""
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def daemon(judge: Judge) -> Iterator[Daemon]:
    """A daemon with a route to an agent."""
    with Receiver() as hook:
        wake = {"openclaw_token": TOKEN, "routes": ["openclaw"], "openclaw_url": hook.url}
        with Daemon(settings=faults.settings(judge, wake=wake)) as running:
            yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    """A display of 640x480."""
    return daemon.client.display_create().display


def test_a_wait_that_resolves(daemon: Daemon, judge: Judge, display: DisplayInfo) -> None:
    judge.set()
    before = scrape(daemon)
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    faults.judged(daemon, wait, "no")
    armed = scrape(daemon)
    assert armed.of("acud_waits_live", answer="no", code="") == 1
    assert armed.of("acud_display_wanted_fps", display=display.name) > 0
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        faults.event(daemon, "wait.resolved", wait.wait_id)
        faults.event(daemon, "wake.sent")
    after = scrape(daemon)

    def grew(name: str, **labels: str) -> float:
        return after.of(name, **labels) - before.of(name, **labels)

    assert grew("acud_waits_armed_total") == 1
    assert grew("acud_waits_ended_total", state="resolved") == 1
    assert not after.has("acud_waits_live", answer="no", code="")
    assert grew("acud_judge_verdicts_total", judge="scripted", answer="yes") == 1
    assert grew("acud_judge_verdicts_total", judge="scripted", answer="no") >= 1
    assert grew("acud_judge_calls_total", judge="scripted") == grew(
        "acud_judge_latency_seconds_count", judge="scripted"
    )
    assert grew("acud_frames_total", display=display.name) >= 1
    for stage in ("acud_damage_to_frame_seconds", "acud_frame_to_notice_seconds"):
        assert grew(f"{stage}_count", display=display.name) >= 1
    assert grew("acud_notice_to_verdict_seconds_count") == 1
    assert 0 < grew("acud_notice_to_verdict_seconds_sum") < faults.PATIENCE_S
    assert grew("acud_verdict_to_wake_seconds_count", route="openclaw") == 1
    assert grew("acud_wake_deliveries_total", route="openclaw", result="sent") == 1
    assert after.of("acud_wakes", state=WakeState.SENT.value) == 1
    assert grew("acud_store_commit_seconds_count") >= 3
    assert grew("acud_pool_jobs_total", status="done") >= 2


def test_a_judge_that_fails(daemon: Daemon, judge: Judge, display: DisplayInfo) -> None:
    before = scrape(daemon)
    judge.set(fault="garbage")
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    try:
        faults.judged(daemon, wait, "unknown", "unparsable")
        after = scrape(daemon)
        assert after.of("acud_waits_live", answer="unknown", code="unparsable") == 1
        named = {"judge": "scripted", "code": "unparsable"}
        assert after.of("acud_judge_faults_total", **named) > before.of("acud_judge_faults_total", **named)
    finally:
        judge.set()
        daemon.client.wait_cancel(wait.wait_id)


def test_a_request_that_is_refused(daemon: Daemon) -> None:
    def refused(found: Scrape) -> tuple[float, ...]:
        return (
            found.of("acud_request_errors_total", request="wait_show", code="not_found"),
            found.of("acud_requests_total", request="wait_show"),
            found.of("acud_request_seconds_count", request="wait_show"),
        )

    before = refused(scrape(daemon))
    with pytest.raises(AcudError):
        daemon.client.wait_show("wait_that_is_not")
    assert refused(scrape(daemon)) == tuple(count + 1 for count in before)


def test_a_capture_that_is_killed(daemon: Daemon, display: DisplayInfo) -> None:
    before = faults.until(lambda: _counted(daemon, display), "a heartbeat")
    capture = faults.child(daemon, "capture")
    faults.kill(capture.pid)
    faults.running(daemon, "capture", not_pid=capture.pid)
    daemon.client.look(display=display.name)
    after = scrape(daemon)
    assert (
        after.of("acud_child_restarts_total", kind="capture")
        == before.of("acud_child_restarts_total", kind="capture") + 1
    )
    assert after.of("acud_child_up", kind="capture", name=display.name) == 1
    shrunk = {series for series, value in before.counters().items() if after.counters().get(series, -1) < value}
    assert not shrunk


def _counted(daemon: Daemon, display: DisplayInfo) -> Scrape | None:
    found = scrape(daemon)
    return found if found.of("acud_grabs_total", display=display.name) else None


def test_no_label_names_a_wait(daemon: Daemon, display: DisplayInfo) -> None:
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    daemon.client.wait_cancel(wait.wait_id)
    found = scrape(daemon)
    assert found.names == {family.name for family in FAMILIES}
    assert found.labels("kind") <= {"capture", "evaluator", "relay", "recorder", "web"}
    ids = {wait.wait_id for wait in daemon.client.wait_list(ended=True).waits}
    words = {word for family in FAMILIES for label in family.labels for word in found.labels(label)}
    assert wait.wait_id in ids
    assert not ids & words


def test_the_command_line_prints_what_a_scrape_gets(daemon: Daemon, tmp_path: Path) -> None:
    acud = CommandLine(daemon.home)
    acud.run("metrics")
    found = Scrape(acud.run("metrics"))  # a request is counted once its reply has left
    assert found.of("acud_requests_total", request="metrics") >= 1
    assert [metric["family"]["name"] for metric in acud.json("metrics")["metrics"]] == [f.name for f in FAMILIES]


def test_a_display_that_is_removed_is_measured_no_more(daemon: Daemon) -> None:
    made = daemon.client.display_create(320, 240).display
    assert scrape(daemon).has("acud_display_up", display=made.name)
    daemon.client.display_remove(made.name)
    faults.until(lambda: made.name not in scrape(daemon).labels("display") | scrape(daemon).labels("name"), "gone")
