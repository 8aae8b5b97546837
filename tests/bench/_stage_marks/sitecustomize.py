"""Read by every Python that has this folder on its PYTHONPATH: notes when a daemon passes the stages of a wait."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import inspect
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

STAGES = {
    "acud.supervisor.frame_sources": ("Sources.notice", "notice", "begins"),
    "acud.supervisor.evaluator_pool": ("EvaluatorPool._send_job", "job", "ends"),
    "acud.evaluator.context": ("EvaluatorContext.encode", "encode", "ends"),
    "acud.evaluator.questions": ("WaitQuestions.answer_all", "evidence", "ends"),
    "acud.evaluator.service": ("EvaluatorService._run_job", "taken over", "begins"),
    "acud.supervisor.waits.judge_batches": ("_Batch._judged", "result", "begins"),
    "acud.supervisor.journal": ("Journal._commit", "commit", "both"),
}
"""By module: the function, the stage, and whether the stage is over when it begins or when it ends."""
_FILE = os.environ.get("ACUD_BENCH_STAGES", "")


def mark(stage: str) -> None:
    """Add a line: CLOCK_MONOTONIC in ns, the stage."""
    file = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{time.monotonic_ns()} {stage}\n".encode())
    os.close(file)


def marked(work: Callable[..., Any], stage: str, when: str) -> Callable[..., Any]:
    """Return `work`, which notes the stage."""

    def began() -> None:
        if when != "ends":
            mark("step" if when == "both" else stage)

    def ended() -> None:
        if when != "begins":
            mark(stage)

    @functools.wraps(work)
    async def later(*given: Any, **named: Any) -> Any:
        began()
        found = await work(*given, **named)
        ended()
        return found

    @functools.wraps(work)
    def now(*given: Any, **named: Any) -> Any:
        began()
        found = work(*given, **named)
        ended()
        return found

    return later if inspect.iscoroutinefunction(work) else now


class Finder(importlib.abc.MetaPathFinder):
    """Marks functions of the modules above once these are loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec, of which the loader marks the function."""
        if fullname not in STAGES:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def run(module: ModuleType) -> None:
            load(module)
            name, stage, when = STAGES[fullname]
            owner = getattr(module, name.partition(".")[0])
            last = name.partition(".")[2]
            setattr(owner, last, marked(getattr(owner, last), stage, when))

        spec.loader.exec_module = run  # type: ignore[method-assign]
        return spec


if _FILE:
    sys.meta_path.insert(0, Finder())
