"""Small real cases of strangers' programs, screens, files and models, by kind of fault: is acud right about them?

`scripts/bench foreign` installs the programs (conf/apt-packages-bench); a case without its program is unknown, by name.
Each module beside this one is a kind. It has `CASES`; `SETTINGS`, where its daemon needs others than `case.SETTINGS`.
The figures to hold: `cases` >= 60, `wrong` = 0, `right` >= 0.95; what is unknown is named.
"""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from typing import Any

from tests.bench.foreign.case import SETTINGS, Answer, Case, Outcome, count
from tests.bench.foreign.screen import Missing
from tests.fixtures.daemon import Daemon


def run() -> dict[str, Any]:
    outcomes: dict[str, Outcome] = {}
    held_out: set[str] = set()
    for kind in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in {"case", "screen"}):
        module = importlib.import_module(f"{__name__}.{kind}")
        cases: tuple[Case, ...] = module.CASES
        with Daemon(settings=getattr(module, "SETTINGS", SETTINGS)) as daemon:
            for case in cases:
                outcomes[f"{kind}: {case.name}"] = _check(case, daemon)
        held_out |= {f"{kind}: {case.name}" for case in cases if case.held_out}
    right = count(outcomes.values(), Answer.RIGHT)
    return {
        "cases": len(outcomes),
        "right": round(right / max(len(outcomes), 1), 3),
        "wrong": count(outcomes.values(), Answer.WRONG),
        "held_out": len(held_out),
        "held_out_wrong": count((outcomes[name] for name in held_out), Answer.WRONG),
        "unknown": {name: one.printed for name, one in outcomes.items() if one.answer is Answer.UNKNOWN},
        "answers": {name: [one.answer, one.printed] for name, one in outcomes.items()},
    }


def _check(case: Case, daemon: Daemon) -> Outcome:
    """Return the outcome of one case. An error that it did not expect is a wrong answer, with the error's text."""
    try:
        return case.check(daemon)
    except Missing as fault:
        return Outcome(Answer.UNKNOWN, f"not on this machine: {fault}")
    except Exception as fault:  # noqa: BLE001  (one broken case must not hide the others)
        last = traceback.extract_tb(fault.__traceback__)[-1]
        return Outcome(Answer.WRONG, f"{type(fault).__name__} at {last.name}:{last.lineno}: {fault}")


def table(figures: dict[str, Any]) -> str:
    lines = [f"{answer:8} {name}: {printed[:150]}" for name, (answer, printed) in figures["answers"].items()]
    total = f"{figures['cases']} cases: right {figures['right']}, wrong {figures['wrong']}"
    return "\n".join([*lines, f"{total}; held out {figures['held_out']}, of them wrong {figures['held_out_wrong']}"])
