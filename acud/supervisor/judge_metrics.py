"""Counts what judges and chat models answered: calls, verdicts, tokens and costs."""

from __future__ import annotations

from collections.abc import Iterator

from acud.metrics.catalogue import SLOW_S
from acud.metrics.counters import Histograms, Tally
from acud.protocol.evaluation import Described, JobResult, LeafAnswer, Thought
from acud.types import Answer
from acud.types.metrics import Sample


class JudgeMetrics:
    """Counts every result of the pool."""

    def __init__(self) -> None:
        self._judges = {
            name: Tally()
            for name in ("calls", "verdicts", "faults", "spared", "tokens", "cost_usd", "unpriced", "gated")
        }
        self._latency_s = Histograms(SLOW_S)
        self._chats = {name: Tally() for name in ("calls", "tokens", "cost_usd")}

    def count_result(self, result: JobResult) -> None:
        for answered in result.answered:
            if answered.gated:
                self._judges["gated"].add()
            for answer in answered.answers:
                self._count_answer(answer)
        for said in (result.thought, result.described):
            if said is not None:
                self._count_chat(said)

    def _count_answer(self, answer: LeafAnswer) -> None:
        tallies, judge = self._judges, answer.judge or "none"
        if answer.source != "judge":
            tallies["spared"].add(judge, answer.source)
            return
        tallies["calls"].add(judge)
        tallies["verdicts"].add(judge, answer.verdict.answer.value)
        if answer.verdict.answer is Answer.UNKNOWN:
            tallies["faults"].add(judge, answer.verdict.code or "unknown")
        self._latency_s.observe(answer.latency_ms / 1000, judge)
        _count_tokens(tallies["tokens"], judge, answer)
        if answer.cost_usd is None:
            tallies["unpriced"].add(judge)
        else:
            tallies["cost_usd"].add(judge, amount=answer.cost_usd)

    def _count_chat(self, said: Thought | Described) -> None:
        model = said.model or "unknown"
        self._chats["calls"].add(model, said.code or "ok")
        _count_tokens(self._chats["tokens"], model, said)
        if said.cost_usd is not None:
            self._chats["cost_usd"].add(model, amount=said.cost_usd)

    def samples(self) -> Iterator[tuple[str, Sample]]:
        for name, tally in self._judges.items():
            yield from ((f"acud_judge_{name}_total", sample) for sample in tally.samples())
        yield from (("acud_judge_latency_seconds", sample) for sample in self._latency_s.samples())
        for name, tally in self._chats.items():
            yield from ((f"acud_chat_{name}_total", sample) for sample in tally.samples())


def _count_tokens(tally: Tally, name: str, said: LeafAnswer | Thought | Described) -> None:
    tally.add(name, "in", amount=said.tokens_in or 0)
    tally.add(name, "out", amount=said.tokens_out or 0)
