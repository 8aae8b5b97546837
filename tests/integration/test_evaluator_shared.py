"""Several conditions in one call, and calls that a minute has no room for: a real evaluator, real rings, loopback."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from acud.config.backends import PREDEFINED, predefined_backends
from acud.protocol.evaluation import JobResult, LeafAnswer
from acud.protocol.questions import Ask
from acud.types import Criteria, Rect
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask

LAMP = Rect(200, 100, 16, 16)
SCRIPT = {
    "rules": [{"pixel": [208, 108, "#00c800"], "criteria": "lamp"}], "tokens_in": 100, "tokens_out": 7, "cost_usd": 0.3,
}  # fmt: skip


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[PaintedRing]:
    with PaintedRing(Path("/dev/shm") / f"acud-test-{os.getpid()}-{tmp_path.name}") as ring:
        ring.fill(LAMP, (0, 200, 0))
        ring.publish()
        yield ring


def sentence(words: str, wait_id: str, party: str = "agent a") -> Ask:
    return ask(Criteria(words), wait_id=wait_id, party=party)


def answers(result: JobResult) -> list[LeafAnswer]:
    return [answer for answered in result.answered for answer in answered.answers]


def counted(rig: EvaluatorRig, name: str, at_least: float) -> dict[str, float]:
    return rig.beat(lambda beat: beat.counters.get(name, 0) >= at_least).counters


def test_one_encoding_and_one_call_serve_all_conditions_on_a_view(tmp_path: Path, ring: PaintedRing) -> None:
    with EvaluatorRig(tmp_path, backend="scripted", scripted=json.dumps(SCRIPT), share_calls=True) as rig:
        rig.ready()
        words = ("the lamp is green", "the door is open", "a lamp shows")
        result = rig.run(ring.job(*(sentence(one, f"w{n}") for n, one in enumerate(words))))
        found = answers(result)
        assert [one.verdict.answer.value for one in found] == ["yes", "no", "yes"]
        assert (sum(one.tokens_in or 0 for one in found), sum(one.tokens_out or 0 for one in found)) == (100, 7)
        assert sum(one.cost_usd or 0 for one in found) == pytest.approx(0.3)
        counters = counted(rig, "shared_questions", 3)
        assert (counters["encode_n"], counters["judge_calls"], counters["shared_calls"]) == (1, 1, 1)


class Model:
    """An ollama on loopback that says `shared` to several conditions and `single` to one. A context manager."""

    def __init__(self, shared: str, single: str) -> None:
        self.prompts: list[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send({"models": [{"name": "minicpm-v:latest"}], "version": "1"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                words = body["messages"][-1]["content"]
                model.prompts.append(words)
                said = shared if "<condition 1>" in words else single
                counts = {"prompt_eval_count": 100, "eval_count": 9, "done": True, "done_reason": "stop"}
                self._send({"model": "m", "message": {"role": "assistant", "content": said}, **counts})

            def _send(self, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Model:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_whom_a_minute_has_no_room_for_is_told_when_to_come_again(tmp_path: Path, ring: PaintedRing) -> None:
    with Model("", "NO: not yet") as model:
        backends = predefined_backends() | {
            "ollama": replace(PREDEFINED["ollama"], url=model.url, tries=1, requests_per_minute=1)
        }
        with EvaluatorRig(tmp_path, backend="ollama", models=backends) as rig:
            rig.ready()
            asks = [ask(Criteria(f"is {n}"), wait_id=f"w{n}", timeout_s=100.0 + n) for n in range(3)]
            found = {one.wait_id: one.answers[0] for one in rig.run(ring.job(*asks)).answered}
        codes = sorted(one.verdict.code for one in found.values())
        assert codes == ["", "rate_limited", "rate_limited"]
        late = sorted(one.retry_after_s for one in found.values() if one.verdict.code)
        assert late == [pytest.approx(60, abs=20), pytest.approx(120, abs=20)]
        assert all("next in about" in one.verdict.detail for one in found.values() if one.verdict.code)
        assert len(model.prompts) == 1
