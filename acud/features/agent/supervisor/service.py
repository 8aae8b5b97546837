"""All runs: begun, stored step by step, ended with a wake."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from msgspec.structs import replace

from acud.base.errors import Conflict, NotFound
from acud.base.ids import new_id
from acud.features.agent import prompt
from acud.features.agent.supervisor.driver import Driver
from acud.store.connection import Table
from acud.store.rows import RowCodec, load
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback
from acud.supervisor.observers import ParkedCalls
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WakeKind
from acud.types.agent_runs import RunInfo, RunSpec, RunState, check_move
from acud.types.tasks import Action, ActionLog, ActionStatus, ActionType
from acud.waits.wake_text import next_text

_KINDS = {RunState.DONE: WakeKind.AGENT_DONE, RunState.ESCALATED: WakeKind.AGENT_ESCALATED}
"""Ends that send a wake. A client that cancels a run needs none."""
_ACTION_STATUS = {
    RunState.RUNNING: ActionStatus.STARTED,
    RunState.DONE: ActionStatus.COMPLETED,
    RunState.ESCALATED: ActionStatus.FAILED,
    RunState.CANCELLED: ActionStatus.CANCELLED,
}


class Agents:
    """The runs by id. A display has one run at a time: two would undo each other's work."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._journal, self._tasks, self._wakes = core.journal, core.ports.tasks, core.wakes
        self._runs = AgentRunTable(core.store)
        self._drivers: dict[str, Driver] = {}
        self._polls = ParkedCalls[str, RunInfo](core.loop)
        """Clients that block for the end of a run, by its id."""

    def resume(self) -> None:
        """End the runs of a former supervisor: the outcome of their last action is unknown."""
        for run in self._runs.running():
            step = len(run.steps) + 1
            reason = f"the daemon was restarted during step {step}; look at the screen before going on"
            self._record_end(replace(run, state=RunState.ESCALATED, reason=reason))

    def start(self, spec: RunSpec, watched: WatchedDisplay) -> RunInfo:
        """Store a new run in the savepoint of its call, and begin it after the commit. Raises: Conflict."""
        # The store, unlike the drivers, has runs begun by another request of this turn.
        running = self._runs.running()
        busy = next((one.run_id for one in running if one.display == watched.name), "")
        if busy:
            raise Conflict(f"run {busy} is at work on {watched.name}", hint=f"wait for it, or acud agent cancel {busy}")
        run = RunInfo(new_id("run"), RunState.RUNNING, spec, watched.name, self._utc_s())
        self._runs.insert(run)
        self._journal.event("agent.started", run.run_id, display=watched.name, task_id=spec.task_id)
        driver = Driver(run, watched, self._core, self._on_step)
        self._journal.after_commit(lambda: self._begin_run(run.run_id, driver))
        return run

    def _begin_run(self, run_id: str, driver: Driver) -> None:
        self._drivers[run_id] = driver
        driver.begin()

    def find(self, run_id: str) -> RunInfo:
        """Return the present state of a run. Raises: NotFound; InvalidRequest when several ids match."""
        stored = self._runs.find(run_id)
        driver = self._drivers.get(stored.run_id)
        return driver.info if driver is not None else stored

    def newest(self, limit: int, task_id: str, offset: int = 0) -> tuple[RunInfo, ...]:
        """Return the newest runs (of `task_id` if given), newest first, from the `offset`th on."""
        return tuple(self.find(run.run_id) for run in self._runs.newest(limit, task_id, offset))

    def count_running(self) -> int:
        """Return the number of runs under way."""
        return len(self._runs.running())

    def cancel(self, run_id: str, reason: str) -> RunInfo:
        """End a run. Raises: NotFound; Conflict if it has ended."""
        run = self.find(run_id)
        check_move(run.run_id, run.state, RunState.CANCELLED)
        driver = self._drivers.get(run.run_id)
        if driver is None:
            raise Conflict(f"run {run.run_id} is just beginning", hint="ask again")
        driver.stop(RunState.CANCELLED, reason or "cancelled")
        return replace(driver.info, ended_utc_s=self._utc_s())

    def end_task(self, task_id: str, reason: str) -> None:
        """End the runs of a paused, ended or deleted task."""
        for driver in [one for one in self._drivers.values() if one.info.spec.task_id == task_id]:
            driver.stop(RunState.CANCELLED, reason)

    def on_takeover(self, display: str, reason: str) -> None:
        """End the run on a display that a person took over, with `reason`."""
        for driver in [one for one in self._drivers.values() if one.info.display == display]:
            driver.stop(RunState.ESCALATED, reason)

    async def ended(self, run_id: str, block_s: float) -> RunInfo:
        """Return the run when it ends, or its state after `block_s`. Raises: NotFound."""
        run = self.find(run_id)
        if run.state is not RunState.RUNNING:
            return run
        found = partial(self.find, run.run_id)
        return await Callback[RunInfo](lambda resume: self._polls.park(run.run_id, resume, block_s, found))

    def _on_step(self, driver: Driver) -> None:
        run = driver.info
        if run.state is RunState.RUNNING:
            self._journal.keep(lambda: self._runs.update(run))
            return
        del self._drivers[run.run_id]
        self._record_end(run)

    def _record_end(self, run: RunInfo) -> None:
        ended = replace(run, ended_utc_s=self._utc_s())
        answer = partial(self._polls.answer_fitting, lambda run_id: run_id == ended.run_id, ended)
        self._journal.keep(lambda: self._write_end(ended), answer)

    def _write_end(self, run: RunInfo) -> None:
        self._runs.update(run)
        self._journal.event("agent.ended", run.run_id, state=run.state.value, reason=run.reason)
        if run.spec.task_id:
            self._tasks.log_action(run.spec.task_id, _make_action(run), _make_log(run))
        kind = _KINDS.get(run.state)
        if kind is not None:
            self._wakes.send_run_ended(kind, run, wake_text(run))

    def _utc_s(self) -> float:
        return self._core.clock.instant().utc_s


def wake_text(run: RunInfo) -> str:
    """Return the wake's text: the run's outcome, and the next call."""
    outcome = run.evidence if run.state is RunState.DONE else run.reason
    asked = " ".join(run.spec.instruction.split())[:300]
    steps = f"{len(run.steps)} steps, {run.spent.calls} model calls"
    return next_text(
        f"[gui_agent {run.state.value}] {run.run_id}: {asked} ({steps})", "gui_agent with this run_id.", outcome
    )


def _make_action(run: RunInfo) -> Action:
    return Action(
        action_id=new_id("action"),
        action_type=ActionType.GUI,
        summary=f"agent: {run.spec.instruction}"[:1000],
        created_at=run.created_utc_s,
        status=_ACTION_STATUS[run.state],
        input_data={"display": run.display, "backend": run.spec.backend},
        output_data={"state": run.state.value, "reason": run.reason, "calls": run.spent.calls},
        duration_ms=round((run.ended_utc_s - run.created_utc_s) * 1000, 1),
        judge=run.spec.backend,
        cost_usd=None if run.spent.unpriced else run.spent.cost_usd,
        subject=run.run_id,
    )


def _make_log(run: RunInfo) -> list[ActionLog]:
    return [ActionLog("step", prompt.step_line(step), run.created_utc_s + step.at_s) for step in run.steps]


_RUN = RowCodec(RunInfo, fixed=("run_id", "spec", "display", "created_utc_s"))
_SQL = load("tables", _RUN, folder=Path(__file__).parents[1])


class AgentRunTable(Table):
    """The table `agent_runs`."""

    def insert(self, run: RunInfo) -> None:
        """Store a new run. Raises: Conflict if its id exists."""
        self._database.write(_SQL["insert"], _RUN.bind(run))

    def update(self, run: RunInfo) -> None:
        """Update a run; nothing happens if retention deleted it."""
        self._database.write(_SQL["update"], _RUN.bind(run))

    def find(self, part: str) -> RunInfo:
        """Return the one run with an id that is, begins or ends with `part`.

        Raises: NotFound; InvalidRequest for several.
        """
        unknown = NotFound(f"no run {part}", hint="acud agent list shows the newest ones", run_id=part)
        return self._find_named(_RUN, _SQL, "several runs", part, unknown)

    def running(self) -> tuple[RunInfo, ...]:
        """Return the runs stored as running, oldest first."""
        return self._read_all(_RUN, _SQL["running"])

    def newest(self, limit: int, task_id: str = "", offset: int = 0) -> tuple[RunInfo, ...]:
        """Return the newest runs (of one task), newest first, from the `offset`th on."""
        return self._read_all(_RUN, _SQL["newest"], {"limit": limit, "task_id": task_id, "offset": offset})
