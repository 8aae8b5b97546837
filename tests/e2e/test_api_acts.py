"""What the REST API does in a real daemon: waits are armed, tasks kept, windows typed into; once for each key."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from acud.protocol.web import Scope
from acud.types import DisplayInfo, Rect, WakeState, WindowTitle
from tests.e2e.api_support import SETTINGS, Api
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, until
from tests.e2e.gateway_support import Browser, code
from tests.e2e.page_steps import check, printed_by, script, steps_of
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = SETTINGS + '[wake]\nroutes = ["command"]\ncommand = ["true"]\n'
FILE = {"type": "not", "part": {"type": "file", "path": "~/report.pdf"}}
NEVER = {"type": "window", "title": "never to be seen"}


@pytest.fixture(scope="module")
def screen(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(640, 480).display


@pytest.fixture(scope="module")
def waiting(daemon: Daemon) -> Iterator[Api]:
    """A pass that may arm waits and not act."""
    with Api(daemon, Scope.WAIT) as found:
        yield found


@pytest.fixture(scope="module")
def acting(daemon: Daemon) -> Iterator[Api]:
    with Api(daemon, Scope.ACT) as found:
        yield found


def keyed(api: Api, path: str, key: str, **body: Any) -> tuple[int, Any]:
    """Send `body` with an Idempotency-Key; return status and JSON."""
    answer = api.raw.post(f"/api/{path}", json=body, headers={"Idempotency-Key": key})
    return answer.status_code, answer.json()


def armed(daemon: Daemon, screen: DisplayInfo) -> set[str]:
    """Return the ids of the waits that have not ended; a test may begin while one of the test before still ends."""
    return {one.wait_id for one in daemon.client.wait_list(displays=(screen.name,)).waits}


def test_a_wait_is_armed_once_for_each_key(daemon: Daemon, waiting: Api, acting: Api, screen: DisplayInfo) -> None:
    given = {"until": NEVER, "display": screen.name, "timeout_s": 600}
    before = armed(daemon, screen)
    (status, first), (_, again) = (keyed(waiting, "waits", "job-17", **given) for _ in range(2))
    assert status == 200
    assert first == again
    assert armed(daemon, screen) - before == {first["wait"]["wait_id"]}
    status, other = keyed(waiting, "waits", "job-17", **given, label="another")
    assert (status, other["code"]) == (422, "key_reused")
    assert "used for another request" in other["error"]
    assert keyed(waiting, "tasks", "job-17", name="a task", isolated_display=False)[1]["code"] == "key_reused"
    assert keyed(acting, "waits", "job-17", **given)[1]["wait"]["wait_id"] != first["wait"]["wait_id"]
    assert keyed(waiting, "waits", "two words", **given)[1]["code"] == "invalid"
    for wait_id in armed(daemon, screen) - before:
        assert waiting.post(f"waits/{wait_id}/cancel")["wait"]["state"] == "cancelled"


def test_a_key_that_comes_twice_at_once_arms_one_wait(daemon: Daemon, waiting: Api, screen: DisplayInfo) -> None:
    answers: list[tuple[int, Any]] = []

    def arm() -> None:
        answers.append(keyed(waiting, "waits", "at-once", until=NEVER, display=screen.name, timeout_s=600))

    threads = [threading.Thread(target=arm) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {status for status, _ in answers} == {200}
    (wait_id,) = {body["wait"]["wait_id"] for _, body in answers}
    daemon.client.wait_cancel(wait_id)


def test_a_result_is_fetched_while_it_comes(waiting: Api, daemon: Daemon, screen: DisplayInfo) -> None:
    made = waiting.post("waits", until={"type": "window", "title": "Letters"}, display=screen.name, timeout_s=600)
    wait_id = made["wait"]["wait_id"]
    assert waiting.post(f"waits/{wait_id}/result")["ended"] is False
    changed = waiting.post(f"waits/{wait_id}/update", until={"type": "window", "title": "Parcels"}, timeout_s=900)
    assert changed["wait"]["spec"]["timeout_s"] == 900
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(waiting.post(f"waits/{wait_id}/result", block_s=50)))
    asking.start()
    with Desk(screen.name, screen.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50), title="Parcels")
        asking.join(timeout=60)
    assert (found[0]["ended"], found[0]["wait"]["state"], found[0]["evidence_path"]) == (True, "resolved", "")
    assert waiting.refused("POST", f"waits/{wait_id}/update", json={"timeout_s": 5}) == (409, "conflict")


def test_who_fetched_the_end_is_not_woken_and_who_hung_up_is(waiting: Api, daemon: Daemon, screen: DisplayInfo) -> None:
    wait_id = daemon.client.wait_create(WindowTitle("Stamps"), display=screen.name, timeout_s=600).wait.wait_id
    path = f"/api/waits/{wait_id}/result"
    with pytest.raises(httpx.ReadTimeout):
        waiting.raw.post(path, json={"block_s": 300}, timeout=1.0)
    assert waiting.post(f"waits/{wait_id}/result")["ended"] is False  # the gateway knows by now who hung up
    with Desk(screen.name, screen.auth_file) as desk:
        desk.window(Rect(10, 10, 100, 50), title="Stamps")
        assert _told(daemon, wait_id) is WakeState.SENT
    assert waiting.raw.post(path).json()["ended"]
    assert _told(daemon, wait_id, WakeState.SENT) is WakeState.SEEN


def _told(daemon: Daemon, wait_id: str, *before: WakeState) -> WakeState:
    """Return the state of the wait's wake once it is neither pending nor one of those `before`."""

    def found() -> WakeState | None:
        states = [one.state for one in daemon.client.wake_list(seen=True, wait_id=wait_id).wakes]
        return next((one for one in states if one not in (WakeState.PENDING, *before)), None)

    return until(found, "the wake")


def test_each_scope_does_what_it_is_for(daemon: Daemon, waiting: Api, acting: Api, screen: DisplayInfo) -> None:
    wait = {"until": NEVER, "display": screen.name}
    move = {"actions": [{"type": "move", "to": [30, 40]}], "display": screen.name}
    launch = {"actions": [{"type": "launch", "command": ["true"]}], "display": screen.name}
    before = armed(daemon, screen)
    with Api(daemon, Scope.READ) as reading:
        answer = reading.raw.post("/api/waits", json=wait)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert answer.json()["error"] == "this needs the scope wait, and this access token has read"
        made = waiting.post("waits", **wait)["wait"]["wait_id"]
        assert reading.refused("POST", f"waits/{made}/result", json={}) == (403, "forbidden")
        assert reading.post(f"waits/{made}/result", peek=True)["ended"] is False
        waiting.post(f"waits/{made}/cancel")
    assert waiting.refused("POST", "actions", json=move) == (403, "forbidden")
    assert waiting.refused("POST", "waits", json={"until": FILE}) == (403, "forbidden")
    assert waiting.refused("POST", "gui/do", json={"instruction": "press a"}) == (403, "forbidden")
    assert waiting.refused("POST", "tasks", json={"name": "with a display"}) == (403, "forbidden")
    assert acting.post("actions", **move)["cursor"] == [30, 40]
    assert acting.refused("POST", "actions", json=launch) == (403, "forbidden")
    assert acting.refused("POST", "displays", json={"window_manager": "xterm"}) == (403, "forbidden")
    assert acting.refused("DELETE", f"displays/{screen.name}") == (403, "forbidden")
    assert armed(daemon, screen) <= before


def test_words_are_typed_into_a_real_window(api: Api, acting: Api, screen: DisplayInfo, tmp_path: Path) -> None:
    typed = tmp_path / "typed"
    command = ["xterm", "-T", "Notes", "-e", "sh", "-c", f"read line; echo $line > {typed}"]
    launched = api.post("actions", actions=[{"type": "launch", "command": command}], display=screen.name)
    assert launched["pid"] > 0
    shown = api.post("waits", until={"type": "window", "title": "Notes"}, display=screen.name)["wait"]["wait_id"]
    assert api.post(f"waits/{shown}/result", block_s=50)["ended"]
    words = [
        {"type": "window", "window": "Notes", "do": "focus"},
        {"type": "type", "text": "by REST"},
        {"type": "key", "chord": "Return"},
    ]
    status, done = keyed(acting, "actions", "typed-once", actions=words, display=screen.name)
    assert (status, done["done"]) == (200, 3)
    assert keyed(acting, "actions", "typed-once", actions=words, display=screen.name)[1]["done"] == 3
    assert until(lambda: typed.exists() and typed.read_text(), "what was typed") == "by REST\n"


def test_something_is_done_by_its_description(acting: Api, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        desk.words(Rect(50, 50, 200, 60), "Export")
        found = until(
            lambda: (
                (one := acting.post("gui/find", description="Export", display=screen.name))["found"]["candidates"]
                and one
            ),
            "the button",
        )
        assert found["found"]["status"] == "found"
        done = acting.post("gui/do", instruction="click the Export button", display=screen.name, timeout_s=0.2)
        assert (done["status"], done["display"]) == ("unverified", screen.name)


def test_a_task_is_kept_by_rest(waiting: Api, acting: Api, api: Api) -> None:
    made = waiting.post("tasks", name="sort the mail", plan=["open"], isolated_display=False)["view"]["task"]["task_id"]
    assert waiting.post(f"tasks/{made}/items", items=["sort"])["view"]["items"][1]["title"] == "sort"
    item = waiting.post(f"tasks/{made}/items/2", status="active", note="begun")["view"]["items"][1]
    assert item["status"] == "active"
    zero = waiting.raw.post(f"/api/tasks/{made}/items/0", json={"status": "active"})
    assert (zero.status_code, zero.json()["error"]) == (422, "item must be between 1 and 100000")
    logged = waiting.post(f"tasks/{made}/actions", action_type="cli", summary="ls", output_data={"files": 2})
    assert logged["action"]["summary"] == "ls"
    assert waiting.post(f"tasks/{made}/update", message="half of it")["notes"] == []
    assert api.get(f"tasks/{made}/messages", limit=1)["messages"][0]["content"] == "half of it"
    assert waiting.refused("POST", f"tasks/{made}/update", json={"status": "completed"}) == (403, "forbidden")
    assert waiting.refused("POST", f"tasks/{made}/items/x", json={"status": "active"}) == (422, "invalid")
    assert waiting.refused("POST", f"tasks/{made[:-1]}/update", json={"message": "?"}) == (404, "not_found")
    assert acting.post(f"tasks/{made}/update", status="completed")["view"]["task"]["status"] == "completed"


def test_a_display_is_made_and_removed(acting: Api, api: Api) -> None:
    (status, made), (_, again) = (keyed(acting, "displays", "a-display", width=320, height=240) for _ in range(2))
    assert status == 200
    assert made == again
    name = made["display"]["name"]
    assert made["display"]["auth_file"] == ""
    assert api.delete(f"displays/{name}")["display"]["name"] == name
    assert api.refused("DELETE", f"displays/{name}") == (404, "not_found")


def test_a_limited_pass_reaches_its_own_alone(daemon: Daemon, screen: DisplayInfo) -> None:
    own = daemon.client.task_register("own", display_width=320, display_height=240).view.task
    bare = daemon.client.task_register("without a display", isolated_display=False).view.task.task_id
    theirs = daemon.client.wait_create(WindowTitle("never to be seen"), display=screen.name, timeout_s=600).wait.wait_id
    view = daemon.client.look(display=screen.name).view
    move = [{"type": "move", "to": [3, 4]}]
    with Api(daemon, Scope.ADMIN, tasks=[own.task_id, bare]) as mine:
        made = mine.post("waits", until=NEVER, task_id=own.task_id, timeout_s=600)["wait"]
        assert made["display"] == own.display
        assert mine.post(f"waits/{made['wait_id']}/cancel")["wait"]["state"] == "cancelled"
        assert mine.post("actions", actions=move, task_id=own.task_id)["display"] == own.display
        waited = mine.post("actions", actions=move, task_id=own.task_id, wait={"until": NEVER, "timeout_s": 0})["wait"]
        assert (waited["wait"]["display"], waited["wait"]["state"]) == (own.display, "timeout")
        own_display = {"task_id": own.task_id, "actions": move}
        for path, body in (
            ("waits", {"until": NEVER}),
            ("waits", {"until": FILE, "task_id": own.task_id}),
            ("waits", {"until": NEVER, "task_id": bare}),
            ("waits", {"until": NEVER, "display": screen.name}),
            ("waits", {"until": NEVER, "task_id": own.task_id, "display": screen.name}),
            ("waits", {"until": NEVER, "task_id": own.task_id, "target": f"display:{screen.name}"}),
            ("waits", {"until": NEVER, "task_id": own.task_id, "target": "pty:build"}),
            (f"waits/{theirs}/cancel", {}),
            (f"waits/{theirs}/result", {}),
            (f"waits/{theirs}/update", {"timeout_s": 1}),
            ("actions", {"actions": move}),
            ("actions", own_display | {"view": view}),
            ("actions", own_display | {"wait": {"until": NEVER, "display": screen.name}}),
            ("actions", own_display | {"wait": {"until": NEVER, "target": f"display:{screen.name}"}}),
            ("gui/do", {"instruction": "press a"}),
            ("tasks", {"name": "another", "isolated_display": False}),
            ("displays", {}),
        ):
            assert mine.refused("POST", path, json=body) == (403, "forbidden"), (path, body)
        assert mine.refused("DELETE", f"displays/{screen.name}") == (403, "forbidden")
    daemon.client.wait_cancel(theirs)


def test_a_limited_pass_names_no_file_and_no_process(daemon: Daemon, screen: DisplayInfo) -> None:
    file, process = {"type": "file", "path": "~/a"}, {"type": "process", "pid": 1}
    with Api(daemon, Scope.ADMIN, displays=[screen.name]) as mine:
        own = {"display": screen.name}
        for path, body in (
            ("waits", own | {"until": file}),
            ("waits", own | {"until": {"type": "not", "part": process}}),
            ("actions", own | {"actions": [{"type": "move", "to": [3, 4]}], "wait": {"until": file}}),
            ("gui/do", own | {"instruction": "press a", "expect": file}),
        ):
            assert mine.refused("POST", path, json=body) == (403, "forbidden"), (path, body)
        assert mine.post("waits", until=NEVER, timeout_s=0, **own)["wait"]["display"] == screen.name
    with Api(daemon, Scope.READ) as reader:
        assert reader.refused("POST", "waits", json={"until": file}) == (403, "forbidden")


def test_a_page_of_another_site_arms_nothing(daemon: Daemon, api: Api) -> None:
    """A browser sends the cookie along; the header and the Origin that only our pages send are missing."""
    with Browser(api.url) as browser:
        browser.login(code(daemon.client))
        for path in ("waits", "actions", "tasks", "displays", "gui/do"):
            for head in ({}, {"X-Acud": "1"}, {"Origin": api.url}, {"X-Acud": "1", "Origin": "https://evil.example"}):
                assert browser.ask("POST", f"/api/{path}", json={}, headers=head)[0] == 403


def test_the_examples_of_the_page(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "web-api.md"
    done = steps_of(page)
    assert len(done) == page.read_text(encoding="utf-8").count("```sh\n") >= 4
    usual = '[vision]\nbackend = "ocr"\n' + BARE + "[web]\nenabled = true\nport = 0\n"
    with Daemon(settings=usual) as daemon, Api(daemon) as api:
        env = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        env |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "ACU_HOME": str(daemon.home)}
        commands = script(done).replace("http://127.0.0.1:18790", api.url)
        ran = subprocess.run(
            ["bash", "-c", commands], cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=240, check=False,
        )  # fmt: skip
        check(done, printed_by(ran.stdout, done))
