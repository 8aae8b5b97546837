"""Waits in a supervisor whose clock a test turns: wall clocks that step, machines that sleep, reboots; and judges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from acud.base import paths
from acud.base.clock import Instant
from acud.base.errors import NoJudge
from acud.config import EvaluatorSettings, Settings, VisionSettings, WakeSettings
from acud.config.backends import PREDEFINED, predefined_backends
from acud.config.fleet import FleetSettings
from acud.config.limits import HostConditionSettings
from acud.features.supervisors import FEATURES, redaction
from acud.protocol.evaluation import JudgeHealth
from acud.protocol.requests.fleet import FleetLostWaits, FleetLostWaitsReply, LostWait
from acud.protocol.requests.waits import WaitUpdate
from acud.supervisor import instance
from acud.supervisor.app import App
from acud.supervisor.handlers import HANDLERS
from acud.supervisor.waits import wait_runtime
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import (
    AllOf,
    AnyOf,
    Criteria,
    FileState,
    JudgeName,
    RouteName,
    Target,
    Text,
    Until,
    WaitInfo,
    WaitSpec,
    WaitState,
    WakeAddress,
    WakeState,
    WindowTitle,
    unknown,
)
from tests.fixtures.manual_clock import ManualClock

_NEVER = Criteria("never")
_ONE_WORKER = Settings(evaluator=EvaluatorSettings(workers=1))
_ARMED = {"wait.created", "wait.note"}


class _Clock(ManualClock):
    """A manual clock that can also sleep: CLOCK_MONOTONIC stands still in suspend, CLOCK_BOOTTIME does not."""

    slept_s = 0.0

    def instant(self) -> Instant:
        now = super().instant()
        return replace(now, boot_s=now.boot_s + self.slept_s, utc_s=now.utc_s + self.slept_s)


class _Host:
    """The parts of a supervisor under a manual clock, without children; `turn` runs what is request."""

    def __init__(self, home: Path, clock: ManualClock, settings: Settings = _ONE_WORKER) -> None:
        self.clock = clock
        places = paths.resolve({"ACU_HOME": str(home)})
        instance.prepare(places)
        instance.remove_leftovers(places)
        self._places = places
        self._log = places.debug_log.open("ab", buffering=0)
        self.app = App(settings, places, clock, {}, self._log, {}, HANDLERS, FEATURES, redaction)

    def close(self) -> None:
        """Let go of everything, as a killed supervisor would; the store stays."""
        self.app.close()
        self._log.close()
        instance.dismantle(self._places)

    def arm(self, timeout_s: float, until: Until = _NEVER, wake: WakeAddress = WakeAddress()) -> WaitInfo:  # noqa: B008
        """Store and arm a wait on a display that is not there."""
        spec = WaitSpec(until, Target("display"), timeout_s, wake=wake)
        info, _ = self.app.waits.create(spec, WatchedDisplay(":9", 9, managed=False, auth_file=""))
        self.turn()
        return info

    def turn(self, seconds: float = 0.0) -> None:
        self.clock.advance(seconds)
        for _ in range(3):
            self.app.loop.turn(0.0)

    def state(self, wait: WaitInfo) -> str:
        return self.app.store.waits.find(wait.wait_id).state.value

    def ends(self, wait: WaitInfo) -> list[str]:
        """Return the topics of its events since it was armed."""
        found = self.app.store.events.since(0, "wait.", 1000).events
        return [e.topic for e in found if e.subject == wait.wait_id and e.topic not in _ARMED]


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def host(tmp_path: Path, clock: _Clock) -> Iterator[_Host]:
    with closing(_Host(tmp_path / "home", clock)) as running:
        yield running


@pytest.mark.parametrize("step_s", [86_400.0, -86_400.0])
def test_a_stepped_wall_clock_moves_no_deadline(host: _Host, clock: _Clock, step_s: float) -> None:
    wait = host.arm(60.0)
    clock.utc_offset_s += step_s
    host.turn(59.9)
    assert host.state(wait) == "watching"
    assert 0 < host.app.waits.find(wait.wait_id).remaining_s <= 0.11
    host.turn(0.2)
    assert host.state(wait) == "timeout"
    assert host.ends(wait) == ["wait.timeout"]


def test_the_time_asleep_counts(host: _Host, clock: _Clock) -> None:
    wait = host.arm(60.0)
    clock.slept_s = 3600.0
    host.turn(1.1)
    host.turn()
    assert host.ends(wait) == ["wait.timeout"]


@pytest.mark.parametrize("step_s", [0.0, 86_400.0, -86_400.0])
def test_a_restart_within_a_boot_goes_by_the_boot_clock(tmp_path: Path, clock: _Clock, step_s: float) -> None:
    with closing(_Host(tmp_path / "home", clock)) as first:
        passed, ahead = first.arm(30.0), first.arm(100.0)
    clock.utc_offset_s += step_s
    clock.advance(50.0)
    with closing(_Host(tmp_path / "home", clock)) as second:
        second.app.waits.resume()
        second.turn()
        assert second.ends(passed) == ["wait.timeout"]
        assert second.state(ahead) == "watching"
        second.turn(49.8)
        assert second.state(ahead) == "watching"
        second.turn(0.3)
        assert second.ends(ahead) == ["wait.timeout"]


def test_a_reboot_goes_by_the_wall_clock(tmp_path: Path, clock: _Clock) -> None:
    with closing(_Host(tmp_path / "home", clock)) as first:
        passed, ahead = first.arm(30.0), first.arm(100.0)
    rebooted = _Clock(start_s=5.0, boot_id="boot-b")
    rebooted.utc_offset_s = clock.instant().utc_s + 50.0 - 5.0
    with closing(_Host(tmp_path / "home", rebooted)) as second:
        second.app.waits.resume()
        second.turn()
        assert second.ends(passed) == ["wait.timeout"]
        assert second.state(ahead) == "watching"
        second.turn(49.8)
        assert second.state(ahead) == "watching"
        second.turn(0.3)
        assert second.ends(ahead) == ["wait.timeout"]


def test_a_stored_wait_whose_pattern_cannot_be_searched_for_fails_and_wakes(
    tmp_path: Path, clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(_Host(tmp_path / "home", clock)) as first, monkeypatch.context() as before:
        before.setattr(
            wait_runtime, "explain_unsearchable", lambda _: ""
        )  # as stored by a version that had another engine
        slow = first.arm(100.0, WindowTitle("(?:A?){60}b", regex=True))
        refused = first.arm(100.0, AllOf((_NEVER, Text(r"(\w)\1", regex=True))))
    with closing(_Host(tmp_path / "home", clock)) as second:
        second.app.waits.resume()
        second.turn()
        assert second.state(slow) == "watching"
        assert second.ends(refused) == ["wait.failed"]
        ended = second.app.waits.find(refused.wait_id)
        assert "the text pattern refers back to one of its groups" in ended.message
        assert "write out what the group may hold" in ended.message
        wake = second.app.store.outbox.of_wait(refused.wait_id)
        assert wake is not None
        assert "refers back to one of its groups" in wake.text


# ---- a host that was lost, and whose waits the fleet ended ----------------------------------------------------------

_IN_FLEET = replace(
    _ONE_WORKER, fleet=FleetSettings(url="nats://127.0.0.1:1"), wake=WakeSettings(routes=(RouteName.FLEET,))
)


def _looking_at(folder: Path) -> Settings:
    return replace(_IN_FLEET, host_conditions=HostConditionSettings(paths=(str(folder),)))


def _told(wait: WaitInfo, *, seen: bool = False) -> FleetLostWaits:
    words = "[smart_wait timeout] told"
    return FleetLostWaits((LostWait(wait.wait_id, "timeout", "host h1 is lost", words, 42.0, sent=True, seen=seen),))


def _ask(host: _Host, request: FleetLostWaits) -> FleetLostWaitsReply:
    call: Any = None  # it answers at once
    reply = HANDLERS["fleet_lost_waits"](host.app.features["fleet"], request, call)
    host.turn()
    return reply


def test_a_wait_that_is_overdue_at_a_start_is_held_for_the_fleets_word_and_ends_by_it(
    tmp_path: Path, clock: _Clock
) -> None:
    with closing(_Host(tmp_path / "home", clock, _IN_FLEET)) as first:
        told, other, ahead = first.arm(30.0), first.arm(30.0), first.arm(1000.0)
    clock.advance(50.0)
    with closing(_Host(tmp_path / "home", clock, _IN_FLEET)) as second:
        second.app.waits.resume()
        second.app.waits.display_gone(":9", "its server ended")  # of those that are overdue it decides nothing
        second.turn(5.0)
        waits = (told, other, ahead)
        assert [second.state(wait) for wait in waits] == ["watching"] * 3
        assert _ask(second, replace(_told(told), more=True)).otherwise == ()
        assert [second.state(wait) for wait in waits] == ["timeout", "watching", "watching"]
        assert _ask(second, FleetLostWaits()).otherwise == ()
        assert (second.ends(other), second.ends(ahead)) == (["wait.timeout"], ["wait.failed"])
        assert _ask(second, _told(ahead)).otherwise == (ahead.wait_id,)
        info = second.app.waits.find(told.wait_id)
        assert (info.state, info.message, info.ended_utc_s) == (WaitState.TIMEOUT, "[smart_wait timeout] told", 42.0)
        assert info.verdict == unknown("host_lost", "host h1 is lost")
        assert _ask(second, _told(told)).otherwise == ()  # told again at the next return
        assert second.ends(told) == ["wait.timeout"]
        assert _ask(second, FleetLostWaits()).otherwise == ()


def test_a_wait_that_holds_at_a_start_ends_only_when_the_fleet_did_not_end_it(tmp_path: Path, clock: _Clock) -> None:
    there = tmp_path / "download.part"
    there.touch()
    gone = FileState(str(there), gone=True)
    with closing(_Host(tmp_path / "home", clock, _looking_at(tmp_path))) as first:
        told, near, other, late = (first.arm(timeout_s, gone) for timeout_s in (900.0, 60.0, 900.0, 900.0))
        assert first.state(other) == "watching"
    there.unlink()
    clock.advance(50.0)
    with closing(_Host(tmp_path / "home", clock, _looking_at(tmp_path))) as second:
        second.app.waits.resume()
        second.app.waits.update(WaitUpdate(late.wait_id, until=FileState(str(tmp_path), gone=True)))
        second.turn(20.0)  # longer than one of them has time
        waits = (told, near, other, late)
        assert [second.state(wait) for wait in waits] == ["watching"] * 4
        assert _ask(second, _told(told)).otherwise == ()
        second.turn()
        assert [second.state(wait) for wait in waits] == ["timeout", "resolved", "resolved", "watching"]
        assert second.ends(told) == ["wait.timeout"]


def test_where_no_word_of_the_fleet_comes_waits_go_on_by_themselves(tmp_path: Path, clock: _Clock) -> None:
    there = tmp_path / "download.part"
    there.touch()
    with closing(_Host(tmp_path / "home", clock, _looking_at(tmp_path))) as first:
        wait = first.arm(900.0, FileState(str(there), gone=True))
    there.unlink()
    with closing(_Host(tmp_path / "home", clock, _looking_at(tmp_path))) as second:
        second.app.waits.resume()
        second.turn(29.9)
        assert second.state(wait) == "watching"
        second.turn(0.2)
        assert second.ends(wait) == ["wait.resolved"]


@pytest.mark.parametrize(
    ("routes", "seen", "state"),
    [
        (None, False, WakeState.SENT),  # the stream has it
        (None, True, WakeState.SEEN),
        ((RouteName.WEBHOOK,), False, WakeState.PENDING),  # nobody reads the stream for it: it goes out now
    ],
)
def test_the_wake_of_a_wait_that_the_fleet_ended_has_one_id_and_goes_once(
    tmp_path: Path, clock: _Clock, routes: tuple[RouteName, ...] | None, seen: bool, state: WakeState
) -> None:
    with closing(_Host(tmp_path / "home", clock, _IN_FLEET)) as host:
        wait = host.arm(30.0, wake=WakeAddress(routes))
        _ask(host, _told(wait, seen=seen))
        wake = host.app.store.outbox.of_wait(wait.wait_id)
        assert wake is not None
        assert (wake.wake_id, wake.state) == (wait.wait_id.replace("wait-", "wake-"), state)
        assert wake.text.startswith("[smart_wait timeout] told")
        host.turn(10_000.0)
        after = host.app.store.outbox.of_wait(wait.wait_id)
        assert after is not None
        assert after.reminders == 0


# ---- sentences that nobody could judge -------------------------------------------------------------------------------

_DOWN = (JudgeHealth("ollama", "down", "no answer from http://localhost:11434"),)
_SENTENCE = AnyOf((WindowTitle("Installer"), Criteria("the installer shows an error")))


def _vision(*chain: str) -> Settings:
    return Settings(vision=VisionSettings(backends=chain))


def _backend(name: str, **more: str) -> Settings:
    return Settings(backends=predefined_backends() | {name: replace(PREDEFINED[name], **more)})


@pytest.mark.parametrize(("settings", "asked", "reason"), [
    (Settings(), JudgeName.AUTO, "no vision backend is configured, and the usual ollama is not there"),
    (Settings(), JudgeName.OCR, "OCR reads text"),
    (_vision("claude"), JudgeName.AUTO, "claude has no key: set ANTHROPIC_API_KEY"),
    (_vision("openrouter", "claude"), JudgeName.AUTO, "openrouter has no key: set OPENROUTER_API_KEY; claude"),
    (_vision("ollama"), JudgeName.CLAUDE, "claude has no key"), (Settings(), JudgeName.FLEET, "fleet has no url"),
    (_vision("ollama"), JudgeName.AUTO, ""), (_vision("claude", "vllm"), JudgeName.AUTO, ""),
    (_backend("ollama", model="qwen3-vl"), JudgeName.AUTO, ""), (Settings(), JudgeName.OLLAMA, ""),
    (_backend("claude", api_key="sk-ant-x"), JudgeName.CLAUDE, ""),
    (_backend("claude", api_key_file="/nowhere"), JudgeName.CLAUDE, ""), (Settings(), JudgeName.PASSTHROUGH, ""),
])  # fmt: skip
def test_a_sentence_is_refused_where_no_judge_is_configured_and_not_where_one_is_down(
    tmp_path: Path, clock: _Clock, settings: Settings, asked: JudgeName, reason: str
) -> None:
    with closing(_Host(tmp_path / "home", clock, settings)) as host:
        waits = host.app.waits
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(host.app.pool, "find_judge", lambda name: next((j for j in _DOWN if j.name == name), None))
            waits.check_judged(_SENTENCE, asked, force=True)
            waits.check_judged(Text("Done"), asked, force=False)
            if reason:
                with pytest.raises(NoJudge, match=reason):
                    waits.check_judged(_SENTENCE, asked, force=False)
            else:
                waits.check_judged(_SENTENCE, asked, force=False)


# ---- a wait of another host, which was lost -------------------------------------------------------------------------


def test_where_no_word_of_the_fleet_comes_an_overdue_wait_ends_by_itself(tmp_path: Path, clock: _Clock) -> None:
    with closing(_Host(tmp_path / "home", clock, _IN_FLEET)) as first:
        wait = first.arm(30.0)
    clock.advance(50.0)
    with closing(_Host(tmp_path / "home", clock, _IN_FLEET)) as second:
        second.app.waits.resume()
        second.turn(29.9)
        assert second.state(wait) == "watching"
        second.turn(0.2)
        assert second.ends(wait) == ["wait.timeout"]


def test_the_usual_ollama_that_was_there_is_one_that_is_down(host: _Host, monkeypatch: pytest.MonkeyPatch) -> None:
    healths = {"ollama": JudgeHealth("ollama", "ready")}
    monkeypatch.setattr(host.app.pool, "find_judge", healths.get)
    host.app.wait_runtime.judges_changed()
    healths["ollama"] = JudgeHealth("ollama", "down", "no answer")
    host.app.waits.check_judged(_SENTENCE, JudgeName.AUTO, force=False)
