"""How often a judge is asked, on a real display: cadences, gates, confirmation, the memory of identical views."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from acud.types import Cadence, Criteria, DisplayInfo, GateKind, Policy, Rect, WaitInfo, WaitState
from acud_client import Client
from tests.e2e.desktop import Desk, ended, judged, shown, timed_out, until

LONG_S = 120.0
ANY = Criteria("the lamp is green")
GREEN_LAMP = '{"default": "no", "rules": [{"area": [300, 200, 40, 40, "#00c040"], "answer": "yes"}]}'
LAMP, GREEN = Rect(300, 200, 40, 40), 0x00C040


def _armed(client: Client, view: DisplayInfo, policy: Policy) -> str:
    return client.wait_create(ANY, display=view.name, timeout_s=LONG_S, policy=policy).wait.wait_id


def _calls(client: Client, wait_id: str, at_least: int) -> WaitInfo:
    def enough() -> WaitInfo | None:
        wait = shown(client, wait_id)
        return wait if wait.judge_calls >= at_least else None

    return until(enough, f"judge call {at_least}")


# ---- cadences on a screen that stands still --------------------------------------------------------------------------


def test_event_asks_once_of_a_still_screen(client: Client, view: DisplayInfo, desk: Desk) -> None:
    done = timed_out(client, _armed(client, view, Policy(interval_s=0.2)), "no", after_s=2.0)
    assert (done.state, done.judge_calls) == (WaitState.TIMEOUT, 1)


@pytest.mark.parametrize("cadence", list(Cadence))
def test_every_cadence_finds_what_came(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None], cadence: Cadence
) -> None:
    judge(GREEN_LAMP)
    wait = _armed(client, view, Policy(cadence=cadence, interval_s=0.2, min_interval_s=0.1))
    assert judged(client, wait, "no").verdict.answer == "no"
    desk.fill(LAMP, GREEN)
    assert ended(client, wait).state is WaitState.RESOLVED


# ---- identical views -------------------------------------------------------------------------------------------------


def test_a_blinking_caret_costs_two_calls(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = _armed(client, view, Policy(interval_s=0.1, min_interval_s=0.0, force_after_s=600.0))
    caret = Rect(100, 100, 2, 14)
    for blink in range(12):
        seen = _calls(client, wait, min(blink + 1, 2)).frames_seen  # each look of it is judged before it blinks on
        desk.fill(caret, 0xFFFFFF if blink % 2 == 0 else 0)
        until(lambda before=seen: shown(client, wait).frames_seen > before, "the blink")
        time.sleep(0.15)
    assert shown(client, wait).judge_calls == 2


# ---- gates -----------------------------------------------------------------------------------------------------------


LOSSY = {
    GateKind.RATIO: (Rect(100, 100, 8, 8), Rect(0, 0, 320, 240)),
    GateKind.TILE_MAX: (Rect(100, 100, 3, 3), Rect(100, 200, 12, 12)),
    GateKind.DHASH: (Rect(101, 101, 8, 8), Rect(0, 0, 320, 480)),
    GateKind.SSIM: (Rect(100, 100, 4, 4), Rect(0, 0, 400, 400)),
}
"""Each gate's small change, which it must hold back, and a large one, which it must let through."""


@pytest.mark.parametrize("gate", list(LOSSY))
def test_a_lossy_gate_holds_back_the_small_and_lets_the_large_through(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None], gate: GateKind
) -> None:
    judge('{"default": "no", "rules": [{"area": [0, 0, 640, 480, "#ffff00"], "answer": "yes", "tolerance": 60}]}')
    small, large = LOSSY[gate]
    desk.fill(Rect(400, 300, 100, 100), 0x808080)
    policy = Policy(gate=gate, interval_s=0.1, min_interval_s=0.0, force_after_s=600.0)
    wait = _armed(client, view, policy)
    assert judged(client, wait, "no").judge_calls == 1
    seen = shown(client, wait).frames_seen
    desk.fill(small, 0xFFFF00)
    until(lambda: shown(client, wait).frames_seen > seen, "the small change")
    time.sleep(0.5)
    assert (shown(client, wait).state, shown(client, wait).judge_calls) == (WaitState.WATCHING, 1)
    desk.fill(large, 0xFFFF00)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_what_a_lossy_gate_held_back_is_judged_when_forced(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no", "rules": [{"area": [100, 100, 8, 8, "#00c040"], "answer": "yes"}]}')
    wait = _armed(client, view, Policy(gate=GateKind.RATIO, interval_s=0.1, min_interval_s=0.0, force_after_s=1.0))
    assert judged(client, wait, "no").verdict.answer == "no"
    desk.fill(Rect(100, 100, 8, 8), GREEN)
    assert ended(client, wait).state is WaitState.RESOLVED


@pytest.mark.parametrize("gate", [GateKind.EXACT, GateKind.NONE])
def test_an_exact_gate_lets_one_pixel_through(client: Client, view: DisplayInfo, desk: Desk, gate: GateKind) -> None:
    wait = _armed(client, view, Policy(gate=gate, interval_s=0.1, min_interval_s=0.0, force_after_s=600.0))
    assert judged(client, wait, "no").judge_calls == 1
    desk.fill(Rect(333, 222, 1, 1), 0x000001)
    assert _calls(client, wait, 2).verdict.answer == "no"


# ---- confirmation ----------------------------------------------------------------------------------------------------


def test_a_confirmed_yes_takes_two_grabs(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge(GREEN_LAMP)
    desk.fill(LAMP, GREEN)
    done = ended(client, _armed(client, view, Policy(confirm=2, min_interval_s=0.4)))
    shows = client.wait_show(done.wait_id)
    assert (done.state, done.judge_calls) == (WaitState.RESOLVED, 2)
    assert [row.verdict.answer for row in shows.evaluations] == ["yes", "yes"]
    assert done.ended_utc_s - done.created_utc_s >= 0.4
