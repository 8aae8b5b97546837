"""Judges that hang, fail or talk nonsense: unknown with its reason, never a no; deadlines hold; nobody is hammered."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing

import pytest

from acud.types import (
    Answer,
    Change,
    Criteria,
    DisplayInfo,
    JudgeName,
    Policy,
    Rect,
    Stable,
    WaitInfo,
    WaitState,
    WindowTitle,
)
from tests.e2e import faults
from tests.e2e.desktop import Desk, decoded, titled
from tests.e2e.faults import Judge
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.integration.ollama_server import Manner, OllamaServer, serving_ollama

_NONSENSE: dict[Manner, str] = {"500": "judge_down", "not_json": "unparsable"}
_SILENT: tuple[Manner, ...] = ("hang", "trickle")
_LATE_S = 20.0
"""More than a loaded machine needs, and far less than the judge's own time limit."""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of the lamp, of every daemon here."""
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture
def judge(script: Judge) -> Judge:
    """The judge of the lamp as it is at first."""
    script.set()
    return script


@pytest.fixture(scope="module")
def running(script: Judge) -> Iterator[Daemon]:
    patient = {"child_silent_s": 600}  # with an evaluator that stands still
    with Daemon(settings=faults.settings(script, daemon=patient)) as running:
        yield running


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp."""
    yield running
    running.tidy()


def _evaluations(daemon: Daemon, wait: WaitInfo, count: int) -> list[tuple[float, Answer, str]]:
    """Return the first evaluations once there are `count`: when, what, and the code."""

    def found() -> list[tuple[float, Answer, str]] | None:
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        told = sorted((row.utc_s, row.verdict.answer, row.verdict.code) for row in rows)
        return told if len(told) >= count else None

    return faults.until(found, f"{count} evaluations")


def test_a_judge_that_fails_is_unknown_and_asked_again_with_growing_pauses(judge: Judge) -> None:
    """On a daemon of its own: a judge that was down before is asked again as soon as it answers at all."""
    faults_of_judges = (
        ("garbage", "unparsable", (1.0,)), ("empty", "unparsable", (1.0,)), ("error", "judge_down", (1.0, 2.0)),
        ("hang", "judge_down", ()),
    )  # fmt: skip
    with Daemon(settings=faults.settings(judge, vision={"timeout_s": 2})) as daemon:
        for fault, code, pauses in faults_of_judges:
            judge.set(fault=fault)
            display = daemon.client.display_create().display
            with closing(Painter(display)) as painter:
                painter.lamp(on=True)
                wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
                told = _evaluations(daemon, wait, len(pauses) + 1)
                assert {(answer, said) for _, answer, said in told} == {(Answer.UNKNOWN, code)}
                gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(told)]
                assert all(gap > 0.9 * pause for gap, pause in zip(gaps, pauses, strict=False))
                assert daemon.client.wait_show(wait.wait_id).wait.verdict.answer == "unknown"
                judge.set()
                faults.ended(daemon, wait, "resolved")


def test_a_failing_judge_is_not_hammered_by_a_busy_screen(daemon: Daemon, judge: Judge) -> None:
    judge.set(fault="error")
    display = daemon.client.display_create().display
    with closing(Painter(display)) as painter:
        policy = Policy(min_interval_s=0.5)
        wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name, policy=policy).wait

        def paint_and_look() -> bool:
            painter.lamp(on=True)
            painter.lamp(on=False)
            return len(daemon.client.wait_show(wait.wait_id).evaluations) >= 3

        faults.until(paint_and_look, "three evaluations", 60.0)
    shown = daemon.client.wait_show(wait.wait_id, evaluations=100)
    told_utc_s = [row.utc_s for row in shown.evaluations]
    seconds = max(told_utc_s) - min(told_utc_s)
    assert shown.wait.judge_calls <= 2 + seconds / 0.45


def test_a_judge_that_hangs_delays_no_deadline_and_no_other_wait(daemon: Daemon, judge: Judge) -> None:
    judge.set(fault="hang")
    client = daemon.client
    display = client.display_create().display
    waits = [client.wait_create(Criteria(f"n {n}"), display=display.name, timeout_s=2.0).wait for n in range(8)]
    local = client.wait_create(Stable(0.3), display=display.name).wait
    assert faults.ended(daemon, local, "resolved").ended_utc_s < waits[-1].deadline_utc_s + _LATE_S
    for wait in waits:
        told = faults.ended(daemon, wait, "timeout")
        assert 0 <= told.ended_utc_s - told.deadline_utc_s + 0.05 < _LATE_S
        assert "Last verdict: unknown" in told.message
    assert client.look(display=display.name).width == 640


def _make_daemon(ollama: OllamaServer, judge: Judge, timeout_s: float) -> Daemon:
    """Return a daemon whose judge is this server; the scripted one is there, too."""
    table = {"url": ollama.url, "model": "eye", "timeout_s": timeout_s}
    return Daemon(settings=faults.settings(judge, vision={"backend": "ollama"}, ollama=table))


def _other(daemon: Daemon, display: DisplayInfo) -> None:
    """Check that a wait on another judge goes its way."""
    with closing(Painter(display)) as painter:
        painter.lamp(on=True)
        wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name, judge=JudgeName.SCRIPTED).wait
        faults.ended(daemon, wait, "resolved")


def test_an_ollama_that_answers_nonsense(judge: Judge) -> None:
    with serving_ollama("eye") as ollama, _make_daemon(ollama, judge, 60.0) as daemon:
        display = daemon.client.display_create().display
        for manner, code in _NONSENSE.items():
            ollama.manner = manner
            wait = daemon.client.wait_create(Criteria(f"the bar of {code} is full"), display=display.name).wait
            told = faults.judged(daemon, wait, "unknown", code)
            assert told.state.value == "watching"
            _other(daemon, display)
            ollama.manner = "normal"
            assert faults.ended(daemon, wait, "resolved").verdict.detail == "the bar is full"
            rows = daemon.client.wait_show(wait.wait_id).evaluations
            assert {row.verdict.answer.value for row in rows} == {"unknown", "yes"}


def test_an_ollama_that_never_answers(judge: Judge) -> None:
    with serving_ollama("eye") as ollama, _make_daemon(ollama, judge, 1.0) as daemon:
        display = daemon.client.display_create().display
        for manner in _SILENT:
            ollama.manner = manner
            before = len(ollama.asked)
            wait = daemon.client.wait_create(Criteria("the bar is full"), display=display.name, timeout_s=600).wait
            _other(daemon, display)
            faults.judged(daemon, wait, "unknown", "judge_down")
            daemon.client.wait_update(wait.wait_id, timeout_s=2.0)
            told = faults.ended(daemon, wait, "timeout")
            assert told.ended_utc_s - told.deadline_utc_s < _LATE_S
            assert "judge_down" in told.message
            lived_s = told.ended_utc_s - told.created_utc_s
            assert 1 <= len(ollama.asked) - before <= 2 + lived_s / 1.9  # a second, and a pause of one at least


def test_a_window_that_reappears_before_its_absence_is_pictured_is_there(daemon: Daemon) -> None:
    """The picture of "it is gone" never shows the window, however late the evaluator is."""
    client, box, red = daemon.client, Rect(40, 40, 200, 120), 0xC02020
    display = client.display_create().display
    evaluator = faults.running(daemon, "evaluator").pid
    with Desk(display.name, display.auth_file) as desk:
        export = desk.window(box, red, "Export")
        titled(client, display.name, "Export")
        client.wait_create(Change(share=1.0), display=display.name)  # frames are grabbed as they come
        wait = client.wait_create(WindowTitle("Export", gone=True), display=display.name).wait
        faults.judged(daemon, wait, "no")
        faults.kill(evaluator, faults.signal.SIGSTOP)
        desk.unmap(export)
        faults.judged(daemon, wait, "yes")
        frame = faults.display(daemon, display.name).frame
        desk.map(export)
        titled(client, display.name, "Export")
        faults.until(lambda: faults.display(daemon, display.name).frame > frame, "a frame that shows it")
        faults.kill(evaluator, faults.signal.SIGCONT)
        seen = faults.until(lambda: _no_more_pending(daemon, wait), "what came of its picture")
        if seen.state is WaitState.WATCHING:
            assert (seen.verdict.answer, seen.verdict.detail) == ("no", 'the window "Export" is there')
            desk.unmap(export)
        faults.ended(daemon, wait, "resolved")
        picture = decoded(client.evidence(wait.wait_id).image)
        assert not (picture == (0xC0, 0x20, 0x20)).all(axis=2).any()


def _no_more_pending(daemon: Daemon, wait: WaitInfo) -> WaitInfo | None:
    """Return the wait once it has ended, or holds no more."""
    now = daemon.client.wait_show(wait.wait_id).wait
    return None if now.state is WaitState.WATCHING and now.verdict.answer is Answer.YES else now
