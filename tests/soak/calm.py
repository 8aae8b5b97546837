"""The calm part: the same work while no process of acud is ended, so that what grows can be seen growing."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable

from acud.base.errors import AcudError
from acud.types import Criteria
from tests.soak.ledger import now_s
from tests.soak.plan import CALM_FROM, STEPS_A_ROUND, Step
from tests.soak.rounds import Soak
from tests.soak.slopes import Slope
from tests.soak.telling import known
from tests.soak.work import LONG_S, MAX_DISPLAYS, do
from tests.soak.world import World

LEAST_MIN = 4.0
"""A calm part shorter than this, after its warm-up, says nothing of growth per hour."""
BOUNDS_MB_H = {"supervisor": 24.0, "capture": 24.0, "relay": 24.0, "evaluator": 48.0, "display": 96.0}
"""What a kind of process must not be shown to grow by; docs/soak.md says why so much."""
WARM_ROUNDS = 2
"""Calm rounds before growth is measured: by then caches are full and the engine has seen most shapes of lines."""
_WARM_S = 180.0
_WARMING = (
    *["display_create"] * MAX_DISPLAYS, *["look", "arm_lamp", "arm_lamp", "arm_text", "arm_change", "scene", "act"] * 2,
)  # fmt: skip
"""On as many displays as there may be, for which evaluator has which is the daemon's; settling lights what is dark."""
_FILL = 400
"""Waits of about 6 KB, their requests and events included; SQLite keeps 2 MB of pages."""
_NEEDED = ("job_n", "encode_n", "judge_calls")
"""Counters of each evaluator that work has to have moved."""
_NEEDED_OF_ONE = ("ocr_n", "scene_n")
"""Counters of the evaluator with the OCR engine."""


def warm_up(soak: Soak, told: Callable[[str], None]) -> None:
    """Fill the store's cache, and have each evaluator do one of everything, over and over until all have; a violation
    names what none would do."""
    soak.ledger.round = CALM_FROM
    _fill(soak.world)
    end_s = now_s() + _WARM_S
    for first in itertools.count(-CALM_FROM * STEPS_A_ROUND, -len(_WARMING)):
        for at, kind in enumerate(_WARMING):
            do(soak.world, Step(first - at, "work", kind, 0.0, 0.0, f"warm/{first - at}"))
        soak.settle()
        missing = _missing(soak.world)
        if missing and now_s() < end_s:
            continue
        if missing:
            soak.ledger.violate(
                "did not settle", f"no warm-up within {_WARM_S:.0f} s: {missing}", known=known(soak.world)
            )
        soak.tell(told, f"warm-up: {now_s() - end_s + _WARM_S:.0f} s")
        return


def _fill(world: World) -> None:
    """Write more than SQLite's cache holds, and more waits than a list of them names: both fill once and stay full."""
    for _ in range(_FILL):
        with contextlib.suppress(AcudError):
            wait = world.client.wait_create(
                Criteria("what fills"), display=world.adopted.display, timeout_s=LONG_S
            ).wait
            world.client.wait_cancel(wait.wait_id, reason="it was only to fill the store")


def _missing(world: World) -> str:
    """Return what some evaluator has not done yet, "" when there is nothing."""
    with contextlib.suppress(AcudError):
        counted = {c.name: c.counters for c in world.client.status().children if c.kind == "evaluator"}
        lacking = [f"evaluator {n}: {what}" for n, has in counted.items() for what in _NEEDED if not has.get(what)]
        lacking += [what for what in _NEEDED_OF_ONE if not any(has.get(what) for has in counted.values())]
        return ", ".join(lacking)
    return "the daemon does not answer"


def verdict(kind: str, slope: Slope) -> str:
    """Return what the interval says of the bound: `bounded`, `not shown`, or `grows`."""
    bound = BOUNDS_MB_H.get(kind)
    if bound is None or slope.low is None or slope.high is None:
        return "not shown"
    return "grows" if slope.low > bound else "bounded" if slope.high <= bound else "not shown"


def judge_growth(soak: Soak) -> None:
    """Note every kind of process that grew in a calm part that was long enough."""
    if soak.sampling.calm_min < LEAST_MIN:
        return
    for kind, slope in soak.sampling.slopes().items():
        if verdict(kind, slope) == "grows":
            words = f"{kind}: {slope.per_hour} MiB/h ({slope.low} to {slope.high}), {BOUNDS_MB_H[kind]:g} are allowed"
            soak.ledger.violate("memory grows", words)
