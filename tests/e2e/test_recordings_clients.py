"""Recordings through the command line and the MCP tool; a task's export."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import av
import pytest
from PIL import Image

from acud.protocol.recordings import RecordingState
from acud.types import Rect
from acud.types.tasks import ActionType
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, ended, until
from tests.e2e.faults import LAMP_IS_GREEN, Judge, settings
from tests.e2e.mcp_support import fault, stdio, value
from tests.fixtures.daemon import Daemon

LAMP = Rect(600, 300, 24, 24)
KEY = b"sk-or-v1-never-in-an-export"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    chosen = settings(Judge(tmp_path_factory.mktemp("judge"))) + f'[backends.openrouter]\napi_key = "{KEY.decode()}"\n'
    with Daemon(settings=chosen) as running:
        yield running


def _framed(daemon: Daemon, recording_id: str) -> bool:
    return any(one.frames for one in daemon.client.record_list().recordings if one.recording_id == recording_id)


def test_the_command_line_records(daemon: Daemon) -> None:
    cli = CommandLine(daemon.home)
    display = daemon.client.display_create(320, 240).display
    begun = cli.run("record", "start", display.name, "--fps", "5").strip()
    assert begun in cli.run("record", "list")
    assert "is recorded already" in _refused(cli, "record", "start", "--display", display.name)
    stopped = cli.json("record", "stop", begun[:20])
    assert stopped["recording"]["state"] == "done"
    assert list(Path(stopped["path"]).glob("*.mp4"))
    assert cli.run("record", "delete", begun).strip() == f"deleted {begun}"
    assert not Path(stopped["path"]).exists()
    assert cli.json("display", "show", display.name)["width"] == 320
    daemon.client.display_remove(display.name, force=True)
    assert "ended" in cli.run("display", "show", display.name)
    assert "acud display list --all" in _refused(cli, "display", "show", ":9999")
    assert "acud task list --all" in _refused(cli, "task", "show", "nope")


def _refused(cli: CommandLine, *arguments: str) -> str:
    child = cli.start(*arguments)
    _, err = child.communicate(timeout=60)
    assert child.returncode != 0
    return err


@pytest.mark.asyncio
async def test_the_tool_records(daemon: Daemon) -> None:
    display = daemon.client.display_create(320, 240).display
    async with stdio(daemon.home, mode="auto") as client:
        begun = value(await client.call_tool("video_record", {"action": "start", "display": display.name}))["videos"][0]
        nowhere = await client.call_tool("video_record", {"display": display.name, "target": "window:Nowhere"})
        assert "no window matches" in fault(nowhere)
        done = value(await client.call_tool("video_record", {"action": "stop", "display": display.name}))["videos"][0]
        listed = value(await client.call_tool("video_record", {"action": "list"}))["videos"]
        again = await client.call_tool("video_record", {"action": "stop", "display": display.name})
    assert (done["recording_id"], done["state"]) == (begun["recording_id"], "done")
    assert [Path(path).is_file() for path in done["files"]] == [True]  # noqa: ASYNC240 - a test has nothing else to do
    assert done in listed
    assert again.is_error
    daemon.client.display_remove(display.name, force=True)


def test_an_export_holds_everything_of_a_task(daemon: Daemon, tmp_path: Path) -> None:
    task = daemon.client.task_register("paint it green", ["look", "paint"]).view.task
    (recording,) = daemon.client.record_list(task_id=task.task_id).recordings
    until(lambda: _framed(daemon, recording.recording_id), "the first frame")
    screen = next(one for one in daemon.client.display_list().displays if one.name == task.display)
    wait = daemon.client.wait_create(LAMP_IS_GREEN, task_id=task.task_id).wait
    daemon.client.task_log_action(task.task_id, ActionType.GUI, "painted", item=2)
    daemon.client.task_update(task.task_id, message="it is green now")
    with Desk(screen.name, screen.auth_file) as desk:
        desk.fill(LAMP, 0x00C040)
        ended(daemon.client, wait.wait_id)
    daemon.client.record_stop(recording.recording_id)
    told = CommandLine(daemon.home).json("task", "export", task.task_id, "-o", str(tmp_path / "task.zip"))
    assert told["manifest"]["notes"] == []
    assert (tmp_path / "task.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "task.zip") as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        name = f"{recording.recording_id}-0001"
        for one in told["manifest"]["files"]:
            assert hashlib.sha256(archive.read(one["name"])).hexdigest() == one["sha256"]
        assert {one["name"] for one in told["manifest"]["files"]} == names - {"manifest.json"}
        assert json.loads(archive.read("manifest.json")) == told["manifest"]
        assert not any(KEY in archive.read(name) for name in names)
        assert names >= {
            "manifest.json",
            "task.json",
            "summary.txt",
            "messages.json",
            "actions.json",
            f"wakes/{wait.wait_id}.json",
            f"waits/{wait.wait_id}.json",
            f"evidence/{wait.wait_id}.png",
            f"recordings/{name}.mp4",
            f"recordings/{name}.jsonl",
        }
        assert "it is green now" in archive.read("messages.json").decode()
        assert "painted" in [one["action"]["summary"] for one in json.loads(archive.read("actions.json"))]
        assert json.loads(archive.read(f"waits/{wait.wait_id}.json"))["wait"]["verdict"]["answer"] == "yes"
        with Image.open(BytesIO(archive.read(f"evidence/{wait.wait_id}.png"))) as picture:
            assert picture.size == (640, 480)
        with av.open(BytesIO(archive.read(f"recordings/{name}.mp4"))) as video:
            assert len(list(video.decode(video=0))) >= 2
    assert daemon.client.record_list(task_id=task.task_id).recordings[0].state is RecordingState.DONE
