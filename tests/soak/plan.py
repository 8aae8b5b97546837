"""What is done and broken, and in which order: the seed alone decides, so a round can be run again by itself."""

from __future__ import annotations

import random
from typing import Literal

from msgspec import Struct

Lane = Literal["work", "core", "edge"]

STEPS_A_ROUND = 60
WORK = {
    "display_create": 2, "display_remove": 2, "arm_holds": 5, "arm_lamp": 8, "arm_change": 4, "arm_stable": 2,
    "arm_timeout": 5, "light": 8, "cancel": 2, "task": 4, "task_end": 2, "record": 2, "record_stop": 1, "scene": 1,
    "act": 3, "look": 6, "client": 2, "client_killed": 1, "lists": 3,
}  # fmt: skip
"""Work and how often it comes."""

CALM_FROM = 1000
"""Rounds from this number on are calm: nothing that they break ends a process of acud."""
CALM_WORK = {**WORK, "display_create": 1, "display_remove": 1, "arm_text": 6, "scene": 5}
"""The same work, with more that reads the screen."""
CALM_EDGE = {"delay judge": 2, "judge fails": 3, "garbage": 3, "step clock": 2, "kill receiver": 1, "stop receiver": 1}
"""Faults beside which every process of acud lives on. There are none of the core."""

CORE = {"kill supervisor": 3, "stop supervisor": 2, "fill disk": 2, "fill shm": 2, "lock store": 2}
"""Faults of what everything hangs on: one at a time."""

EDGE = {
    "kill capture": 2, "kill evaluator": 2, "kill relay": 2, "kill recorder": 1, "kill receiver": 2,
    "kill display": 1, "kill adopted display": 2, "stop capture": 1, "stop evaluator": 1, "stop relay": 1,
    "stop receiver": 1, "stop display": 2, "stop recorder": 1, "delay judge": 2, "judge fails": 3, "garbage": 3,
    "step clock": 3,
}  # fmt: skip
"""Faults of everything else: one at a time, beside those of the core."""

KINDS = (*CORE, *EDGE)


class Step(Struct, frozen=True):
    """One thing to do, `gap_s` after the one before. `hold_s`: how long a fault lasts. `number` counts over rounds."""

    number: int
    lane: Lane
    kind: str
    gap_s: float
    hold_s: float
    seed: str

    def chance(self) -> random.Random:
        """Return this step's own source of choices, the same on each run."""
        return random.Random(self.seed)


def round_plan(seed: int, index: int, without: frozenset[str] = frozenset()) -> list[Step]:
    """Return the steps of round `index`: every fourth or so is a fault; `without` names faults that cannot be made.

    Rounds begin with work, so that there is something to break. What is left out changes no other step.
    """
    chance = random.Random(f"{seed}/{index}")
    calm = index >= CALM_FROM
    steps = [_step(chance, seed, index * STEPS_A_ROUND + at, at, calm=calm) for at in range(STEPS_A_ROUND)]
    return [step for step in steps if step.kind not in without]


def _step(chance: random.Random, seed: int, number: int, at: int, *, calm: bool) -> Step:
    shares = (85, 0, 15) if calm else (70, 10, 20)
    lane: Lane = "work" if at < 6 else chance.choices(("work", "core", "edge"), shares)[0]  # type: ignore[assignment]
    work, edge = (CALM_WORK, CALM_EDGE) if calm else (WORK, EDGE)
    kinds = {"work": work, "core": CORE, "edge": edge}[lane]
    kind = chance.choices(list(kinds), list(kinds.values()))[0]
    gap_s = round(chance.expovariate(2.0), 3)
    return Step(number, lane, kind, min(gap_s, 3.0), round(chance.uniform(0.5, 4.0), 3), f"{seed}/{number}")
