"""Conditions that the supervisor answers itself, on a real display: change, stable, window titles, and composites."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from itertools import pairwise

import pytest

from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Criteria,
    DisplayInfo,
    NotOf,
    Rect,
    Stable,
    Until,
    WaitInfo,
    WaitState,
    WindowTitle,
)
from acud_client import Client
from tests.e2e.desktop import PATIENCE_S, Desk, compared, ended, judged, shown, timed_out, titled
from tests.e2e.desktop import until as waited
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
SOON_S = 1.5


def _busy_until(client: Client, desk: Desk, wait_id: str) -> float:
    """Paint eight times in 2.4 s, or until the wait has ended. Return when the last paint that it saw before its end
    was begun, or when it was armed: it ended before the first one where this process stood still.
    """
    wait = shown(client, wait_id)
    last_s = wait.created_utc_s
    for colour in range(1, 9):
        seen, begun_s = wait.frames_seen, time.time()
        desk.fill(Rect(50, 50, 40, 40), colour)
        wait = waited(partial(_after, client, wait_id, seen), f"paint {colour}")
        if wait.state is not WaitState.WATCHING:
            break  # this machine stood still for a second, and so did the screen
        last_s = begun_s
        time.sleep(0.3)
    return last_s


def _after(client: Client, wait_id: str, frames: int) -> WaitInfo | None:
    """Return the wait once it has ended or seen more than `frames`."""
    wait = shown(client, wait_id)
    return wait if wait.state is not WaitState.WATCHING or wait.frames_seen > frames else None


# ---- change ----------------------------------------------------------------------------------------------------------


def test_a_change_right_after_the_reply_is_seen(client: Client, view: DisplayInfo, desk: Desk) -> None:
    for colour in range(1, 6):
        wait = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait
        desk.fill(Rect(200, 200, 8, 8), colour)
        assert ended(client, wait.wait_id).state is WaitState.RESOLVED


def test_what_was_there_before_the_call_is_no_change(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(Rect(200, 200, 80, 80), 0xFF0000)
    wait = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait
    gone = timed_out(client, wait.wait_id, "no")
    assert (gone.state, gone.verdict.answer) == (WaitState.TIMEOUT, "no")
    assert "not changed since the baseline" in gone.message


def test_an_action_between_token_and_arming_cannot_be_missed(client: Client, view: DisplayInfo, desk: Desk) -> None:
    for colour in range(1, 4):
        token = client.baseline(display=view.name).baseline
        desk.fill(Rect(5, 5, 1, 1), colour)
        wait = client.wait_create(Change(baseline=token), display=view.name, timeout_s=LONG_S).wait
        assert ended(client, wait.wait_id).state is WaitState.RESOLVED


def test_a_token_knows_what_did_not_change(client: Client, view: DisplayInfo, desk: Desk) -> None:
    token = client.baseline(display=view.name).baseline
    desk.fill(Rect(0, 0, 64, 64), 0x00FF00)
    elsewhere = client.wait_create(
        Change(baseline=token), "region:320,240,64,64", display=view.name, timeout_s=SOON_S
    ).wait
    there = client.wait_create(Change(baseline=token), "region:16,16,32,32", display=view.name, timeout_s=LONG_S).wait
    assert ended(client, there.wait_id).state is WaitState.RESOLVED
    assert ended(client, elsewhere.wait_id).state is WaitState.TIMEOUT


def test_settling_waits_for_the_last_change(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Change(settle_s=1.0), display=view.name, timeout_s=LONG_S).wait.wait_id
    last_s = _busy_until(client, desk, wait)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.ended_utc_s >= last_s + 0.9


@pytest.mark.parametrize(
    ("period_s", "target"), [(0.02, "region:100,100,7,7"), (0.1, "screen"), (0.5, "region:100,100,7,7")]
)
def test_what_blinks_in_step_with_the_grabs_is_not_stable(
    client: Client, view: DisplayInfo, desk: Desk, period_s: float, target: str
) -> None:
    """Ended it has only where this machine stood still, and so did the blinking, for as long as was asked."""
    where = f"display:{view.name}" if target == "screen" else target
    quiet_s = max(period_s, 0.1)
    painted = [time.time()]
    desk.fill(Rect(96, 96, 24, 24), 0xFF0000)
    wait = client.wait_create(Stable(quiet_s), where, display=view.name, timeout_s=LONG_S).wait.wait_id
    begun_s = time.monotonic()
    for blink in range(10_000):
        desk.fill(Rect(96, 96, 24, 24), (0x0000FF, 0xFF0000)[blink % 2])
        painted.append(time.time())
        if time.monotonic() > begun_s + 4.0:
            break
        time.sleep(max(0.0, begun_s + (blink + 1) * period_s / 2 - time.monotonic()))
    now = shown(client, wait)
    if now.state is not WaitState.WATCHING:
        before = [at for at in painted if at <= now.ended_utc_s]
        pauses = [after - at for at, after in pairwise([*before, now.ended_utc_s])]
        assert max(pauses) >= quiet_s, f"it blinked every {max(pauses):.3f} s or more often"


def test_a_caret_is_left_out_of_quiet_and_named(client: Client, view: DisplayInfo, desk: Desk) -> None:
    """Two looks that alternate are left out; a third one in the same place is not."""
    desk.window(Rect(0, 0, 300, 200))
    strict = client.wait_create(Stable(2.0), display=view.name, timeout_s=LONG_S).wait.wait_id
    quiet = Stable(2.0, ignore_blinking=True)
    wait = client.wait_create(quiet, display=view.name, timeout_s=LONG_S).wait.wait_id
    beside = client.wait_create(quiet, "region:150,0,150,200", display=view.name, timeout_s=LONG_S).wait.wait_id
    give_up_s, looks, painted = time.monotonic() + PATIENCE_S, (0x000000, 0xFFFFFF), [time.time()]
    for blink in range(10_000):
        if shown(client, wait).state is not WaitState.WATCHING:
            break
        painted.append(time.time())  # or later, and before the next
        desk.fill(Rect(40, 50, 2, 14), looks[blink % 2])
        desk.fill(Rect(200, 50, 16, 14), (0x0000FF, 0x00FF00, 0xFF0000)[blink % 3] if blink < 9 else 0)
        time.sleep(0.4)
        assert time.monotonic() < give_up_s, shown(client, wait).verdict
    done = ended(client, wait)
    if max(after - at for at, after in pairwise(painted)) < 1.0:  # else this machine stood still, and all was quiet
        said = "nothing in the target changed for 2 s, ignoring a blinking area: 16x16 pixels at 32,48"
        assert said in done.verdict.detail
        assert done.ended_utc_s >= painted[9] + 1.9
        assert ended(client, strict).ended_utc_s >= painted[-1] + 1.9
    assert "ignoring" not in ended(client, beside).verdict.detail
    assert "ignoring" not in ended(client, strict).verdict.detail


def test_a_redraw_of_the_same_pixels_is_no_change(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(Rect(100, 100, 50, 50), 0x123456)
    wait = client.wait_create(Change(), display=view.name, timeout_s=SOON_S).wait.wait_id
    for _ in range(10):
        desk.fill(Rect(100, 100, 50, 50), 0x123456)
        time.sleep(0.05)
    assert ended(client, wait).state is WaitState.TIMEOUT


def test_a_change_is_seen_though_a_neighbour_paints_while_all_evaluators_are_busy(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk
) -> None:
    """A target without a whole tile is compared by its look, of a frame that the wait itself was not told of."""
    wait = client.wait_create(Change(), "region:101,101,7,7", display=view.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    busy = [child.pid for child in client.status().children if child.kind == "evaluator"]
    before = _published(client, view)
    for pid in busy:
        os.kill(pid, signal.SIGSTOP)
    try:
        desk.fill(Rect(101, 101, 7, 7), 0x00FF00)
        waited(lambda: _published(client, view) > before, "the frame of the target")
        between = _published(client, view)
        desk.fill(Rect(400, 300, 20, 20), 0x0000FF)
        waited(lambda: _published(client, view) > between, "the frame of its neighbour")
    finally:
        for pid in busy:
            os.kill(pid, signal.SIGCONT)
    assert ended(client, wait).state is WaitState.RESOLVED


def _published(client: Client, view: DisplayInfo) -> int:
    """Return the number of the display's newest frame."""
    return next(one for one in client.display_list().displays if one.name == view.name).frame


# ---- stable ----------------------------------------------------------------------------------------------------------


def test_stable_on_a_still_screen(client: Client, view: DisplayInfo, desk: Desk) -> None:
    began_s = time.time()
    wait = client.wait_create(Stable(0.5), display=view.name, timeout_s=LONG_S).wait.wait_id
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.ended_utc_s - began_s >= 0.5
    assert done.evidence is not None
    assert done.evidence.name


def test_activity_starts_stability_anew(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Stable(1.0), display=view.name, timeout_s=LONG_S).wait.wait_id
    last_s = _busy_until(client, desk, wait)
    assert ended(client, wait).ended_utc_s >= last_s + 0.9


def test_quiet_counts_from_when_the_pixels_of_a_slow_grab_came(client: Client, view: DisplayInfo, desk: Desk) -> None:
    """The server is asked for pixels, serves another one first, who paints, and answers then."""
    wait = client.wait_create(Stable(2.0), display=view.name, timeout_s=LONG_S).wait.wait_id
    waited(lambda: shown(client, wait).verdict.code != "not_judged", "a first look")
    with desk.alone():
        time.sleep(3.5)  # longer than it waits for quiet, shorter than a grab may take
        painted_s = time.time()
        desk.fill(Rect(50, 50, 40, 40), 0x0000FF)
    assert ended(client, wait).ended_utc_s >= painted_s + 1.9


def test_activity_beside_the_region_does_not(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Stable(2.0), "region:320,0,320,480", display=view.name, timeout_s=LONG_S).wait.wait_id
    for colour in range(1, 10_000):
        desk.fill(Rect(50, 50, 40, 40), colour)
        if shown(client, wait).state is not WaitState.WATCHING:
            break
        time.sleep(0.1)
    assert ended(client, wait).state is WaitState.RESOLVED


# ---- window titles ---------------------------------------------------------------------------------------------------


def test_a_window_title_appears(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(WindowTitle("Save as"), display=view.name, timeout_s=LONG_S).wait.wait_id
    other = desk.window(Rect(10, 10, 50, 50), title="Editor")
    titled(client, view.name, "Editor")
    assert shown(client, wait).state is WaitState.WATCHING
    desk.retitle(other, "please SAVE AS a file")
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert "please SAVE AS a file" in done.message
    assert done.evidence is not None
    assert done.evidence.name


def test_a_window_goes(client: Client, view: DisplayInfo, desk: Desk) -> None:
    dialog = desk.window(Rect(10, 10, 50, 50), title="Copying 3 files")
    titled(client, view.name, "Copying 3 files")
    wait = client.wait_create(
        WindowTitle(r"^Copying \d+ files$", regex=True, gone=True), display=view.name, timeout_s=LONG_S
    ).wait.wait_id
    assert judged(client, wait).verdict.answer == "no"
    desk.close(dialog)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_title_that_is_there_already_resolves_with_a_picture(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.window(Rect(10, 10, 50, 50), title="Ready now")
    titled(client, view.name, "Ready now")
    done = ended(client, client.wait_create(WindowTitle("ready NOW"), display=view.name, timeout_s=LONG_S).wait.wait_id)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.width, done.evidence.height) == (640, 480)


# ---- composites ------------------------------------------------------------------------------------------------------

HERE, ABSENT = WindowTitle("Anchor"), WindowTitle("Nowhere to be seen")
VISION = Criteria("the picture shows a cat")
"""Under the ocr judge: unknown(needs_vision)."""


@pytest.mark.parametrize(
    ("until", "state", "code"),
    [
        (AllOf((HERE, Stable(0.3))), WaitState.RESOLVED, ""), (AnyOf((ABSENT, HERE)), WaitState.RESOLVED, ""),
        (NotOf(ABSENT), WaitState.RESOLVED, ""),
        (AllOf((HERE, NotOf(AnyOf((ABSENT, NotOf(HERE)))))), WaitState.RESOLVED, ""),
        (AnyOf((VISION, HERE)), WaitState.RESOLVED, ""), (AllOf((ABSENT, VISION)), WaitState.TIMEOUT, ""),
        (NotOf(HERE), WaitState.TIMEOUT, ""), (AllOf((HERE, VISION)), WaitState.TIMEOUT, "needs_vision"),
        (AnyOf((ABSENT, VISION)), WaitState.TIMEOUT, "needs_vision"),
        (NotOf(VISION), WaitState.TIMEOUT, "needs_vision"), (NotOf(NotOf(VISION)), WaitState.TIMEOUT, "needs_vision"),
    ],
)  # fmt: skip
def test_a_composite_is_three_valued(
    client: Client, view: DisplayInfo, desk: Desk, until: Until, state: WaitState, code: str
) -> None:
    desk.window(Rect(10, 10, 50, 50), title="Anchor")
    titled(client, view.name, "Anchor")
    wait = client.wait_create(until, display=view.name, timeout_s=LONG_S, judge="ocr", force=True).wait.wait_id
    if state is WaitState.TIMEOUT:
        answer = "unknown" if code else "no"
        done = timed_out(client, wait, answer, code)
        assert done.verdict.answer == answer
    else:
        done = ended(client, wait)
    assert (done.state, done.verdict.code) == (state, code)


def test_all_holds_on_one_frame_and_latches_nothing(client: Client, view: DisplayInfo, desk: Desk) -> None:
    until = AllOf((WindowTitle("First"), WindowTitle("Second")))
    wait = client.wait_create(until, display=view.name, timeout_s=LONG_S).wait.wait_id
    first = desk.window(Rect(0, 0, 50, 50), title="First")
    titled(client, view.name, "First")
    desk.close(first)
    desk.window(Rect(0, 0, 50, 50), title="Second")
    titled(client, view.name, "Second")
    now = judged(client, wait, "no")
    assert now.state is WaitState.WATCHING
    desk.window(Rect(60, 0, 50, 50), title="First")
    assert ended(client, wait).state is WaitState.RESOLVED
