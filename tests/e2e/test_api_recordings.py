"""Recordings over HTTP: made, watched while they are made, played from the bytes got, deleted; a task's ZIP file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import zipfile
from pathlib import Path
from typing import Any

import av
import httpx
import pytest

from acud.protocol.recordings import VIDEO_SUFFIX, file_name
from acud.protocol.web import Scope
from acud.types import Change, Criteria, DisplayInfo, Rect
from acud.types.tasks import ActionType
from tests.e2e.api_support import SETTINGS, Api
from tests.e2e.desktop import Desk, until
from tests.e2e.gateway_support import Browser, token
from tests.fixtures.daemon import Daemon

WHITE, RED = 0xFFFFFF, 0xFF0000


DAEMON_SETTINGS = SETTINGS


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(320, 240).display


@pytest.fixture(scope="module")
def made(api: Api, display: DisplayInfo) -> dict[str, Any]:
    """A recording of two colours that has ended."""
    begun: dict[str, Any] = api.post("recordings", display=display.name, fps=5)["recording"]
    path = f"recordings/{begun['recording_id']}"
    with Desk(display.name, display.auth_file) as desk:
        for colour in (WHITE, RED):
            count = api.get(path)["recording"]["frames"]  # before the paint, of which there may be a frame at once
            desk.window(Rect(0, 0, 320, 240), colour)
            until(lambda known=count: api.get(path)["recording"]["frames"] > known, "a frame")
    ended: dict[str, Any] = api.post(f"{path}/stop")["recording"]
    return ended


def video(made: dict[str, Any]) -> str:
    return f"/api/recordings/{made['recording_id']}/segments/1/video"


def frames_in(data: bytes) -> int:
    with av.open(io.BytesIO(data)) as opened:
        return sum(1 for _ in opened.decode(video=0))


def test_a_recording_is_listed_shown_and_played(api: Api, made: dict[str, Any]) -> None:
    assert made["state"] == "done"
    assert made["recording_id"] in [one["recording_id"] for one in api.get("recordings")["recordings"]]
    assert api.get(f"recordings/{made['recording_id']}")["recording"] == made
    answer = api.raw.get(video(made))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "video/mp4")
    assert frames_in(answer.content) >= 2
    rows = api.get(f"recordings/{made['recording_id']}/segments/1/frames")
    assert rows["frames"][0]["at_ms"] == 0
    assert (len(rows["frames"]), rows["more"]) == (made["frames"], False)
    later = api.get(f"recordings/{made['recording_id']}/segments/1/frames", from_ms=rows["frames"][1]["at_ms"], limit=1)
    assert later["frames"] == rows["frames"][1:2]


def test_ranges_and_validators(api: Api, made: dict[str, Any]) -> None:
    whole = api.raw.get(video(made))
    size, etag = len(whole.content), whole.headers["etag"]

    def ranged(value: str, **more: str) -> tuple[int, bytes, str]:
        answer = api.raw.get(video(made), headers={"Range": value, **more})
        return answer.status_code, answer.content, answer.headers.get("content-range", "")

    assert ranged("bytes=-7") == (206, whole.content[-7:], f"bytes {size - 7}-{size - 1}/{size}")
    assert ranged(f"bytes={size}-")[::2] == (416, f"bytes */{size}")
    assert ranged("bytes=0-1,4-5")[:2] == (200, whole.content)
    assert ranged("bytes=0-9", **{"If-Range": etag})[0] == 206
    assert ranged("bytes=0-9", **{"If-Range": '"another"'})[0] == 200
    assert api.raw.get(video(made), headers={"If-None-Match": etag}).status_code == 304
    head = api.raw.head(video(made))
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(size), b"")


def test_a_recording_is_served_while_it_is_made(api: Api, display: DisplayInfo) -> None:
    begun = api.post("recordings", display=display.name, fps=5)["recording"]["recording_id"]
    assert api.refused("DELETE", f"recordings/{begun}") == (409, "conflict")
    with Desk(display.name, display.auth_file) as desk:
        desk.window(Rect(0, 0, 320, 240), RED)
        until(lambda: api.get(f"recordings/{begun}")["recording"]["frames"] >= 1, "a frame")
        first = api.raw.get(f"/api/recordings/{begun}/segments/1/video")
        assert "etag" not in first.headers
        assert frames_in(first.content) >= 1
        desk.window(Rect(0, 0, 320, 240), WHITE)
        until(lambda: api.get(f"recordings/{begun}")["recording"]["frames"] >= 2, "another")
        second = api.raw.get(f"/api/recordings/{begun}/segments/1/video")
        assert second.content.startswith(first.content)
    api.post(f"recordings/{begun}/stop")
    assert api.refused("POST", f"recordings/{begun}/stop") == (409, "conflict")
    assert api.delete(f"recordings/{begun}")["recording"]["recording_id"] == begun
    assert api.refused("GET", f"recordings/{begun}") == (404, "not_found")


def test_a_condition_is_tried_on_it_line_by_line(api: Api, daemon: Daemon, made: dict[str, Any]) -> None:
    """One at a time; the process that replays ends with its client, and knows no other recording's id."""
    path = f"/api/recordings/{made['recording_id']}/replay"
    body = {"until": {"type": "change"}, "judges": ["ocr"]}
    lines = [json.loads(line) for line in api.raw.post(path, json=body, timeout=60).text.splitlines()]
    assert [lines[0]["type"], *(one["type"] for one in lines[-2:])] == ["began", "run", "done"]
    assert lines[-2]["state"] == "resolved"
    assert lines[0]["frames"] == made["frames"]
    files = api.raw.post(path, json={"until": {"type": "file", "path": "~/x"}}, timeout=60).text.splitlines()
    assert [json.loads(line)["type"] for line in files] == ["fault", "done"]
    long = body | {"until": {"type": "text", "text": "never to be seen"}}
    with api.raw.stream("POST", path, json=long, timeout=60) as answer:
        assert answer.status_code == 200
        (process,) = until(lambda: _replaying(daemon), "its process")
        os.kill(int(process.name), signal.SIGSTOP)  # it does not end by itself
        assert api.raw.post(path, json=body).status_code == 429
        assert _replaying(daemon)
    until(lambda: not _replaying(daemon), "the end of its process")
    assert api.raw.post("/api/recordings/rec-none/replay", json=body).status_code == 404
    assert api.raw.post(path, json={"until": {"type": "nothing"}}).status_code == 422


def _replaying(daemon: Daemon) -> list[Path]:
    """Return the processes of this daemon that replay."""
    home = f"ACU_HOME={daemon.home}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if b"acud.features.recording.replay" in (process / "cmdline").read_bytes():
                found += [process] if home in (process / "environ").read_bytes().split(b"\0") else []
    return found


def test_what_happened_while_it_was_made(api: Api, daemon: Daemon) -> None:
    client = daemon.client
    task = client.task_register("film this", ["look"], display_width=160, display_height=120).view.task
    found = until(lambda: api.get("recordings", task=task.task_id)["recordings"], "the task's own recording")
    recording = found[0]["recording_id"]
    until(lambda: api.get(f"recordings/{recording}")["recording"]["segments"], "its first segment")
    wait = client.wait_create(Change(), task_id=task.task_id, timeout_s=600, label="a change").wait.wait_id
    judged = client.wait_create(Criteria("it rains"), task_id=task.task_id, timeout_s=600).wait.wait_id
    until(lambda: api.get(f"waits/{judged}")["evaluations"], "a verdict")
    client.task_log_action(task.task_id, ActionType.CLI, "make", item=1)
    client.task_update(task.task_id, message="half done")
    shown = next(one for one in client.display_list().displays if one.name == task.display)
    with Desk(task.display, shown.auth_file) as desk:
        desk.window(Rect(0, 0, 50, 50))
        client.wait_end(wait, timeout_s=60)
    client.wait_cancel(judged)  # it is judged anew with each change; now no more marks come
    marks = api.get(f"recordings/{recording}/timeline")
    told = {(mark["kind"], mark["title"]) for mark in marks["marks"]}
    assert {
        ("wait", "watching"), ("wait", "resolved"), ("action", "cli, completed"), ("message", "agent, text"),
    } <= told  # fmt: skip
    verdicts = [mark for mark in marks["marks"] if mark["kind"] == "verdict"]
    assert (verdicts[0]["id"], verdicts[0]["answer"], verdicts[0]["title"]) == (judged, "no", "it rains (scripted)")
    assert verdicts[0]["frame"] > 0
    times = [mark["utc_ms"] for mark in marks["marks"]]
    assert times == sorted(times)
    assert marks["start_ms"] <= times[0] <= times[-1] <= marks["end_ms"]
    spans = {span["wait_id"]: span for span in marks["waits"]}
    assert (spans[judged]["state"], spans[judged]["condition"]) == ("cancelled", "it rains")
    assert spans[judged]["from_ms"] < verdicts[0]["utc_ms"] <= spans[judged]["until_ms"]
    assert api.get(f"recordings/{recording}/timeline", after_ms=times[0])["waits"] == []
    paged, after = [], 0
    while (page := api.get(f"recordings/{recording}/timeline", after_ms=after, limit=2))["marks"]:
        paged += page["marks"]
        after = page["marks"][-1]["utc_ms"]
    assert paged == marks["marks"]
    client.task_delete(task.task_id)
    until(lambda: api.raw.get(f"/api/recordings/{recording}").status_code == 404, "its recording to go with it")


def test_a_limited_pass_gets_its_display_s_recordings_alone(api: Api, daemon: Daemon, made: dict[str, Any]) -> None:
    paths = [
        f"recordings/{made['recording_id']}{end}"
        for end in ("", "/timeline", "/segments/1/video", "/segments/1/frames")
    ]
    with Api(daemon, Scope.ACT, displays=[":9999"]) as foreign:
        assert foreign.get("recordings")["recordings"] == []
        for path in paths:
            assert foreign.refused("GET", path) == (403, "forbidden"), path
        assert foreign.refused("POST", "recordings", json={"display": made["display"]}) == (403, "forbidden")
        assert foreign.refused("DELETE", f"recordings/{made['recording_id']}") == (403, "forbidden")
    with Api(daemon, Scope.READ, displays=[made["display"]]) as own:
        assert made["recording_id"] in [one["recording_id"] for one in own.get("recordings")["recordings"]]
        for path in paths:
            assert own.raw.get(f"/api/{path}").status_code == 200
    assert api.refused("GET", f"recordings/{made['recording_id']}/segments/7/video") == (404, "not_found")
    assert api.refused("POST", "recordings", json={}) == (404, "not_found")
    assert api.refused("POST", "recordings", json={"display": made["display"], "task_id": "a"}) == (409, "conflict")


def test_no_link_is_followed_and_a_missing_file_is_not_found(api: Api, daemon: Daemon, made: dict[str, Any]) -> None:
    file = daemon.paths.recordings / made["folder"] / file_name(made["recording_id"], 1, VIDEO_SUFFIX)
    kept = file.with_name("kept")
    file.rename(kept)
    assert api.refused("GET", video(made).removeprefix("/api/")) == (404, "not_found")
    file.symlink_to(kept)
    assert api.refused("GET", video(made).removeprefix("/api/")) == (404, "not_found")
    file.unlink()
    kept.rename(file)
    assert api.raw.get(video(made)).status_code == 200


# ---- a task's ZIP file ---------------------------------------------------------------------------------------------


def test_a_tasks_file_is_whole_and_says_what_is_in_it(daemon: Daemon, api: Api) -> None:
    client = daemon.client
    task = client.task_register("to be taken along", ["look"]).view.task
    until(lambda: any(one.frames for one in client.record_list(task_id=task.task_id).recordings), "a first frame")
    client.task_log_action(task.task_id, ActionType.GUI, "looked <around>", item=1)
    secret, _ = token(client, Scope.READ, tasks=(task.task_id,))
    with Browser(api.url, secret) as browser:
        answer = browser.raw.get(f"/api/tasks/{task.task_id}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"] == f'attachment; filename="{task.task_id}.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert {one["name"] for one in manifest["files"]} == set(archive.namelist()) - {"manifest.json"}
        assert "looked <around>" in archive.read("actions.json").decode()
        assert [name for name in archive.namelist() if name.endswith(".mp4")]
    assert any("still being recorded" in note for note in manifest["notes"])


def test_who_may_not_see_the_task_gets_no_file(daemon: Daemon, api: Api) -> None:
    client = daemon.client
    task = client.task_register("not for everybody", isolated_display=False).view.task
    path = f"/api/tasks/{task.task_id}/export"
    elsewhere, _ = token(client, Scope.ADMIN, tasks=("task-00000000000000000000000",))
    everywhere, _ = token(client, Scope.READ)
    with Browser(api.url) as nobody:
        assert nobody.ask("GET", path)[0] == 401
    with Browser(api.url, elsewhere) as other:
        assert other.ask("GET", path)[0] == 403
    with Browser(api.url, everywhere) as reader:
        assert reader.ask("GET", "/api/tasks/task-00000000000000000000000/export")[0] == 404


def test_a_pass_that_ends_ends_the_file(daemon: Daemon, api: Api) -> None:
    client = daemon.client
    task = client.task_register("long to tell").view.task
    (recording,) = client.record_list(task_id=task.task_id).recordings
    until(lambda: client.record_list(task_id=task.task_id).recordings[0].frames, "a first frame")
    client.record_stop(recording.recording_id)
    # More than every buffer on the way holds: who does not read keeps it from being sent.
    (video,) = (daemon.paths.recordings / recording.folder).glob("*.mp4")
    with video.open("ab") as file:
        file.truncate(256 << 20)
    secret, made = token(client, Scope.READ)
    with Browser(api.url, secret) as browser, browser.raw.stream("GET", f"/api/tasks/{task.task_id}/export") as answer:
        assert answer.status_code == 200
        parts = answer.iter_raw()
        next(parts)
        client.web_token_revoke(made.pass_id)
        with pytest.raises(httpx.RemoteProtocolError):
            until(lambda: next(parts, b"the end") == b"the end", "the end")
