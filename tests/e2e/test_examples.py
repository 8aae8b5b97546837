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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from acud.types import DisplayInfo, Rect
from tests.daemon import Daemon
from tests.e2e.desktop import Desk

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
UV = ROOT / ".tools" / "bin" / "uv"
AGENTS = sorted(file.name for file in EXAMPLES.glob("agent_*.py"))


class Model(ThreadingHTTPServer):
    """An OpenAI-compatible model that arms a wait, asks for its end until it has ended, and says what it was told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.armed = threading.Event()
        self.seen: list[str] = []

    def say(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the model's next message."""
        told = [_words(message) for message in messages if message["role"] in ("tool", "user", "assistant")]
        results = [words for words in told if "wait_id" in words and "status" in words]
        if not results:
            return _call("smart_wait", {"window": "Report", "timeout": 60})
        self.seen = results
        self.armed.set()
        if re.search(r'"?status"?: ?"?watching', results[-1]):
            found = re.search(r"wait-[0-9a-z]+", results[-1])
            assert found is not None
            return _call("wait_result", {"wait_id": found[0], "block": 30})
        return _final("It is there: the Report window.", messages)


def _words(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": f"call_{os.urandom(4).hex()}", "type": "function"}
    return {"tool_calls": [{**call, "function": {"name": name, "arguments": json.dumps(arguments)}}]}


def _final(words: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the last message; smolagents takes it as a call."""
    if any("final_answer" in _words(message) for message in messages):
        return _call("final_answer", {"answer": words})
    return {"content": words}


class _Answer(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": None, **self.server.say(asked["messages"])}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"], "usage": usage}
        body = json.dumps(whole | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def model() -> Iterator[Model]:
    """Serve the model."""
    with Model() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def test_plain_python(shared: Daemon, view: DisplayInfo, desk: Desk) -> None:
    command = [sys.executable, str(EXAMPLES / "plain_python.py"), "Report", "60"]
    env = shared.env | {"DISPLAY": view.name}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        first = running.stdout.readline()
        assert first.startswith("armed wait-"), first + running.stdout.read()
        desk.window(Rect(0, 0, 50, 50), title="Report")
        assert running.stdout.read() == 'resolved: the window "Report" is there\n'


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of(name: str, shared: Daemon, view: DisplayInfo, desk: Desk, tmp_path: Path) -> None:
    if not UV.exists():
        pytest.skip("scripts/setup brings uv")
    with model() as served:
        own = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "DISPLAY": view.name,
            "OPENAI_API_KEY": "nobody", "OPENAI_BASE_URL": served.url, "HOME": str(tmp_path),
            "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "UV_SYSTEM_CERTS": "1",
            "UV_CACHE_DIR": str(ROOT / ".state" / "uv"),
        }  # fmt: skip
        command = [str(UV), "run", "--no-project", "--python", sys.executable, "--script", str(EXAMPLES / name)]
        asked = "Wait until the window Report is there."
        with subprocess.Popen(
            [*command, asked], env=shared.env | own, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        ) as running:  # fmt: skip
            ended = threading.Thread(target=lambda: served.armed.wait(100))
            ended.start()
            while ended.is_alive() and running.poll() is None:
                ended.join(0.2)
            if served.armed.is_set():
                desk.window(Rect(0, 0, 50, 50), title="Report")
            said = running.communicate()[0]
    assert running.returncode == 0, said
    assert "It is there: the Report window." in said
    assert 'the window \\"Report\\" is there' in served.seen[-1] or 'the window "Report" is there' in served.seen[-1]
