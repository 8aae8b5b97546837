"""How many everyday sentences are read as a local condition, and how many of them as another than their author means.

The half to work with, or with `--closed` the other one, of tests/sentences. `local`: share of all sentences that need
no model. `wrong`: read as a condition that is not what the author meant, or read at all where the author wants a model.
"""

from __future__ import annotations

import time
from typing import Any

from tests.sentences import readings


def run(*, closed: bool = False) -> dict[str, Any]:
    """Return the figures; see docs/benchmarks.md."""
    began_s = time.process_time()
    read = readings("closed" if closed else "work")
    spent_s = time.process_time() - began_s
    return {
        "half": "closed" if closed else "work",
        "n": len(read),
        "local": round(sum(one.read is not None for one in read) / len(read), 3),
        "local_possible": round(sum(one.sentence.means is not None for one in read) / len(read), 3),
        "wrong": sum(one.is_wrong for one in read),
        "ms": round(spent_s * 1000 / len(read), 2),
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures for a person."""
    return (
        f"{figures['half']} half: {figures['local']:.1%} of {figures['n']} sentences are local (of"
        f" {figures['local_possible']:.1%} that could be), {figures['wrong']} wrong; {figures['ms']} ms each"
    )
