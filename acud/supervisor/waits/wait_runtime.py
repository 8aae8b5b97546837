"""Runs the machines of live waits: arms and steps them, obeys their effects in order, commits their ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import AcudError, Conflict, InvalidRequest, NotFound, StoreUnavailable
from acud.base.ids import new_id
from acud.config import Settings, key_variable
from acud.config.api_keys import ApiKey
from acud.config.backends import NEEDING_KEY, PREDEFINED
from acud.metrics.catalogue import SLOW_S
from acud.metrics.counters import Histogram, Tally
from acud.process.event_loop import EventLoop
from acud.protocol.capture import LookAsk
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
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits
from acud.supervisor.waits.baseline_recovery import BaselineRecovery
from acud.supervisor.waits.budgets import Admission, Budgets, is_charged
from acud.supervisor.waits.images import WaitImages
from acud.supervisor.waits.judge_batches import JudgeBatches
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.supervisor.waits.widget_requests import WidgetRequests
from acud.supervisor.wakes import Wakes
from acud.supervisor.watched_displays import WatchedDisplays
from acud.types import Budget, Evidence, JudgeChoice, JudgeName, Stage, Verdict
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.budget import BudgetStatus
from acud.waits.conditions import NOT_JUDGED
from acud.waits.frame_coalescing import is_relevant
from acud.waits.validation import explain_unsearchable

_LOG = log.logger("waits")
_SUSPEND_CHECK_S = 1.0
_JUMP_S = 0.5
_FLEETS_WORD_S = 30.0
"""At a start, waits are held so long for the fleet's report of lost waits. The fleet process takes 2 s to bring it; if
no server of the fleet answers, they go on without it.
"""
_PASSES_HOLD = (happened.FleetEnded, happened.CancelRequested, happened.SpecUpdated)
_LAST_LOOK_S = 1.0
"""So long before its deadline a wait takes the picture that it times out with."""


class WaitRuntime:
    """Every live wait of this supervisor, by id in `active`. `acud.waits.machine` decides what a wait does; the timers
    here decide when its deadline passes (`set_deadline`).
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
        keys: Mapping[str, ApiKey],
        on_ended: Callable[[ActiveWait], None],
    ) -> None:
        """`on_ended` gets each wait once its end is stored."""
        self._keys = keys
        self._wakes = wakes
        self._journal = journal
        self._loop = loop
        self._clock = clock
        self._settings = settings
        self._pool = pool
        self._sources = sources
        self.active = ActiveWaits()
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
            self.judge_of,
            self.is_local,
            self.budgets,
            self._settle,
            redaction,
            self._name_party,
            Admission(self.active, self.budgets, self.judge_of),
            self.images.get,
            self.targets,
            keeps_pictures=settings.store.verdict_pictures_max_mb > 0,
        )
        self._suspended_s = self._boot_offset_s()
        self._had_ollama = False
        self.recorded = Observers[Callable[[StoredWait], None]]()
        """Called with each wait as it is armed and as it ends, inside the transaction that stores that."""
        self._on_ended = on_ended
        self.first_verdicts: dict[str, Callable[[], None]] = {}
        """By wait: called at its first verdict."""
        self.ends = Tally()
        """Waits that ended, by state."""
        self.verdict_s = Histogram(SLOW_S)
        """From the notice of the deciding change to the verdict."""
        loop.call_each(_SUSPEND_CHECK_S, self._check_suspend)

    # ---- judges ----------------------------------------------------------------------------------------------------

    def effective_judge(self) -> str:
        """Return the judge that `auto` means now: the first of the chain that is not down."""
        chain = self._settings.vision.chain()
        healths = {name: self._pool.find_judge(name) for name in chain}
        well = [name for name, health in healths.items() if health is None or health.state != "down"]
        return (well or list(chain) or [self.judge_of(JudgeName.AUTO)])[0]

    def judge_of(self, asked: JudgeChoice) -> JudgeChoice:
        """Return the judge for a wait that asks for `asked`; `auto` for a chain, which evaluators try in order."""
        if asked != JudgeName.AUTO:
            return asked
        chain = self._settings.vision.chain()
        if chain:
            return chain[0] if len(chain) == 1 else JudgeName.AUTO
        ollama = self._pool.find_judge("ollama")
        return JudgeName.OLLAMA if ollama is not None and ollama.state == "ready" else JudgeName.OCR

    def explain_missing_judge(self, asked: JudgeChoice) -> str:
        """Return why no vision judge is configured for `asked`, or "" if one is (even if it is down)."""
        chain = (asked,) if asked != JudgeName.AUTO else self._settings.vision.chain()
        if not chain:
            return self._explain_missing_ollama()
        missing = [self._explain_unset(name) for name in chain]
        return "" if "" in missing else "; ".join(missing)

    def _explain_missing_ollama(self) -> str:
        """Return why `auto` means OCR only: no backend is set, and no ollama with the model was ever up; else ""."""
        ollama = self._pool.find_judge("ollama")
        well = ollama is None or ollama.state != "down"
        self._had_ollama |= ollama is not None and well
        if well or self._had_ollama or self._settings.backends["ollama"] != PREDEFINED["ollama"]:
            return ""
        return f"no vision backend is configured, and the usual ollama is not there ({ollama.reason if ollama else ''})"

    def _explain_unset(self, name: str) -> str:
        if name == JudgeName.OCR:
            return "OCR reads text, and sees nothing else"
        if name == JudgeName.FLEET:
            return "" if self._settings.fleet.urls else "fleet has no url in [fleet]"
        if isinstance(self._settings.backends.get(name), NEEDING_KEY) and not self._keys[name].is_set:
            return f"{name} has no key: set {key_variable(name)}"
        return ""

    def is_local(self, asked: JudgeChoice) -> bool:
        """Return whether no judge for `asked`, also of a chain, gets a picture outside of this machine."""
        chain = self._settings.vision.chain() if asked == JudgeName.AUTO else ()
        return all(map(self._settings.keeps, chain or (self.judge_of(asked),)))

    def _name_party(self, active: ActiveWait) -> str:
        """Return the party that owns the wait, "" if unknown: parties do not share model calls."""
        return "*" if self._settings.vision.share_between_agents else self.budgets.name_agent(active)

    # ---- budgets ---------------------------------------------------------------------------------------------------

    def fund(self, task_id: str, budget: Budget) -> None:
        """Set a task's budget."""
        self.budgets.fund(task_id, budget)
        self.judges_changed()

    def judges_changed(self) -> None:
        """Check again what each wait may spend: its judge, and so its cost, may have changed."""
        self._explain_missing_ollama()
        for active in list(self.active.values()):
            self.rebudget(active)
            self._check_judges(active)

    def describe_lack(self, asked: JudgeChoice) -> str:
        """Return why none of the judges for `asked` can answer now, "" if one may."""
        chain = (asked,) if asked != JudgeName.AUTO else self._settings.vision.chain()
        healths = [self._pool.find_judge(name) for name in chain]
        down = [f"{one.name} is down: {one.reason}" for one in healths if one is not None and one.state == "down"]
        return "; ".join(down) if len(down) == len(chain) else ""

    def _check_judges(self, active: ActiveWait) -> None:
        lack = self.describe_lack(active.spec.judge)
        if lack != active.machine.judges_lack and not active.ended:
            self.step(active, happened.JudgesChecked(self._clock.monotonic_s(), lack))

    def _settle(self, active: ActiveWait) -> None:
        shared = self.budgets.is_shared(active)
        for other in list(self.active.values()) if shared else [active]:
            if other is active or other.spec.task_id == active.spec.task_id:
                self.rebudget(other)

    def budget_status(self, active: ActiveWait) -> BudgetStatus:
        """Return the status of the wait's budgets."""
        spending = is_charged(active, self.judge_of(active.spec.judge))
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
        transient: Callable[[ActiveWait], None] | None = None,
        payer: str = "",
        *,
        is_new: bool = True,
        reads_back: bool = False,
    ) -> None:
        """Make a wait live; `transient` is called at its end instead of storing it. `payer` and `reads_back`: see
        `ActiveWait`. One that is not new was armed before a restart: in a fleet it is held until `release_held`, or
        some seconds.

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
        judge = self.judge_of(stored.spec.judge)
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
            active.held = []
            active.deadline_timer = self._loop.call_later(_FLEETS_WORD_S, lambda: self._release(active))
        self.set_deadline(active)
        self._obey_all(active, armed.effects)
        self.targets.begin(active)
        self.rebudget(active)
        self._check_judges(active)

    def step(self, active: ActiveWait, event: happened.WaitEvent) -> None:
        """Pass the held frames and then `event` to the machine of `active`, and obey its effects."""
        if active.holds_frames and not active.ended:
            self._release_frames(active, event.at)
        if active.ended:
            return
        if active.held is not None:
            if not isinstance(event, _PASSES_HOLD):
                active.held.append(event)
                return
            if isinstance(event, happened.SpecUpdated) and event.spec.until != active.spec.until:
                active.held = [one for one in active.held if isinstance(one, happened.WaitBroken)]
        moved = machine.step(active.machine, event)
        active.machine = moved.wait
        self._obey_all(active, moved.effects)
        if active.wait_id in self.first_verdicts and active.machine.verdict.code != NOT_JUDGED.code:
            self._loop.call_later(0, self.first_verdicts.pop(active.wait_id))

    def _release_frames(self, active: ActiveWait, at: float) -> None:
        frames = [frame for frame in active.take_frames() if is_relevant(active.machine, frame)]
        if frames:
            self.step(active, happened.FramesSeen(at, tuple(frames)))

    def _obey_all(self, active: ActiveWait, effects: tuple[out.WaitEffect, ...]) -> None:
        for effect in effects:
            self._obey_effect(active, effect)

    def _obey_effect(self, active: ActiveWait, effect: out.WaitEffect) -> None:
        match effect:
            case out.JobRequest():
                self._request_job(active, effect)
            case out.JobWithdrawal(kind=kind):
                self._batches.withdraw(active, kind)
            case out.GrabRequest():
                self._grab(active, effect)
            case out.TextReadRequest():
                self.targets.read(active)
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
                self._end(active, effect)

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

    def _grab(self, active: ActiveWait, request: out.GrabRequest) -> None:
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

    # ---- deadlines -------------------------------------------------------------------------------------------------

    def set_deadline(self, active: ActiveWait) -> None:
        """Set the timer of the wait's deadline again; a held wait times out only after its release."""
        if active.held is not None:
            return
        for timer in (active.deadline_timer, active.last_look_timer):
            if timer is not None:
                timer.cancel()
        remaining_s = active.deadline.remaining_s(self._clock.instant())
        near_s = max(0.0, remaining_s - _LAST_LOOK_S)
        active.last_look_timer = self._loop.call_later(near_s, lambda: self._on_deadline_near(active))
        active.deadline_timer = self._loop.call_later(max(0.0, remaining_s), lambda: self._on_deadline(active))

    def _on_deadline_near(self, active: ActiveWait) -> None:
        self.step(active, happened.DeadlineNear(self._clock.monotonic_s()))

    def _on_deadline(self, active: ActiveWait) -> None:
        _LOG.debug("wait.deadline", wait=active.wait_id)
        queue = self._batches.describe_queue(active)
        self.step(active, happened.DeadlinePassed(self._clock.monotonic_s(), queue))

    def end_by_fleet(self, active: ActiveWait, verdict: Verdict, end: out.FleetEnd) -> None:
        """End a live wait as the fleet did while this host was lost."""
        self.step(active, happened.FleetEnded(self._clock.monotonic_s(), verdict, end))

    def release_held(self) -> None:
        """Release the waits that were held for the fleet's report."""
        for active in list(self.active.values()):
            self._release(active)

    def _release(self, active: ActiveWait) -> None:
        """Pass the events before its deadline to a wait that was held, and let it go on."""
        held, active.held = active.held, None
        if held is None or active.ended:
            return
        remaining_s = active.deadline.remaining_s(self._clock.instant())
        ends_at = self._clock.monotonic_s() + remaining_s
        for event in held:
            if event.at < ends_at:
                self.step(active, event)
        if not active.ended:
            self.set_deadline(active)

    def _boot_offset_s(self) -> float:
        return self._clock.instant().boot_s - self._clock.monotonic_s()

    def _check_suspend(self) -> None:
        # The loop's clock stands still in suspend, CLOCK_BOOTTIME does not (clock_gettime(2)); deadlines follow that.
        if abs(self._boot_offset_s() - self._suspended_s) > _JUMP_S:
            self._suspended_s = self._boot_offset_s()
            for active in list(self.active.values()):
                if not active.ended:
                    self.set_deadline(active)

    # ---- records and ends ------------------------------------------------------------------------------------------

    def save(self, active: ActiveWait) -> None:
        """Write the wait's row in this turn; a transient one has none."""
        if active.transient is None:
            self._journal.keep(lambda: self._write(active))

    def _write(self, active: ActiveWait) -> None:
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

        def write() -> None:
            if answered.picture is not None:
                kept = evaluation.picture, answered.picture.jpeg, evaluation.utc_s
                self._journal.store.verdict_pictures.keep(active.wait_id, *kept)
            self._journal.store.evaluations.add(active.wait_id, evaluation)
            self._write(active)
            self._journal.event("wait.judged", active.wait_id, **records.judged_facts(evaluation))

        self._journal.keep(write, droppable=True)

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
        self._write(active)
        if stored.stages[-1].evidence.name:
            self._keep_evidence(stored.wait_id, stored.stages[-1].evidence, utc_s)
        self._journal.event("wait.stage", stored.wait_id, **records.stage_facts(stored))

    def _end(self, active: ActiveWait, effect: out.WaitEffect) -> None:
        ending = records.wait_ending(active, effect)
        active.state, active.message, active.evidence = ending.state, ending.message, ending.evidence
        end = effect.end if isinstance(effect, out.WaitEndedByFleet) else None
        active.ended_utc_s = end.utc_s if end is not None else self._clock.instant().utc_s
        changed_at = effect.changed_at if isinstance(effect, out.WaitResolved) else None
        if changed_at is not None and changed_at >= active.machine.armed_at:
            active.changed_to_resolved_ms = round((self._clock.monotonic_s() - changed_at) * 1000, 1)
        active.stop_timers()
        self.targets.end(active)
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
        self._on_ended(active)
