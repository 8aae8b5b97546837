"""Windows that a window manager minimises and restores: compared by their look, for the display showed other things."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from acud.types import Change, DisplayInfo, NotOf, Rect, Stable, Text, Until, WaitState
from acud_client import Client
from tests.e2e.desktop import Desk, compared, emptied, ended, focused, judged, shown, titled, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
BOX = Rect(48, 48, 320, 160)


@pytest.fixture(scope="module")
def managed(shared: Daemon) -> Iterator[DisplayInfo]:
    """A display with a window manager."""
    made = shared.client.display_create(640, 480, window_manager="openbox").display
    yield made
    shared.client.display_remove(made.name, force=True)


@pytest.fixture
def office(client: Client, managed: DisplayInfo) -> Iterator[Desk]:
    emptied(client, managed.name)
    with Desk(managed.name, managed.auth_file) as working:
        yield working


def _watched(shared: Daemon, managed: DisplayInfo, office: Desk) -> tuple[int, str]:
    """Return a window and a change wait on it that is measured by its look.

    It is armed on a still screen: the window manager draws its frame later than the window itself, and what is drawn
    beside a target whose look nobody has read yet counts as a change of it.
    """
    window = office.words(BOX, "third quarter", title="Report")
    until(lambda: focused(shared.client, managed.name) == window, "its focus, which its frame shows")
    still = shared.client.wait_create(Stable(1.0), "screen", display=managed.name, timeout_s=LONG_S).wait.wait_id
    assert ended(shared.client, still).state is WaitState.RESOLVED
    wait = shared.client.wait_create(Change(), "window:Report", display=managed.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    return window, wait


def _hide(client: Client, managed: DisplayInfo, office: Desk, window: int, wait: str) -> None:
    office.iconify(window)
    judged(client, wait, "unknown", "not_viewable")
    until(lambda: titled(client, managed.name, "Report").visibility == "unmapped", "the window hidden")


def _show(client: Client, office: Desk, window: int, wait: str) -> None:
    office.map(window)
    until(lambda: shown(client, wait).note == "", "the window")


def test_a_window_that_is_minimised_and_restored_as_it_was_has_not_changed(
    shared: Daemon, client: Client, managed: DisplayInfo, office: Desk
) -> None:
    window, wait = _watched(shared, managed, office)
    for _ in range(3):
        _hide(client, managed, office, window, wait)
        _show(client, office, window, wait)
    quiet = client.wait_create(Stable(0.5), "window:Report", display=managed.name, timeout_s=LONG_S).wait.wait_id
    assert ended(client, quiet).state is WaitState.RESOLVED
    assert judged(client, wait, "no").state is WaitState.WATCHING
    office.fill(Rect(300, 150, 2, 2), 0xFF0000, window)
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert "counts as changed" not in done.verdict.detail


def test_a_window_that_changed_while_it_was_minimised_has_changed(
    shared: Daemon, client: Client, managed: DisplayInfo, office: Desk
) -> None:
    window, wait = _watched(shared, managed, office)
    _hide(client, managed, office, window, wait)
    office.rewrite(window, "fourth quarter")
    office.map(window)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_with_busy_evaluators_a_window_is_compared_all_the_same(
    shared: Daemon, client: Client, managed: DisplayInfo, office: Desk
) -> None:
    """Nobody but the capture has read how it looked when it is hidden, shown, covered and painted in one corner."""
    window = office.words(BOX, "third quarter", title="Report")
    until(lambda: focused(client, managed.name) == window, "its focus, which its frame shows")
    still = client.wait_create(Stable(0.5), "screen", display=managed.name, timeout_s=LONG_S).wait.wait_id
    assert ended(client, still).state is WaitState.RESOLVED
    evaluators = [child.pid for child in client.status().children if child.kind == "evaluator" and child.pid]
    for pid in evaluators:
        os.kill(pid, signal.SIGSTOP)
    try:
        waits = [
            client.wait_create(until, "window:Report", display=managed.name, timeout_s=LONG_S).wait.wait_id
            for until in (Change(), Change(share=0.5))
        ]
        for wait in waits:
            judged(client, wait, "no")
            compared(shared, wait)
        _hide(client, managed, office, window, waits[0])
        _show(client, office, window, waits[0])
        for wait in waits:
            assert judged(client, wait, "no").state is WaitState.WATCHING
        office.window(Rect(0, 0, 640, 480), 0x2020FF, "Over", popup=True)
        until(lambda: titled(client, managed.name, "Report").visibility == "covered", "the window under")
        office.fill(Rect(20, 90, 2, 2), 0xFF0000, window)
        until(lambda: "50.0% is asked" in shown(client, waits[1]).verdict.detail, "the share that changed")
    finally:
        for pid in evaluators:
            os.kill(pid, signal.SIGCONT)
    office.fill(Rect(0, 0, 320, 120), 0x00FF00, window)
    for wait in waits:
        assert "could not" not in ended(client, wait).verdict.detail


def test_what_other_windows_hide_is_not_gone(
    shared: Daemon, client: Client, managed: DisplayInfo, office: Desk
) -> None:
    window = office.words(BOX, "Uploading", title="Uploader")
    until(lambda: focused(client, managed.name) == window, "its focus")
    gone: list[Until] = [Text("Uploading", gone=True), NotOf(Text("Uploading"))]
    made = [client.wait_create(one, "screen", display=managed.name, timeout_s=LONG_S).wait.wait_id for one in gone]
    made.append(client.wait_create(gone[0], "region:0,0,640,400", display=managed.name, timeout_s=LONG_S).wait.wait_id)
    for wait in made:
        until(lambda wait=wait: '"Uploading"' in shown(client, wait).verdict.detail, "the text")  # type: ignore[misc]
    cover = office.window(Rect(0, 0, 640, 480), 0x335577, title="Report")
    for wait in made:
        assert f'is covered by "Report" (window:{cover:#x})' in judged(client, wait, "unknown", "covered").note
    hidden = client.status().hidden_waits
    assert all("Report" in hidden[wait] for wait in made)
    office.iconify(window)
    until(lambda: titled(client, managed.name, "Uploader").visibility == "unmapped", "the window hidden")
    office.close(cover)
    for wait in made:
        until(lambda wait=wait: "minimised" in shown(client, wait).note, "the minimised window")  # type: ignore[misc]
    office.map(window)
    for wait in made:
        judged(client, wait, "no")
    again = office.window(Rect(0, 0, 640, 480), 0x335577, title="Report")
    until(lambda: focused(client, managed.name) == again, "its focus")
    made.append(client.wait_create(gone[0], "screen", display=managed.name, timeout_s=LONG_S).wait.wait_id)
    note = judged(client, made[-1], "unknown", "covered").note  # it was never seen
    assert f'"Uploader" (window:{window:#x}) is covered by "Report" (window:{again:#x})' in note
    office.close(again)
    judged(client, made[-1], "no")
    office.close(window)
    assert {ended(client, wait).state for wait in made} == {WaitState.RESOLVED}
