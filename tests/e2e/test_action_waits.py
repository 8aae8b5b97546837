"""Acting and waiting in one call, on real GTK windows: what an action brings is waited for from before it on."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import InvalidRequest, NotFound
from acud.protocol.requests.actions import ActionReply
from acud.protocol.requests.waits import WaitCreate
from acud.types import Change, DisplayInfo, Policy, Stable, Text, WaitState, WindowTitle
from acud.types.actions import Click, Launch, Point, WaitIdle, WindowDo, WindowList, WindowVerb
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import PATIENCE_S, titled
from tests.e2e.gui_support import shown
from tests.e2e.mcp_support import fault, stdio, text, value
from tests.fixtures.daemon import Daemon


@pytest.fixture(scope="module")
def answers(gui_daemon: Daemon) -> Iterator[DisplayInfo]:
    """A display with a window whose buttons answer in a flash, or with a dialog."""
    with shown(gui_daemon.client, "answers") as display:
        yield display


@pytest.fixture
def client(gui_daemon: Daemon) -> Client:
    return gui_daemon.client


def place(client: Client, display: DisplayInfo, button: str) -> Click:
    return Click(client.gui_find(f"the {button} button", display=display.name).found.candidates[0].point)


def stands_still(client: Client, display: DisplayInfo) -> None:
    """Return once nothing is painted any more: what held before is told by the frame in which it is seen."""
    wait = client.wait_create(Stable(0.5), display=display.name, timeout_s=60).wait
    assert client.wait_result(wait.wait_id, block_s=60).wait.state is WaitState.RESOLVED


def live(client: Client, display: DisplayInfo) -> list[str]:
    return [one.wait_id for one in client.wait_list(displays=(display.name,)).waits]


def test_what_flashes_up_during_an_action_is_not_missed(client: Client, answers: DisplayInfo) -> None:
    flash = place(client, answers, "Flash")

    def act() -> ActionReply:
        wait = WaitCreate(Text("Draft 7 was kept"), timeout_s=30)
        # It is gone for longer than it was there before the action is over: who looks only then misses it.
        return client.desktop_action(
            [flash, WaitIdle(2, 20)], display=answers.name, picture=True, wait=wait, block_s=PATIENCE_S
        )

    # It shows for 1 s: a machine that stands still for longer may not have seen it at all.
    replies = [act()]
    while replies[-1].wait is not None and replies[-1].wait.wait.state is not WaitState.RESOLVED and len(replies) < 3:
        replies.append(act())
    reply = replies[-1]
    assert reply.wait.ended
    assert reply.wait.wait.state is WaitState.RESOLVED
    assert "Draft 7" in reply.wait.wait.verdict.detail
    assert reply.wait.notes == ()
    assert reply.wait.evidence_path
    assert reply.picture is not None
    assert live(client, answers) == []


def test_a_click_brings_a_dialog_and_its_answer_tells_of_it(client: Client, gui_daemon: Daemon) -> None:
    with shown(client, "answers") as display:
        store = place(client, display, "Store")
        wait = WaitCreate(Text("Overwrite the report"), timeout_s=PATIENCE_S)
        reply = client.desktop_action(store, display=display.name, wait=wait, block_s=PATIENCE_S)
        assert (reply.wait.notes, reply.wait.wait.state) == ((), WaitState.RESOLVED), reply.wait
        assert reply.wait.ended
        assert ("opened", "Question") in [(one.change, one.title) for one in reply.effects.windows]
        client.gui_do("click Cancel", display=display.name, timeout_s=30)
        done = client.gui_do("click the Store button", display=display.name, wait=wait, block_s=PATIENCE_S)
        assert done.wait.wait.state is WaitState.RESOLVED
        assert [one.buttons for one in done.effects.dialogs if one.is_new] == [("Cancel", "Overwrite")]
        client.gui_do("click Cancel", display=display.name, timeout_s=30)
        slow = Policy(interval_s=8, min_interval_s=8)  # it stands still before its turn, which ends no waiting
        late = WaitCreate(Text("Overwrite the report"), timeout_s=PATIENCE_S, policy=slow)
        reply = client.desktop_action(store, display=display.name, wait=late, block_s=PATIENCE_S)
        assert (reply.wait.notes, reply.wait.wait.state) == ((), WaitState.RESOLVED)


def test_a_dialog_that_asks_ends_the_waiting_of_the_call_and_not_the_wait(client: Client, gui_daemon: Daemon) -> None:
    with shown(client, "answers") as display:
        wait = WaitCreate(Text("Overwritten by itself"), timeout_s=600)
        done = client.gui_do("click the Store button", display=display.name, wait=wait, block_s=PATIENCE_S)
        assert (done.wait.ended, done.wait.wait.state) == (False, WaitState.WATCHING)
        assert any("a new dialog stands still" in note for note in done.wait.notes)
        assert [one.buttons for one in done.effects.dialogs if one.is_new] == [("Cancel", "Overwrite")]
        assert live(client, display) == [done.wait.wait.wait_id]
        nothing = WaitCreate(Text("Nothing"), timeout_s=600)
        clicked = client.gui_do("click Cancel", display=display.name, wait=nothing, block_s=PATIENCE_S)
        assert clicked.wait.ended
        client.wait_cancel(done.wait.wait.wait_id)


def test_a_wait_that_outlasts_the_call_goes_on(client: Client, answers: DisplayInfo) -> None:
    idle = Click(Point(620, 470))
    wait = WaitCreate(WindowTitle("Question"), timeout_s=600)
    reply = client.desktop_action(idle, display=answers.name, wait=wait, block_s=0.3)
    assert not reply.wait.ended
    assert live(client, answers) == [reply.wait.wait.wait_id]
    assert client.wait_cancel(reply.wait.wait.wait_id).wait.state is WaitState.CANCELLED
    over = client.desktop_action(idle, display=answers.name, wait=WaitCreate(WindowTitle("Question"), timeout_s=0.4))
    assert (over.wait.ended, over.wait.wait.state) == (True, WaitState.TIMEOUT)
    stands_still(client, answers)
    there = WaitCreate(Text("Flash"), timeout_s=PATIENCE_S)
    before = client.desktop_action(idle, display=answers.name, wait=there, block_s=PATIENCE_S)
    assert before.wait.notes == ("it held already before anything was done",)


def test_an_action_that_fails_leaves_no_wait(client: Client, answers: DisplayInfo) -> None:
    raise_ = WindowDo("No such window", WindowVerb.RAISE)
    with pytest.raises(NotFound, match=r"its wait wait-[0-9a-z-]+ is cancelled"):
        client.desktop_action(raise_, display=answers.name, wait=WaitCreate(Text("anything"), timeout_s=600))
    done = client.gui_do("click Frobnicate", display=answers.name, wait=WaitCreate(Change(), timeout_s=600))
    assert (done.status, done.wait) == ("not_found", None)
    assert live(client, answers) == []


def test_what_is_wrong_with_a_wait_is_told_before_anything_is_done(client: Client, answers: DisplayInfo) -> None:
    with pytest.raises(InvalidRequest, match="not a target"):
        client.gui_do("click Flash", display=answers.name, wait=WaitCreate(Text("x"), target="nonsense"))
    assert live(client, answers) == []


# ---- lists -------------------------------------------------------------------------------------------------------


FIELDS = ("First name", "Last name", "Street", "City", "Phone")


def test_a_form_is_filled_and_saved_in_one_call(client: Client, gui_daemon: Daemon) -> None:
    with shown(client, "address") as display:
        typed = [f"type '{field[:4]}x' into the {field} field" for field in FIELDS]
        done = client.gui_do(
            typed[0],
            display=display.name,
            then=[*typed[1:], "type 'hunter2' into the Secret field", "click the Save button"],
            timeout_s=30,
            picture=True,
            wait=WaitCreate(Text("Firsx Lastx Strex Cityx Phonx hunter2"), timeout_s=200),
            block_s=200,
        )
        assert done.status == "verified", done
        assert (len(done.done), done.left) == (7, ())
        assert done.message == "7 of 7 done"
        assert done.done[5].startswith("type 7 characters in the Secret field at ")
        assert "hunter2" not in str(done.done)
        assert done.picture is not None
        assert done.effects is not None
        assert done.wait.wait.state is WaitState.RESOLVED


def test_a_list_stops_at_what_fails_and_leaves_the_rest(client: Client, gui_daemon: Daemon) -> None:
    with shown(client, "address") as display:
        done = client.gui_do(
            "type 'Anna' into the First name field",
            display=display.name,
            then=["click the Lock button", "type 'never' into the City field"],
            timeout_s=45,
            wait=WaitCreate(Text("Anna"), timeout_s=600),
        )
        assert done.status == "disabled"
        assert [one.partition(" at ")[0] for one in done.done] == ["type 4 characters in the First name field"]
        assert done.left == ("type 5 characters in the City field",)
        assert done.message.startswith(
            "1 of 3 done; instruction 2 failed: nothing was done: the push button 'Lock' at "
        )
        assert "1 left untouched" in done.message
        assert done.wait is None
        assert live(client, display) == []
        with pytest.raises(InvalidRequest, match="instruction 2: "):
            client.gui_do("press Tab", display=display.name, then=["frobnicate it"])
        # It goes on after a key and a click that had nothing to show.
        then = ["press End", "type 'Anna' into the First name field", "click the First name field", "press Home"]
        done = client.gui_do("click the First name field", display=display.name, then=then, timeout_s=5)
        assert done.left == ()
        assert done.message.startswith("5 of 5 done")


def test_a_list_over_two_displays_tells_each_by_itself(client: Client, gui_daemon: Daemon) -> None:
    with shown(client, "form") as one, shown(client, "address") as other:
        client.desktop_action(Launch(("xterm", "-T", "Beside", "-geometry", "20x5+400+0")), display=one.name)
        titled(client, one.name, "Beside")
        scene = client.refresh_scene(displays=(one.name, other.name))
        ids = {(widget.display_id, widget.label): widget.id for widget in scene.ax}
        done = client.gui_do(
            f"click {ids[one.number, 'Export']}",
            then=[f"type 'Anna' into {ids[other.number, 'First name']}"],
            timeout_s=30,
        )
        assert done.message.startswith("2 of 2 done")
        assert done.effects.windows == ()


# ---- other surfaces ----------------------------------------------------------------------------------------------


def test_tools_act_and_wait(gui_daemon: Daemon, answers: DisplayInfo) -> None:
    stands_still(gui_daemon.client, answers)

    async def run() -> None:
        async with stdio(gui_daemon.home, "--block", "45") as agent:
            on = {"display": answers.name}

            async def call(tool: str, **given: object) -> Any:
                return await agent.call_tool(tool, on | given)

            until = {"text": "Nothing was done"}
            held = value(
                await call("desktop_action", action="mouse_move", coordinate="620,470", until=until, timeout=60)
            )
            assert held["wait"]["status"] == "resolved"
            assert held["wait"]["answer"] == "yes"
            assert held["wait"]["notes"] == ["it held already before anything was done"]
            over = value(
                await call("gui_do", instruction="hover(620, 470)", until='{"window": "Nowhere"}', timeout=0.2)
            )
            assert (over["wait"]["status"], over["wait"]["answer"]) == ("timeout", "no")
            again = value(await agent.call_tool("wait_result", {"wait_id": over["wait"]["wait_id"], "block": 0}))
            assert again["status"] == "timeout"
            failed = fault(
                await call("desktop_action", action="window_raise", window="Nowhere", until="Nowhere is open")
            )
            assert "is cancelled" in failed or "nobody could judge" in failed
            assert "takes no until" in fault(await call("desktop_action", action="screenshot", until=until))
            assert "nothing to wait for" in fault(await call("gui_do", instruction="press F5", until={}))
            assert "until" in fault(await call("gui_do", instruction="press F5", until={"texts": "x"}))

    asyncio.run(run())


def test_a_tool_fills_a_form(gui_daemon: Daemon) -> None:
    async def run() -> None:
        with shown(gui_daemon.client, "address") as display:
            async with stdio(gui_daemon.home, "--block", "45") as agent:
                given = {
                    "display": display.name,
                    "instruction": ["type 'Anna' into First name", "click Nowhere", "click Save"],
                    "timeout": 45,
                }
                told = value(await agent.call_tool("gui_do", given))
        assert told["status"] == "not_found"
        assert len(told["done"]) == 1
        assert told["left"] == ["click Save"]
        assert "wait" not in told

    asyncio.run(run())


def test_an_agent_that_was_told_a_scene_is_told_what_its_actions_change(gui_daemon: Daemon) -> None:
    async def run() -> None:
        with shown(gui_daemon.client, "answers") as display:
            on = {"display": display.name}
            async with stdio(gui_daemon.home, "--block", "45") as agent:
                untold = value(await agent.call_tool("desktop_action", on | {"action": "mouse_move", "x": 1, "y": 1}))
                assert "scene" not in untold
                assert untold["picture"]["path"]
                first = text(await agent.call_tool("scene", on))
                opened = value(await agent.call_tool("gui_do", on | {"instruction": "click Store", "timeout": 20}))
                ask = value(await agent.call_tool("desktop_action", on | {"action": "mouse_move", "x": 2, "y": 2}))
                shown_too = value(
                    await agent.call_tool(
                        "desktop_action", on | {"action": "mouse_move", "x": 3, "y": 3, "picture": True}
                    )
                )
                seen = opened["scene"]
                if "not looked at in time" in seen:  # a loaded machine
                    seen = text(await agent.call_tool("scene", on | {"since": 1}))
                answer = re.search(r'\+? *(a\d+-\d+) button "Cancel"', seen)
                assert answer, f"{opened} {seen}"
                kept = value(await agent.call_tool("gui_do", on | {"instruction": f"click {answer[1]}", "timeout": 20}))
        assert 'button "Cancel"' not in first
        assert list(opened).index("untrusted") < list(opened).index("scene"), "its words are the screen's"
        assert any(line.startswith("dialog opened") for line in opened["happened"])
        has_scene = "not looked at in time" not in opened["scene"]
        assert any("buttons" in line for line in opened["happened"]) is not has_scene, "the scene has them"
        assert "nothing listed here differs" in ask["scene"]
        assert "picture" not in ask
        assert shown_too["picture"]["path"]
        assert not re.search(r'^\+? *a\d+-\d+ button "Cancel"', kept["scene"], re.MULTILINE), "it is gone"

    asyncio.run(run())


def test_the_command_line_acts_and_waits(gui_daemon: Daemon, answers: DisplayInfo, tmp_path: Path) -> None:
    acud, on = CommandLine(gui_daemon.home), ("-d", answers.name)
    said = acud.run("do", "move", "620", "470", *on, "--until-text", "Nothing was done", "--until-timeout", "60s")
    assert "resolved" in said
    told = acud.json("do", "move", "600", "470", *on, "--until", '{"type":"window","title":"Nowhere"}',
                     "--until-timeout", "0.2", code=3)  # fmt: skip
    assert (told["wait"]["ended"], told["wait"]["wait"]["state"]) == (True, "timeout")
    steps = tmp_path / "steps"
    steps.write_text("# two steps\nhover(610, 470)\n\nclick Nowhere\n")
    listed = acud.json("gui", "do", "--file", str(steps), *on, "--timeout", "0.2", code=3)
    assert (listed["status"], listed["left"]) == ("unverified", ["click Nowhere"])


# ---- programs that are launched ----------------------------------------------------------------------------------


SHELL = ("xterm", "-fa", "DejaVu Sans Mono", "-fs", "14", "-geometry", "30x4+200+300", "-e", "sh", "-c")
ELSEWHERE = "Nothing was done"
"""What stands in the window that was there before."""


@pytest.fixture
def beside(client: Client, answers: DisplayInfo) -> Iterator[DisplayInfo]:
    """The display of `answers`; what a test launches there is ended."""

    def windows() -> set[int]:
        return {one.window_id for one in client.desktop_action(WindowList(), display=answers.name).windows}

    before = windows()
    yield answers
    for one in windows() - before:
        client.desktop_action(WindowDo(str(one), WindowVerb.CLOSE), display=answers.name)


def test_a_launch_waits_in_the_window_that_it_opens(
    client: Client, gui_daemon: Daemon, beside: DisplayInfo, tmp_path: Path
) -> None:
    acud, on = CommandLine(gui_daemon.home), ("-d", beside.name)
    # What stands in another window does not count: exit code 3 is a timeout.
    acud.run("do", "launch", *on, "--until-text", ELSEWHERE, "--until-timeout", "3", "--", *SHELL, "read line", code=3)
    # The second launch opens its window only once another one has come, which shows the same words.
    go, late = tmp_path / "go", f"until [ -e {tmp_path}/go ]; do sleep 0.1; done; exec "
    words = shlex.join([*SHELL, "echo Report 7 saved; read line"])
    wait = WaitCreate(Text("Report 7"), timeout_s=PATIENCE_S)
    first = client.desktop_action(Launch(("sh", "-c", late + words)), display=beside.name, wait=wait, block_s=0)
    other = client.desktop_action(Launch((*SHELL, "echo Report 7 is elsewhere; read line")), display=beside.name,
                                  wait=wait, block_s=PATIENCE_S)  # fmt: skip
    assert other.wait.wait.state is WaitState.RESOLVED
    assert "elsewhere" in other.wait.wait.verdict.detail
    assert client.wait_show(first.wait.wait.wait_id).wait.state is WaitState.WATCHING
    go.touch()
    done = client.wait_result(first.wait.wait.wait_id, block_s=PATIENCE_S).wait
    assert (done.state, "saved" in done.verdict.detail) == (WaitState.RESOLVED, True), done.verdict


def test_a_launch_that_opens_no_window_says_so_at_its_timeout(client: Client, answers: DisplayInfo) -> None:
    wait = WaitCreate(Text(ELSEWHERE), timeout_s=1)
    reply = client.desktop_action(Launch(("sleep", "3")), display=answers.name, wait=wait, block_s=PATIENCE_S)
    assert reply.wait.wait.state is WaitState.TIMEOUT
    assert f"the launched program (pid {reply.pid}) has opened no window" in reply.wait.wait.verdict.detail
    whole = WaitCreate(Text(ELSEWHERE), f"display:{answers.name}", timeout_s=PATIENCE_S)
    reply = client.desktop_action(Launch(("sleep", "3")), display=answers.name, wait=whole, block_s=PATIENCE_S)
    assert reply.wait.wait.state is WaitState.RESOLVED
