"""Models' answers and gateways' paths in forms that acud's rules were not written on: plain ones are read, no other."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from acud.base.errors import AcudError
from acud.types import Criteria, WaitInfo, WaitState
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import show, unseen
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port

_PORT = free_port()
_HOST = f"http://127.0.0.1:{_PORT}"
_PATHS = {
    "plain": "", "slash": "/v1/", "ark": "/api/v3", "compatible": "/compatible-mode/v1",
    "serving": "/serving-endpoints", "inference": "/inference", "nested": "/team/7/openai/v2",
    "whole": "/v1/chat/completions", "dated": "/openai/deployments/eye?api-version=2024-10-21",
}  # fmt: skip
"""By backend, the `url` behind its host, as vendors' pages print it."""
_SERVED = {
    name: path.split("?")[0].rstrip("/").removesuffix("/chat/completions") or "/v1" for name, path in _PATHS.items()
}
_TABLES = "".join(
    f'[backends.{name}]\nkind = "openai"\nurl = "{_HOST}{path}"\nmodel = "eye"\nlocal = true\ntries = 1\n'
    + ("lists_models = false\n" if name == "dated" else "")
    for name, path in _PATHS.items()
)
SETTINGS = (
    '[vision]\nbackend = "plain"\n'
    f'{_TABLES}[backends.lost]\nkind = "openai"\nurl = "{_HOST}/nowhere/v9"\nmodel = "eye"\nlocal = true\ntries = 1\n'
    f'[backends.other]\nkind = "openai"\nurl = "{_HOST}/v1"\nmodel = "absent-model"\nlocal = true\ntries = 1\n'
)


def _completion(text: object, finish: str = "stop", **message: object) -> dict[str, Any]:
    held = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "finish_reason": finish, "message": held}
    return {"id": "c1", "object": "chat.completion", "model": "eye", "choices": [choice]}


class _Gateway(ThreadingHTTPServer):
    """Answers each question with `body`, at the one path that it serves; keeps the paths that were asked for."""

    daemon_threads = True

    def __init__(self, served: str, body: bytes, headers: dict[str, str]) -> None:
        self.served, self.body, self.headers, self.asked = served, body, headers, list[str]()
        super().__init__(("127.0.0.1", _PORT), _Handler)

    def list_models(self) -> bytes:
        return json.dumps({"object": "list", "data": [{"id": "eye", "object": "model"}]}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: _Gateway

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        path = self.path.split("?")[0]
        self.server.asked.append(self.path)
        if path == f"{self.server.served}/chat/completions":
            self._send(200, self.server.body, self.server.headers)
        else:
            self._send(404, b'{"error": {"message": "no such route"}}', {})

    def do_GET(self) -> None:
        is_list = self.path.split("?")[0] == f"{self.server.served}/models"
        self._send(200 if is_list else 404, self.server.list_models() if is_list else b"{}", {})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """Print nothing."""


@contextmanager
def _serve(body: bytes, served: str = "/v1", headers: dict[str, str] | None = None) -> Iterator[_Gateway]:
    gateway = _Gateway(served, body, headers or {})
    threading.Thread(target=gateway.serve_forever, daemon=True).start()
    try:
        yield gateway
    finally:
        gateway.shutdown()
        gateway.server_close()


def _ask(daemon: Daemon, judge: str, holds: Callable[[WaitInfo], bool], for_s: float = 12.0) -> WaitInfo:
    """Return the wait once `holds` of it, or as it is after `for_s`; its own limit is further."""
    with show(daemon, 640, 480) as screen:
        made = daemon.client.wait_create(
            Criteria(f"the lamp at the door is green {time.monotonic_ns()}"),
            display=screen.name,
            judge=judge,
            timeout_s=90,
        )
        until_s = time.monotonic() + for_s
        while True:
            wait = daemon.client.wait_show(made.wait.wait_id).wait
            if holds(wait) or time.monotonic() > until_s:
                daemon.client.wait_cancel(made.wait.wait_id) if wait.state == WaitState.WATCHING else None
                return wait
            time.sleep(0.1)


def _is_known(wait: WaitInfo) -> bool:
    return wait.state != WaitState.WATCHING or wait.verdict.answer == "no"


def _form(text: str, expected: str, daemon: Daemon, finish: str = "stop") -> Outcome:
    """`expected`: yes, no, or unknown, which nobody may call a yes."""
    return _body(json.dumps(_completion(text, finish)).encode(), expected, daemon)


def _body(body: bytes, expected: str, daemon: Daemon, headers: dict[str, str] | None = None) -> Outcome:
    with _serve(body, headers=headers) as gateway:
        holds = _is_known if expected != "unknown" else lambda w: w.verdict.answer == "yes" or len(gateway.asked) > 2
        wait = _ask(daemon, "plain", holds)
        answer = str(wait.verdict.answer)
        printed = f"{wait.state} {answer}: {wait.verdict.detail}"
        if answer == expected or (expected == "unknown" and answer == "no"):
            return Outcome(Answer.RIGHT, printed)
        return Outcome(Answer.UNKNOWN if answer == "unknown" else Answer.WRONG, printed)


def _path(name: str, daemon: Daemon) -> Outcome:
    with _serve(json.dumps(_completion("YES: it is green")).encode(), served=_SERVED[name]) as gateway:
        wait = _ask(daemon, name, _is_known)
        printed = f"{wait.state}: {wait.verdict.detail}; asked {gateway.asked[:3]}"
        return Outcome(Answer.RIGHT if wait.state == WaitState.RESOLVED else Answer.UNKNOWN, printed)


def _lost(daemon: Daemon) -> Outcome:
    """Nothing is at the path: the verdict names the whole URL that was asked."""
    with _serve(b"{}") as gateway:
        wait = _ask(daemon, "lost", lambda wait: "404" in wait.verdict.detail)
        is_named = "/nowhere/v9" in wait.verdict.detail and "404" in wait.verdict.detail
        printed = f"{wait.state}: {wait.verdict.detail}; asked {gateway.asked[:3]}"
        return Outcome(Answer.RIGHT if is_named else Answer.UNKNOWN, printed)


def _unparsable_twice(daemon: Daemon) -> Outcome:
    """An answer in no form stays so: the wait says it long before its limit, and what the model wrote."""
    with _serve(json.dumps(_completion("The lamp is a lamp at a door.")).encode()):
        began_s = time.monotonic()
        wait = _ask(
            daemon, "plain", lambda wait: bool(re.search("unparsable|twice", f"{wait.verdict} {wait.note}")), 20.0
        )
        took_s = time.monotonic() - began_s
        printed = f"{wait.state} after {took_s:.1f} s: {wait.verdict.code} {wait.verdict.detail}; {wait.note}"
        is_told = wait.verdict.code == "unparsable" and wait.verdict.answer == "unknown"
        return Outcome(Answer.RIGHT if is_told else Answer.UNKNOWN, printed)


def _lacks_model(daemon: Daemon) -> Outcome:
    """The server has no such model: told at arming or in the verdict within some seconds, not at the deadline."""
    refusal = json.dumps({"error": {"message": "The model `absent-model` does not exist", "code": "model_not_found"}})
    with _serve(refusal.encode(), served="/nothing") as gateway, show(daemon, 640, 480) as screen:
        gateway.served = "/v1"
        try:
            reply = daemon.client.wait_create(
                Criteria("the lamp is green"), display=screen.name, judge="other", timeout_s=60.0
            )
        except AcudError as fault:
            return Outcome(Answer.RIGHT, f"refused: {fault}")
        until_s = time.monotonic() + 12.0
        while time.monotonic() < until_s:
            now = daemon.client.wait_show(reply.wait.wait_id).wait
            if "absent-model" in f"{reply} {now.verdict} {now.note}" and now.verdict.answer == "unknown":
                return Outcome(Answer.RIGHT, f"{now.verdict.detail}; {now.note}; spent {now.spent}")
            time.sleep(0.1)
        return Outcome(Answer.UNKNOWN, f"{now.state} {now.verdict}; {now.note}")


def _nobody_there(daemon: Daemon) -> Outcome:
    """No server listens: the verdict says so within some seconds, and no call is counted."""
    wait = _ask(daemon, "ark", lambda wait: wait.verdict.code == "judge_down")
    printed = f"{wait.state} {wait.verdict.code}: {wait.verdict.detail}; spent {wait.spent}"
    is_told = wait.verdict.code == "judge_down"
    if is_told and wait.spent.evaluations:
        return Outcome(Answer.WRONG, printed)
    return Outcome(Answer.RIGHT if is_told else Answer.UNKNOWN, printed)


_YES = {
    "a label before it": "Verdict: YES: the lamp is green",
    "bold": "**YES:** the lamp is green",
    "bold word, colon outside": "**YES**: the lamp is green",
    "a numbered line": "1. YES: the lamp is green",
    "a quotation mark of Markdown": "> YES: the lamp is green",
    "a heading": "### YES: the lamp is green",
    "a word joiner before it": "\u2060\u200bYES: the lamp is green",
    "a full-width colon": "YES：the lamp is green",
    "full-width letters": "ＹＥＳ: the lamp is green",
    "a sentence": "Yes, the lamp at the door is green.",
    "JSON": '{"answer": "yes", "reason": "the lamp is green"}',
    "JSON in a fence": '```json\n{\n  "verdict": "YES",\n  "evidence": "green lamp"\n}\n```',
    "JSON with a truth value": '{"answer": true, "evidence": "the lamp is green"}',
    "XML": "<verdict>YES</verdict><evidence>the lamp is green</evidence>",
    "words before it": "Looking at the picture, I see a door and a lamp beside it.\n\nYES: the lamp is green",
    "words after it": "YES: the lamp is green\n\nLet me know if you want me to look again!",
    "a dash": "YES – the lamp is green",
    "a tick before it": "✅ YES: the lamp is green",
    "curly quotes around it": "“YES: the lamp is green”",
    "a table": "| Verdict | Evidence |\n|---|---|\n| YES | the lamp is green |",
    "final answer": "Final answer: YES: the lamp is green",
    "boxed": "\\boxed{YES}",
    "a thought before it": "<thinking>Is it lit? I look.</thinking>\nYES: the lamp is green",
    "Windows line ends": "\r\n\r\nYES: the lamp is green\r\n",
    "no-break spaces": "\u00a0\u00a0YES\u00a0: the lamp is green",
}
_NO = {
    "a sentence": "No, the lamp is red.",
    "a bullet": "• NO: the lamp is red",
    "JSON": '{"result": "no", "why": "the lamp is red"}',
    "a fence": "```\nNO: the lamp is red\n```",
}
_NEVER = {
    "it cannot be seen": "YES: the lamp cannot be seen from here, but it is presumably green",
    "an assumption": "YES: assuming that the lamp behind the dialog is on, it is green",
    "likely": "YES: the lamp is most likely green, although it is outside of the picture",
    "not visible": "YES: although the lamp is not visible in this screenshot",
    "both": "NO: the lamp is red\nYES: the lamp is green",
    "a question of form": "YES or NO: NO",
    "a negation": "The answer is not YES: the lamp is red",
    "a condition": "I would say YES: if the lamp were green",
    "a quotation of the screen": "The window shows the words 'YES: the lamp is green', but the lamp is red.",
    "JSON, both": '{"answer": "yes", "final": "no"}',
    "JSON, doubled key": '{"answer": "yes", "answer": "no"}',
    "JSON, false": '{"yes": false, "reason": "the lamp is red"}',
    "yes and no": "Yes and no: one lamp is green, the other is red",
    "a doubt": "Yes? I am not sure, the picture is blurred.",
    "unable": "YES: I'm unable to verify this, the screen is black",
    "a correction": "YES: the lamp is green. Correction: it is red, so NO.",
    "German doubt": "YES: vermutlich, die Lampe ist nicht zu sehen",
}
_BODIES: dict[str, tuple[bytes, str, dict[str, str]]] = {
    "content in parts": (
        json.dumps(_completion([{"type": "text", "text": "YES: the lamp is green"}])).encode(),
        "yes",
        {},
    ),
    "gzip": (gzip.compress(json.dumps(_completion("YES: green")).encode()), "yes", {"content-encoding": "gzip"}),
    "a BOM before the JSON": (b"\xef\xbb\xbf" + json.dumps(_completion("YES: green")).encode(), "yes", {}),
    "text/plain": (json.dumps(_completion("NO: red")).encode(), "no", {"content-type": "text/plain"}),
    "only reasoning": (json.dumps(_completion("", reasoning_content="YES: green")).encode(), "unknown", {}),
    "a refusal field": (json.dumps(_completion(None, refusal="I can't help. YES: no")).encode(), "unknown", {}),
    "an error in a 200": (b'{"error": {"code": 400, "message": "YES: images are not supported"}}', "unknown", {}),
    "a page": (b"<html>YES: welcome</html>", "unknown", {"content-type": "text/html"}),
    "cut after its colon": (json.dumps(_completion("YES:", "length")).encode(), "yes", {}),
}

CASES: tuple[Case, ...] = (
    *(unseen(f"yes, {name}", partial(_form, text, "yes")) for name, text in _YES.items()),
    *(unseen(f"no, {name}", partial(_form, text, "no")) for name, text in _NO.items()),
    *(unseen(f"no yes, {name}", partial(_form, text, "unknown")) for name, text in _NEVER.items()),
    *(
        unseen(f"body, {name}", partial(_body, body, expected, headers=headers))
        for name, (body, expected, headers) in _BODIES.items()
    ),
    *(unseen(f"gateway, {name}: {path or 'a host'}", partial(_path, name)) for name, path in _PATHS.items()),
    unseen("gateway, a lost path", _lost),
    unseen("a judge that is never in a form", _unparsable_twice),
    unseen("a judge without its model", _lacks_model),
    unseen("a judge that is not there", _nobody_there),
)
