"""A fallback chain: who is asked next, and what the whole costs; who `auto` is when several are named."""

import pytest

from acud.evaluator.judges.judge import Judge, JudgePicture, JudgeQuestion, JudgeReply, first_answer
from acud.evaluator.judges.registry import JudgeRegistry
from acud.protocol.evaluation import JudgeHealth
from acud.types import Verdict, no, unknown, yes
from tests.fixtures.manual_clock import ManualClock


class Eye:
    """A judge that says what a test decides and counts how often it was asked, also about its health."""

    local = True

    def __init__(self, name: str, verdict: Verdict, cost_usd: float | None = 0.0, state: str = "ready") -> None:
        self.name, self.verdict, self.cost_usd, self.state = name, verdict, cost_usd, state
        self.asked = self.checked = 0

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        self.asked += 1
        return JudgeReply(self.verdict, 10, 1, self.cost_usd)

    async def check_health(self) -> JudgeHealth:
        self.checked += 1
        return JudgeHealth(self.name, self.state)  # type: ignore[arg-type]

    async def close(self) -> None:
        """Nothing is held."""


async def answer(*eyes: Eye) -> JudgeReply:
    async def ask(judge: Judge) -> JudgeReply:
        return await judge.evaluate(JudgeQuestion("x"), JudgePicture(b"", 1, 1, 1, 1))

    return await first_answer(eyes, ask)


@pytest.mark.asyncio
@pytest.mark.parametrize("code", ["judge_down", "rate_limited", "no_key", "budget", "rejected"])
async def test_who_was_not_heard_is_followed_by_the_next(code: str) -> None:
    first, second = Eye("ollama", unknown(code, "ollama: gone"), 0.25), Eye("claude", yes("seen"), 0.5)
    assert await answer(first, second) == JudgeReply(yes("seen"), 20, 2, 0.75, "claude")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "verdict", [yes("a"), no("b"), unknown("unparsable", "c"), unknown("refusal", "d"), unknown("truncated", "e")]
)
async def test_an_answer_ends_the_chain(verdict: Verdict) -> None:
    first, second = Eye("ollama", verdict), Eye("claude", yes("seen"))
    assert await answer(first, second) == JudgeReply(verdict, 10, 1, 0.0, "ollama")
    assert second.asked == 0


@pytest.mark.asyncio
async def test_when_nobody_is_heard_each_is_named() -> None:
    reply = await answer(Eye("ollama", unknown("judge_down", "ollama: a")), Eye("claude", unknown("no_key", "b"), None))
    assert reply.verdict == unknown("judge_down", "ollama: a; claude: b")
    assert (reply.cost_usd, reply.judge) == (None, "claude")
    alike = await answer(Eye("a", unknown("no_key", "x")), Eye("b", unknown("no_key", "y" * 2000)))
    assert alike.verdict.code == "no_key"
    assert len(alike.verdict.detail) < 500


@pytest.mark.asyncio
async def test_auto_goes_along_the_chain_and_whoever_is_down_is_asked_last() -> None:
    down, well = Eye("ollama", yes("a"), state="down"), Eye("claude", yes("b"))
    judges = JudgeRegistry({"ollama": down, "claude": well}, ("ollama", "claude"))
    assert [one.name for one in judges.list_judges("auto")] == ["ollama", "claude"]
    await judges.check_health()
    assert [one.name for one in judges.list_judges("auto")] == ["claude", "ollama"]
    assert [one.name for one in judges.list_judges("ollama")] == ["ollama"]
    assert judges.list_judges("nobody") == ()
    assert judges.choose("auto") == "ollama"


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["vllm", "openrouter", "claude"])
async def test_a_backend_that_nobody_named_is_not_even_asked_how_it_is(name: str) -> None:
    eye, clock = Eye(name, yes("a")), ManualClock()
    judges = JudgeRegistry({"ollama": Eye("ollama", yes("b")), name: eye}, monotonic_s=clock.monotonic_s)
    await judges.check_health()
    assert eye.checked == 0
    assert [one.name for one in judges.list_judges(name)] == [name]  # a wait names it
    await judges.wait_for_doubt(3600)
    await judges.check_health()
    assert eye.checked == 1
    clock.advance(119)
    await judges.check_health()
    assert eye.checked == 2
    clock.advance(2)  # the waits that named it are over
    await judges.check_health()
    assert eye.checked == 2
    assert [one.name for one in judges.list_judges(name)] == [name]
    await judges.wait_for_doubt(3600)
    await judges.check_health()
    assert eye.checked == 3
