"""Changes that are missed or made up, by a second X client as oracle, and what a still screen costs: must be none."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from tests.fixtures.daemon import Daemon
from tests.fixtures.hunting import SETTINGS, SIZES, hunt, jobs_per_s_still

CHECKS = 1_000
STILL_S = 30.0


def run(quick: bool = False) -> dict[str, Any]:
    seed = int(time.time())
    with Daemon(settings=SETTINGS) as daemon:
        found = msgspec.to_builtins(hunt(daemon, CHECKS // 5 if quick else CHECKS, seed))
        still = jobs_per_s_still(daemon, STILL_S / 3 if quick else STILL_S)
    return {"seed": seed, "sizes": len(SIZES), **found, "jobs_per_s_still": still}


def table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:>20}  {value}" for name, value in figures.items())
