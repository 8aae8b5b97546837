"""Traces of waits at a receiver that decodes them: the spans of one trace, their times, and nothing of the screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from acud.types import DisplayInfo
from acud_web.trace_export import trace_id
from tests.e2e import faults
from tests.e2e.faults import Judge
from tests.fixtures.daemon import Daemon
from tests.fixtures.otlp_receiver import Receiver, attributes
from tests.fixtures.painter import Painter
from tests.fixtures.wake_receiver import TOKEN
from tests.fixtures.wake_receiver import Receiver as Hook


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of the lamp."""
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """Where traces go."""
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def daemon(judge: Judge, receiver: Receiver) -> Iterator[Daemon]:
    """A daemon that sends traces; it serves nothing over HTTP."""
    with Hook() as hook:
        wake = {"openclaw_token": TOKEN, "routes": ["openclaw"], "openclaw_url": hook.url}
        settings = faults.settings(judge, wake=wake, otel={"endpoint": receiver.url})
        with Daemon(settings=settings) as running:
            faults.until(lambda: "traces.following" in running.log(), "events are followed")
            yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    """A display of 640x480."""
    return daemon.client.display_create().display


def test_the_spans_of_a_wait(daemon: Daemon, receiver: Receiver, display: DisplayInfo) -> None:
    client = daemon.client
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name, label="secret label").wait
    faults.judged(daemon, wait, "no")
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        faults.until(
            lambda: _sent(daemon, wait.wait_id), "the wake is sent"
        )  # nobody fetches the result: then there would be no wake to send
    ended = client.wait_show(wait.wait_id).wait
    trace = trace_id(wait.wait_id)
    (wake,) = faults.until(lambda: receiver.of(trace, "acud.wake"), "the wake's span")
    (root,) = faults.until(lambda: receiver.of(trace, "acud.wait"), "the wait's own span")
    (verdict,) = receiver.of(trace, "acud.verdict")
    calls = receiver.of(trace, "acud.judge")

    assert receiver.paths == {"/v1/traces"}
    assert receiver.resources[0]["service.name"] == "acud"
    assert root.parent_span_id == b""
    assert {span.parent_span_id for span in (verdict, wake, *calls)} == {root.span_id}
    assert attributes(root)["acud.wait_id"] == wait.wait_id
    assert attributes(root)["acud.state"] == "resolved"
    assert [event.name for event in root.events] == ["armed", "resolved"]
    assert root.start_time_unix_nano == pytest.approx(wait.created_utc_s * 1e9, abs=1e6)
    assert root.end_time_unix_nano == pytest.approx(ended.ended_utc_s * 1e9, abs=1e6)
    took_ms = (verdict.end_time_unix_nano - verdict.start_time_unix_nano) / 1e6
    assert took_ms == pytest.approx(ended.changed_to_resolved_ms, abs=0.2)
    assert [event.name for event in verdict.events] == ["frame"]
    assert {attributes(call)["acud.judge"] for call in calls} == {"scripted"}
    assert [attributes(call)["acud.answer"] for call in calls][-1] == "yes"
    assert attributes(wake)["acud.route"] == "openclaw"
    assert wake.end_time_unix_nano >= wake.start_time_unix_nano >= root.start_time_unix_nano

    told = " ".join(str(span) for span in receiver.of(trace))
    assert "lamp" not in told  # the condition, the verdict's words and the wake's text all name it
    assert "secret label" not in told


def _sent(daemon: Daemon, wait_id: str) -> bool:
    return any(event.data["wait_id"] == wait_id for event in faults.events(daemon, "wake.sent"))


def test_a_judge_that_fails_is_an_error(daemon: Daemon, receiver: Receiver, judge: Judge, display: DisplayInfo) -> None:
    judge.set(fault="garbage")
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    faults.judged(daemon, wait, "unknown", "unparsable")
    daemon.client.wait_cancel(wait.wait_id)
    judge.set()
    trace = trace_id(wait.wait_id)
    (root,) = faults.until(lambda: receiver.of(trace, "acud.wait"), "the wait's own span")
    failed = receiver.of(trace, "acud.judge")[0]
    assert (failed.status.code, failed.status.message) == (Status.STATUS_CODE_ERROR, "unparsable")
    assert attributes(root)["acud.state"] == "cancelled"
    assert root.status.code == Status.STATUS_CODE_UNSET
    assert not receiver.of(trace, "acud.verdict")


def test_a_receiver_that_is_away_holds_nothing_up(daemon: Daemon, receiver: Receiver, display: DisplayInfo) -> None:
    receiver.status = 503
    wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
    faults.judged(daemon, wait, "no")
    faults.until(lambda: "opentelemetry" in daemon.log() or "export" in daemon.log(), "the loss is logged")
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        faults.ended(daemon, wait, "resolved")
    receiver.status = 200
    faults.until(lambda: receiver.of(trace_id(wait.wait_id), "acud.wait"), "spans arrive once it is back")


def test_doctor_tells_where_traces_go(daemon: Daemon, receiver: Receiver) -> None:
    found = next(one for one in daemon.client.doctor().findings if one.part == "traces")
    assert (found.level, found.text) == ("ok", f"spans of waits go to {receiver.url}/v1/traces")
