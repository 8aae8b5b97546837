"""`acud` as people use it, on real pixels: a daemon, a display of its own, a terminal, and the embedded judge."""

from __future__ import annotations

import io
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from acud.types import DisplayInfo, WindowTitle
from acud_cli.exit_codes import Exit
from acud_client import Client
from tests.e2e.cli_support import PATIENCE_S, CommandLine, Terminal, settings, until_event
from tests.e2e.desktop import emptied, until
from tests.fixtures.daemon import Daemon


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(settings()) as running:
        yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(800, 600).display


@pytest.fixture
def client(daemon: Daemon) -> Client:
    return daemon.client


@pytest.fixture
def acud(daemon: Daemon) -> CommandLine:
    return CommandLine(daemon.home)


@pytest.fixture
def terminal(client: Client, display: DisplayInfo, tmp_path: Path) -> Iterator[Terminal]:
    emptied(client, display.name)
    with Terminal(display, tmp_path) as shown:
        yield shown


def _now(client: Client) -> int:
    return client.events_since(0, limit=1).newest


def test_a_sentence_that_nobody_could_judge_is_refused_with_an_exit_code_of_its_own(
    acud: CommandLine, display: DisplayInfo
) -> None:
    sentence = ("wait", "the progress bar is nearly full", "-d", display.name)
    told = acud.json(*sentence, code=9)["error"]
    assert told["code"] == "no_judge"
    assert "acud wait --force" in told["hint"]
    armed = acud.run(*sentence, "--detach", "--force").strip()
    assert acud.json("wait", "update", armed, "--criteria", "the bar is full", code=9)["error"]["code"] == "no_judge"
    acud.run("wait", "update", armed, "--criteria", "the bar is full", "--force")
    acud.run("wait", "cancel", armed)


def test_a_list_that_is_watched_shows_what_changes_until_ctrl_c(
    acud: CommandLine, client: Client, display: DisplayInfo
) -> None:
    with acud.start("wait", "list", "--watch", "--json") as watching:
        assert watching.stdout.readline().startswith('{"waits"')
        armed = client.wait_create(WindowTitle("never there"), display=display.name).wait.wait_id
        assert any(armed in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE_S) == 0
    client.wait_cancel(armed)


def test_the_main_job(acud: CommandLine, client: Client, display: DisplayInfo, terminal: Terminal) -> None:
    terminal.write("Downloading 37 %")
    start = _now(client)
    waiting = acud.start("wait", '"Download complete" is visible', "-d", display.name, "--timeout", "5m")
    armed = until_event(client, "wait.created", start).subject
    until_event(client, "wait.judged", start, armed)
    terminal.write("Download complete")
    out, err = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 0, err
    assert out.startswith('resolved text "Download complete"')
    assert f"armed {armed}" in err
    assert "changed → resolved in" in out
    shown = acud.json("waits", "show", armed)
    assert shown["wait"]["state"] == "resolved"
    assert f"picture   {shown['evidence_path']}" in out
    with Image.open(shown["evidence_path"]) as evidence:
        assert evidence.size == (800, 600)
        assert evidence.format == "PNG"


def test_a_change_since_a_token(acud: CommandLine, display: DisplayInfo, terminal: Terminal) -> None:
    acud.run("wait", "--stable", "0.5", "-d", display.name, "--timeout", "2m")
    token = acud.json("baseline", "-d", display.name)["baseline"]
    terminal.write("something happened before the wait was armed")
    done = acud.json("wait", "--change", "--since", token, "-d", display.name, "--timeout", "2m")
    assert done["wait"]["state"] == "resolved"


def test_a_timeout_is_code_3(acud: CommandLine, display: DisplayInfo, terminal: Terminal) -> None:
    terminal.write("nothing to see")
    out = acud.run("wait", "--text", "never shown", "-d", display.name, "--timeout", "1", code=3)
    assert out.startswith('timeout text "never shown"')


def test_without_time_it_looks_once(acud: CommandLine, display: DisplayInfo, terminal: Terminal) -> None:
    terminal.write("still working")
    acud.run("wait", "--text", "still working", "-d", display.name)
    out = acud.run("wait", "--text", "never shown", "-d", display.name, "--timeout", "0", code=3)
    assert "1 evaluation" in out
    done = acud.json("wait", "--gone", "never shown", "-d", display.name, "--timeout", "0")
    assert done["wait"]["state"] == "resolved"
    assert done["wait"]["verdict"]["detail"].endswith("it was not there when the wait began to look")


def test_without_a_wake_route_it_is_said_how_the_result_is_got(acud: CommandLine, display: DisplayInfo) -> None:
    child = acud.start("wait", "--text", "never shown", "-d", display.name, "--detach")
    out, err = child.communicate(timeout=PATIENCE_S)
    assert f"no wake route is set; get its result with: acud wait result {out.strip()}" in err
    acud.run("waits", "cancel", out.strip())


def test_a_program_gets_the_whole_list_and_the_waits_of_a_display_are_cancelled(
    acud: CommandLine, client: Client, display: DisplayInfo
) -> None:
    other = client.display_create(320, 240).display
    kept = client.wait_create(WindowTitle("nowhere"), display=display.name).wait.wait_id
    armed = {client.wait_create(WindowTitle("nowhere"), display=other.name).wait.wait_id for _ in range(101)}
    assert armed | {kept} <= {wait["wait_id"] for wait in acud.json("wait", "list")["waits"]}
    assert len(acud.json("wait", "list", "--limit", "3")["waits"]) == 3
    assert {one["wait_id"] for one in acud.json("wait", "cancel", "--display", other.name)} == armed
    assert [wait["wait_id"] for wait in acud.json("wait", "list")["waits"]] == [kept]
    assert "no live waits" in acud.run("wait", "cancel", "--display", other.name)
    acud.run("wait", "cancel", kept, "--all", code=2)
    acud.run("wait", "cancel", kept)
    client.display_remove(other.name)


def test_a_cancelled_wait_is_code_4(acud: CommandLine, client: Client, display: DisplayInfo) -> None:
    start = _now(client)
    waiting = acud.start("wait", "--window", "never there", "-d", display.name)
    armed = until_event(client, "wait.created", start).subject
    assert acud.json("waits", "cancel", armed[:24], "--reason", "enough")[0]["state"] == "cancelled"
    out, _ = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 4
    assert out.startswith("cancelled")
    assert "  why       enough\n" in out
    assert "  why       enough\n" in acud.run("wait", "show", armed)
    assert acud.json("waits", "cancel", armed, code=8)["error"]["code"] == "conflict"


def test_a_failed_wait_says_why(acud: CommandLine, client: Client) -> None:
    display = client.display_create(320, 240).display.name
    start = _now(client)
    waiting = acud.start("wait", "--window", "never there", "-d", display, "--label", "backup — weekly")
    armed = until_event(client, "wait.created", start).subject
    client.display_remove(display, force=True)
    out, _ = waiting.communicate(timeout=PATIENCE_S)
    assert out.startswith("failed")
    for shown in (out, acud.run("wait", "show", armed)):
        (why,) = (line for line in shown.splitlines() if line.startswith("  why"))
        assert display in why


def test_a_live_wait_is_changed(acud: CommandLine, display: DisplayInfo) -> None:
    armed = acud.run("wait", "--window", "never there", "-d", display.name, "--detach").strip()
    before = acud.json("waits", "show", armed)["wait"]
    after = acud.json("waits", "update", armed, "--timeout", "1h", "--text", "something else", "--confirm", "2")["wait"]
    assert after["remaining_s"] > before["remaining_s"]
    assert after["spec"]["until"]["type"] == "text"
    assert after["spec"]["policy"]["confirm"] == 2
    assert armed in acud.run("waits", "list")
    assert "updated" in acud.run("waits", "update", armed, "--timeout", "2h")
    acud.run("waits", "cancel", "--all")
    assert acud.run("waits", "list") == "no waits\n" or armed not in acud.run("waits", "list")


def test_pictures(acud: CommandLine, client: Client, display: DisplayInfo, terminal: Terminal, tmp_path: Path) -> None:
    terminal.write("a line")
    acud.run("wait", "--window", "Downloads", "-d", display.name)
    said = acud.json("look", "-d", display.name, "-o", str(tmp_path / "all.png"))
    assert (said["picture"]["width"], said["picture"]["height"]) == (800, 600)
    acud.run("look", "-d", display.name, "--region", "10,20,300,100", "-o", str(tmp_path / "part.jpg"))
    acud.run("look", "-d", display.name, "--window", "Downloads", "--max-side", "200", "-o", str(tmp_path / "win.png"))
    sizes = {}
    for name in ("all.png", "part.jpg", "win.png"):
        with Image.open(tmp_path / name) as picture:
            picture.load()
            sizes[name] = picture.size
    assert sizes["all.png"] == (800, 600)
    assert sizes["part.jpg"] == (300, 100)
    assert max(sizes["win.png"]) == 200


def test_a_picture_after_the_next_change(
    acud: CommandLine, client: Client, display: DisplayInfo, terminal: Terminal, tmp_path: Path
) -> None:
    acud.run("wait", "--stable", "0.5", "-d", display.name, "--timeout", "2m")
    token = acud.json("baseline", "-d", display.name)["baseline"]
    terminal.write("changed")
    after = ["look", "-d", display.name, "--on-change", "60", "--since", token, "-o", str(tmp_path / "after.png")]
    assert acud.json(*after)["changed"] is True
    still = [
        "look", "-d", display.name, "--region", "700,500,50,50", "--on-change", "0.3", "-o", str(tmp_path / "s.png"),
    ]  # fmt: skip
    assert acud.json(*still, "-o", str(tmp_path / "s.png"), code=3)["changed"] is False
    assert (tmp_path / "s.png").exists()


def test_evidence_can_be_saved(acud: CommandLine, display: DisplayInfo, terminal: Terminal, tmp_path: Path) -> None:
    terminal.write("a line to keep")
    done = acud.json("wait", "--text", "a line to keep", "-d", display.name)
    assert done["wait"]["state"] == "resolved"
    acud.run("wait", "evidence", done["wait"]["wait_id"], "-o", str(tmp_path / "proof.png"))
    with Image.open(io.BytesIO((tmp_path / "proof.png").read_bytes())) as proof:
        assert proof.size == (800, 600)


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("status",), {"version", "displays", "children", "judges", "waits_live"}),
        (("display", "list"), {"displays", "default"}),
        (("display", "env"), {"DISPLAY", "XAUTHORITY"}),
        (("waits", "list", "--all"), {"waits", "total"}),
        (("events", "-n", "5"), {"events", "newest", "trimmed"}),
        (("top", "--once"), {"status", "waits"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_json_documents(acud: CommandLine, display: DisplayInfo, arguments: tuple[str, ...], keys: set[str]) -> None:
    assert keys <= set(acud.json(*arguments))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("status",), "running: acud"), (("display", "list", "--windows"), "800x600"),
        (("wait", "list", "--all"), "verdict"), (("events",), " is armed"), (("top", "--once"), "capture"),
        (("logs", "-n", "10000"), "daemon.ready"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_answers_for_people(acud: CommandLine, display: DisplayInfo, arguments: tuple[str, ...], words: str) -> None:
    acud.run("waits", "cancel", acud.run("wait", "--window", "x", "-d", display.name, "--detach").strip())
    assert words in acud.run(*arguments)


def test_following_events_ends_with_ctrl_c(acud: CommandLine, client: Client, display: DisplayInfo) -> None:
    following = acud.start("events", "--follow", "--topic", "wait.cancelled", "-n", "0", "--json")
    stdout = following.stdout
    cancelled: list[str] = []

    def is_heard() -> bool:  # nobody outside can tell from when on it follows
        armed = client.wait_create(WindowTitle("x"), display=display.name).wait.wait_id
        cancelled.append(client.wait_cancel(armed).wait.wait_id)
        return bool(select.select([stdout], [], [], 0.2)[0])

    until(is_heard, "a cancellation")
    line = stdout.readline()
    assert any(armed in line for armed in cancelled)
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=PATIENCE_S)
    assert following.returncode == 0


def test_the_doctor_of_a_well_daemon_finds_no_fault(acud: CommandLine, display: DisplayInfo) -> None:
    child = acud.start("doctor", "--json")
    out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode in (0, 1), out + err
    assert '"fault"' not in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("wait", "--text", "x", "-d", ":1"), 7), (("wait", "--text", "x", "--target", "nonsense:1"), 2),
        (("wait", "--regex", "("), 2), (("wait", "--change", "--since", "no token"), 2),
        (("waits", "show", "wait-nothing"), 7), (("display", "remove", ":1"), 7), (("display", "add", "nonsense"), 2),
        (("look", "-d", ":1"), 7),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_bad_input_is_one_line(
    acud: CommandLine, display: DisplayInfo, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    out, err = acud.capture(*arguments, code=code)
    assert out == ""
    assert err.startswith("acud: ")
    assert err.count("\n") == 1


def test_a_task_from_a_shell(acud: CommandLine, tmp_path: Path) -> None:
    made = acud.json(
        "task", "register", "Book\x1b[2J", "open", "pay", "--size", "320x240", "--metadata", '{"a": 1}',
        "--max-cost", "0.5",
    )  # fmt: skip
    task = made["view"]["task"]["task_id"]
    assert made["view"]["task"]["metadata"]["display_resolution"] == "320x240"
    assert "\x1b" not in acud.run("task", "list")
    assert "item 1" in acud.run("task", "log", task, "cli", "ls -l", "--output", "text", "--item", "1", "--took", "2s")
    assert "active" in acud.run("task", "item", task, "1", "active", "--note", "begun")
    acud.run("task", "append", task, "third")
    acud.run("task", "say", task, "hello")
    funded = acud.json("task", "budget", task, "--max-evaluations", "5")
    assert funded["view"]["task"]["budget"] == {"max_cost_usd": 0.5, "max_evaluations": 5, "on_budget": "local"}
    paid = acud.json("wait", "--window", "lamp", "--task", task, "--detach", "--max-cost", ".01", "--on-budget", "fail")
    assert paid["wait"]["spec"]["budget"] == {"max_cost_usd": 0.01, "max_evaluations": None, "on_budget": "fail"}
    more = acud.json("waits", "update", paid["wait"]["wait_id"], "--max-evaluations", "7")
    assert more["wait"]["spec"]["budget"] == {"max_cost_usd": 0.01, "max_evaluations": 7, "on_budget": "fail"}
    assert "$0.01" in acud.run("waits", "show", paid["wait"]["wait_id"])
    acud.run("look", "--task", task, "-o", str(tmp_path / "a.png"))
    wait = acud.json("wait", "--window", "Checkout", "--task", task, "--detach")
    assert wait["wait"]["display"] == made["view"]["task"]["display"]
    assert "ls -l" in acud.run("task", "drill", task, "1")
    assert ">1 [active] open (4 actions)\n 2 [pending] pay (0 actions)" in acud.run("task", "show", task)
    assert "hello" in acud.run("task", "thread", task)
    shown = acud.json("task", "show", task, "--detail", "full", "--max-tokens", "100")
    assert shown["tokens"] <= 100
    assert shown["left_out"]
    assert "paused" in acud.run("task", "status", task[:-2], "paused")
    assert "completed" in acud.run("task", "status", task, "completed", "--message", "done")
    acud.run("task", "status", task, "active", code=Exit.REFUSED)
    assert acud.run("task", "list") == "no tasks\n"
    assert task in acud.run("task", "list", "--all")
    assert acud.json("usage", "--task", task)["evaluations"] == 0
    assert acud.run("task", "delete", task).startswith(f"deleted {task}")
    acud.run("task", "show", task, code=Exit.NOT_FOUND)
    acud.run("task", "show", "../../etc", code=Exit.NOT_FOUND)
