"""The REST API of a real daemon and the tools over HTTP: what each operation answers, and to whom."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.protocol.web import Scope
from acud.types import Change, Criteria, DisplayInfo, Rect, Text, WaitState
from acud.types.actions import Launch
from acud.types.tasks import ActionType, TaskStatus, TaskView
from tests.e2e.api_support import SETTINGS, Api
from tests.e2e.desktop import Desk, decoded, until
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = SETTINGS


@pytest.fixture(scope="module")
def task(daemon: Daemon) -> TaskView:
    """A task with a display of its own, a plan, an action and its log."""
    view = daemon.client.task_register("read the news", ["open", "read"], display_width=320, display_height=240).view
    daemon.client.task_log_action(view.task.task_id, ActionType.CLI, "ls", item=1, output_data="two files")
    return daemon.client.task_update(view.task.task_id, message="on my way").view


@pytest.fixture(scope="module")
def other(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(320, 240).display


@pytest.fixture(scope="module")
def mine(daemon: Daemon, task: TaskView) -> Iterator[Api]:
    """A pass that is good for that task alone."""
    with Api(daemon, Scope.ACT, tasks=[task.task.task_id]) as found:
        yield found


def test_health_names_what_is_wrong_and_keeps_paths_from_a_limited_pass(api: Api, mine: Api) -> None:
    health = api.get("health")
    assert health["protocol"]
    assert {child["kind"] for child in health["children"]} >= {"web"}
    limited = mine.get("health")
    assert (limited["children"], limited["displays"], limited["home"]) == ([], [], "")
    assert "limited" in limited["degraded"][0]
    assert (limited["judges"], limited["judge_calls"], limited["queued_jobs"]) == ([], 0, 0)
    assert limited["waits_live"] <= health["waits_live"]
    assert health["judges"]
    assert mine.get("wakes")["routes"] == []


def test_a_limited_pass_is_told_of_no_program_and_no_wait_of_others(
    daemon: Daemon, other: DisplayInfo, task: TaskView
) -> None:
    client = daemon.client
    theirs = next(one for one in client.display_list().displays if one.name == task.task.display)
    wait = client.wait_create(Change(), display=theirs.name, timeout_s=600).wait.wait_id
    client.desktop_action(Launch(("sh", "-c", "tail -f /dev/null & wait")), display=theirs.name)
    client.desktop_action(Launch(("sh", "-c", "sleep 600 & wait")), display=other.name)

    def programs(found: dict[str, Any]) -> set[tuple[str, int]]:
        return {(app["name"], app["displayId"]) for app in found["scene"]["apps"]}

    with Api(daemon) as whole, Api(daemon, Scope.READ, displays=[other.name]) as limited:
        both = {("tail", theirs.number), ("sleep", other.number)}
        until(lambda: programs(whole.get("scene")) >= both, "programs are listed")  # looked for now and then
        assert programs(limited.get(f"scene?display={other.name}")) == {("sleep", other.number)}
        assert limited.get("health")["waits_live"] == 0
    client.wait_cancel(wait)


def test_displays_and_their_windows(api: Api, daemon: Daemon, other: DisplayInfo, mine: Api) -> None:
    found = {one["name"]: one for one in api.get("displays")["displays"]}
    assert (found[other.name]["width"], found[other.name]["auth_file"]) == (320, "")
    with Desk(other.name, other.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50), title="Letters")
        until(lambda: "Letters" in str(api.get(f"displays/{other.name}/windows")["windows"]), "the window")
    assert api.refused("GET", "displays/:9999/windows") == (404, "not_found")
    assert mine.refused("GET", f"displays/{other.name}/windows") == (403, "forbidden")
    assert mine.get("displays")["displays"] == []
    with Api(daemon, Scope.READ, displays=[other.name]) as limited:
        assert [one["name"] for one in limited.get("displays")["displays"]] == [other.name]
        assert limited.get(f"displays/{other.name}/windows")["display"] == other.name
        assert limited.refused("POST", f"displays/{other.name}/take", json={}) == (403, "forbidden")


def test_tasks_with_plan_actions_logs_and_thread(api: Api, task: TaskView) -> None:
    whole = api.get(f"tasks/{task.task.task_id}")
    assert [item["title"] for item in whole["items"]] == ["open", "read"]
    assert whole["task"]["name"] == "read the news"
    assert (whole["actions"][-1]["action"]["summary"], whole["total_actions"]) == ("ls", len(whole["actions"]))
    said = api.get(f"tasks/{task.task.task_id}/messages", limit=1)
    assert (said["messages"][0]["content"], len(said["messages"])) == ("on my way", 1)
    assert task.task.task_id in [one["task"]["task_id"] for one in api.get("tasks", status="active")["tasks"]]
    assert api.get("tasks", status=["failed", "cancelled"])["tasks"] == []


def test_a_limited_pass_sees_its_task_and_no_other(api: Api, daemon: Daemon, task: TaskView, mine: Api) -> None:
    foreign = daemon.client.task_register("other", isolated_display=False).view.task.task_id
    assert [one["task"]["task_id"] for one in mine.get("tasks")["tasks"]] == [task.task.task_id]
    assert mine.get(f"tasks/{task.task.task_id}")["task"]["task_id"] == task.task.task_id
    for asked in (foreign, "task-of-nobody", task.task.task_id[:-1]):
        assert mine.refused("GET", f"tasks/{asked}") == (403, "forbidden")
    assert api.refused("GET", f"tasks/{foreign[:-1]}") == (404, "not_found")
    for path in ("commentary", "usage?task=other", "scene", f"waits?task={foreign}", f"recordings?task={foreign}"):
        assert mine.refused("GET", path) == (403, "forbidden"), path
    daemon.client.task_delete(foreign)


def test_a_wait_with_its_verdicts_and_evidence(api: Api, daemon: Daemon, other: DisplayInfo, mine: Api) -> None:
    made = daemon.client.wait_create(Change(), f"display:{other.name}", timeout_s=120, label="news").wait.wait_id
    listed = api.get("waits", state="watching", display=other.name)
    assert [one["wait_id"] for one in listed["waits"]] == [made]
    assert api.refused("GET", f"waits/{made}/evidence") == (404, "not_found")
    with Desk(other.name, other.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50))
        assert daemon.client.wait_end(made, timeout_s=60).wait.state is WaitState.RESOLVED
    shown = api.get(f"waits/{made}")
    assert (shown["wait"]["state"], shown["evidence_path"]) == ("resolved", "")
    picture = api.raw.get(f"/api/waits/{made}/evidence")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    again = api.raw.get(f"/api/waits/{made}/evidence", headers={"If-None-Match": picture.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for path in (f"waits/{made}", f"waits/{made}/evidence", "waits/wait-of-nobody"):
        assert mine.refused("GET", path) == (403, "forbidden")
    assert mine.refused("POST", f"waits/{made}/cancel", json={}) == (403, "forbidden")
    assert mine.get("waits")["waits"] == []
    assert api.refused("POST", f"waits/{made}/cancel", json={"reason": "late"}) == (409, "conflict")
    assert api.refused("GET", f"waits/{made[:-2]}") == (404, "not_found")


def test_a_wait_is_cancelled(api: Api, daemon: Daemon, other: DisplayInfo) -> None:
    made = daemon.client.wait_create(Criteria("never"), f"display:{other.name}", timeout_s=120).wait.wait_id
    assert api.post(f"waits/{made}/cancel", reason="enough")["wait"]["state"] == "cancelled"


def test_a_task_is_paused_resumed_and_deleted(api: Api, daemon: Daemon) -> None:
    made = daemon.client.task_register("short", isolated_display=False).view.task.task_id
    assert api.post(f"tasks/{made}/status", status="paused")["view"]["task"]["status"] == "paused"
    assert api.post(f"tasks/{made}/status", status="active")["view"]["task"]["status"] == "active"
    assert api.refused("POST", f"tasks/{made}/status", json={"status": "asleep"}) == (422, "invalid")
    assert api.post(f"tasks/{made}/status", status="completed")["view"]["task"]["status"] == TaskStatus.COMPLETED
    assert api.refused("POST", f"tasks/{made}/status", json={"status": "active"}) == (409, "conflict")
    with Api(daemon, Scope.ACT) as acting:
        assert acting.refused("DELETE", f"tasks/{made}") == (403, "forbidden")
    assert api.delete(f"tasks/{made}")["task_id"] == made
    assert api.refused("GET", f"tasks/{made}") == (404, "not_found")


def test_a_person_takes_a_display_over_acts_and_gives_it_back(api: Api, daemon: Daemon, other: DisplayInfo) -> None:
    place = f"displays/{other.name}"
    lease = api.post(f"{place}/take", who="Ada", for_s=600)["lease"]
    assert api.refused("POST", f"{place}/take", json={"who": "Bob"}) == (403, "refused")
    done = api.post(f"{place}/actions", lease=lease, actions=[{"type": "move", "to": [30, 40]}])
    assert (done["done"], done["cursor"]) == (1, [30, 40])
    move = [{"type": "move", "to": [1, 1]}]
    assert api.refused("POST", f"{place}/actions", json={"lease": "guessed", "actions": move}) == (403, "refused")
    assert api.refused("POST", f"{place}/actions", json={"lease": lease, "actions": [{"type": "fly"}]}) == (
        422,
        "invalid",
    )
    elsewhere = {"lease": lease, "actions": move, "target": "display::1"}
    assert api.refused("POST", f"{place}/actions", json=elsewhere) == (422, "invalid")
    launch = {"lease": lease, "actions": [{"type": "launch", "command": ["true"]}]}
    with Api(daemon, Scope.ACT) as acting:
        assert acting.refused("POST", f"{place}/actions", json=launch) == (403, "forbidden")
        assert acting.refused("POST", f"{place}/release", json={"force": True}) == (403, "forbidden")
    assert api.post(f"{place}/release", lease=lease)["display"]["taken_by"] == ""
    with Api(daemon, Scope.ACT, displays=[other.name]) as limited:
        lease = limited.post(f"{place}/take", who="Ada")["lease"]
        assert limited.post(f"{place}/release", lease=lease)["display"]["taken_by"] == ""
    assert api.refused("POST", "displays/:9999/take", json={}) == (404, "not_found")


def test_usage_scene_commentary_and_wakes(api: Api, mine: Api, other: DisplayInfo) -> None:
    assert api.get("usage", days=2)["kept_days"] > 0
    assert mine.get("usage")["rows"] == []
    scene = api.get("scene", display=other.name, mode="active")["scene"]
    assert [one["name"] for one in scene["displays"]] == [other.name]
    assert isinstance(api.get("scene", form="prompt")["text"], str)
    assert api.get("commentary", limit=1)["results"] == []
    assert api.get("wakes", state="undelivered")["wakes"] == []
    assert mine.get("wakes")["wakes"] == []
    assert api.refused("POST", "wakes/wake-of-nobody/retry") == (404, "not_found")
    assert mine.refused("POST", "wakes/wake-of-nobody/retry") == (403, "forbidden")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("tasks?limit=0", "limit must be between 1 and 200"), ("tasks?limit=201", "limit"),
        ("tasks?limit=many", "limit must be a whole number between 1 and 200"),
        ("tasks?status=asleep", "status must be one of "), ("waits?limit=1&limit=2", "limit"),
        ("waits?colour=red", "colour"), ("usage?days=0", "days"), ("events?since=-1", "since"),
        ("scene?form=poem", "form"), ("recordings?limit=nan", "limit"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_name(api: Api, path: str, field: str) -> None:
    answer = api.raw.get(f"/api/{path}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert field in answer.json()["error"]


def test_a_body_that_is_no_json_object(api: Api, task: TaskView) -> None:
    path = f"tasks/{task.task.task_id}/status"
    assert api.refused("POST", path, content=b"{", headers={"Content-Type": "application/json"})[0] == 400
    assert api.refused("POST", path, content=b"status=paused")[0] == 415
    assert api.refused("POST", path, json={"status": "paused", "why": "?"}) == (422, "invalid")
    assert api.refused("POST", path) == (422, "invalid")


# ---- /tool/*: what `acud mcp` offers, with the names and arguments that the programs before acud took ----------------


def ask(api: Api, tool: str, **given: Any) -> tuple[int, Any]:
    answer = api.raw.post(f"/tool/{tool}", json=given)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


def call(api: Api, tool: str, **given: Any) -> Any:
    """Call a tool, which must be done; return its result."""
    status, found = ask(api, tool, **given)
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
    status, body = ask(api, "mavi_understand")
    assert (status, body["code"]) == (404, "not_found")
    assert "smart_wait" in body["hint"]
    assert ask(api, "memory_read")[0] == 404
    by_name = [api.raw.post(path, json={}) for path in ("/task_list", "/tool/task_list", "/nothing")]
    assert [one.status_code for one in by_name] == [200, 200, 404]
    assert by_name[0].json() == by_name[1].json()
    assert api.raw.get("/task_list").status_code == 404


def test_tools_wait(api: Api, daemon: Daemon, other: DisplayInfo) -> None:
    target = f"display:{other.name}"
    armed = call(api, "smart_wait", target=target, wake_when="it rains", timeout=300, poll_interval=2.0)
    assert (armed["status"], armed["criteria"], armed["timeout"]) == ("watching", "it rains", 300)
    wait_id = armed["wait_id"]
    assert call(api, "wait_status", wait_id=wait_id)["status"] == "watching"
    assert wait_id in [one["wait_id"] for one in call(api, "wait_status")["waits"]]
    noted = call(api, "wait_update", wait_id=wait_id, message="too early")
    assert noted["notes"][0] == "the message was not kept: this wait belongs to no task"
    assert call(api, "wait_update", wait_id=wait_id, wake_when="it snows", timeout=60)["criteria"] == "it snows"
    assert call(api, "wait_cancel", wait_id=wait_id, reason="enough")["status"] == "cancelled"
    assert ask(api, "wait_cancel", wait_id=wait_id)[0] == 409
    status, fault = ask(api, "smart_wait", colour="red")
    assert (status, fault["code"]) == (422, "invalid")
    assert "colour" in fault["error"]
    key = {"Idempotency-Key": "by-tool"}
    body = {"target": target, "text": "never to be seen"}
    first, again = (api.raw.post("/tool/smart_wait", json=body, headers=key).json() for _ in range(2))
    assert first["wait_id"] == again["wait_id"]
    daemon.client.wait_cancel(first["wait_id"])


def test_a_change_within_the_seconds_in_text(api: Api, other: DisplayInfo) -> None:
    quiet = call(api, "wait_for_change", display=other.name, text="0.1")
    assert quiet["changed"] is False
    found: list[Any] = []
    given = {"action": "wait_for_change", "text": "30", "display": other.name, "baseline": quiet["picture"]["baseline"]}
    asking = threading.Thread(target=lambda: found.append(call(api, "desktop_action", **given)))
    asking.start()
    with Desk(other.name, other.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50))
        asking.join(timeout=60)
    assert found[0]["changed"] is True
    status, fault = ask(api, "desktop_action", action="wait_for_change", text="soon")
    assert (status, fault["code"]) == (422, "invalid")
    assert "text is no number of seconds" in fault["error"]


def test_tools_look_and_act(api: Api, other: DisplayInfo) -> None:
    with Desk(other.name, other.auth_file) as desk:
        desk.words(Rect(50, 50, 200, 60), "Export", title="Files")
        looked = call(api, "desktop_look", display=other.name, image=True)
        assert looked["image"]["mime_type"] == "image/jpeg"
        shape = decoded(base64.b64decode(looked["image"]["data"])).shape
        assert (shape[1], shape[0]) == (looked["width"], looked["height"]) == (320, 240)
        assert decoded(Path(looked["path"]).read_bytes()).shape == shape
        moved = call(api, "desktop_action", action="mouse_move", coordinate=[30, 40], display=other.name)
        assert moved["cursor"] == [30, 40]
        found = until(
            lambda: (one := call(api, "gui_find", description="Export", display=other.name)).get("things") and one,
            "the button",
        )
        assert found["things"][0]["label"] == "Export"
        done = call(api, "gui_do", instruction="click the Export button", display=other.name, timeout=0.2)
        assert done["status"] == "unverified"
        assert "Files" in call(api, "scene", display=other.name)["text"]


def test_a_video_of_some_seconds(api: Api, other: DisplayInfo) -> None:
    (video,) = call(api, "video_record", duration=0.5, target=f"display:{other.name}", fps=5)["videos"]
    assert (video["state"], video["display"]) == ("done", other.name)
    assert Path(video["files"][0]).stat().st_size > 0
    status, fault = ask(api, "video_record", duration=1, target="window:Files")
    assert (status, fault["code"]) == (404, "not_found")
    assert "Files" in fault["error"]


def test_tools_keep_tasks(api: Api) -> None:
    made = call(api, "task_register", name="sort the mail", plan=["open", "sort"], isolated_display=False)
    task_id = made["view"]["task"]["task_id"]
    assert call(api, "task_item_update", task_id=task_id, item=1, status="active", note="begun")
    logged = call(api, "task_log_action", task_id=task_id, action_type="cli", summary="ls", output_data="2 files")
    assert logged["action"]["summary"] == "ls"
    assert call(api, "task_plan_append", task_id=task_id, items=["close"])
    assert "sort" in call(api, "task_summary", task_id=task_id, detail_level="actions")["summary"]
    assert call(api, "task_drill_down", task_id=task_id, item=1)["actions"][0]["action"]["summary"] == "ls"
    wait = call(api, "smart_wait", text="never", task_id=task_id)["wait_id"]
    noted = call(api, "wait_update", wait_id=wait, message="not yet")["notes"]
    assert noted[0] == f"the message is in the thread of {task_id}"
    thread = call(api, "task_thread", task_id=task_id, limit=50)["messages"]
    assert "not yet" in [one["content"] for one in thread]

    def list_ids(status: str) -> list[str]:
        return [one["task"]["task_id"] for one in call(api, "task_list", status=status, limit=10)["tasks"]]

    assert task_id in list_ids("active")
    assert call(api, "task_update", task_id=task_id, message="done", query="how far?", status="completed")
    assert task_id in list_ids("completed")
    assert task_id not in list_ids("active")
    assert ask(api, "task_list", status="asleep")[0] == 422


def test_over_tools_a_pass_is_good_for_no_more_than_over_rest(daemon: Daemon, other: DisplayInfo) -> None:
    wait = {"text": "never", "display": other.name}
    move = {"action": "mouse_move", "coordinate": [1, 2], "display": other.name}
    launch = {"action": "launch", "text": "true", "display": other.name}
    with Api(daemon, Scope.READ) as reading, Api(daemon, Scope.WAIT) as waiting, Api(daemon, Scope.ACT) as acting:
        assert call(reading, "desktop_look", display=other.name)["display"] == other.name
        ended = daemon.client.wait_create(Text("never"), display=other.name, timeout_s=600).wait.wait_id
        daemon.client.wait_cancel(ended)
        assert call(reading, "wait_status", wait_id=ended)["status"] == "cancelled"
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
            status, fault = ask(api, tool, **given)
            assert (status, fault["code"]) == (403, "forbidden"), tool
            assert "this needs the scope" in fault["error"]
        assert call(acting, "desktop_action", **move)["cursor"] == [1, 2]
    with Api(daemon, Scope.ADMIN, displays=[other.name]) as limited:
        assert ask(limited, "wait_status")[0] == 403
    assert daemon.client.wait_list(displays=(other.name,)).waits == ()
