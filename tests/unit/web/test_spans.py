"""The spans that events and waits make."""

from acud.protocol.events import Event
from acud.types import Criteria, Evidence, Target, WaitInfo, WaitSpec, WaitState, WakeInfo, WakeKind, yes
from acud_web import trace_export


def _wait(state: WaitState, **more: object) -> WaitInfo:
    spec = WaitSpec(Criteria("the secret condition"), Target(), 60.0, label="a label")
    verdict = yes("words of the screen")
    return WaitInfo("wait_1", state, spec, ":1", 100.0, 160.0, 0.0, verdict, ended_utc_s=130.0, **more)  # type: ignore[arg-type]


def test_ids_follow_from_the_wait() -> None:
    assert trace_export.trace_id("wait_1") == trace_export.trace_id("wait_1") != trace_export.trace_id("wait_2")
    assert 0 < trace_export.trace_id("wait_1") < 1 << 128
    assert 0 < trace_export.root_id("wait_1") < 1 << 64


def test_a_call_of_a_judge() -> None:
    data = {
        "answer": "no", "code": "", "detail": "words of the screen", "judge": "ollama", "frame": 7, "latency_ms": 250,
    }  # fmt: skip
    span = trace_export.make_judged_span(Event(5, 4, "wait.judged", 110.0, "wait_1", data))
    assert (span.name, span.start_utc_s, span.end_utc_s, span.failed) == ("acud.judge", 109.75, 110.0, "")
    assert (span.trace_id, span.parent_id) == (trace_export.trace_id("wait_1"), trace_export.root_id("wait_1"))
    assert span.attributes == {"acud.judge": "ollama", "acud.frame": 7, "acud.answer": "no"}


def test_a_call_that_gave_no_answer_is_an_error() -> None:
    data = {"answer": "unknown", "code": "judge_down", "detail": "", "judge": "claude", "frame": 7, "latency_ms": 0}
    assert trace_export.make_judged_span(Event(5, 4, "wait.judged", 110.0, "wait_1", data)).failed == "judge_down"


def test_a_wait_that_resolved() -> None:
    evidence = Evidence("file.png", display=":1", epoch=2, frame=9)
    root, verdict = trace_export.make_ended_spans(
        _wait(WaitState.RESOLVED, evidence=evidence, changed_to_resolved_ms=500.0)
    )
    assert (root.span_id, root.parent_id, root.start_utc_s, root.end_utc_s) == (
        trace_export.root_id("wait_1"), 0, 100.0, 130.0,
    )  # fmt: skip
    assert root.points == {"armed": 100.0, "resolved": 130.0}
    assert (verdict.start_utc_s, verdict.end_utc_s, verdict.points) == (129.5, 130.0, {"frame": 129.5})
    assert verdict.attributes == {"acud.answer": "yes", "acud.frame": 9, "acud.epoch": 2}
    assert not {"condition", "screen", "label"} & set(f"{root}{verdict}".replace("'", " ").split())


def test_a_verdict_without_a_deciding_change_has_no_length() -> None:
    _, verdict = trace_export.make_ended_spans(_wait(WaitState.RESOLVED))
    assert (verdict.start_utc_s, verdict.end_utc_s, verdict.points) == (130.0, 130.0, {})


def test_a_wait_that_failed_is_an_error_and_one_that_timed_out_is_not() -> None:
    failed = _wait(WaitState.FAILED)
    (root,) = trace_export.make_ended_spans(failed)
    assert root.failed == "failed"
    (root,) = trace_export.make_ended_spans(_wait(WaitState.TIMEOUT))
    assert (root.failed, root.attributes["acud.state"]) == ("", "timeout")


def test_a_wake() -> None:
    wake = WakeInfo("wake_1", WakeKind.RESOLVED, "a text", "wait_1", created_utc_s=130.0)
    span = trace_export.make_wake_span(wake)
    assert (span.failed, span.start_utc_s, span.end_utc_s) == ("undelivered", 130.0, 130.0)
    sent = WakeInfo(
        "wake_1", WakeKind.RESOLVED, "a text", "wait_1", created_utc_s=130.0, sent_utc_s=131.0, sent_by="openclaw"
    )
    span = trace_export.make_wake_span(sent)
    assert (span.failed, span.end_utc_s, span.attributes["acud.route"]) == ("", 131.0, "openclaw")
    assert "a text" not in str(span)
