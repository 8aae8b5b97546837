"""Menus as targets: a wait on one by its id, while a title still means the window of that title."""

from __future__ import annotations

from acud.types import Change, DisplayInfo, Rect, Text, WaitState, WindowInfo, WindowTitle
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, compared, ended, judged, shown, titled, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0


def listed(client: Client, display: str, window: int) -> WindowInfo:
    """Return the popup once the daemon knows it; its id may have been another window's a moment ago."""

    def found() -> WindowInfo | None:
        here = next(d for d in client.display_list().displays if d.name == display)
        return next((w for w in here.windows if w.window_id == window and w.kind == "popup"), None)

    return until(found, f"popup {window:#x}")


def test_a_wait_on_a_menu_sees_the_menu_alone(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.window(Rect(40, 40, 300, 200), 0x808080, "File manager")
    menu = desk.window(Rect(60, 60, 201, 101), 0xFFFFFF, popup=True)
    desk.rewrite(menu, "Open\nSave as")
    assert listed(client, view.name, menu).bounds == Rect(60, 60, 201, 101)
    table = CommandLine(shared.home).run("display", "list", "--windows")
    assert "full, popup" in table
    read = client.wait_create(Text("Save as"), f"window:{menu:#x}", display=view.name, timeout_s=LONG_S)
    assert ended(client, read.wait.wait_id).state is WaitState.RESOLVED
    wait = client.wait_create(Change(), f"window:{menu}", display=view.name, timeout_s=LONG_S).wait.wait_id
    compared(shared, wait)
    before = shown(client, wait).frames_seen
    desk.fill(Rect(250, 150, 20, 20), 0xFF0000, under)
    until(lambda: shown(client, wait).frames_seen > before, "a frame")
    assert shown(client, wait).state is WaitState.WATCHING
    desk.fill(Rect(10, 80, 30, 4), 0x0000FF, menu)
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_menu_that_closes_is_missing(client: Client, view: DisplayInfo, desk: Desk) -> None:
    menu = desk.window(Rect(60, 60, 200, 100), 0xFFFFFF, popup=True)
    listed(client, view.name, menu)
    wait = client.wait_create(Text("never"), f"window:{menu}", display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, wait, "no")
    desk.close(menu)
    judged(client, wait, "unknown", "window_missing")


def test_a_title_means_the_window_and_not_its_menu(client: Client, view: DisplayInfo, desk: Desk) -> None:
    titles = client.wait_create(WindowTitle("Editor"), display=view.name, timeout_s=LONG_S).wait.wait_id
    menu = desk.window(Rect(60, 60, 100, 50), 0xFF0000, "Editor menu", popup=True)
    listed(client, view.name, menu)
    assert judged(client, titles, "no").state is WaitState.WATCHING
    desk.window(Rect(40, 40, 300, 200), 0x808080, "Editor")
    assert ended(client, titles).state is WaitState.RESOLVED
    desk.raise_(menu)
    titled(client, view.name, "Editor")
    assert client.look("window:editor", display=view.name).width == 300


def test_a_baseline_outlives_covering_and_uncovering(client: Client, view: DisplayInfo, desk: Desk) -> None:
    under = desk.words(Rect(40, 40, 300, 200), "as it was", "Under")
    over = desk.window(Rect(0, 0, 640, 480), 0x2020FF, "Over")
    target = f"window:{titled(client, view.name, 'Under').window_id}"
    titled(client, view.name, "Over")
    covered = [client.baseline(target, display=view.name).baseline, client.look(target, display=view.name).baseline]
    assert all(token.startswith(f"{view.name}.w{under}@") for token in covered)
    desk.raise_(under)
    until(lambda: titled(client, view.name, "Under").visibility == "full", "the window on top")
    visible = client.baseline(target, display=view.name).baseline
    for token in covered:
        assert not client.wait_for_change(target, timeout_s=1.0, baseline=token, display=view.name).changed
    desk.raise_(over)
    until(lambda: titled(client, view.name, "Under").visibility == "covered", "the window under")
    assert not client.wait_for_change(target, timeout_s=1.0, baseline=visible, display=view.name).changed
    desk.fill(Rect(10, 150, 30, 4), 0x0000FF, under)
    for token in (visible, covered[0]):
        assert client.wait_for_change(target, timeout_s=LONG_S, baseline=token, display=view.name).changed
    desk.raise_(under)
    until(lambda: titled(client, view.name, "Under").visibility == "full", "the window on top again")
    assert client.wait_for_change(target, timeout_s=LONG_S, baseline=covered[0], display=view.name).changed


def test_a_look_at_a_window_that_is_uncovered_at_that_moment_is_answered(
    client: Client, view: DisplayInfo, desk: Desk
) -> None:
    under = desk.window(Rect(40, 40, 100, 80), 0x00FF00, "Under")
    for _ in range(10):
        over = desk.window(Rect(0, 0, 200, 200), 0x2020FF, "Over")
        until(lambda: titled(client, view.name, "Under").visibility == "covered", "the window under")
        desk.close(over)  # the daemon may not know it yet
        assert client.look(f"window:{under}", display=view.name).width == 100
