"""Rounds of a soak: work under faults, then everything is mended, ended and compared with what should be."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from msgspec import structs

from acud.base.errors import AcudError
from acud.types import WakeState
from acud.types.tasks import TaskStatus
from tests.soak import oracle
from tests.soak.canvas import CanvasGone
from tests.soak.injecting import inject
from tests.soak.ledger import Asked, Violation, now_s
from tests.soak.machine import rest
from tests.soak.oracle import Facts, Rest
from tests.soak.plan import Step, round_plan
from tests.soak.sampling import Sampling
from tests.soak.telling import known
from tests.soak.work import BLIND, PAINTED, do, light
from tests.soak.world import World

_WORKERS = 4
_SETTLED_S = 120.0
_END_S = 0.5
_QUIET_S = 3.0
_SETTLING = -1


class Soak:
    """One run: rounds on one world, seen by one `sampling`."""

    def __init__(self, world: World, sampling: Sampling, seed: int, skipped: frozenset[str]) -> None:
        self.world, self.ledger, self.sampling = world, world.ledger, sampling
        self._seed, self._skipped = seed, skipped
        self.rounds: list[Rest] = []
        self._first: Rest | None = None
        self._said = 0
        self._known: set[tuple[str, str]] = set()

    def settle_first(self) -> None:
        """Note what there is at rest, which later rounds have to come back to."""
        wanted = {"supervisor": 1, "evaluator": 2, "relay": 1, "capture": 2, "display": 1}

        def idle() -> bool:
            self._first = found = self._rest()
            still = (found.rings, found.spool, found.zombies) == (wanted["capture"], 0, 0)
            return dict(found.processes) == wanted and still and self._all_up()

        self._until(idle, "every process and ring of an idle daemon")

    def round(self, index: int, told: Callable[[str], None]) -> None:
        self.ledger.round = index
        began_s = now_s()
        self._work(round_plan(self._seed, index, self._skipped))
        worked_s = now_s() - began_s
        self.settle()
        self.judge()
        settled_s = now_s() - began_s - worked_s
        self.tell(told, f"round {index}: {worked_s:.0f} s of work, {settled_s:.0f} s to settle")

    def tell(self, told: Callable[[str], None], words: str) -> None:
        """Say `words`, and every violation that was not said before."""
        bad, self._said = self.ledger.violations[self._said :], len(self.ledger.violations)
        told(f"{words}, {len(bad)} violations")
        for violation in bad:
            told(f"  {violation.what}: {violation.words} (step {violation.step})")
            for line in violation.known.splitlines():
                told(f"    {line}")

    # ---- work and faults -------------------------------------------------------------------------------------------

    def _work(self, steps: list[Step]) -> None:
        with ThreadPoolExecutor(_WORKERS) as work, ThreadPoolExecutor(1) as core, ThreadPoolExecutor(1) as edge:
            lanes = {"work": work, "core": core, "edge": edge}
            running: list[tuple[Step, Future[None]]] = []
            for step in steps:
                time.sleep(step.gap_s)
                running.append((step, lanes[step.lane].submit(do if step.lane == "work" else inject, self.world, step)))
        for step, future in running:
            if (fault := future.exception()) is not None:
                words = f"{step.kind}: {type(fault).__name__}: {fault}"
                self.ledger.ask(Asked(step.number, step.kind, now_s(), now_s(), "untyped", words))

    # ---- coming to rest --------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Mend everything, end everything, and wait until nothing is under way."""
        self.world.script.set()
        self.world.step_clock(0)
        self._end_recordings()
        self._end_tasks()
        self._end_displays()
        for armed in self.ledger.waits(*PAINTED):
            if not armed.lit_s and armed.wait_id not in self.ledger.ended():
                light(self.world, armed)
        self._until(self._no_wait_lives, "every wait ended")
        self._until(self._no_wake_pends, "every wake sent")
        self._until(lambda: not self._unheard(), "every end heard", self._unheard)
        for canvas in list(self.world.canvases.values()):
            with contextlib.suppress(CanvasGone):
                canvas.reset()

    def _end_recordings(self) -> None:
        for recording in self._ask(lambda: self.world.client.record_list(limit=200).recordings) or ():
            if not recording.ended_utc_s:
                self._ask(lambda r=recording: self.world.client.record_stop(r.recording_id))  # type: ignore[misc]

    def _end_tasks(self) -> None:
        self.world.tasks.clear()
        for task in self._ask(lambda: self.world.client.task_list(limit=100).tasks) or ():
            self._ask(lambda t=task: self.world.client.task_update(t.task.task_id, status=TaskStatus.CANCELLED))  # type: ignore[misc]

    def _end_displays(self) -> None:
        """Leave the adopted display and one of the daemon's own, both up and painted."""
        world = self.world
        base = self._ask(world.base_display)
        for display in self._ask(lambda: world.client.display_list().displays) or ():
            if display.managed and display.name != base:
                world.forget(display.name)
                self._ask(lambda d=display: world.client.display_remove(d.name, force=True))  # type: ignore[misc]
        kept = {base, world.adopted.display}
        for name in [name for name in world.canvases if name not in kept]:
            world.forget(name)
        self._until(self._all_up, "every display up")

    def _all_up(self) -> bool:
        return all(display.state.value == "up" for display in self.world.client.display_list().displays)

    def _no_wait_lives(self) -> bool:
        """End what nobody can bring about: waits on displays that are gone or were not up, or that got no answer."""
        live = self.world.client.wait_list(limit=1000).waits
        for wait in live:
            armed = self.ledger.armed.get(wait.wait_id)
            if armed is None:
                self._ask(lambda w=wait: self.world.client.wait_cancel(w.wait_id))  # type: ignore[misc]
            elif wait.remaining_s > 10 and (armed.kind == BLIND or wait.display not in self.world.canvases):
                began_s = now_s()
                self._ask(lambda w=wait: self.world.client.wait_update(w.wait_id, timeout_s=_END_S))  # type: ignore[misc]
                armed.due_from_s, armed.due_to_s = began_s + _END_S, now_s() + _END_S
        return not live

    def _no_wake_pends(self) -> bool:
        return not self.world.client.wake_list(states=[WakeState.PENDING, WakeState.REMINDING]).wakes

    def _unheard(self) -> list[str]:
        ended = self.ledger.ended()
        return [armed.wait_id for armed in self.ledger.waits() if armed.wait_id not in ended]

    def _ask(self, ask: Callable[[], object]) -> object:
        with self.world.call(_SETTLING, "settling"):
            return ask()
        return None

    def _until(self, found: Callable[[], bool], what: str, about: Callable[[], list[str]] = list) -> bool:
        """Wait for `found`; a violation says what the daemon knows of the waits `about` (those that live)."""
        end_s = now_s() + _SETTLED_S
        while now_s() < end_s:
            with contextlib.suppress(AcudError):
                if found():
                    return True
            time.sleep(0.2)
        self.ledger.violate(
            "did not settle", f"not within {_SETTLED_S:.0f} s: {what}", known=known(self.world, about())
        )
        return False

    # ---- judging ---------------------------------------------------------------------------------------------------

    def facts(self) -> Facts:
        ledger, store = self.ledger, self.world.store
        return Facts(
            armed=ledger.waits(), told=list(ledger.told), stored=store.waits(), stored_ends=store.ends(),
            wakes=store.wakes(), taken=self.world.taken(), broken=list(ledger.broken), asked=list(ledger.asked),
            stalls=list(self.sampling.stalls),
        )  # fmt: skip

    def judge(self) -> None:
        """Note every promise that is broken and was not noted before."""
        self._judge_rest()
        self._judge_idle()
        if (found := self.world.store.integrity()) != "ok":
            self.ledger.violate("store damaged", found)
        for violation in oracle.judge(self.facts()):
            if (key := (violation.what, violation.words)) not in self._known:
                self._known.add(key)
                told = known(self.world, [violation.wait_id]) if violation.wait_id else ""
                self.ledger.violations.append(structs.replace(violation, round=self.ledger.round, known=told))

    def _judge_rest(self) -> None:
        """Nothing is left of the round; what is about to end gets its time."""
        assert self._first is not None
        end_s = now_s() + _SETTLED_S / 2
        while leaks := self._leaks():
            if now_s() > end_s:
                break
            time.sleep(0.5)
        self.ledger.violations += [structs.replace(leak, round=self.ledger.round) for leak in leaks]
        self.rounds.append(self._rest())

    def _leaks(self) -> list[Violation]:
        assert self._first is not None
        return oracle.leaks(self._rest(), self._first)

    def _rest(self) -> Rest:
        return rest(self.world.daemon.paths, self.world.daemon.pid)

    def _judge_idle(self) -> None:
        before = self.world.client.status().judge_calls
        time.sleep(_QUIET_S)
        asked = self.world.client.status().judge_calls - before
        if asked:
            self.ledger.violate("busy while idle", f"{asked} judge calls in {_QUIET_S:.0f} s without a wait")
