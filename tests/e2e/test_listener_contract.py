"""The endpoints, row by row: shapes, statuses, clamps; and the session that their clients' own page prescribes."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from acud.types.commentary import FEED_KEPT, SENSE_KEPT
from tests.e2e.desktop import until
from tests.e2e.listener_support import SETTINGS, Http, served
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = SETTINGS + "[analysis]\nenabled = false\n"
"""With a commentary that is silent: what is in the feed is what a test put there."""


@pytest.fixture(scope="module")
def http(daemon: Daemon) -> Iterator[Http]:
    with served(daemon) as client:
        yield client


def now_ms() -> int:
    return int(time.time() * 1000)


def seen(**given: Any) -> dict[str, Any]:
    return {"type": "text", "ts": now_ms(), "ocr": "a line", "meta": {"app": "xterm", "ssim": 0.85}, **given}


def curl(http: Http, path: str, *arguments: str) -> Any:
    """Return what curl gets."""
    command = ["curl", "-sS", "--noproxy", "*", "-H", f"Authorization: Bearer {http.token}", *arguments]
    done = subprocess.run([*command, f"localhost:{http.port}{path}"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def speaking() -> Iterator[Http]:
    """The listener of a daemon of its own, which comments soon after news once it is told to."""
    with (
        Daemon(settings=SETTINGS + '[analysis]\nenabled = false\ncadence = "event"\n') as running,
        served(running) as client,
    ):
        yield client


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_session_of_the_original_page(speaking: Http) -> None:
    post = ("-X", "POST", "-H", "Content-Type: application/json", "-d")
    code = 'function main() { throw new Error(\\"null ref\\") }'
    event = f'{{"type":"text","ts":{now_ms()},"ocr":"{code}","meta":{{"app":"VS Code","ssim":0.85}}}}'
    assert curl(speaking, "/sense", *post, event)["ok"] is True
    said = r"[PERIODIC] (normal)\nContext (1 entries):\n[1s ago, openrouter] So the key insight with Laplace is..."
    assert curl(speaking, "/feed", *post, f'{{"text":"{said}","priority":"normal"}}')["ok"] is True
    _check_context(curl(speaking, "/agent/context"))
    speaking.post("/agent/config", {"enabled": True})  # both are there: the first analysis is of both

    last = until(lambda: curl(speaking, "/agent/last")["result"], "an analysis")
    assert {"id", "ts", "analysis", "context", "latencyMs", "pushed", "model", "tokensIn", "tokensOut"} <= set(last)
    assert last["context"] == {"currentApp": "VS Code", "audioCount": 1, "screenCount": 1}
    _check_health(curl(speaking, "/health"), last)
    own = [one for one in curl(speaking, "/feed")["messages"] if one.get("source") == "agent"]
    assert [one["text"] for one in own] == [f"[🧠] {last['analysis']}"]

    speaking.post("/sense", seen(ocr="TypeError: config is undefined", meta={"app": "Chrome"}))
    newer = until(lambda: speaking.get("/agent/last?limit=7")[1]["result"]["id"] > last["id"], "another")
    assert newer
    speaking.post("/agent/config", {"enabled": False})
    history = curl(speaking, "/agent/history")
    assert history["ok"] is True
    assert [one["id"] for one in history["results"]] == [last["id"] + 1, last["id"]]
    assert history["results"][1] == last
    assert speaking.get("/agent/history?limit=1000")[1] == history
    assert speaking.get("/agent/history?limit=1")[1]["results"] == history["results"][:1]
    assert speaking.get("/agent/history?limit=0")[1]["results"] == history["results"][:1]


def _check_context(told: dict[str, Any]) -> None:
    context = told["context"]
    assert (told["ok"], context["currentApp"], context["windowMs"]) == (True, "VS Code", 120_000)
    assert [chunk["text"] for chunk in context["audio"]] == ["So the key insight with Laplace is..."]
    assert context["screen"][-1]["ocr"] == 'function main() { throw new Error("null ref") }'
    assert set(context["screen"][-1]) == {"ts", "type", "app", "ocr", "ssim"}
    assert (context["audioCount"], context["screenCount"]) == (1, 1)


def _check_health(told: dict[str, Any], last: dict[str, Any]) -> None:
    agent = told["agent"]
    assert (told["ok"], told["messages"], told["senseEvents"]) == (True, 2, 1)
    assert (agent["enabled"], agent["model"], agent["lastAnalysis"]) == (True, "embedded", last["ts"])
    assert (agent["totalCalls"], agent["totalTokens"], agent["estimatedCost"]) == (1, {"in": 0, "out": 0}, 0)


def test_feed(http: Http) -> None:
    status, first = http.post("/feed", {"text": "one"})
    assert (status, first["ok"]) == (200, True)
    _, second = http.post("/feed", {"text": "zwei 🧠", "priority": "high", "unknown": 1})
    assert second["id"] > first["id"]
    status, listed = http.get("/feed", params={"after": first["id"] - 1})
    assert status == 200
    assert [(one["id"], one["text"], one["priority"]) for one in listed["messages"]] == [
        (first["id"], "one", "normal"),
        (second["id"], "zwei 🧠", "high"),
    ]
    assert set(listed["messages"][0]) == {"id", "text", "priority", "ts"}
    assert http.get(f"/feed?after={second['id'] + 1000}") == (200, {"messages": []})


def test_the_feed_keeps_a_hundred(http: Http) -> None:
    for number in range(FEED_KEPT + 1):
        http.post("/feed", {"text": f"number {number}"})
    texts = [one["text"] for one in http.get("/feed?after=-5")[1]["messages"]]
    assert len(texts) == FEED_KEPT
    assert texts[-1] == f"number {FEED_KEPT}"


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"text"', b"null", b'{"text":"\xff"}', b"[" * 4000])
@pytest.mark.parametrize("path", ["/feed", "/sense", "/agent/config"])
def test_what_is_no_json_object_is_bad_json(http: Http, path: str, body: bytes) -> None:
    assert http.post(path, body) == (400, {"error": "bad json"})


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": None}, {"text": 5}, {"priority": "normal"}])
def test_a_message_without_text_is_refused_and_context_lives(http: Http, body: dict[str, Any]) -> None:
    assert http.post("/feed", body) == (400, {"ok": False, "error": "missing text"})
    assert http.get("/agent/context")[0] == 200


def test_nobody_speaks_as_the_commentary(http: Http) -> None:
    status, told = http.post("/feed", {"text": "x", "source": "agent"})
    assert status == 400
    assert "source agent" in told["error"]
    assert http.post("/feed", {"text": "x", "source": "bridge"})[0] == 200
    assert http.get("/feed")[1]["messages"][-1]["source"] == "bridge"


def test_sense(http: Http) -> None:
    roi = {"data": "QUJD", "bbox": [1, 2, 3, 4], "thumb": True}
    status, posted = http.post("/sense", seen(roi=roi, diff={"data": "RA=="}, observation={"title": "t"}, surplus=1))
    assert (status, posted["ok"]) == (200, True)
    after = {"after": posted["id"] - 1}
    (whole,) = http.get("/sense", params=after)[1]["events"]
    assert whole["roi"] == roi
    assert whole["diff"] == {"data": "RA=="}
    assert whole["observation"] == {"title": "t"}
    assert whole["meta"] == {"app": "xterm", "windowTitle": "", "screen": 0, "ssim": 0.85}
    assert whole["receivedAt"] >= whole["ts"]
    assert "surplus" not in whole
    (lean,) = http.get("/sense", params={**after, "meta_only": "true"})[1]["events"]
    assert lean == {**whole, "roi": {"bbox": [1, 2, 3, 4], "thumb": True}, "diff": {}}
    assert http.get("/sense", params={**after, "meta_only": "1"})[1]["events"] == [whole]


def test_sense_keeps_thirty(http: Http) -> None:
    for number in range(SENSE_KEPT + 1):
        http.post("/sense", seen(ocr=f"number {number}"))
    events = http.get("/sense")[1]["events"]
    assert len(events) == SENSE_KEPT
    assert events[-1]["ocr"] == f"number {SENSE_KEPT}"
    assert http.get("/health")[1]["senseEvents"] == SENSE_KEPT


@pytest.mark.parametrize("body", [{}, {"type": "text"}, {"ts": 5}, {"type": "", "ts": 5}, {"type": "text", "ts": 0}])
def test_an_event_needs_type_and_ts(http: Http, body: dict[str, Any]) -> None:
    assert http.post("/sense", body) == (400, {"ok": False, "error": "missing type or ts"})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"type": "smell"}, "type"), ({"type": 5}, "type"), ({"ts": "soon"}, "ts"), ({"ts": True}, "ts"),
        ({"ts": -1}, "ts"), ({"ts": 1e300}, "ts"), ({"ts": "9" * 400}, "ts"), ({"meta": "xterm"}, "meta"),
        ({"meta": {"ssim": "high"}}, "meta.ssim"), ({"meta": {"app": 5}}, "meta.app"), ({"roi": [1]}, "roi"),
        ({"ocr": 5}, "ocr"),
    ],
)  # fmt: skip
def test_a_malformed_event_is_refused_by_name(http: Http, given: dict[str, Any], named: str) -> None:
    status, told = http.post("/sense", seen(**given))
    assert (status, told["ok"]) == (400, False)
    assert told["error"].startswith(named)


def test_null_is_absent_and_fractions_of_milliseconds_go(http: Http) -> None:
    meta = {"app": None, "ssim": None, "screen": "HDMI-1"}
    status, posted = http.post("/sense", seen(ts=1769899800000.75, ocr=None, roi=None, meta=meta))
    assert status == 200
    found = http.get(f"/sense?after={posted['id'] - 1}")[1]["events"][0]
    assert found["ts"] == 1769899800000
    assert found["ocr"] == ""
    assert found["meta"] == {"app": "", "windowTitle": "", "screen": "HDMI-1"}


def test_bodies_have_limits(http: Http) -> None:
    too_large = {"ok": False, "error": "body too large"}
    big = b'{"type":"text","ts":1,"ocr":"' + b"x" * (2 << 20) + b'"}'
    assert http.post("/sense", big) == (413, too_large)
    assert http.post("/feed", big) == (413, too_large)
    assert http.ask("POST", "/sense", content=(big[at : at + 65536] for at in range(0, len(big), 65536)))[0] == 413
    assert http.post("/agent/config", b" " * 5000 + b"{}") == (413, too_large)
    status, told = http.post("/sense", seen(roi={"data": "x" * (1 << 20)}))
    assert (status, told["ok"]) == (413, False)
    assert http.post("/sense", seen(ocr="x" * 100_001))[0] == 413
    assert http.post("/feed", {"text": "x" * 100_001})[0] == 413
    assert http.post("/sense", seen(roi={"data": "x" * 900_000}))[0] == 200


@pytest.mark.parametrize("path", ["/feed?after=x", "/sense?after=1e", "/agent/history?limit=many"])
def test_a_number_that_is_none_is_an_error_and_no_empty_list(http: Http, path: str) -> None:
    status, told = http.get(path)
    name = path.split("?")[1].split("=")[0]
    assert (status, told) == (400, {"ok": False, "error": f"{name} is not a number"})


def test_before_the_first_analysis(http: Http) -> None:
    assert http.get("/agent/last") == (200, {"ok": True, "result": None})
    assert http.get("/agent/history?limit=7") == (200, {"ok": True, "results": []})
    assert http.get("/health")[1]["agent"]["lastAnalysis"] is None


def test_config_is_read_and_clamped(http: Http) -> None:
    status, before = http.get("/agent/config")
    config = before["config"]
    assert (status, before["ok"]) == (200, True)
    assert {"enabled", "intervalMs", "model", "maxAgeMs", "maxTokens", "temperature", "pushToFeed"} <= set(config)
    assert config["hasApiKey"] is False
    assert not [name for name in config if "key" in name.lower() and name != "hasApiKey"]
    wanted = {"intervalMs": 1, "maxAge": "1", "temperature": "0.5", "pushToFeed": False, "no such": 1, "model": None}
    changed = {"intervalMs": 5000, "maxAgeMs": 10000, "temperature": 0.5, "pushToFeed": False}
    assert http.post("/agent/config", wanted) == (200, {"ok": True, "config": config | changed})
    assert http.get("/agent/config")[1]["config"] == config | changed
    back = {name: value for name, value in config.items() if name != "hasApiKey"}
    assert http.post("/agent/config", back)[1]["config"] == config
    assert http.post("/agent/config", {}) == (200, before)


@pytest.mark.parametrize(
    "body",
    [
        {"temperature": "x"}, {"temperature": "NaN"}, {"temperature": 3}, {"intervalMs": [5000]}, {"intervalMs": True},
        {"intervalMs": 1e15}, {"enabled": "false"}, {"model": 5}, {"cadence": "sometimes"},
        {"enabled": False, "maxTokens": 0},
    ],
)  # fmt: skip
def test_a_malformed_config_changes_nothing(http: Http, body: dict[str, Any]) -> None:
    before = http.get("/agent/config")
    status, told = http.post("/agent/config", body)
    assert (status, told["ok"]) == (400, False)
    assert any(name in told["error"] for name in body)
    assert "`" not in told["error"]
    if body == {"temperature": 3}:
        assert told["error"] == "temperature must be between 0 and 2"
    assert http.get("/agent/config") == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"), ("GET", "/feed/"), ("GET", "/agent"), ("GET", "/agent/digest"), ("DELETE", "/feed"),
        ("PUT", "/agent/config"), ("POST", "/health"), ("GET", "/../etc/passwd"), ("GET", "/%2e%2e/data.db"),
    ],
)  # fmt: skip
def test_anything_else_is_not_found(http: Http, method: str, path: str) -> None:
    assert http.ask(method, path) == (404, {"error": "not found"})


def test_answers_are_not_kept_and_no_page_may_read_them(http: Http) -> None:
    headers = http.raw.get("/health").headers
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
