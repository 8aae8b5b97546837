"""A model whose words the test decides: an OpenAI-compatible server on loopback.

Each request for a completion takes the next step of the script: a function that is shown the conversation and returns
what the model says. A step that raises ends the script; `check` raises that again in the test. What a host asks beside
its task, such as a title for the conversation, is no step.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class Conversation:
    """What a host sent its model: `system`, all that is told beforehand; `said`, the words of each later message."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.said = [_words(message["content"]) for message in messages]
        self.system = "\n".join(
            words for words, one in zip(self.said, messages, strict=True) if one["role"] == "system"
        )

    @property
    def last(self) -> str:
        """The newest message."""
        return self.said[-1]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


Step = Callable[[Conversation], str]


class ScriptedModel:
    """Serves in a `with`; `url` is its base. `end`: what it says when the script is over. `aside`: words of a system
    prompt that tell a question beside the task; the answer is `end`.
    """

    def __init__(self, *steps: Step, end: str, aside: str) -> None:
        self._steps = list(steps)
        self._end = end
        self._aside = aside
        self._taking = threading.Lock()
        self._fault: BaseException | None = None
        self._doing = ThreadPoolExecutor(1)  # keeps what a step raises
        self._server = _Server(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answer(self, messages: list[dict[str, Any]]) -> str:
        """Return what the model says next."""
        heard = Conversation(messages)
        with self._taking:
            if self._aside in heard.system or self.ended:
                return self._end
            taken = self._doing.submit(self._steps.pop(0), heard)
            self._fault = taken.exception()
            return self._end if self._fault else taken.result()

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen: each step was taken, or one failed."""
        return self._fault is not None or not self._steps

    def check(self) -> None:
        """Raise what a step raised; fail when a step was never asked for."""
        if self._fault is not None:
            raise self._fault
        assert not self._steps, f"the host never asked for {len(self._steps)} more steps"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._doing.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], model: ScriptedModel) -> None:
        super().__init__(address, _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._send("application/json", [json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]})])

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = self.server.model.answer(asked["messages"])
        common = {"id": "one", "created": 1, "model": "fake"}
        if asked.get("stream"):
            part = {"index": 0, "delta": {"role": "assistant", "content": words}, "finish_reason": None}
            end = {"index": 0, "delta": {}, "finish_reason": "stop"}
            chunks = [common | {"object": "chat.completion.chunk", "choices": [choice]} for choice in (part, end)]
            self._send("text/event-stream", [f"data: {json.dumps(one)}\n\n" for one in chunks] + ["data: [DONE]\n\n"])
            return
        message = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self._send(
            "application/json",
            [json.dumps(common | {"object": "chat.completion", "choices": [message], "usage": usage})],
        )

    def _send(self, kind: str, parts: Iterable[str]) -> None:
        body = "".join(parts).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
