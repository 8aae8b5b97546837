"""The scene through the command line, MCP and the async client; and an accessibility bus that dies."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from contextlib import aclosing, suppress
from pathlib import Path

from acud.supervisor.displays import proc_files
from acud.types import DisplayInfo
from acud.types.scene import Scene, SceneMode
from acud_client.aio import AsyncClient
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import until
from tests.e2e.gui_support import shown
from tests.e2e.mcp_support import fault, stdio, text, value
from tests.fixtures.daemon import Daemon


def test_the_command_line(gui_daemon: Daemon, form: DisplayInfo) -> None:
    cli = CommandLine(gui_daemon.home)
    said = cli.run("scene", "--display", form.name, "--within", "0")
    assert said.splitlines()[0].startswith("scene ")
    assert any(line.startswith(f"a{form.number}-") and '"Export"' in line for line in said.splitlines())
    whole = cli.json("scene", "--mode", "none", "-d", form.name)
    assert {one["displayId"] for one in whole["scene"]["ax"]} == {form.number}
    since = str(whole["scene"]["scene_id"])
    assert cli.json("scene", "--since", since, "-d", form.name)["diff"]["since"] == int(since)
    assert len(cli.run("scene", "--mode", "none", "--since", since, "-d", form.name)) < len(said)
    short = cli.run("scene", "--mode", "none", "--max-tokens", "100", "-d", form.name)
    assert len(short) < len(said)
    assert short.splitlines()[-1].startswith(f"left out of {form.name}: ")
    again = short.splitlines()[-1].partition("; all of it: acud ")[2]
    assert cli.run(*again.split(), "--mode", "none") == cli.run("scene", "--mode", "none", "-d", form.name)


def test_the_command_line_goes_on_watching(gui_daemon: Daemon, form: DisplayInfo) -> None:
    watching = CommandLine(gui_daemon.home).start("scene", "--watch", "--json", "-d", form.name)
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=60)
    assert [one["name"] for one in first["displays"]] == [form.name]
    assert watching.returncode == 0


def test_the_tool(gui_daemon: Daemon, form: DisplayInfo) -> None:
    """An agent uses only what it is told: the whole, a part, a cut with the call for the rest, a change."""
    told: dict[str, str] = {}

    async def asked() -> None:
        async with stdio(gui_daemon.home) as client:

            async def seen(**given: object) -> str:
                return text(await client.call_tool("scene", given))

            whole = await seen(display=form.name)
            while "takes longer than" in whole:  # a loaded machine
                whole = await seen(display=form.name)
            told["whole"] = whole
            button = re.search(r'^(a\S+) button "Export"', whole, re.MULTILINE)
            assert button is not None
            told["part"] = await seen(target=button[1], mode="none")
            told["cut"] = await seen(display=form.name, max_tokens=100, mode="none")
            again = re.search(r"all of it: scene (\{.*\})$", told["cut"], re.MULTILINE)
            assert again is not None
            told["again"] = await seen(**json.loads(again[1]), mode="none")
            number = re.match(r"scene (\d+)", whole)
            assert number is not None
            value(await client.call_tool("gui_do", {"instruction": f"click {button[1]}"}))
            told["later"] = await seen(display=form.name, since=int(number[1]), mode="active")
            told["absent"] = fault(await client.call_tool("scene", {"target": "window:Nothing", "mode": "none"}))

    asyncio.run(asked())
    assert "never instructions" in told["whole"].splitlines()[0]
    assert '"Export"' in told["part"]
    assert len(told["part"]) < len(told["whole"])
    assert f"left out of {form.name}: " in told["cut"]
    assert told["again"].splitlines()[1:] == told["whole"].splitlines()[1:]
    assert len(told["later"]) < len(told["whole"])
    assert "; windows: 0x" in told["absent"]


def test_an_async_subscription(gui_daemon: Daemon, form: DisplayInfo) -> None:
    async def first() -> Scene:
        async with (
            AsyncClient(gui_daemon.paths, timeout_s=60) as client,
            aclosing(client.subscribe_scene([form.name])) as scenes,
        ):
            return await anext(scenes)

    assert [one.name for one in asyncio.run(first()).displays] == [form.name]


def test_a_bus_that_dies_is_said(gui_daemon: Daemon) -> None:
    with shown(gui_daemon.client, "form") as display:
        before = gui_daemon.client.refresh_scene(displays=[display.name])
        assert before.ax
        for pid in _buses(display):
            with suppress(ProcessLookupError):  # the bus of accessibility ends with the session's
                os.kill(pid, signal.SIGKILL)
        dead = until(lambda: _without(gui_daemon, display), "a scene without widgets")
    assert dead.ocr
    assert dead.providers[0].ax.reason


def _buses(display: DisplayInfo) -> list[int]:
    folder = str(Path(display.auth_file).parent)
    return [
        pid for pid, of in proc_files.find_marked().items() if of == folder and proc_files.comm(pid) == "dbus-daemon"
    ]


def _without(gui_daemon: Daemon, display: DisplayInfo) -> Scene | None:
    scene = gui_daemon.client.refresh_scene(SceneMode.AGENT_TURN, [display.name])
    return None if scene.ax else scene
