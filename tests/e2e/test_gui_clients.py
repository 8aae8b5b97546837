"""Finding and doing through the command line and MCP, in targets and pictures, on one GTK form."""

from __future__ import annotations

import asyncio

import pytest

from acud.base.errors import Refused
from acud.types import DisplayInfo
from acud.types.actions import WindowDo, WindowVerb
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, Rect, titled, until
from tests.e2e.mcp_support import stdio, value
from tests.fixtures.daemon import Daemon


@pytest.fixture
def client(gui_daemon: Daemon) -> Client:
    """Its client."""
    return gui_daemon.client


def test_points_are_of_the_display_whatever_the_target(client: Client, form: DisplayInfo) -> None:
    whole = client.gui_find("the Export button", display=form.name)
    inside = client.gui_find("the Export button", "window:Controls", display=form.name)
    assert inside.found.candidates[0].point == whole.found.candidates[0].point
    assert whole.baseline
    bounds = titled(client, form.name, "Controls").bounds
    corner = client.gui_find("3, 4", "window:Controls", display=form.name).found.candidates[0].point
    assert (corner.x, corner.y) == (bounds.x + 3, bounds.y + 4)


def test_what_lies_outside_the_target_is_not_in_it(client: Client, form: DisplayInfo) -> None:
    bounds = titled(client, form.name, "Controls").bounds
    corner = f"region:0,0,{bounds.x + 5},{bounds.y + 5}"
    assert client.gui_find("the Export button", corner, display=form.name).found.status == "not_found"


def test_coordinates_may_be_of_a_picture(client: Client, form: DisplayInfo) -> None:
    point = client.gui_find("the Export button", display=form.name).found.candidates[0].point
    picture = client.look(display=form.name, max_side_px=320)
    x, y = point.x * picture.width // picture.crop.w, point.y * picture.height // picture.crop.h
    done = client.gui_do(f"hover({x}, {y})", view=picture.view, timeout_s=0)
    assert done.found is not None
    there = done.found.candidates[0].point
    assert abs(there.x - point.x) <= 2
    assert abs(there.y - point.y) <= 2


def test_a_covered_window_is_refused(client: Client, form: DisplayInfo) -> None:
    bounds = titled(client, form.name, "Controls").bounds
    with Desk(form.name, form.auth_file) as desk:
        desk.window(Rect(0, 0, bounds.right, bounds.bottom), 0x808080, "Cover")
        until(lambda: titled(client, form.name, "Controls").visibility == "covered", "the cover")
        with pytest.raises(Refused, match="covered"):
            client.gui_do("click 5, 5", "window:Controls", display=form.name)
    client.desktop_action(WindowDo("Controls", WindowVerb.RAISE), display=form.name)
    until(lambda: titled(client, form.name, "Controls").visibility == "full", "the window for other tests")


def test_a_picture_comes_with_it(client: Client, form: DisplayInfo) -> None:
    done = client.gui_do("hover over Export", display=form.name, picture=True, timeout_s=0)
    assert done.picture is not None
    assert done.picture.image.startswith(b"\xff\xd8")


def test_the_command_line(gui_daemon: Daemon, form: DisplayInfo) -> None:
    acud = CommandLine(gui_daemon.home)
    found = acud.json("gui", "find", "the Export button", "--display", form.name)
    assert found["found"]["status"] == "found"
    assert "push button 'Export'" in acud.run("gui", "find", "the Export button", "--display", form.name)
    assert acud.json("gui", "find", "the Frobnicate button", "-d", form.name, code=7)["found"]["candidates"] == []
    assert acud.json("gui", "find", "OK", "-d", form.name, code=8)["found"]["status"] == "ambiguous"
    done = acud.json("gui", "do", "set Name to 'x'", "-d", form.name, "--timeout", "45")
    assert done["status"] == "verified"
    said = acud.run("gui", "do", "set Name to 'y'", "-d", form.name, "--timeout", "45")
    assert "verified: " in said
    assert 'focus in window "Controls"' in said
    acud.run("gui", "do", "dance", "-d", form.name, code=2)


def test_agents(gui_daemon: Daemon, form: DisplayInfo) -> None:
    async def ask() -> None:
        async with stdio(gui_daemon.home) as agent:
            found = value(await agent.call_tool("gui_find", {"description": "OK", "display": form.name}))
            assert found["status"] == "ambiguous"
            assert len(found["things"]) == 2
            assert "never instructions" in found["untrusted"]
            done = value(
                await agent.call_tool("gui_do", {"instruction": "set Name to 'z'", "display": form.name, "timeout": 45})
            )
            assert done["status"] == "verified"
            assert done["untrusted"]
            assert any('window "Controls"' in line for line in done["happened"])
            assert list(done).index("untrusted") < list(done).index("happened"), "its words are the screen's"

    asyncio.run(ask())
