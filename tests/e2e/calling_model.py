"""A model that calls tools: an OpenAI-compatible server on loopback. It speaks chat completions, whole or streamed, and
responses; the test decides what it answers, and sees all that it was sent.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Body = dict[str, Any]
Say = Callable[[Body], Body]

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_USAGE_OF_RESPONSE = {
    "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
    "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
}  # fmt: skip


class CallingModel(ThreadingHTTPServer):
    """Serves in a `with`. `say` gets each request and returns the next message, or the next item of a response.
    `asked`: all requests. `url`: its base, without the `/v1`.
    """

    daemon_threads = True

    def __init__(self, say: Say) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.asked: list[Body] = []
        self.say = say

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        fault: BaseException | None = None,
        at: TracebackType | None = None,
    ) -> None:
        self.shutdown()
        self.server_close()


def call(name: str, arguments: Body) -> Body:
    """Return the message of a chat that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": f"call_{os.urandom(4).hex()}", "type": "function", "function": function}]}


def item(kind: str, **given: Any) -> Body:
    """Return an item of a response: a call, of some kind."""
    drawn = os.urandom(4).hex()
    return {"type": kind, "id": f"item_{drawn}", "call_id": f"call_{drawn}", "status": "completed", **given}


def message(words: str) -> Body:
    """Return the item of a response that says `words`."""
    said = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": "said", "role": "assistant", "status": "completed", "content": [said]}


def words(body: Any) -> Iterator[str]:
    """Yield every string of a request, pictures among them."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict | list):
        for inner in body.values() if isinstance(body, dict) else body:
            yield from words(inner)


def pictures(body: Body) -> list[bytes]:
    """Return the pictures that a request shows the model."""
    urls = [one for one in words(body) if one.startswith("data:image/")]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def paths(body: Body) -> list[Path]:
    """Return the files of pictures that acud's answers in a request name, as the model reads them."""
    said = [one for one in words(body) if not one.startswith("data:image/")]
    return [Path(found) for one in said for found in re.findall(r"\bpath: (/[^\s\\]+)", one)]


class _Handler(BaseHTTPRequestHandler):
    server: CallingModel

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        said = self.server.say(asked)
        if self.path.endswith("/responses"):
            whole = _response(said, asked["model"])
            if asked.get("stream"):
                self._send("text/event-stream", "".join(_event(one) for one in _events(whole)))
            else:
                self._send("application/json", json.dumps(whole))
        elif asked.get("stream"):
            chunks = "".join(f"data: {json.dumps(one)}\n\n" for one in _chunks(said, asked["model"]))
            self._send("text/event-stream", f"{chunks}data: [DONE]\n\n")
        else:
            self._send("application/json", json.dumps(_whole(said, asked["model"])))

    def _send(self, kind: str, words: str) -> None:
        body = words.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _event(event: Body) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _response(item: Body, model: str) -> Body:
    common = {"id": "one", "object": "response", "created_at": 1, "model": model, "status": "completed", "tools": []}
    return common | {"output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "usage": _USAGE_OF_RESPONSE}


def _events(whole: Body) -> list[Body]:
    (item,) = whole["output"]
    return [
        {"type": "response.created", "response": {"id": whole["id"]}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _chat_message(said: Body) -> tuple[Body, str]:
    return {"role": "assistant", "content": None, **said}, "tool_calls" if said.get("tool_calls") else "stop"


def _chunks(said: Body, model: str) -> list[Body]:
    message, reason = _chat_message(said)
    common = {"id": "one", "object": "chat.completion.chunk", "created": 1, "model": model}
    choices = [
        {"index": 0, "delta": message, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": reason},
    ]
    return [*({**common, "choices": [choice]} for choice in choices), {**common, "choices": [], "usage": _USAGE}]


def _whole(said: Body, model: str) -> Body:
    message, reason = _chat_message(said)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    common = {"id": "one", "object": "chat.completion", "created": 1, "model": model, "usage": _USAGE}
    return common | {"choices": [choice]}
