"""Runs the machines of live waits: arms and steps them, obeys their effects in order, commits their ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, Conflict, InvalidRequest, NotFound, StoreUnavailable
from acud.base.ids import new_id
from acud.config import Settings
from acud.metrics.catalogue import SLOW_S
from acud.metrics.counters import Histogram, Tally
from acud.process.event_loop import EventLoop
from acud.protocol.capture import LookAsk
from acud.protocol.evaluation import Answered
from acud.protocol.requests.waits import Evaluation
from acud.store.waits import StoredWait
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Sources
from acud.supervisor.host_conditions import HostConditions
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Observers
from acud.supervisor.redaction import Redaction
from acud.supervisor.terminal_sessions import Sessions
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits import records
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits, OnWaitEnd
from acud.supervisor.waits.baseline_recovery import BaselineRecovery
from acud.supervisor.waits.budgets import Admission, Budgets, is_charged
from acud.supervisor.waits.deadlines import Deadlines
from acud.supervisor.waits.images import WaitImages
from acud.supervisor.waits.judge_batches import JudgeBatches
from acud.supervisor.waits.judge_selection import JudgeSelection
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.supervisor.waits.widget_requests import WidgetRequests
from acud.supervisor.wakes import Wakes
from acud.supervisor.watched_displays import WatchedDisplays
from acud.types import Budget, Evidence, Stage
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.budget import BudgetStatus
from acud.waits.condition_tree import NOT_JUDGED
from acud.waits.frame_coalescing import is_relevant
from acud.waits.validation import explain_unsearchable

_LOG = log.logger("waits")


class WaitRuntime:
    """Every live wait of this supervisor, by id in `active`. `acud.waits.machine` decides what a wait does; `judges`
    which judge it gets, and `deadlines` when its time is over.
    """

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        settings: Settings,
        pool: EvaluatorPool,
        watched_displays: WatchedDisplays,
        sources: Sources,
        wakes: Wakes,
        sessions: Sessions,
        host_conditions: HostConditions,
        redaction: Redaction,
        usage_log: UsageLog,
        active: ActiveWaits,
        judges: JudgeSelection,
    ) -> None:
        self.judges, self._wakes, self._journal, self._loop = judges, wakes, journal, loop
        self._clock, self._settings, self._pool, self._sources = clock, settings, pool, sources
        self.active = active
        baseline_recovery = BaselineRecovery(pool, sources.orphaned_rings, clock, self.step)
        self.targets = TargetTracker(
            self.active,
            watched_displays,
            sources,
            self.step,
            sessions,
            host_conditions,
            baseline_recovery,
            WidgetRequests(self.active, pool, watched_displays, sources, loop, self.step),
            loop,
        )
        self.budgets = Budgets(journal.store, usage_log)
        self.images = WaitImages(journal.store.images, clock)
        self._batches = JudgeBatches(
            pool,
            sources,
            clock,
            self.step,
            judges,
            self.budgets,
            self._settle_budgets,
            redaction,
            Admission(self.active, self.budgets, judges),
            self.images,
            self.targets,
            shares_answers=settings.vision.share_between_agents,
            keeps_pictures=settings.store.verdict_pictures_max_mb > 0,
        )
        self.deadlines = Deadlines(self.active, loop, clock, self._batches, self.step)
        self.recorded = Observers[Callable[[StoredWait], None]]()
        """Called with each wait as it is armed and as it ends, inside the transaction that stores that."""
        self.ended = Observers[OnWaitEnd]()  # called with each wait once its end is stored
        self.first_verdicts: dict[str, Callable[[], None]] = {}  # by wait: called at its first verdict
        self.ends = Tally()  # waits that ended, by state
        self.verdict_s = Histogram(SLOW_S)  # from the notice of the deciding change to the verdict

    # ---- budgets ---------------------------------------------------------------------------------------------------

    def set_budget(self, task_id: str, budget: Budget) -> None:
        self.budgets.set_budget(task_id, budget)
        self.judges_changed()

    def judges_changed(self) -> None:
        """Check again what each wait may spend: its judge, and so its cost, may have changed."""
        self.judges.explain_missing_ollama()
        for active in list(self.active.values()):
            self.rebudget(active)
            self._check_judges(active)

    def _check_judges(self, active: ActiveWait) -> None:
        lack = self.judges.describe_lack(active.spec.judge)
        if lack != active.machine.judges_lack and not active.ended:
            self.step(active, happened.JudgesChecked(self._clock.monotonic_s(), lack))

    def _settle_budgets(self, active: ActiveWait) -> None:
        shared = self.budgets.is_shared(active)
        for other in list(self.active.values()) if shared else [active]:
            if other is active or other.spec.task_id == active.spec.task_id:
                self.rebudget(other)

    def budget_status(self, active: ActiveWait) -> BudgetStatus:
        spending = is_charged(active, self.judges.judge_of(active.spec.judge))
        return self.budgets.budget_status(active) if spending else BudgetStatus()

    def rebudget(self, active: ActiveWait) -> None:
        """Pass the status of the budgets to the machine, before the jobs of this turn are sent."""
        status = self.budget_status(active)
        if status != active.machine.budget_status and not active.ended:
            self.step(active, happened.BudgetChecked(self._clock.monotonic_s(), status))
            self.save(active)

    # ---- the machines ----------------------------------------------------------------------------------------------

    def arm(
        self,
        stored: StoredWait,
        transient: OnWaitEnd | None = None,
        payer: str = "",
        *,
        is_new: bool = True,
        reads_back: bool = False,
    ) -> None:
        """Make a wait live; `transient` is called at its end instead of storing it. `payer` and `reads_back`: see
        `ActiveWait`. One that is not new was armed before a restart: in a fleet it is held until
        `Deadlines.release_all`, or some seconds.

        One stored with a pattern that cannot be searched for (any more) fails with the reason.
        """
        armed = machine.arm(
            stored.spec,
            self._clock.monotonic_s(),
            stored.baselines,
            is_new=is_new,
            longest_pause_s=self._settings.wait.longest_pause_s,
            stage=len(stored.stages),
            places=stored.places,
        )
        active = self.active[stored.wait_id] = ActiveWait(stored, armed.wait)
        active.transient = transient
        active.payer = payer or active.payer
        active.reads_back = reads_back
        judge = self.judges.judge_of(stored.spec.judge)
        _LOG.debug(
            "wait.armed",
            wait=active.wait_id,
            display=active.display,
            judge=judge,
            new=is_new,
            transient=bool(transient),
        )
        fault = explain_unsearchable(stored.spec)
        if fault:
            self.step(active, happened.WaitBroken(self._clock.monotonic_s(), fault))
            return
        if not is_new and self._settings.features.fleet and self._settings.fleet.urls:
            self.deadlines.hold_wait(active)
        self.deadlines.set(active)
        self._apply_effects(active, armed.effects)
        self.targets.pass_known(active)
        self.rebudget(active)
        self._check_judges(active)

    def step(self, active: ActiveWait, event: happened.WaitEvent) -> None:
        """Pass the held frames and then `event` to the machine of `active`, and obey its effects."""
        if active.holds_frames and not active.ended:
            frames = [frame for frame in active.take_frames() if is_relevant(active.machine, frame)]
            if frames:
                self.step(active, happened.FramesSeen(event.at, tuple(frames)))
        if active.ended:
            return
        if active.held is not None and self.deadlines.keep_event(active, event):
            return
        moved = machine.step(active.machine, event)
        active.machine = moved.wait
        self._apply_effects(active, moved.effects)
        if active.wait_id in self.first_verdicts and active.machine.verdict.code != NOT_JUDGED.code:
            self._loop.call_later(0, self.first_verdicts.pop(active.wait_id))

    def _apply_effects(self, active: ActiveWait, effects: tuple[out.WaitEffect, ...]) -> None:
        for effect in effects:
            self._apply_effect(active, effect)

    def _apply_effect(self, active: ActiveWait, effect: out.WaitEffect) -> None:
        match effect:
            case out.JobRequest():
                self._request_job(active, effect)
            case out.JobWithdrawal(kind=kind):
                self._batches.withdraw(active, kind)
            case out.GrabRequest():
                self._request_grab(active, effect)
            case out.TextReadRequest():
                self.targets.read_target(active)
            case out.FrameRateDemand(fps=fps):
                self._set_frame_rate(active, fps)
            case out.TickRequest(at=at):
                self._set_tick(active, at)
            case out.BaselineTaken(index=index, token=token, identity=identity):
                active.baselines[index] = machine.StoredBaseline(token, identity)
                self.save(active)
            case out.EvaluationRecord():
                self._record_evaluation(active, effect)
            case out.StageReached():
                self._record_stage(active, effect)
            case out.NoteChanged(text=text):
                self._record_note(active, text)
            case _:
                self._end_wait(active, effect)

    def _request_job(self, active: ActiveWait, request: out.JobRequest) -> None:
        if active.transient is not None and request.kind is out.JobKind.EVIDENCE:
            # A blocking call takes its own picture; its evidence is the reply.
            job_id, now = new_id("job"), self._clock.monotonic_s()
            self.step(active, happened.JobDispatched(now, job_id, request.kind))
            evidence = Evidence(reason="a blocking call keeps no picture")
            self.step(active, happened.JobDone(now, job_id, request.epoch, request.min_frame, "", evidence=evidence))
            return
        _LOG.debug(
            "wait.due",
            wait=active.wait_id,
            kind=request.kind.value,
            source=request.source,
            epoch=request.epoch,
            frame=request.min_frame,
            forced=request.force,
        )
        self._batches.add(active, request)

    def _request_grab(self, active: ActiveWait, request: out.GrabRequest) -> None:
        source = self._sources.by_name.get(active.source)
        if source is not None:
            look = LookAsk(active.crop, active.ignore, request.tiles) if request.look else None
            active.grab = self._sources.grab_now(source, look)

    def _set_frame_rate(self, active: ActiveWait, fps: float) -> None:
        active.fps = min(fps, self._settings.capture.max_fps)
        self.targets.demand(active)

    def _set_tick(self, active: ActiveWait, at: float | None) -> None:
        if active.tick is not None:
            active.tick.cancel()
        active.tick = None
        if at is not None:
            active.tick = self._loop.call_at(at, lambda: self.step(active, happened.Tick(self._clock.monotonic_s())))

    def _record_note(self, active: ActiveWait, text: str) -> None:
        if active.transient is None and text:
            self._journal.keep(lambda: self._journal.event("wait.note", active.wait_id, text=text), droppable=True)

    # ---- records and ends ------------------------------------------------------------------------------------------

    def save(self, active: ActiveWait) -> None:
        """Write the wait's row in this turn; a transient wait has no row."""
        if active.transient is None:
            self._journal.keep(lambda: self._write_row(active))

    def _write_row(self, active: ActiveWait) -> None:
        if not active.ended:
            self._journal.store.waits.update(active.to_row())

    def _record_evaluation(self, active: ActiveWait, effect: out.EvaluationRecord) -> None:
        _LOG.debug(
            "wait.judged",
            wait=active.wait_id,
            job=effect.job_id,
            frame=effect.frame,
            answer=effect.verdict.answer.value,
            code=effect.verdict.code,
            gated=effect.gated,
            stale=effect.stale,
        )
        answered = active.answers.get(effect.job_id)
        if active.transient is not None or answered is None or effect.gated:
            return
        if effect.stale:
            self.budgets.enter_unkept(active, answered.answers)  # it decides nothing, and was paid for
            self.save(active)
            return
        evaluation = records.evaluation_row(effect, answered, self._clock.instant().utc_s)
        if evaluation is None:
            return
        active.cost_usd = records.add_costs(active.cost_usd, evaluation.cost_usd)

        self._journal.keep(partial(self._write_evaluation, active, answered, evaluation), droppable=True)

    def _write_evaluation(self, active: ActiveWait, answer: Answered, evaluation: Evaluation) -> None:
        if answer.picture is not None:
            kept = evaluation.picture, answer.picture.jpeg, evaluation.utc_s
            self._journal.store.verdict_pictures.keep(active.wait_id, *kept)
        self._journal.store.evaluations.add(active.wait_id, evaluation)
        self._write_row(active)
        self._journal.event("wait.judged", active.wait_id, **records.judged_facts(evaluation))

    def _record_stage(self, active: ActiveWait, effect: out.StageReached) -> None:
        """Store the stage with its evidence before the next one begins."""
        _LOG.debug("wait.stage", wait=active.wait_id, stage=effect.stage)
        utc_s = self._clock.instant().utc_s
        active.stages = (*active.stages, Stage(utc_s, effect.verdict, effect.evidence))
        active.baselines.clear()
        self.targets.next_stage(active)
        self._loop.call_later(0.0, lambda: self.targets.begin_stage(active))
        if active.transient is None:
            stored = active.to_row()
            self._journal.keep(lambda: self._write_stage(active, stored, utc_s))

    def _write_stage(self, active: ActiveWait, stored: StoredWait, utc_s: float) -> None:
        self._write_row(active)
        if stored.stages[-1].evidence.name:
            self._keep_evidence(stored.wait_id, stored.stages[-1].evidence, utc_s)
        self._journal.event("wait.stage", stored.wait_id, **records.stage_facts(stored))

    def _end_wait(self, active: ActiveWait, effect: out.WaitEffect) -> None:
        ending = records.wait_ending(active, effect)
        active.state, active.message, active.evidence = ending.state, ending.message, ending.evidence
        end = effect.end if isinstance(effect, out.WaitEndedByFleet) else None
        active.ended_utc_s = end.utc_s if end is not None else self._clock.instant().utc_s
        changed_at = effect.changed_at if isinstance(effect, out.WaitResolved) else None
        if changed_at is not None and changed_at >= active.machine.armed_at:
            active.changed_to_resolved_ms = round((self._clock.monotonic_s() - changed_at) * 1000, 1)
        active.stop_timers()
        self.targets.end_tracking(active)
        for kind in out.JobKind:
            self._batches.withdraw(active, kind)
        self._pool.wait_over(active.wait_id)
        if active.transient is not None:
            self.active.pop(active.wait_id, None)
            active.transient(active)
        else:
            active.wake = self._wakes.make_for_wait(active.to_row(), end)
            self._journal.keep(lambda: self._write_end(active), lambda: self._finish_end(active))

    def _write_end(self, active: ActiveWait) -> None:
        stored = active.to_row()
        try:
            self._journal.store.waits.update(stored)
        except (Conflict, NotFound) as fault:
            _LOG.error("wait.end_unwritten", wait=active.wait_id, fault=fault.message)
            active.wake = None
            return
        if active.wake is not None:
            self._wakes.write(active.wake)
        try:
            with self._journal.savepoint():
                self.notify_recorded(stored)
        except StoreUnavailable:
            raise
        except AcudError as fault:  # a failing observer does not undo the end
            _LOG.error("wait.end_unrecorded", wait=active.wait_id, fault=fault.message)
        if stored.evidence is not None and stored.evidence.name:
            self._keep_evidence(active.wait_id, stored.evidence, active.ended_utc_s)
        self._journal.event(f"wait.{stored.state.value}", active.wait_id, **records.ended_facts(stored))

    def notify_recorded(self, stored: StoredWait) -> None:
        """Call `recorded` in the transaction that stores a wait's beginning or its end."""
        for recorded in self.recorded:
            recorded(stored)

    def _keep_evidence(self, wait_id: str, evidence: Evidence, utc_s: float) -> None:
        # One picture is both where the same pixels were judged no, and then yes.
        identities = {evidence.name: evidence.identity} | (
            {evidence.before: evidence.before_identity} if evidence.before else {}
        )
        for name, identity in identities.items():
            try:
                self._journal.store.evidence.add(name, wait_id, identity, utc_s)
            except (Conflict, InvalidRequest, NotFound) as fault:  # the wait has ended, with or without its picture
                _LOG.error("evidence.unkept", wait=wait_id, fault=fault.message)

    def _finish_end(self, active: ActiveWait) -> None:
        self.active.pop(active.wait_id, None)
        self.ends.add(active.state.value)
        if active.changed_to_resolved_ms is not None:
            self.verdict_s.observe(active.changed_to_resolved_ms / 1000)
        _LOG.info("wait.ended", wait=active.wait_id, state=active.state.value, ms=active.changed_to_resolved_ms)
        self.first_verdicts.pop(active.wait_id, None)
        for ended in self.ended:
            ended(active)
