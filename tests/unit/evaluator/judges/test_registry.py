"""Who answers `auto`, and when health is news."""

import httpx
import pytest

from acud.evaluator.judges.faults import KeyFilter
from acud.evaluator.judges.http import AnyObject, HttpExchange, plain_url
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply
from acud.evaluator.judges.openai import OpenAiProvider
from acud.evaluator.judges.registry import JudgeRegistry
from acud.protocol.evaluation import JudgeHealth, Judges
from acud.types import yes


class Eye:
    """A judge whose health a test sets."""

    local = True

    def __init__(self, name: str, state: str = "ready") -> None:
        self.name, self.state = name, state

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        return JudgeReply(yes("seen"))

    async def check_health(self) -> JudgeHealth:
        return JudgeHealth(self.name, self.state)  # type: ignore[arg-type]

    async def close(self) -> None:
        self.state = "down"


@pytest.mark.asyncio
async def test_auto_is_ollama_where_it_is_ready_else_ocr() -> None:
    eye = Eye("ollama", "down")
    judges = JudgeRegistry({"ollama": eye}, ())
    assert judges.choose("auto") == "ocr"
    await judges.check_health()
    assert judges.choose("auto") == "ocr"
    eye.state = "ready"
    await judges.check_health()
    assert judges.choose("auto") == "ollama"
    assert judges.choose("passthrough") == "passthrough"
    assert JudgeRegistry({}, ("scripted",)).choose("auto") == "scripted"


@pytest.mark.asyncio
async def test_health_is_told_at_first_and_when_it_changed() -> None:
    eye, text = Eye("ollama"), Eye("ocr", "idle")
    judges = JudgeRegistry({"ollama": eye}, (), text)
    assert await judges.check_health() == Judges((JudgeHealth("ollama", "ready"), JudgeHealth("ocr", "idle")))
    assert await judges.check_health() is None
    text.state = "ready"
    assert await judges.check_health() is not None


@pytest.mark.asyncio
async def test_a_doubt_wakes_the_check_and_a_judge_known_to_be_down_raises_none() -> None:
    eye = Eye("ollama")
    judges = JudgeRegistry({"ollama": eye}, ())
    await judges.check_health()
    judges.doubt_health("ollama")
    await judges.wait_for_doubt(3600)
    eye.state = "down"
    await judges.check_health()
    judges.doubt_health("ollama")
    judges.doubt_health("nobody")
    await judges.wait_for_doubt(0.01)
    judges.doubt_health("ollama", answered=True)
    await judges.wait_for_doubt(3600)
    await judges.close()


@pytest.mark.parametrize(("url", "path"), [
    ("http://h:8000", "/v1/chat/completions"), ("http://h:8000/", "/v1/chat/completions"),
    ("http://h:8000/v1", "/chat/completions"), ("https://h/api/paas/v4", "/chat/completions"),
    ("https://h/v1beta/openai/", "/chat/completions"),
    ("https://h/openai/deployments/eye?api-version=2024-10-21", "/chat/completions"),
])  # fmt: skip
def test_the_path_of_a_url_is_kept(url: str, path: str) -> None:
    assert OpenAiProvider(url).path("m") == path


def test_the_whole_address_of_a_call_serves_as_its_base() -> None:
    wire = HttpExchange("https://h/v1/chat/completions?a=1", "h", KeyFilter([]), connect_timeout_s=1, concurrency=1)
    assert wire.url == "https://h/v1"
    assert wire.decode(b'\xef\xbb\xbf{"a": 1}', AnyObject) == AnyObject()


def test_a_404_names_the_address_without_its_secrets() -> None:
    assert (
        plain_url(httpx.URL("https://h:81/api/v9/chat?key=k").copy_with(username="me", password="word"))
        == "https://h:81/api/v9/chat"
    )
