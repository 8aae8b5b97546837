"""`acud do` and the MCP tool, on a real display: they act, they answer, and their errors name fault and next step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from acud.types import DisplayInfo, WindowInfo
from acud.types.actions import WindowList
from acud.x11.connection import Connection
from acud.x11.windows import WindowReader
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE
from tests.e2e.desktop import titled, until
from tests.e2e.mcp_support import fault, pictured, stdio, value
from tests.e2e.recording import Recording, act
from tests.fixtures.daemon import Daemon

MANAGED = BARE.replace('"none"', '"openbox"')


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(settings=MANAGED) as running:
        yield running


@pytest.fixture(scope="module")
def view(daemon: Daemon) -> DisplayInfo:
    made = daemon.client.display_create(640, 480).display
    with closing(Connection(made.name, made.auth_file)) as x:
        until(WindowReader(x).has_manager, "its window manager, which moves the windows that it finds")
    return made


@pytest.fixture(scope="module")
def recorder(daemon: Daemon, view: DisplayInfo, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return Recording(daemon.client, view.name, tmp_path_factory.mktemp("recorder"))


@pytest.fixture
def acud(daemon: Daemon, view: DisplayInfo) -> CommandLine:
    return CommandLine(daemon.home)


def last_press(recorder: Recording, x: int, y: int) -> None:
    recorder.until(
        lambda _: recorder.lines("press") and recorder.lines("press")[-1].split()[2:4] == [str(x), str(y)], "it"
    )


def test_the_command_line_acts(
    acud: CommandLine, daemon: Daemon, view: DisplayInfo, recorder: Recording, tmp_path: Path
) -> None:
    at = ("-d", view.name)
    acud.run("do", "click", "200", "210", "--button", "right", *at)
    last_press(recorder, 200, 210)
    shot = tmp_path / "after.png"
    out = acud.run("do", "click", "20", "30", "-t", "window:Recorder", "--picture", str(shot), *at)
    box = titled(daemon.client, view.name, "Recorder").bounds  # its window manager has placed it by now
    last_press(recorder, box.x + 20, box.y + 30)
    assert f"{shot}: 640x480, view {view.name}/640x480/0,0,640,480@640x480" in out
    with Image.open(shot) as image:
        assert image.size == (640, 480)
    acud.run("do", "move", "100", "90", *at)
    assert acud.run("do", "cursor", *at) == "100 90\n"
    acud.run("do", "key", "a", "ctrl+b", *at)
    acud.run("do", "type", "two words", *at)
    assert "Recorder" in acud.run("do", "windows", "record", *at)
    assert acud.run("do", "windows", "nothing", *at) == f"no window matches 'nothing' on {view.name}\n"
    assert acud.run("do", "idle", *at) == "idle\n"
    acud.run("do", "clipboard", "set", "copied words", *at)
    assert acud.run("do", "clipboard", "get", *at) == "copied words\n"
    reply = acud.json("do", "scroll", "down", "2", "--at", "200", "200", *at)
    assert (reply["done"], reply["display"]) == (1, view.name)


def test_windows_from_the_command_line(acud: CommandLine, daemon: Daemon, view: DisplayInfo) -> None:
    at = ("-d", view.name)
    pid = int(acud.run("do", "launch", *at, "--", "xterm", "-title", "Moved", "-geometry", "20x5"))

    def there() -> tuple[WindowInfo, ...]:
        return act(daemon.client, WindowList("Moved"), display=view.name).windows

    assert pid > 0
    until(there, "its window")
    acud.run("do", "window", "focus", "Moved", *at)
    acud.run("do", "window", "move", "Moved", "120", "130", *at)
    until(lambda: abs(there()[0].bounds.x - 120) <= 2 and abs(there()[0].bounds.y - 130) <= 2, "its move")
    acud.run("do", "window", "close", "Moved", *at)
    until(lambda: not there(), "its end")
    acud.run("do", "window", "focus", "Moved", *at, code=7)


def test_errors_of_the_command_line(acud: CommandLine, view: DisplayInfo) -> None:
    at = ("-d", view.name)
    for words, code in (
        (("do", "click", "640", "5"), 2),
        (("do", "click", "640"), 2),
        (("do", "key", "nokey"), 2),
        (("do", "launch", "--", "no-such-program"), 7),
        (("do", "click", "1", "1", "-t", "window:gone"), 7),
        (("do", "window", "raise", "0x12345678"), 7),
    ):
        acud.run(*words, *at[: 2 if words[1] != "launch" else 0], code=code)


def test_taking_a_display_over(acud: CommandLine, view: DisplayInfo) -> None:
    taken = acud.json("display", "take", view.name, "--for", "10m", "--who", "Kim", "--note", "paying")
    assert "taken by Kim until" in acud.run("display", "list")
    refused = acud.json("do", "click", "5", "5", "-d", view.name, code=8)["error"]
    assert f"acud display release {view.name}" in refused["hint"]
    acud.run("do", "cursor", "-d", view.name, "--lease", taken["lease"])
    refused = acud.json("display", "release", view.name, code=8)["error"]
    assert f"acud display release {view.name} --force" in refused["hint"]
    acud.run("display", "release", view.name, "--lease", taken["lease"])
    out = acud.run("display", "take", view.name, "--who", "Kim")
    assert f"give it back with: acud display release {view.name} --lease lease-" in out
    acud.run("display", "release", view.name, "--force")
    lease = acud.run("display", "take", view.name, "--env").removeprefix("export ACU_LEASE=").strip()
    acud.run("display", "release", view.name, "--lease", lease)


@pytest.mark.asyncio
async def test_the_tool_acts(daemon: Daemon, view: DisplayInfo, recorder: Recording) -> None:
    async with stdio(daemon.home) as client:

        async def act(action: str, **given: object) -> dict[str, object]:
            return value(await client.call_tool("desktop_action", {"action": action, "display": view.name, **given}))

        looked = value(await client.call_tool("desktop_look", {"target": f"display:{view.name}", "max_side": 320}))
        reply = await act("left_click", coordinate=[100, 80], view=looked["view"])
        await asyncio.to_thread(last_press, recorder, 201, 161)
        picture = reply["picture"]
        assert isinstance(picture, dict)
        with Image.open(str(picture["path"])) as image:
            assert image.size == (640, 480)
        changed = await client.call_tool(
            "wait_for_change", {"target": f"display:{view.name}", "baseline": reply["baseline"], "timeout": 30}
        )
        assert value(changed)["changed"] is True
        assert (await act("cursor_position"))["cursor"] == [201, 161]
        windows = (await act("window_list", text="recorder"))["windows"]
        assert isinstance(windows, list)
        assert [one["title"] for one in windows] == ["Recorder"]
        assert "picture" not in await act("type", text="words", picture=False)
        assert (await act("screenshot"))["width"] == 640
        await act("clipboard_set", text="from a model", picture=False)
        assert (await act("clipboard_get"))["text"] == "from a model"
        shown = await client.call_tool("desktop_action", {"action": "mouse_move", "coordinate": [1, 1], "image": True})
        facts, _ = pictured(shown)
        assert facts["picture.path"].endswith(".jpg")


@pytest.mark.asyncio
async def test_errors_of_the_tool(daemon: Daemon, view: DisplayInfo) -> None:
    async with stdio(daemon.home) as client:

        async def refused(action: str, **given: object) -> str:
            return fault(await client.call_tool("desktop_action", {"action": action, "display": view.name, **given}))

        assert "640,5 is off the display, which is 640x480" in await refused("left_click", coordinate=[640, 5])
        assert "no key is called 'nokey'" in await refused("key", text="nokey")
        assert "no window matches 'gone'" in await refused("window_focus", window="gone")
        assert "needs coordinate; such as [x, y]" in await refused("mouse_move")
        assert "no program 'no-such-program'" in await refused("launch", text="no-such-program -x")
