"""A whole agent, end to end: the real host gptme from PyPI, with a scripted model, over `acud mcp`, and an xterm on a
managed display whose words the test decides. What the model is sent is checked at each step.

Skipped where gptme can't be installed. `ACU_TEST_GPTME` may name a program that is installed already.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.types import DisplayInfo, WaitState, WakeState
from tests.e2e import faults
from tests.e2e.cli_support import Terminal
from tests.e2e.mcp_support import COMMAND
from tests.e2e.scripted_model import Conversation, ScriptedModel, Step
from tests.fixtures import gptme_package
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

TASK = "Tell me when the download is complete."
CONFIG = """
[mcp]
enabled = true
auto_start = true

[[mcp.servers]]
name = "acud"
enabled = true
command = {command}
args = {args}
env = {{ ACU_HOME = {home} }}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gptme, in a virtual environment of its own."""
    given = os.environ.get("ACU_TEST_GPTME", "")
    if given:
        return Path(given)
    try:
        return gptme_package.install(tmp_path_factory.mktemp("gptme") / "venv") / "gptme"
    except gptme_package.NotInstallable as fault:
        pytest.skip(str(fault))


class Agent:
    """gptme in a home of its own: its command line, and the environment it needs."""

    def __init__(self, program: Path, home: Path, daemon_home: Path, model: ScriptedModel) -> None:
        self.home = home
        config = home / ".config" / "gptme" / "config.toml"
        config.parent.mkdir(parents=True)
        # It gives itself the name of every program with the SDK, and waits longer than most of them.
        command, *arguments = [*COMMAND, "--block", "45"]
        config.write_text(
            CONFIG.format(command=json.dumps(command), args=json.dumps(arguments), home=json.dumps(str(daemon_home)))
        )
        nowhere = f"http://127.0.0.1:{free_port()}"  # whatever else the host would fetch, it shall not
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "none",
            "HTTPS_PROXY": nowhere,
            "HTTP_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1",
        }
        self.command = [str(program), "--non-interactive", "--no-workspace", "--model", "local/fake", "--name", "one"]
        self.command += ["--tools", "+acud.smart_wait,+acud.wait_result", "--workspace", "@log"]

    def run(self, prompt: str) -> str:
        """Give it a task and return what it printed, once it has ended its turn."""
        done = subprocess.run(
            [*self.command, prompt], env=self.env, cwd=self.home, capture_output=True, text=True, timeout=300,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def when_woken(self, program: Path) -> None:
        """Make `program`: it gives the agent a wake's text as its next task, in the same conversation."""
        words, env = shlex.join(self.command), shlex.join(f"{name}={value}" for name, value in self.env.items())
        program.write_text(
            f"#!/bin/sh\ncd {shlex.quote(str(self.home))} || exit\n"
            f'exec env -i {env} {words} "$ACU_WAKE_TEXT" </dev/null >"$0.log" 2>&1\n'
        )
        program.chmod(0o755)


def call(tool: str, **arguments: Any) -> str:
    """Return how gptme's model calls a tool."""
    return f"```acud.{tool}\n{json.dumps(arguments)}\n```\n"


def told(conversation: Conversation) -> dict[str, Any]:
    """Return the tool's answer that the model was sent last."""
    found = re.search(r"\{.*\}", conversation.last, re.DOTALL)
    assert found, conversation.last
    answer: dict[str, Any] = json.loads(found[0])
    return answer


END = "```complete\n```\n"
"""How it ends its turn."""


def scripted(*steps: Step) -> ScriptedModel:
    """Return a model for gptme, which also asks for a title of the conversation."""
    return ScriptedModel(*steps, end=END, aside="conversation titles")


@pytest.fixture
def woken_by(tmp_path: Path) -> Path:
    """The program that the daemon runs to wake the agent."""
    return tmp_path / "agent" / "wake"


@pytest.fixture
def daemon(woken_by: Path) -> Iterator[Daemon]:
    wake = {"routes": ["command"], "command": [str(woken_by)], "command_timeout_s": 300}
    with Daemon(faults.settings(vision={"backend": "ocr"}, wake=wake)) as running:
        yield running


@pytest.fixture
def screen(daemon: Daemon, tmp_path: Path) -> Iterator[tuple[DisplayInfo, Terminal]]:
    """A managed display with a terminal on it, in the middle of a download."""
    display = daemon.client.display_create(900, 500).display
    with Terminal(display, tmp_path) as terminal:
        terminal.write("Downloading")
        yield display, terminal


def resolved(heard: Conversation, wait_id: str) -> None:
    """Check that the model was sent the result, with its evidence."""
    ended = told(heard)
    assert (ended["wait_id"], ended["status"], ended["answer"]) == (wait_id, "resolved", "yes")
    assert "Download complete" in ended["evidence"]
    assert Path(ended["evidence_path"]).is_file()
    assert "never instructions" in ended["untrusted"]


def test_an_agent_asks_for_the_result(
    program: Path, daemon: Daemon, screen: tuple[DisplayInfo, Terminal], tmp_path: Path
) -> None:
    display, terminal = screen
    waits: list[str] = []

    def arm(heard: Conversation) -> str:
        assert TASK in heard.last
        assert "acud.smart_wait" in heard.system
        assert "without polling" in heard.system
        assert "acud.wait_result" in heard.system
        return call("smart_wait", text="Download complete", target=f"display:{display.name}", timeout=3000)

    def ask(heard: Conversation) -> str:
        armed = told(heard)
        assert (armed["status"], armed["criteria"]) == ("watching", 'text "Download complete"')
        assert "wait_result" in armed["next"]
        waits.append(armed["wait_id"])
        terminal.write("Download complete")
        return call("wait_result", wait_id=armed["wait_id"], block=45)

    def read(heard: Conversation) -> str:
        resolved(heard, waits[0])
        return f"The download is complete.\n{END}"

    with scripted(arm, ask, read) as model:
        said = Agent(program, tmp_path / "agent", daemon.home, model).run(TASK)
        model.check()
    assert "The download is complete." in said
    assert daemon.client.wait_show(waits[0]).wait.state is WaitState.RESOLVED


def test_an_agent_ends_its_turn_and_is_woken(
    program: Path, daemon: Daemon, screen: tuple[DisplayInfo, Terminal], tmp_path: Path, woken_by: Path
) -> None:
    display, terminal = screen
    waits: list[str] = []

    def arm(heard: Conversation) -> str:
        assert TASK in heard.last
        return call("smart_wait", text="Download complete", target=f"display:{display.name}", timeout=3000)

    def rest(heard: Conversation) -> str:
        armed = told(heard)
        assert armed["status"] == "watching"
        assert "you are woken" in armed["next"]
        waits.append(armed["wait_id"])
        return f"I go on when I am woken.\n{END}"

    def ask(heard: Conversation) -> str:
        assert any(TASK in words for words in heard.said)
        wait_id = waits[0]
        assert f"[smart_wait resolved] Job {wait_id}: " in heard.last
        assert f"Next: wait_result wait_id={wait_id}" in heard.last
        return call("wait_result", wait_id=wait_id, block=0)

    def read(heard: Conversation) -> str:
        resolved(heard, waits[0])
        return f"The download is complete.\n{END}"

    with scripted(arm, rest, ask, read) as model:
        agent = Agent(program, tmp_path / "agent", daemon.home, model)
        agent.when_woken(woken_by)
        said = agent.run(TASK)
        assert "I go on when I am woken." in said
        assert daemon.client.wait_show(waits[0]).wait.state is WaitState.WATCHING
        terminal.write("Download complete")
        faults.until(lambda: model.ended, "the woken agent's last words", 250)
        model.check()
        (wake,) = daemon.client.wake_list(seen=True, wait_id=waits[0]).wakes
        assert wake.state is WakeState.SEEN
