"""A task's ZIP file over HTTP: whole for who may see the task, short when the pass ends, nothing for others."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO

import httpx
import pytest

from acud.protocol.web import Scope
from acud.types.tasks import ActionType
from tests.e2e.desktop import until
from tests.e2e.gateway_support import SETTINGS, Browser, served, token
from tests.fixtures.daemon import Daemon


@pytest.fixture(scope="module")
def gateway() -> Iterator[Daemon]:
    with Daemon(settings=SETTINGS) as running:
        yield running
        assert "Traceback" not in running.log()


def test_the_file_is_whole_and_says_what_is_in_it(gateway: Daemon) -> None:
    client = gateway.client
    task = client.task_register("to be taken along", ["look"]).view.task
    until(lambda: any(one.frames for one in client.record_list(task_id=task.task_id).recordings), "a first frame")
    client.task_log_action(task.task_id, ActionType.GUI, "looked <around>", item=1)
    secret, _ = token(client, Scope.READ, tasks=(task.task_id,))
    with Browser(served(gateway), secret) as browser:
        answer = browser.raw.get(f"/api/tasks/{task.task_id}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"] == f'attachment; filename="{task.task_id}.zip"'
    with zipfile.ZipFile(BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert {one["name"] for one in manifest["files"]} == set(archive.namelist()) - {"manifest.json"}
        assert "looked <around>" in archive.read("actions.json").decode()
        assert [name for name in archive.namelist() if name.endswith(".mp4")]
    assert any("still being recorded" in note for note in manifest["notes"])


def test_who_may_not_see_the_task_gets_nothing(gateway: Daemon) -> None:
    client = gateway.client
    task = client.task_register("not for everybody", isolated_display=False).view.task
    path = f"/api/tasks/{task.task_id}/export"
    elsewhere, _ = token(client, Scope.ADMIN, tasks=("task-00000000000000000000000",))
    everywhere, _ = token(client, Scope.READ)
    with Browser(served(gateway)) as nobody:
        assert nobody.ask("GET", path)[0] == 401
    with Browser(served(gateway), elsewhere) as other:
        assert other.ask("GET", path)[0] == 403
    with Browser(served(gateway), everywhere) as reader:
        assert reader.ask("GET", "/api/tasks/task-00000000000000000000000/export")[0] == 404


def test_a_pass_that_ends_ends_the_file(gateway: Daemon) -> None:
    client = gateway.client
    task = client.task_register("long to tell").view.task
    (recording,) = client.record_list(task_id=task.task_id).recordings
    until(lambda: client.record_list(task_id=task.task_id).recordings[0].frames, "a first frame")
    client.record_stop(recording.recording_id)
    # More than every buffer on the way holds: who does not read keeps it from being sent.
    (video,) = (gateway.paths.recordings / recording.folder).glob("*.mp4")
    with video.open("ab") as file:
        file.truncate(256 << 20)
    secret, made = token(client, Scope.READ)
    with (
        Browser(served(gateway), secret) as browser,
        browser.raw.stream("GET", f"/api/tasks/{task.task_id}/export") as answer,
    ):
        assert answer.status_code == 200
        parts = answer.iter_raw()
        next(parts)
        client.web_token_revoke(made.pass_id)
        with pytest.raises(httpx.RemoteProtocolError):
            until(lambda: next(parts, b"the end") == b"the end", "the end")
