"""The machines of live waits: armed, stepped, their effects obeyed in order, their ends committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from acud import log
from acud.api_keys import ApiKey, variable
from acud.backends import OllamaSettings
from acud.clock import Clock
from acud.config import Settings
from acud.errors import Conflict, NotFound
from acud.event_loop import EventLoop
from acud.ids import new_id
from acud.metrics.catalogue import SLOW_S
from acud.metrics.tallies import Histogram, Tally
from acud.store import StoredEvidence, StoredWait
from acud.supervisor.journal import Journal
from acud.supervisor.pool import Pool
from acud.supervisor.redaction_policy import RedactionPolicy
from acud.supervisor.screens import Screens
from acud.supervisor.sessions import Sessions
from acud.supervisor.sources import Sources
from acud.supervisor.spending import Spending
from acud.supervisor.waits import records
from acud.supervisor.waits.accounts import Accounts, spends
from acud.supervisor.waits.admission import Admission
from acud.supervisor.waits.aims import Aims
from acud.supervisor.waits.live import Live, Lives
from acud.supervisor.waits.pasts import Pasts
from acud.supervisor.waits.views import Views
from acud.supervisor.wakes import Wakes
from acud.types import Budget, Evidence, JudgeName
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.budget import BudgetStatus
from acud.waits.frame_coalescing import is_relevant
from acud.waits.validation import unsearchable_reason

_LOG = log.logger("waits")
_SUSPEND_CHECK_S = 1.0
_JUMP_S = 0.5


class Engine:
    """Every live wait of this supervisor, by id in `lives`; nothing is decided here, `acud.waits.machine` decides."""

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        settings: Settings,
        pool: Pool,
        screens: Screens,
        sources: Sources,
        evidence: Path,
        wakes: Wakes,
        sessions: Sessions,
        redaction: RedactionPolicy,
        spending: Spending,
        keys: Mapping[str, ApiKey],
    ) -> None:
        self._keys = keys
        self._wakes = wakes
        self._evidence = evidence
        self._journal = journal
        self._loop = loop
        self._clock = clock
        self._settings = settings
        self._pool = pool
        self._sources = sources
        self.lives = Lives()
        pasts = Pasts(pool, sources.remains, clock.monotonic_s, self.step)
        self.aims = Aims(self.lives, screens, sources, clock.monotonic_s, self.step, sessions, pasts)
        self.accounts = Accounts(journal.store, spending)
        self._views = Views(
            pool,
            sources,
            clock.monotonic_s,
            self.step,
            self.judge_of,
            self.is_local,
            self.accounts,
            self._settle,
            redaction,
            self._party,
            Admission(self.lives, self.accounts, self.judge_of),
        )
        self._suspended_s = self._boot_offset_s()
        self._had_ollama = False
        self.recorded: Callable[[StoredWait], None] = lambda stored: None
        """Told of each wait as it is armed and as it ends, inside the transaction that stores that."""
        self.ended: Callable[[Live], None] = lambda live: None
        """Told of each end once it is stored."""
        self.ends = Tally()
        """Waits that ended, by state."""
        self.verdict_s = Histogram(SLOW_S)
        """From the notice of the deciding change to the verdict."""
        loop.call_later(_SUSPEND_CHECK_S, self._check_suspend)

    # ---- judges ----------------------------------------------------------------------------------------------------

    def effective_judge(self) -> str:
        """Return the judge that `auto` means now: of a chain the first that is not down."""
        chain = self._settings.vision.chain()
        healths = {name: self._pool.judge(name) for name in chain}
        well = [name for name, health in healths.items() if health is None or health.state != "down"]
        return (well or list(chain) or [self.judge_of(JudgeName.AUTO).value])[0]

    def judge_of(self, asked: JudgeName) -> JudgeName:
        """Return who answers criteria where a wait asked for `asked`; `auto` for a chain, which evaluators go along."""
        if asked is not JudgeName.AUTO:
            return asked
        chain = self._settings.vision.chain()
        if chain:
            return JudgeName(chain[0]) if len(chain) == 1 else JudgeName.AUTO
        ollama = self._pool.judge("ollama")
        return JudgeName.OLLAMA if ollama is not None and ollama.state == "ready" else JudgeName.OCR

    def lacks_judge(self, asked: JudgeName) -> str:
        """Return why nobody is configured who sees, for a wait that asks for `asked`; "" where somebody is, also one
        that is down.
        """
        chain = (asked.value,) if asked is not JudgeName.AUTO else self._settings.vision.chain()
        if not chain:
            return self._lacks_ollama()
        missing = [self._unset(name) for name in chain]
        return "" if "" in missing else "; ".join(missing)

    def _lacks_ollama(self) -> str:
        """Return why `auto` is OCR alone: nothing is set, and nothing was ever heard of an ollama with the model."""
        ollama = self._pool.judge("ollama")
        well = ollama is None or ollama.state != "down"
        self._had_ollama |= ollama is not None and well
        if well or self._had_ollama or self._settings.ollama != OllamaSettings():
            return ""
        return f"no vision backend is configured, and the usual ollama is not there ({ollama.reason if ollama else ''})"

    def _unset(self, name: str) -> str:
        if name == JudgeName.OCR:
            return "OCR reads text, and sees nothing else"
        if name == JudgeName.FLEET:
            return "" if self._settings.fleet.urls else "fleet has no url in [fleet]"
        if name in (JudgeName.OPENROUTER, JudgeName.CLAUDE) and self._keys[name] == ApiKey():
            return f"{name} has no key: set {variable(name)}"
        return ""

    def is_local(self, asked: JudgeName) -> bool:
        """Tell whether no picture leaves this machine for a wait that asked for `asked`, whoever of a chain answers."""
        chain = self._settings.vision.chain() if asked is JudgeName.AUTO else ()
        return all(map(self._settings.keeps, chain or (self.judge_of(asked).value,)))

    def _party(self, live: Live) -> str:
        """Return whose condition the wait's is, "" for nobody known: parties do not share model calls."""
        return "*" if self._settings.vision.share_between_agents else self.accounts.agent(live)

    # ---- budgets ---------------------------------------------------------------------------------------------------

    def fund(self, task_id: str, budget: Budget) -> None:
        """Give a task another budget."""
        self.accounts.fund(task_id, budget)
        self.judges_changed()

    def judges_changed(self) -> None:
        """See anew what each wait may spend: who judges it, and so what that costs, may be another now."""
        self._lacks_ollama()
        for live in list(self.lives.values()):
            self.rebudget(live)

    def _settle(self, live: Live) -> None:
        shared = self.accounts.is_shared(live)
        for other in list(self.lives.values()) if shared else [live]:
            if other is live or other.spec.task_id == live.spec.task_id:
                self.rebudget(other)

    def word(self, live: Live) -> BudgetStatus:
        """Return what the budgets say to the wait."""
        spending = spends(live, self.judge_of(live.spec.judge))
        return self.accounts.word(live) if spending else BudgetStatus()

    def rebudget(self, live: Live) -> None:
        """Tell the machine what the budgets say, before the jobs of this turn leave."""
        word = self.word(live)
        if word != live.machine.budget_status and not live.ended:
            self.step(live, happened.BudgetChecked(self._clock.monotonic_s(), word))
            self.save(live)

    # ---- the machines ----------------------------------------------------------------------------------------------

    def arm(
        self,
        stored: StoredWait,
        passing: Callable[[Live], None] | None = None,
        payer: str = "",
        *,
        is_new: bool = True,
    ) -> None:
        """Bring a wait to life; `passing` is called at its end instead of storing it. `payer`: see `Live`. One that is
        not new was armed before a restart.

        One that was stored with a pattern that cannot be searched for (any more) fails, saying why.
        """
        armed = machine.arm(stored.spec, self._clock.monotonic_s(), stored.baselines, is_new=is_new)
        live = self.lives[stored.wait_id] = Live(stored, armed.wait)
        live.passing = passing
        live.payer = payer or live.payer
        judge = self.judge_of(stored.spec.judge).value
        _LOG.debug(
            "wait.armed", wait=live.wait_id, display=live.display, judge=judge, new=is_new, passing=bool(passing)
        )
        fault = unsearchable_reason(stored.spec.until)
        if fault:
            self.step(live, happened.WaitBroken(self._clock.monotonic_s(), fault))
            return
        self.set_deadline(live)
        self._obey_all(live, armed.effects)
        self.aims.begin(live)
        self.rebudget(live)

    def step(self, live: Live, event: happened.WaitEvent) -> None:
        """Give `event` to the machine of `live`, after the frames it was not told of, and obey what it says."""
        if live.dozing and not live.ended:
            self._wake_up(live, event.at)
        if live.ended:
            return
        moved = machine.step(live.machine, event)
        live.machine = moved.wait
        self._obey_all(live, moved.effects)

    def _wake_up(self, live: Live, at: float) -> None:
        frames = [frame for frame in live.take_frames() if is_relevant(live.machine, frame)]
        if frames:
            self.step(live, happened.FramesSeen(at, tuple(frames)))

    def _obey_all(self, live: Live, effects: tuple[out.WaitEffect, ...]) -> None:
        for effect in effects:
            self._obey(live, effect)

    def _obey(self, live: Live, effect: out.WaitEffect) -> None:
        match effect:
            case out.JobRequest():
                self._due(live, effect)
            case out.JobWithdrawal(kind=kind):
                self._views.withdraw(live, kind)
            case out.GrabRequest():
                self._grab(live)
            case out.TerminalReadRequest():
                self.aims.read(live)
            case out.FrameRateDemand(fps=fps):
                self._demand(live, fps)
            case out.TickRequest(at=at):
                self._wake_at(live, at)
            case out.BaselineTaken(index=index, token=token, identity=identity):
                live.baselines[index] = machine.StoredBaseline(token, identity)
                self.save(live)
            case out.EvaluationRecord():
                self._evaluated(live, effect)
            case out.NoteChanged(text=text):
                self._noted(live, text)
            case _:
                self._end(live, effect)

    def _due(self, live: Live, due: out.JobRequest) -> None:
        if live.passing is not None and due.kind is out.JobKind.EVIDENCE:
            # A blocking call takes its own picture; its evidence is the reply.
            job_id, now = new_id("job"), self._clock.monotonic_s()
            self.step(live, happened.JobDispatched(now, job_id, due.kind))
            evidence = Evidence(reason="a blocking call keeps no picture")
            self.step(live, happened.JobDone(now, job_id, due.epoch, due.min_frame, "", evidence=evidence))
            return
        _LOG.debug(
            "wait.due",
            wait=live.wait_id,
            kind=due.kind.value,
            source=due.source,
            epoch=due.epoch,
            frame=due.min_frame,
            forced=due.force,
        )
        self._views.due(live, due)

    def _grab(self, live: Live) -> None:
        source = self._sources.by_name.get(live.source)
        if source is not None:
            live.grab = self._sources.grab_now(source)

    def _demand(self, live: Live, fps: float) -> None:
        live.fps = min(fps, self._settings.capture.max_fps)
        self.aims.demand(live)

    def _wake_at(self, live: Live, at: float | None) -> None:
        if live.tick is not None:
            live.tick.cancel()
        live.tick = None
        if at is not None:
            live.tick = self._loop.call_at(at, lambda: self.step(live, happened.Tick(self._clock.monotonic_s())))

    def _noted(self, live: Live, text: str) -> None:
        if live.passing is None and text:
            self._journal.keep(lambda: self._journal.event("wait.note", live.wait_id, text=text), droppable=True)

    # ---- deadlines -------------------------------------------------------------------------------------------------

    def set_deadline(self, live: Live) -> None:
        """Set the timer of the wait's deadline anew."""
        if live.deadline_timer is not None:
            live.deadline_timer.cancel()
        remaining_s = live.deadline.remaining_s(self._clock.instant())
        live.deadline_timer = self._loop.call_later(max(0.0, remaining_s), lambda: self._deadline(live))

    def _deadline(self, live: Live) -> None:
        _LOG.debug("wait.deadline", wait=live.wait_id)
        self.step(live, happened.DeadlinePassed(self._clock.monotonic_s()))

    def _boot_offset_s(self) -> float:
        return self._clock.instant().boot_s - self._clock.monotonic_s()

    def _check_suspend(self) -> None:
        # The loop's clock stands still in suspend, CLOCK_BOOTTIME does not (clock_gettime(2)); deadlines follow that.
        self._loop.call_later(_SUSPEND_CHECK_S, self._check_suspend)
        if abs(self._boot_offset_s() - self._suspended_s) > _JUMP_S:
            self._suspended_s = self._boot_offset_s()
            for live in list(self.lives.values()):
                if not live.ended:
                    self.set_deadline(live)

    # ---- records and ends ------------------------------------------------------------------------------------------

    def save(self, live: Live) -> None:
        """Write the wait's row in this turn; a passing one has none."""
        if live.passing is None:
            self._journal.keep(lambda: self._write(live))

    def _write(self, live: Live) -> None:
        if not live.ended:
            self._journal.store.waits.update(live.stored())

    def _evaluated(self, live: Live, effect: out.EvaluationRecord) -> None:
        _LOG.debug(
            "wait.judged",
            wait=live.wait_id,
            job=effect.job_id,
            frame=effect.frame,
            answer=effect.verdict.answer.value,
            code=effect.verdict.code,
            gated=effect.gated,
            stale=effect.stale,
        )
        answered = live.answers.get(effect.job_id)
        if live.passing is not None or answered is None or effect.gated:
            return
        if effect.stale:
            self.accounts.unkept(live, answered.answers)  # it decides nothing, and was paid for
            self.save(live)
            return
        evaluation = records.evaluation(effect, answered, self._clock.instant().utc_s)
        if evaluation is None:
            return
        live.cost_usd = records.added(live.cost_usd, evaluation.cost_usd)

        def write() -> None:
            self._journal.store.evaluations.add(live.wait_id, evaluation)
            self._write(live)
            self._journal.event("wait.judged", live.wait_id, **records.judged(evaluation))

        self._journal.keep(write, droppable=True)

    def _end(self, live: Live, effect: out.WaitEffect) -> None:
        ending = records.ending(live, effect)
        live.state, live.message, live.evidence = ending.state, ending.message, ending.evidence
        live.ended_utc_s = self._clock.instant().utc_s
        changed_at = effect.changed_at if isinstance(effect, out.WaitResolved) else None
        if changed_at is not None and changed_at >= live.machine.armed_at:
            live.changed_to_resolved_ms = round((self._clock.monotonic_s() - changed_at) * 1000, 1)
        live.stop_timers()
        self.aims.end(live)
        for kind in out.JobKind:
            self._views.withdraw(live, kind)
        self._pool.wait_over(live.wait_id)
        if live.passing is not None:
            self.lives.pop(live.wait_id, None)
            live.passing(live)
        else:
            live.wake = self._wakes.of_wait(live.stored())
            self._journal.keep(lambda: self._write_end(live), lambda: self._stored(live))

    def _write_end(self, live: Live) -> None:
        stored = live.stored()
        try:
            self._journal.store.waits.update(stored)
        except (Conflict, NotFound) as fault:
            _LOG.error("wait.end_unwritten", wait=live.wait_id, fault=fault.message)
            live.wake = None
            return
        if live.wake is not None:
            self._wakes.write(live.wake)
        self.recorded(stored)
        if stored.evidence is not None and stored.evidence.name:
            self._keep_evidence(live, stored.evidence)
        self._journal.event(f"wait.{stored.state.value}", live.wait_id, **records.ended(stored))

    def _keep_evidence(self, live: Live, evidence: Evidence) -> None:
        path = self._evidence / evidence.name
        try:
            size = path.stat().st_size if path.is_file() else 0
            row = StoredEvidence(evidence.name, live.wait_id, evidence.identity, size, live.ended_utc_s)
            self._journal.store.evidence.add(row)
            if evidence.before:
                size = (self._evidence / evidence.before).stat().st_size
                row = StoredEvidence(evidence.before, live.wait_id, evidence.before_identity, size, live.ended_utc_s)
                self._journal.store.evidence.add(row)
        except NotFound as fault:
            _LOG.error("evidence.missing", wait=live.wait_id, fault=fault.message)

    def _stored(self, live: Live) -> None:
        self.lives.pop(live.wait_id, None)
        self.ends.add(live.state.value)
        if live.changed_to_resolved_ms is not None:
            self.verdict_s.observe(live.changed_to_resolved_ms / 1000)
        _LOG.info("wait.ended", wait=live.wait_id, state=live.state.value, ms=live.changed_to_resolved_ms)
        self.ended(live)
