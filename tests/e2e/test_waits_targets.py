"""Where waits look, on a real display: regions to the pixel, ignored boxes, windows that move, hide and return."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from acud.types import Change, Criteria, DisplayInfo, NotOf, Policy, Rect, Stable, Text, Until, WaitState, WindowTitle
from acud_client import Client
from tests.e2e.desktop import Desk, compared, ended, judged, shown, timed_out, titled, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
REGION = Rect(100, 100, 37, 21)
"""On no tile's edge: its border tiles lie partly outside."""
TARGET = "region:100,100,37,21"


def _quiet(client: Client, wait_id: str, frames: int) -> None:
    """Check that the wait still watches after it has seen that many frames."""
    until(lambda: shown(client, wait_id).frames_seen >= frames, f"{frames} frames")
    assert shown(client, wait_id).state is WaitState.WATCHING


# ---- regions and ignored boxes ---------------------------------------------------------------------------------------


def test_a_pixel_beside_the_region_in_its_tile_is_no_change(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk
) -> None:
    wait = client.wait_create(Change(), TARGET, display=view.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    beside = [(99, 110), (REGION.right, 110), (110, 99), (110, REGION.bottom), (99, 99)]
    for x, y in beside:
        before = shown(client, wait).frames_seen
        desk.fill(Rect(x, y, 1, 1), 0xFFFFFF)
        _quiet(client, wait, before + 1)
    compared(shared, wait)
    desk.fill(Rect(REGION.right - 1, REGION.bottom - 1, 1, 1), 0xFFFFFF)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_caret_in_an_ignored_box_fires_nothing_and_its_neighbour_does(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk
) -> None:
    caret = Rect(203, 205, 2, 12)
    wait = client.wait_create(Change(), display=view.name, ignore=[caret], timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    for blink in range(6):
        before = shown(client, wait).frames_seen
        desk.fill(caret, 0xFFFFFF if blink % 2 == 0 else 0)
        _quiet(client, wait, before + 1)
    desk.fill(Rect(206, 205, 1, 1), 0xFFFFFF)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_clock_in_an_ignored_box_does_not_disturb_stability(client: Client, view: DisplayInfo, desk: Desk) -> None:
    clock = Rect(561, 3, 70, 15)
    wait = client.wait_create(Stable(1.5), display=view.name, ignore=[clock], timeout_s=LONG_S).wait.wait_id
    for second in range(1, 10_000):
        desk.fill(clock, second)
        if shown(client, wait).state is not WaitState.WATCHING:
            break
        time.sleep(0.1)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_ignored_boxes_are_in_the_targets_own_pixels(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk
) -> None:
    wait = client.wait_create(
        Change(), "region:320,240,100,100", display=view.name, ignore=[Rect(0, 0, 50, 100)], timeout_s=LONG_S
    ).wait.wait_id
    compared(shared, wait)
    before = shown(client, wait).frames_seen
    desk.fill(Rect(325, 245, 40, 90), 0xFF0000)
    _quiet(client, wait, before + 1)
    desk.fill(Rect(375, 245, 4, 4), 0xFF0000)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.crop, done.evidence.width) == (Rect(320, 240, 100, 100), 100)


def test_a_region_beyond_the_display_is_not_viewable(client: Client, view: DisplayInfo) -> None:
    reply = client.wait_create(Change(), "region:5000,0,10,10", display=view.name, timeout_s=LONG_S)
    assert "outside" in " ".join(reply.notes)
    done = timed_out(client, reply.wait.wait_id, "unknown", "not_viewable")
    assert (done.state, done.verdict.answer, done.verdict.code) == (WaitState.TIMEOUT, "unknown", "not_viewable")


# ---- windows ---------------------------------------------------------------------------------------------------------


def test_a_window_by_its_id(client: Client, view: DisplayInfo, desk: Desk) -> None:
    one, two = (desk.window(Rect(x, 50, 100, 100), 0x808080, title="Twin") for x in (10, 300))
    titled(client, view.name, "Twin")
    until(lambda: len(client.display_list().displays) and _known(client, view, two))
    first = client.wait_create(Change(), f"window:{one}", display=view.name, timeout_s=LONG_S).wait.wait_id
    second = client.wait_create(Change(), f"window:{two:#x}", display=view.name, timeout_s=LONG_S).wait.wait_id
    desk.recolour(two, 0x00FF00)
    assert ended(client, second).state is WaitState.RESOLVED
    assert shown(client, first).state is WaitState.WATCHING
    desk.recolour(one, 0x00FF00)
    assert ended(client, first).state is WaitState.RESOLVED


def _known(client: Client, view: DisplayInfo, window: int) -> bool:
    here = next(d for d in client.display_list().displays if d.name == view.name)
    return any(w.window_id == window for w in here.windows)


def test_a_window_is_followed_while_it_moves(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.words(Rect(10, 10, 200, 60), "Moving on", title="Mover")
    titled(client, view.name, "Mover")
    wait = client.wait_create(Change(), "window:Mover", display=view.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    for x, y in ((60, 30), (301, 203), (333, 333)):
        place = Rect(x, y, 200, 60)
        desk.place(window, place)
        until(partial(_is_at, client, view, place))
        desk.fill(Rect(10, 10, 20, 20), x)
    time.sleep(0.5)
    assert shown(client, wait).state is WaitState.WATCHING, "a move alone changed nothing in the window"
    desk.fill(Rect(5, 50, 3, 3), 0xFF0000, window)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert done.evidence.crop == Rect(333, 333, 200, 60)


def _is_at(client: Client, view: DisplayInfo, place: Rect) -> bool:
    return titled(client, view.name, "Mover").bounds == place


def test_a_covered_window_is_seen_alone(client: Client, view: DisplayInfo, desk: Desk) -> None:
    below = desk.window(Rect(50, 50, 200, 200), 0x0000FF, title="Below")
    above = desk.window(Rect(100, 100, 200, 200), 0xFF0000, title="Above")
    until(lambda: titled(client, view.name, "Below").visibility == "covered")
    wait = client.wait_create(Change(), "window:Below", display=view.name, timeout_s=LONG_S).wait.wait_id
    whole = Rect(50, 50, 200, 200)
    until(lambda: _place(client, wait) == (whole, True), "its place, under another window")
    for colour in (0x111111, 0x222222, 0x333333):
        desk.recolour(above, colour)
    other = client.wait_create(Change(), "window:Above", display=view.name, timeout_s=LONG_S).wait.wait_id
    desk.recolour(above, 0x444444)
    assert ended(client, other).state is WaitState.RESOLVED
    assert shown(client, wait).state is WaitState.WATCHING
    desk.fill(Rect(100, 100, 4, 4), 0x00FF00, below)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.width, done.evidence.height) == (200, 200)


def _place(client: Client, wait_id: str) -> tuple[Rect | None, bool]:
    reply = client.wait_show(wait_id, evaluations=0)
    return reply.place, reply.covered


def test_covering_and_uncovering_is_no_change_of_the_window(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk
) -> None:
    below = desk.words(Rect(50, 50, 200, 100), "As before", title="Below")
    titled(client, view.name, "Below")
    wait = client.wait_create(Change(), "window:Below", display=view.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    above = desk.window(Rect(100, 80, 200, 200), 0xFF0000, title="Above")
    until(lambda: titled(client, view.name, "Below").visibility == "covered")
    until(lambda: shown(client, wait).note == "", "the covered window's pixels")
    desk.unmap(above)
    until(lambda: titled(client, view.name, "Below").visibility == "full")
    until(lambda: shown(client, wait).note == "")
    time.sleep(0.5)
    assert shown(client, wait).state is WaitState.WATCHING
    desk.fill(Rect(5, 90, 3, 3), 0xFF0000, below)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_an_unmapped_window_is_not_viewable(client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.words(Rect(50, 50, 300, 60), "Working", title="Hidden")
    listed = titled(client, view.name, "Hidden")
    wait = client.wait_create(
        Text("All done"), f"window:{listed.window_id}", display=view.name, timeout_s=LONG_S, judge="ocr"
    ).wait.wait_id
    judged(client, wait, "no")
    desk.unmap(window)
    lost = judged(client, wait, "unknown")
    assert lost.verdict.code in ("not_viewable", "window_missing")
    assert lost.note
    assert _place(client, wait) == (None, False)
    desk.rewrite(window, "All done")
    desk.map(window)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED


def test_of_two_windows_that_fit_the_watched_one_is_named(client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.window(Rect(50, 50, 100, 60), title="Editor one")
    titled(client, view.name, "Editor one")
    over = desk.window(Rect(200, 50, 100, 60), title="Editor two")
    titled(client, view.name, "Editor two")
    reply = client.wait_create(Stable(60.0), "window:editor", display=view.name, timeout_s=LONG_S)
    watched, other = f'window:{over:#x} "Editor two"', f'window:{under:#x} "Editor one"'
    assert f'2 windows fit "editor": {watched} is watched, not {other}' in " ".join(reply.notes)
    assert not client.wait_create(Stable(60.0), f"window:{under}", display=view.name, timeout_s=LONG_S).notes


def test_a_missing_window_is_told_and_found_when_it_comes(client: Client, view: DisplayInfo, desk: Desk) -> None:
    reply = client.wait_create(Text("Hello"), "window:Latecomer", display=view.name, timeout_s=LONG_S, judge="ocr")
    assert "Latecomer" in " ".join(reply.notes)
    wait = reply.wait.wait_id
    assert judged(client, wait).verdict.code == "window_missing"
    desk.words(Rect(50, 50, 300, 60), "Hello there", title="The Latecomer")
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_window_of_another_display_is_told(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.window(Rect(50, 50, 100, 60), title="Import of data")
    titled(client, view.name, "Import of data")
    other = client.display_create(200, 200).display
    reply = client.wait_create(Stable(60.0), "window:import", display=other.name, timeout_s=LONG_S)
    assert f"a window of that name is on {view.name}: give its display" in reply.notes
    client.display_remove(other.name, force=True)


def test_a_window_that_one_display_alone_has_names_the_display(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.window(Rect(50, 50, 100, 60), title="Alone of its kind")
    titled(client, view.name, "Alone of its kind")
    assert client.wait_create(Stable(60.0), "window:alone of", timeout_s=LONG_S).wait.display == view.name


def test_a_wait_whose_window_never_comes_says_so_at_its_end(client: Client, view: DisplayInfo) -> None:
    wait = client.wait_create(
        Criteria("anything"), "window:No such thing", display=view.name, timeout_s=LONG_S
    ).wait.wait_id
    done = timed_out(client, wait, "unknown", "window_missing")
    assert (done.state, done.verdict.code) == (WaitState.TIMEOUT, "window_missing")
    assert "window_missing" in done.message


def test_a_windows_end_can_be_waited_for_on_its_own_target(client: Client, view: DisplayInfo, desk: Desk) -> None:
    window = desk.window(Rect(50, 50, 100, 60), title="Short-lived")
    titled(client, view.name, "Short-lived")
    wait = client.wait_create(
        WindowTitle("Short-lived", gone=True), "window:Short-lived", display=view.name, timeout_s=LONG_S
    ).wait.wait_id
    desk.close(window)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.name, bool(done.evidence.reason)) == ("", True)


def test_a_window_partly_off_the_display(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(500, 100, 300, 60), "Over the edge", title="Edge")
    titled(client, view.name, "Edge")
    wait = client.wait_create(
        Text("Over the edge"), "window:Edge", display=view.name, timeout_s=LONG_S, judge="ocr"
    ).wait.wait_id
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert (done.evidence.width, done.evidence.height) == (300, 60)


def test_what_covers_a_window_is_never_judged_as_the_window(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no", "rules": [{"area": [0, 0, 640, 480, "#ff0000"], "answer": "yes"}]}')
    below = desk.window(Rect(50, 50, 200, 200), 0x0000FF, title="Below")
    titled(client, view.name, "Below")
    brisk = Policy(interval_s=0.05, min_interval_s=0.0)
    wait = client.wait_create(
        Criteria("it is red"), "window:Below", display=view.name, timeout_s=LONG_S, policy=brisk
    ).wait.wait_id
    judged(client, wait, "no")
    above = desk.window(Rect(300, 50, 200, 200), 0xFF0000, title="Above")
    for step in range(12):
        desk.place(above, Rect(300 - 150 * (step % 2), 50 + step, 200, 200))
        desk.fill(Rect(0, 0, 20, 20), step, below)
        time.sleep(0.15)
    assert shown(client, wait).state is WaitState.WATCHING
    desk.recolour(below, 0xFF0000)
    assert ended(client, wait).state is WaitState.RESOLVED


# ---- what hides them -------------------------------------------------------------------------------------------------


def test_a_lock_screen_makes_what_it_hides_unknown_and_no_change(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "yes"}')
    screen = Rect(0, 0, view.width, view.height)
    window = desk.words(Rect(10, 10, 300, 60), "Uploading", title="Uploader")
    titled(client, view.name, "Uploader")
    gone: list[Until] = [Text("Uploading", gone=True), NotOf(Text("Uploading")), Change(), Stable(1.0)]
    waits = [client.wait_create(one, display=view.name, timeout_s=LONG_S).wait.wait_id for one in gone[:3]]
    own = client.wait_create(Text("Uploading", gone=True), "window:Uploader", display=view.name, timeout_s=LONG_S)
    for wait in (*waits[:2], own.wait.wait_id):
        judged(client, wait, "no")
    compared(shared, waits[2])
    with Desk(view.name, view.auth_file) as locker:
        lock = locker.window(screen, 0x335577, title="lock", popup=True)
        for wait in waits:
            assert f'locked or hidden by "lock" (window:{lock:#x})' in judged(client, wait, "unknown", "locked").note
        for until_ in (*gone[2:], Criteria("the upload dialog is gone")):
            armed = client.wait_create(until_, display=view.name, timeout_s=LONG_S).wait.wait_id
            assert timed_out(client, armed, "unknown", "locked").state is WaitState.TIMEOUT
        itself = client.wait_create(Stable(0.2), f"window:{lock:#x}", display=view.name, timeout_s=LONG_S)
        assert ended(client, itself.wait.wait_id).state is WaitState.RESOLVED
        windows = [one for app in client.refresh_scene(displays=[view.name]).apps for one in app.windows]
        assert [one.id for one in windows if one.hides_screen] == [f"{lock:#x}"]
    for wait in (*waits[:2], own.wait.wait_id):
        judged(client, wait, "no")
    compared(shared, waits[2])
    desk.close(window)
    assert {ended(client, wait).state for wait in waits} == {WaitState.RESOLVED}
