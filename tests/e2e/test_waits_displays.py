"""Displays under waits: which one `screen` means, real ones added, resized, refused, removed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import AcudError, Conflict, NotFound
from acud.types import Change, DisplayInfo, DisplayState, Rect, Stable, WaitState
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, compared, ended, judged, shown, until
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer, xauthority_entry

LONG_S = 120.0


@pytest.fixture(scope="module")
def server() -> Iterator[XServer]:
    """An X server that is not ours."""
    with XServer() as running:
        yield running


# ---- what `screen` means ---------------------------------------------------------------------------------------------


def test_screen_means_the_display_of_the_environment_and_is_remembered_in_another(server: XServer) -> None:
    with Daemon(settings=BARE, env={"DISPLAY": f"{server.display}.0", "XAUTHORITY": server.auth_file}) as daemon:
        wait = daemon.client.wait_create(Stable(0.3), timeout_s=LONG_S).wait
        assert wait.display == server.display
        assert ended(daemon.client, wait.wait_id).state is WaitState.RESOLVED
        assert daemon.client.look().display == server.display
        listed = daemon.client.display_list()
        assert listed.default == server.display
        assert [(d.name, d.managed, d.is_default) for d in listed.displays] == [(server.display, False, True)]
        del daemon.env["DISPLAY"]
        daemon.stop()
        daemon.start()
        assert daemon.client.display_list().default == server.display
        assert daemon.client.look().display == server.display


def test_screen_means_the_display_of_the_settings_also_to_a_command_on_another(server: XServer, tmp_path: Path) -> None:
    settings = BARE + f'default = "{server.display}"\n'
    with Daemon(settings=settings, env={"DISPLAY": ":54321", "XAUTHORITY": server.auth_file}) as daemon:
        assert daemon.client.look().display == server.display
        acud = CommandLine(daemon.home, tmp_path)
        acud.env["DISPLAY"] = ":54321"
        out, err = acud.capture("look", "--json")
        assert json.loads(out)["picture"]["display"] == server.display
        assert "for DISPLAY=:54321 give --display :54321" in err


def test_screen_is_a_managed_display_where_there_is_none_and_is_remembered() -> None:
    """A look right after a restart started one display more."""
    with Daemon(settings=BARE + "width = 320\nheight = 200\n", env={"DISPLAY": ":54321"}) as daemon:
        wait = daemon.client.wait_create(Change(), timeout_s=LONG_S).wait
        listed = daemon.client.display_list()
        assert listed.default == wait.display
        [display] = listed.displays
        if not display.managed:
            pytest.skip(f"this machine has a display {display.name}")
        assert (display.width, display.height) == (320, 200)
        with Desk(display.name, display.auth_file) as desk:
            desk.fill(Rect(1, 1, 2, 2), 0xFFFFFF)
            assert ended(daemon.client, wait.wait_id).state is WaitState.RESOLVED
        daemon.client.shutdown(keep_displays=True)
        daemon.stop()
        daemon.start()
        assert daemon.client.wait_create(Change(), "window:Editor").wait.display == display.name
        assert daemon.client.look().display == display.name
        assert [d.name for d in daemon.client.display_list().displays] == [display.name]


def test_a_display_of_the_settings_that_is_not_there_is_an_error() -> None:
    with Daemon(settings=BARE + 'default = ":54321"\n') as daemon:
        for _ in range(2):
            with pytest.raises(AcudError, match="default"):
                daemon.client.wait_create(Change())
        assert daemon.client.status().pid == daemon.pid


# ---- the display that a caller is on ---------------------------------------------------------------------------------


def test_a_command_looks_at_the_display_it_is_started_on_or_names_it(server: XServer, tmp_path: Path) -> None:
    with Daemon(settings=BARE + "width = 320\nheight = 200\n") as daemon:
        managed = daemon.client.display_create().display
        assert daemon.client.look().display == managed.name
        acud = CommandLine(daemon.home, tmp_path)
        acud.env |= {"DISPLAY": f"{server.display}.0", "XAUTHORITY": server.auth_file}
        for _ in range(2):  # watched from the first time on
            assert acud.json("look")["picture"]["display"] == server.display
        armed = acud.json("wait", "--stable", "0.2", "--timeout", "60")
        assert armed["wait"]["display"] == server.display
        assert acud.json("look", "-d", managed.name)["picture"]["display"] == managed.name
        assert acud.json("look", "-t", f"display:{managed.name}")["picture"]["display"] == managed.name
        assert daemon.client.display_list().default == managed.name
        acud.env["DISPLAY"] = ":54321"
        _, err = acud.capture("look", code=1)
        assert "DISPLAY is :54321, which cannot be watched" in err
        assert "--display" in err


# ---- added and removed -----------------------------------------------------------------------------------------------


def test_an_added_display_is_watched_and_forgotten(client: Client, server: XServer) -> None:
    added = client.display_add(server.display, auth_file=server.auth_file).display
    assert (added.managed, added.state, added.width, added.height) == (False, DisplayState.UP, 640, 480)
    assert added.grab_path
    with pytest.raises(Conflict, match="watched already"):
        client.display_add(server.display, auth_file=server.auth_file)
    wait = client.wait_create(Change(), f"display:{server.display}", timeout_s=LONG_S).wait.wait_id
    with pytest.raises(Conflict, match=wait):
        client.display_remove(server.display)
    with Desk(server.display, server.auth_file) as desk:
        desk.fill(Rect(1, 1, 2, 2), 0xFF)
        assert ended(client, wait).state is WaitState.RESOLVED
    client.display_remove(server.display)
    assert server.display not in {d.name for d in client.display_list().displays}
    assert server.display in {d.name for d in client.display_list(ended=True).displays}
    with pytest.raises(NotFound):
        client.look(display=server.display)


def test_a_display_added_again_goes_on_counting(client: Client, server: XServer) -> None:
    client.display_add(server.display, auth_file=server.auth_file)
    with Desk(server.display, server.auth_file) as desk:
        for shade in range(5):
            desk.fill(Rect(1, 1, 2, 2), shade)
            old = client.baseline(display=server.display).baseline
        client.display_remove(server.display)
        client.display_add(server.display, auth_file=server.auth_file)
        desk.fill(Rect(1, 1, 2, 2), 0xFF)
        reply = client.wait_for_change(display=server.display, baseline=old, timeout_s=60.0)
        assert reply.changed
        assert int(reply.picture.baseline.rpartition("#")[2]) > int(old.rpartition("#")[2])
    client.display_remove(server.display)


def test_a_wait_outlives_the_removal_of_its_display(client: Client, server: XServer) -> None:
    client.display_add(server.display, auth_file=server.auth_file)
    wait = client.wait_create(Change(), display=server.display, timeout_s=LONG_S).wait.wait_id
    client.display_remove(server.display, force=True)
    lost = judged(client, wait, "unknown", "display_down")
    assert (lost.state, bool(lost.note)) == (WaitState.WATCHING, True)
    client.display_add(server.display, auth_file=server.auth_file)
    until(lambda: shown(client, wait).note == "")
    with Desk(server.display, server.auth_file) as desk:
        desk.fill(Rect(9, 9, 2, 2), 0xEEEEEE)
        assert ended(client, wait).state is WaitState.RESOLVED
    client.display_remove(server.display)


def test_a_created_display_has_nothing_to_note_and_ends(client: Client) -> None:
    reply = client.display_create(200, 100)
    assert reply.notes == ()
    assert Path(reply.display.auth_file).is_file()
    assert client.look(display=reply.display.name).width == 200
    assert client.display_remove(reply.display.name).display.state is DisplayState.ENDED
    with pytest.raises(NotFound):
        client.display_remove(reply.display.name)


# ---- refused ---------------------------------------------------------------------------------------------------------


def test_a_wait_on_a_new_and_empty_display_says_so(client: Client) -> None:
    made = client.display_create(320, 240).display
    reply = client.wait_create(Stable(60.0), display=made.name, timeout_s=LONG_S)
    assert f"display {made.name} is new and empty: no window is there" in " ".join(reply.notes)
    client.wait_cancel(reply.wait.wait_id)
    with Desk(made.name, made.auth_file) as desk:
        desk.window(Rect(10, 10, 50, 50), title="Editor")
        until(lambda: [w for d in client.display_list().displays if d.name == made.name for w in d.windows], "a window")
        assert not client.wait_create(Stable(60.0), display=made.name, timeout_s=LONG_S).notes
    client.display_remove(made.name, force=True)


def test_depth_16_is_refused_by_name(client: Client) -> None:
    with XServer(depth=16) as shallow:
        with pytest.raises(AcudError, match="16") as fault:
            client.display_add(shallow.display, auth_file=shallow.auth_file)
        assert "depth" in str(fault.value)
    assert shallow.display not in {d.name for d in client.display_list().displays}


@pytest.mark.parametrize("kind", ["wrong", "missing"])
def test_without_its_cookie_a_display_is_a_clear_error(
    client: Client, server: XServer, tmp_path: Path, kind: str
) -> None:
    auth = tmp_path / "Xauthority"
    if kind == "wrong":
        auth.write_bytes(xauthority_entry(b"\x17" * 16))
    with pytest.raises(AcudError, match=server.display) as fault:
        client.display_add(server.display, auth_file=str(auth))
    assert str(auth) in str(fault.value) + fault.value.hint
    assert server.display not in {d.name for d in client.display_list().displays}
    client.display_add(server.display, auth_file=server.auth_file)
    client.display_remove(server.display)


def test_a_display_that_is_not_there_is_a_clear_error(client: Client) -> None:
    with pytest.raises(AcudError, match=":54321"):
        client.display_add(":54321")
    assert ":54321" not in {d.name for d in client.display_list().displays}


# ---- RANDR -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sizable(client: Client) -> Iterator[DisplayInfo]:
    """A managed display of 640x480 to be made smaller."""
    made = client.display_create(640, 480).display
    yield made
    client.display_remove(made.name, force=True)


def _resize(display: DisplayInfo, size: str) -> None:
    env = {"PATH": "/usr/bin:/bin", "DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    subprocess.run(
        ["xrandr", "--output", "screen", "--off", "--fb", size], env=env, check=True, capture_output=True, timeout=60
    )


def _now(client: Client, display: DisplayInfo) -> DisplayInfo:
    return next(d for d in client.display_list().displays if d.name == display.name)


def test_a_resize_is_a_new_epoch_and_waits_go_on(shared: Daemon, client: Client, sizable: DisplayInfo) -> None:
    before = client.events_since(0, limit=1).newest
    region = client.wait_create(Change(), "region:0,0,64,64", display=sizable.name, timeout_s=LONG_S).wait.wait_id
    whole = client.wait_create(Change(), display=sizable.name, timeout_s=LONG_S).wait.wait_id
    quiet = client.wait_create(Stable(600.0), display=sizable.name, timeout_s=900.0).wait.wait_id
    compared(shared, region)
    _resize(sizable, "400x300")
    smaller = until(lambda: (now := _now(client, sizable)).width == 400 and now)
    assert isinstance(smaller, DisplayInfo)
    assert (smaller.height, smaller.state) == (300, DisplayState.UP)
    assert smaller.epoch > sizable.epoch
    assert ended(client, whole).state is WaitState.RESOLVED, "a new geometry is a change by itself"
    picture = client.look(display=sizable.name)
    assert (picture.width, picture.height) == (400, 300)
    assert shown(client, quiet).state is WaitState.WATCHING
    after = client.wait_create(Change(), "region:0,0,64,64", display=sizable.name, timeout_s=LONG_S).wait.wait_id
    with Desk(sizable.name, sizable.auth_file) as desk:
        desk.fill(Rect(10, 10, 20, 20), 0xFFFFFF)
        assert ended(client, after).state is WaitState.RESOLVED
        assert ended(client, region).state is WaitState.RESOLVED
    topics = [event.topic for event in client.events_since(before, topic="display.", limit=1000).events
              if event.subject == sizable.name]  # fmt: skip
    assert "display.geometry" in topics


def test_a_region_that_a_resize_cuts_off_is_not_viewable(client: Client, sizable: DisplayInfo) -> None:
    wait = client.wait_create(Stable(600.0), "region:500,400,64,64", display=sizable.name, timeout_s=900.0).wait.wait_id
    _resize(sizable, "400x300")
    cut = judged(client, wait, "unknown", "not_viewable")
    assert "outside" in cut.note
    _resize(sizable, "640x480")
    until(lambda: shown(client, wait).note == "")
    assert shown(client, wait).state is WaitState.WATCHING
