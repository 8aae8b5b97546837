"""Answers of models as strangers' servers give them: a verdict that is plain is taken, any other wakes nobody."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from acud.types import Criteria
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PATHS = {"lab": "", "paas": "/api/paas/v4", "beta": "/v1beta/openai"}
"""By backend, where its server has `chat/completions`; a plain host has it below /v1."""


class _Gateway(ThreadingHTTPServer):
    """Gives what `body` says to a question, at the places of `_PATHS` alone."""

    body: ClassVar[dict[str, Any]] = {}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        is_there = self.path in {f"{path or '/v1'}/chat/completions" for path in _PATHS.values()}
        self._send(200 if is_there else 404, _Gateway.body if is_there else {"error": {"message": "no such page"}})

    def do_GET(self) -> None:
        self._send(200, {"data": [{"id": "eye"}]})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """Print nothing."""


_GATEWAY = _Gateway(("127.0.0.1", 0), _Handler)
threading.Thread(target=_GATEWAY.serve_forever, daemon=True).start()

SETTINGS = '[vision]\nbackend = "lab"\n' + "".join(
    f'[backends.{name}]\nkind = "openai"\nmodel = "eye"\nlocal = true\n'
    f'url = "http://127.0.0.1:{_GATEWAY.server_port}{path}"\n'
    for name, path in _PATHS.items()
)


def _completion(words: str, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": words}, "finish_reason": finish}], "model": "eye"}


def _judge(daemon: Daemon, body: dict[str, Any], is_right: Callable[[str, str], bool], judge: str = "lab") -> Outcome:
    """Return whether the end of a wait whose model answers `body` is right: its state, and its verdict's code."""
    _Gateway.body = body
    display = daemon.client.display_create(320, 240).display
    try:
        wait = daemon.client.wait_create(
            Criteria("the export is done"), display=display.name, timeout_s=6.0, judge=judge
        )
        ended = daemon.client.wait_result(wait.wait.wait_id, block_s=40.0).wait
    finally:
        daemon.client.display_remove(display.name, force=True)
    printed = f"{ended.state}, {ended.verdict.answer} {ended.verdict.code}: {ended.verdict.detail}"
    if is_right(str(ended.state), ended.verdict.code):
        return Outcome(Answer.RIGHT, printed)
    return Outcome(Answer.WRONG if ended.state == "resolved" else Answer.UNKNOWN, printed)


def _is_yes(state: str, _code: str) -> bool:
    return state == "resolved"


def _is_no(state: str, code: str) -> bool:
    return state == "timeout" and code == ""


def _is_coded(wanted: str, state: str, code: str) -> bool:
    return state != "resolved" and code == wanted


def _case(name: str, body: dict[str, Any] | str, is_right: Callable[[str, str], bool], **more: Any) -> Case:
    held_out = more.pop("held_out", False)
    told = _completion(body) if isinstance(body, str) else body
    return Case(name, partial(_judge, body=told, is_right=is_right, **more), held_out)


_UNPARSABLE = partial(_is_coded, "unparsable")
_REJECTED = partial(_is_coded, "rejected")

CASES = (
    _case("fenced", "```\nYES: the bar is full\n```", _is_yes),
    _case("a sentence of a small model", "Yes, the export dialog shows that it is finished.", _is_yes),
    _case("after a byte order mark", "\ufeffNO: the bar is at 40 %", _is_no),
    _case("a yes that cannot be seen", "YES: it cannot be seen, but it is assumed to be done", _UNPARSABLE),
    _case("both forms", "YES: it is done\nNO: it is not", _UNPARSABLE),
    _case("an address with a path", "YES: done", _is_yes, judge="paas"),
    _case("an error inside a 200", {"error": {"code": "model_not_found", "message": "no model eye"}}, _REJECTED),
    _case("bold, in a list", "- **YES**: the words Export finished are there", _is_yes, held_out=True),
    _case("JSON in a fence", '```json\n{"answer": "yes", "evidence": "the bar is full"}\n```', _is_yes, held_out=True),
    _case("a thought before it", "<think>\nYES: or no?\n</think>\n\nNO: still running", _is_no, held_out=True),
    _case("prose alone", "The screen shows an export window.", _UNPARSABLE, held_out=True),
    _case("cut after its colon", _completion("YES:", "length"), _is_yes, held_out=True),
    _case("another address with a path", "YES: done", _is_yes, judge="beta", held_out=True),
    _case("an error in words inside a 200", {"error": "images are not supported here"}, _REJECTED, held_out=True),
)
