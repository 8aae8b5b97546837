"""The programs of `examples/`, as their readers run them: real SDKs, a scripted model on loopback, a real window."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from acud.types import DisplayInfo, Rect
from tests.e2e.calling_model import CallingModel, call, item, message, paths, pictures
from tests.e2e.desktop import Desk
from tests.fixtures.daemon import Daemon

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
UV = ROOT / ".tools" / "bin" / "uv"
AGENTS = sorted(file.name for file in EXAMPLES.glob("agent_*.py"))


CHAT, RESPONSES = "chat completions", "responses"
SHOW_PICTURES = {("agent_langgraph.py", CHAT), ("agent_openai.py", RESPONSES), ("agent_pydantic_ai.py", CHAT)}
"""The others give their model the text of a result alone: docs/mcp.md has the table."""


class Waiter:
    """A model that arms a wait, asks for its end until it has ended, and says what it was told."""

    def __init__(self) -> None:
        self.armed = threading.Event()
        self.seen: list[str] = []

    def say(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the model's next message."""
        messages = asked["messages"]
        told = [_words(message) for message in messages if message["role"] in ("tool", "user", "assistant")]
        results = [words for words in told if "wait_id" in words and "status" in words]
        if not results:
            return call("smart_wait", {"window": "Report", "timeout": 60})
        self.seen = results
        self.armed.set()
        if re.search(r'"?status"?: ?"?watching', results[-1]):
            found = re.search(r"wait-[0-9a-z]+", results[-1])
            return call("wait_result", {"wait_id": found[0], "block": 30})
        return _final("It is there: the Report window.", messages)


def _words(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _final(words: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the last message; smolagents takes it as a call."""
    if any("final_answer" in _words(message) for message in messages):
        return call("final_answer", {"answer": words})
    return {"content": words}


@contextmanager
def agent(
    program: Path, task: str, served: CallingModel, env: dict[str, str], home: Path
) -> Iterator[subprocess.Popen[str]]:
    """Run an example as its readers do."""
    if not UV.exists():
        pytest.skip("scripts/setup brings uv")
    own = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OPENAI_API_KEY": "nobody",
        "OPENAI_BASE_URL": f"{served.url}/v1", "HOME": str(home), "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true", "UV_SYSTEM_CERTS": "1", "UV_CACHE_DIR": str(ROOT / ".state" / "uv"),
    }  # fmt: skip
    command = [str(UV), "run", "--no-project", "--python", sys.executable, "--script", str(program), task]
    with subprocess.Popen(
        command, env=env | own, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        yield running


def test_plain_python(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    command = [sys.executable, str(EXAMPLES / "plain_python.py"), "Report", "60"]
    env = shared.env | {"DISPLAY": view.name}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        first = running.stdout.readline()
        assert first.startswith("armed wait-"), first + running.stdout.read()
        desk.window(Rect(0, 0, 50, 50), title="Report")
        assert running.stdout.read() == 'resolved: the window "Report" is there\n'


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of(name: str, shared: Daemon, view: DisplayInfo, desk: Desk, tmp_path: Path) -> None:
    waiter = Waiter()
    env = shared.env | {"DISPLAY": view.name}
    with (
        CallingModel(waiter.say) as served,
        agent(EXAMPLES / name, "Wait until the window Report is there.", served, env, tmp_path) as running,
    ):
        ended = threading.Thread(target=lambda: waiter.armed.wait(100))
        ended.start()
        while ended.is_alive() and running.poll() is None:
            ended.join(0.2)
        if waiter.armed.is_set():
            desk.window(Rect(0, 0, 50, 50), title="Report")
        said = running.communicate()[0]
    assert running.returncode == 0, said
    assert "It is there: the Report window." in said
    assert 'the window \\"Report\\" is there' in waiter.seen[-1] or 'the window "Report" is there' in waiter.seen[-1]


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.parametrize(("name", "api"), [*((name, CHAT) for name in AGENTS), ("agent_openai.py", RESPONSES)])
def test_what_the_model_of_an_agent_gets_of_a_picture(
    name: str, api: str, shared: Daemon, view: DisplayInfo, desk: Desk, tmp_path: Path
) -> None:
    desk.window(Rect(40, 30, 200, 100), title="Report")
    program = EXAMPLES / name
    if api == RESPONSES:
        program = tmp_path / name
        other = (EXAMPLES / name).read_text().replace("OpenAIChatCompletionsModel", "OpenAIResponsesModel")
        program.write_text(other)
    look = {"target": f"display:{view.name}", "image": True, "max_side": 0}

    def say(asked: dict[str, Any]) -> dict[str, Any]:
        if api == RESPONSES:
            done = message("I see the Report window.")
            return done if paths(asked) else item("function_call", name="desktop_look", arguments=json.dumps(look))
        return _final("I see the Report window.", asked["messages"]) if paths(asked) else call("desktop_look", look)

    with CallingModel(say) as served, agent(program, "Look.", served, shared.env, tmp_path) as running:
        said = running.communicate()[0]
    assert running.returncode == 0, said
    file = paths(served.asked[-1])[0]
    with Image.open(file) as kept:
        assert kept.size == (view.width, view.height)
    assert pictures(served.asked[-1]) == ([file.read_bytes()] if (name, api) in SHOW_PICTURES else [])
