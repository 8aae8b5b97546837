"""What is counted of judges' and chat models' answers."""

from acud.protocol.evaluation import Answered, JobResult, LeafAnswer, Thought
from acud.supervisor.judge_metrics import JudgeMetrics
from acud.types import no, unknown, yes


def _figures(judge_metrics: JudgeMetrics) -> dict[tuple[str, ...], float]:
    return {(name, *sample.labels): sample.count or sample.value for name, sample in judge_metrics.samples()}


def test_answers_by_judge() -> None:
    judge_metrics = JudgeMetrics()
    answers = (
        LeafAnswer(0, yes("there"), "ollama", latency_ms=30, tokens_in=100, tokens_out=5, cost_usd=0.0),
        LeafAnswer(1, unknown("judge_down", "no answer"), "claude", latency_ms=9000),
        LeafAnswer(2, no("not there"), "ollama", "memo"),
    )
    judge_metrics.count_result(JobResult("job", "part", answered=(Answered("wait", answers, yes("there")),)))
    judge_metrics.count_result(JobResult("job", "done", answered=(Answered("other", (), no(""), gated=True),)))
    assert _figures(judge_metrics) == {
        ("acud_judge_calls_total", "ollama"): 1, ("acud_judge_calls_total", "claude"): 1,
        ("acud_judge_verdicts_total", "ollama", "yes"): 1, ("acud_judge_verdicts_total", "claude", "unknown"): 1,
        ("acud_judge_faults_total", "claude", "judge_down"): 1, ("acud_judge_spared_total", "ollama", "memo"): 1,
        ("acud_judge_tokens_total", "ollama", "in"): 100, ("acud_judge_tokens_total", "ollama", "out"): 5,
        ("acud_judge_tokens_total", "claude", "in"): 0, ("acud_judge_tokens_total", "claude", "out"): 0,
        ("acud_judge_cost_usd_total", "ollama"): 0.0, ("acud_judge_unpriced_total", "claude"): 1,
        ("acud_judge_gated_total",): 1, ("acud_judge_latency_seconds", "ollama"): 1,
        ("acud_judge_latency_seconds", "claude"): 1,
    }  # fmt: skip


def test_chat_models() -> None:
    judge_metrics = JudgeMetrics()
    judge_metrics.count_result(
        JobResult("a", "done", thought=Thought("hm", model="m", tokens_in=7, tokens_out=1, cost_usd=0.5))
    )
    judge_metrics.count_result(JobResult("b", "done", thought=Thought(code="rate_limited", model="m")))
    assert _figures(judge_metrics) == {
        ("acud_chat_calls_total", "m", "ok"): 1,
        ("acud_chat_calls_total", "m", "rate_limited"): 1,
        ("acud_chat_tokens_total", "m", "in"): 7,
        ("acud_chat_tokens_total", "m", "out"): 1,
        ("acud_chat_cost_usd_total", "m"): 0.5,
    }
