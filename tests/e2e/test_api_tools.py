"""The tools of `acud mcp` over plain HTTP: /tool/* with the names and arguments that the programs before acud took."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import pytest

from acud.protocol.web import Scope
from acud.types import DisplayInfo, Rect, Text
from tests.e2e.api_support import SETTINGS, Api
from tests.e2e.desktop import Desk, decoded, until
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = SETTINGS


@pytest.fixture(scope="module")
def screen(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(640, 480).display


def asked(api: Api, tool: str, **given: Any) -> tuple[int, Any]:
    """Call a tool; return status and JSON."""
    answer = api.raw.post(f"/tool/{tool}", json=given)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


def called(api: Api, tool: str, **given: Any) -> Any:
    """Call a tool, which must be done; return its result."""
    status, found = asked(api, tool, **given)
    assert status == 200, found
    return found


def test_the_tools_are_listed(api: Api) -> None:
    told = api.raw.get("/tool").json()["tools"]
    documented = {
        *("task_register", "task_summary", "task_update", "task_item_update", "task_log_action", "task_drill_down"),
        *("task_list", "task_plan_append", "task_thread", "health_check"),
        *("smart_wait", "wait_status", "wait_update", "wait_cancel", "wait_for_change"),
        *("gui_do", "gui_find", "desktop_action", "desktop_look", "video_record"),
    }
    assert documented <= {one["name"] for one in told}
    assert next(one for one in told if one["name"] == "wait_cancel")["arguments"]["required"] == ["wait_id"]
    status, body = asked(api, "mavi_understand")
    assert (status, body["code"]) == (404, "not_found")
    assert "smart_wait" in body["hint"]
    assert asked(api, "memory_read")[0] == 404
    by_name = [api.raw.post(path, json={}) for path in ("/task_list", "/tool/task_list", "/nothing")]
    assert [one.status_code for one in by_name] == [200, 200, 404]
    assert by_name[0].json() == by_name[1].json()
    assert api.raw.get("/task_list").status_code == 404


def test_waits(api: Api, daemon: Daemon, screen: DisplayInfo) -> None:
    target = f"display:{screen.name}"
    armed = called(api, "smart_wait", target=target, wake_when="it rains", timeout=300, poll_interval=2.0)
    assert (armed["status"], armed["criteria"], armed["timeout"]) == ("watching", "it rains", 300)
    wait_id = armed["wait_id"]
    assert called(api, "wait_status", wait_id=wait_id)["status"] == "watching"
    assert wait_id in [one["wait_id"] for one in called(api, "wait_status")["waits"]]
    noted = called(api, "wait_update", wait_id=wait_id, message="too early")
    assert noted["notes"][0] == "the message was not kept: this wait belongs to no task"
    assert called(api, "wait_update", wait_id=wait_id, wake_when="it snows", timeout=60)["criteria"] == "it snows"
    assert called(api, "wait_cancel", wait_id=wait_id, reason="enough")["status"] == "cancelled"
    assert asked(api, "wait_cancel", wait_id=wait_id)[0] == 409
    status, fault = asked(api, "smart_wait", colour="red")
    assert (status, fault["code"]) == (422, "invalid")
    assert "colour" in fault["error"]
    key = {"Idempotency-Key": "by-tool"}
    body = {"target": target, "text": "never to be seen"}
    first, again = (api.raw.post("/tool/smart_wait", json=body, headers=key).json() for _ in range(2))
    assert first["wait_id"] == again["wait_id"]
    daemon.client.wait_cancel(first["wait_id"])


def test_a_change_within_the_seconds_in_text(api: Api, screen: DisplayInfo) -> None:
    quiet = called(api, "wait_for_change", display=screen.name, text="0.1")
    assert quiet["changed"] is False
    found: list[Any] = []
    given = {
        "action": "wait_for_change",
        "text": "30",
        "display": screen.name,
        "baseline": quiet["picture"]["baseline"],
    }
    asking = threading.Thread(target=lambda: found.append(called(api, "desktop_action", **given)))
    asking.start()
    with Desk(screen.name, screen.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50))
        asking.join(timeout=60)
    assert found[0]["changed"] is True
    status, fault = asked(api, "desktop_action", action="wait_for_change", text="soon")
    assert (status, fault["code"]) == (422, "invalid")
    assert "text is no number of seconds" in fault["error"]


def test_looks_and_actions(api: Api, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        desk.words(Rect(50, 50, 200, 60), "Export", title="Files")
        looked = called(api, "desktop_look", display=screen.name, image=True)
        assert looked["image"]["mime_type"] == "image/jpeg"
        shape = decoded(base64.b64decode(looked["image"]["data"])).shape
        assert (shape[1], shape[0]) == (looked["width"], looked["height"]) == (640, 480)
        assert decoded(Path(looked["path"]).read_bytes()).shape == shape
        moved = called(api, "desktop_action", action="mouse_move", coordinate=[30, 40], display=screen.name)
        assert moved["cursor"] == [30, 40]
        found = until(
            lambda: (one := called(api, "gui_find", description="Export", display=screen.name)).get("things") and one,
            "the button",
        )
        assert found["things"][0]["label"] == "Export"
        done = called(api, "gui_do", instruction="click the Export button", display=screen.name, timeout=0.2)
        assert done["status"] == "unverified"
        assert "Files" in called(api, "scene", display=screen.name)["text"]


def test_a_video_of_some_seconds(api: Api, screen: DisplayInfo) -> None:
    (video,) = called(api, "video_record", duration=0.5, target=f"display:{screen.name}", fps=5)["videos"]
    assert (video["state"], video["display"]) == ("done", screen.name)
    assert Path(video["files"][0]).stat().st_size > 0
    status, fault = asked(api, "video_record", duration=1, target="window:Files")
    assert (status, fault["code"]) == (404, "not_found")
    assert "Files" in fault["error"]


def test_tasks(api: Api) -> None:
    made = called(api, "task_register", name="sort the mail", plan=["open", "sort"], isolated_display=False)
    task_id = made["view"]["task"]["task_id"]
    assert called(api, "task_item_update", task_id=task_id, item=1, status="active", note="begun")
    logged = called(api, "task_log_action", task_id=task_id, action_type="cli", summary="ls", output_data="2 files")
    assert logged["action"]["summary"] == "ls"
    assert called(api, "task_plan_append", task_id=task_id, items=["close"])
    assert "sort" in called(api, "task_summary", task_id=task_id, detail_level="actions")["summary"]
    assert called(api, "task_drill_down", task_id=task_id, item=1)["actions"][0]["action"]["summary"] == "ls"
    wait = called(api, "smart_wait", text="never", task_id=task_id)["wait_id"]
    noted = called(api, "wait_update", wait_id=wait, message="not yet")["notes"]
    assert noted[0] == f"the message is in the thread of {task_id}"
    thread = called(api, "task_thread", task_id=task_id, limit=50)["messages"]
    assert "not yet" in [one["content"] for one in thread]

    def listed(status: str) -> list[str]:
        return [one["task"]["task_id"] for one in called(api, "task_list", status=status, limit=10)["tasks"]]

    assert task_id in listed("active")
    assert called(api, "task_update", task_id=task_id, message="done", query="how far?", status="completed")
    assert task_id in listed("completed")
    assert task_id not in listed("active")
    assert asked(api, "task_list", status="asleep")[0] == 422


def test_a_pass_is_good_for_no_more_than_over_rest(daemon: Daemon, screen: DisplayInfo) -> None:
    wait = {"text": "never", "display": screen.name}
    move = {"action": "mouse_move", "coordinate": [1, 2], "display": screen.name}
    launch = {"action": "launch", "text": "true", "display": screen.name}
    with Api(daemon, Scope.READ) as reading, Api(daemon, Scope.WAIT) as waiting, Api(daemon, Scope.ACT) as acting:
        assert called(reading, "desktop_look", display=screen.name)["display"] == screen.name
        ended = daemon.client.wait_create(Text("never"), display=screen.name, timeout_s=0).wait.wait_id
        until(lambda: daemon.client.wait_result(ended, peek=True).ended, "the end")
        assert called(reading, "wait_status", wait_id=ended)["status"] == "timeout"
        for api, tool, given in (
            (reading, "smart_wait", wait),
            (reading, "task_register", {"name": "a", "isolated_display": False}),
            (waiting, "smart_wait", {"image": "/etc/passwd"}),
            (waiting, "smart_wait", {"file": "~/report.pdf"}),
            (waiting, "task_register", {"name": "a"}),
            (waiting, "desktop_action", move),
            (waiting, "gui_do", {"instruction": "press a"}),
            (waiting, "video_record", {"duration": 1}),
            (acting, "desktop_action", launch),
        ):
            status, fault = asked(api, tool, **given)
            assert (status, fault["code"]) == (403, "forbidden"), tool
            assert "this needs the scope" in fault["error"]
        assert called(acting, "desktop_action", **move)["cursor"] == [1, 2]
    with Api(daemon, Scope.ADMIN, displays=[screen.name]) as limited:
        assert asked(limited, "wait_status")[0] == 403
    assert daemon.client.wait_list().waits == ()
