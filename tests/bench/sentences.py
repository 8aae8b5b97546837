"""How many everyday sentences are read as a local condition, and how many of them as another than their author means.

The half to work with, or with `--closed` the other one, of tests/sentences. `local`: share of all sentences that need
no model. `wrong`: read as a condition that is not what the author meant, or read at all where the author wants a model.
`judge_calls_an_hour`: of an agent that waits for these sentences, each as long, on the desktop of `judge_calls`.
"""

from __future__ import annotations

import time
from typing import Any

from tests.sentences import readings

JUDGE_CALLS_AN_HOUR = 1846 / 50 * 12
"""Of a sentence that a model judges: 1,846 calls in 50 sessions of five minutes (`scripts/bench judge_calls`)."""


def run(*, closed: bool = False) -> dict[str, Any]:
    began_s = time.process_time()
    read = readings("closed" if closed else "work")
    spent_s = time.process_time() - began_s
    local = sum(one.read is not None for one in read) / len(read)
    return {
        "half": "closed" if closed else "work",
        "n": len(read),
        "local": round(local, 3),
        "local_possible": round(sum(one.sentence.means is not None for one in read) / len(read), 3),
        "judge_calls_an_hour": round((1 - local) * JUDGE_CALLS_AN_HOUR),
        "wrong": sum(one.is_wrong for one in read),
        "ms": round(spent_s * 1000 / len(read), 2),
    }


def table(figures: dict[str, Any]) -> str:
    return (
        f"{figures['half']} half: {figures['local']:.1%} of {figures['n']} sentences are local (of"
        f" {figures['local_possible']:.1%} that could be), {figures['wrong']} wrong;"
        f" {figures['judge_calls_an_hour']} judge calls an hour; {figures['ms']} ms each"
    )
