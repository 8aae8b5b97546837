"""Waits as requests see them: created, found, changed, ended; and the effects of their machines, obeyed in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from acud import log
from acud.clock import Clock
from acud.config import Settings
from acud.errors import Conflict, NotFound, Refused
from acud.ids import new_id
from acud.loop import Loop, Timer
from acud.protocol.requests.wait_update import WaitUpdate
from acud.store import StoredEvidence, StoredWait
from acud.supervisor.journal import Journal
from acud.supervisor.pool import Pool
from acud.supervisor.screens import Screen, Screens
from acud.supervisor.sources import Sources
from acud.supervisor.waits import records
from acud.supervisor.waits.accounts import Accounts, spends
from acud.supervisor.waits.aims import Aims
from acud.supervisor.waits.live import Live
from acud.supervisor.waits.views import Views
from acud.supervisor.wakes import Wakes
from acud.types import Budget, Criteria, Evidence, JudgeName, Target, WaitInfo, WaitSpec, WaitState
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.budget import Word
from acud.waits.conditions import leaves
from acud.waits.plain import plain
from acud.waits.request import updated

_LOG = log.logger("waits")
_SUSPEND_CHECK_S = 1.0
_JUMP_S = 0.5

Ended = Callable[[WaitInfo, bool], None]


class _Poll:
    """A long-poll for the end of a wait. `fetches`: its reply counts as seen."""

    def __init__(self, done: Ended, fetches: bool) -> None:
        self.done = done
        self.fetches = fetches
        self.timer: Timer | None = None


class Waits:
    """Every live wait of this supervisor; ended ones are rows."""

    def __init__(
        self,
        journal: Journal,
        loop: Loop,
        clock: Clock,
        settings: Settings,
        pool: Pool,
        screens: Screens,
        sources: Sources,
        server_start: str,
        evidence: Path,
        wakes: Wakes,
    ) -> None:
        self._wakes = wakes
        self._evidence = evidence
        self._journal = journal
        self._loop = loop
        self._clock = clock
        self._settings = settings
        self._pool = pool
        self._sources = sources
        self._lives: dict[str, Live] = {}
        self._polls: dict[str, list[_Poll]] = {}
        self.aims = Aims(self._lives, screens, sources, server_start, clock.monotonic_s, self.step)
        self._accounts = Accounts(journal.store)
        self._views = Views(pool, sources, clock.monotonic_s, self.step, self._judge_of, self._accounts, self._settle)
        self._suspended_s = self._boot_offset_s()
        self.recorded: Callable[[StoredWait], None] = lambda stored: None
        """Told of each wait as it is armed and as it ends, inside the transaction that stores that."""
        loop.call_later(_SUSPEND_CHECK_S, self._check_suspend)

    # ---- requests --------------------------------------------------------------------------------------------------

    def create(self, spec: WaitSpec, screen: Screen) -> tuple[WaitInfo, list[str]]:
        """Store a new wait in this turn and arm it after the commit; return it with what its client should know."""
        if len(self._lives) >= self._settings.wait.max_live:
            raise Refused(f"{len(self._lives)} waits are live already", hint="cancel some, or raise [wait] max_live")
        now = self._clock.instant()
        stored = StoredWait(new_id("wait"), WaitState.WATCHING, spec, screen.name, now, now.later(spec.timeout_s))
        self._journal.store.waits.insert(stored)
        self._accounts.open(spec.task_id)
        self.recorded(stored)
        self._journal.event("wait.created", stored.wait_id, **records.created(stored))
        self._journal.after_commit(lambda: self._arm(stored))
        return self._info(stored), self._notes(stored)

    def _notes(self, stored: StoredWait) -> list[str]:
        probe = Live(stored, machine.arm(stored.spec, self._clock.monotonic_s()).wait)
        missing = self.aims.find(probe).missing
        notes = [missing.detail] if missing is not None else []
        budget = self._word(probe).note
        return notes + ([budget] if budget else []) + list(self._judge_notes(stored.spec))

    def _judge_notes(self, spec: WaitSpec) -> Iterator[str]:
        judge = self._judge_of(spec.judge)
        for leaf in leaves(spec.until):
            if not isinstance(leaf, Criteria):
                continue
            if judge is JudgeName.OCR:
                reason = plain(leaf.criteria).reason
                if reason:
                    yield f'unknown for now: "{leaf.criteria}": {reason}'
            elif judge is JudgeName.PASSTHROUGH:
                yield "the passthrough judge never says yes; this wait can only time out"

    def resume(self) -> None:
        """Arm every stored live wait again, at the start of a supervisor; passed deadlines fire at once."""
        for stored in self._journal.store.waits.live():
            self._accounts.open(stored.spec.task_id)
            self._arm(stored)

    def target(self, wait_id: str) -> Target:
        """Return where a live wait looks, its display named. Raises: NotFound; Conflict when it has ended."""
        live = self._live(wait_id)
        return replace(live.spec.target, display=live.display)

    def update(self, request: WaitUpdate) -> tuple[WaitInfo, list[str]]:
        """Change a live wait; a timeout restarts its clock."""
        live = self._live(request.wait_id)
        spec = updated(
            live.spec,
            until=request.until,
            timeout_s=request.timeout_s,
            policy=request.policy,
            budget=request.budget,
            max_timeout_s=self._settings.wait.max_timeout_s,
        )
        if request.timeout_s is not None:
            live.deadline = self._clock.instant().later(spec.timeout_s)
            self._set_deadline(live)
        if request.until is not None:
            live.baselines.clear()
        self.step(live, happened.Updated(self._clock.monotonic_s(), spec))
        self.aims.begin(live)
        self._budget(live)
        self._save(live)
        self._journal.event("wait.updated", live.wait_id, **records.created(live.stored()))
        return self._info(live.stored()), list(self._judge_notes(spec))

    def cancel(self, wait_id: str, reason: str) -> WaitInfo:
        """End a live wait without a verdict. Raises: Conflict saying how it ended, when it has."""
        live = self._live(wait_id)
        self.step(live, happened.Cancelled(self._clock.monotonic_s(), reason))
        return self._info(live.stored())

    def find(self, wait_id: str) -> WaitInfo:
        """Return the wait with this id, or the one whose id begins so. Raises: NotFound."""
        live = self._lives.get(wait_id)
        return self._info(_shown(live) if live is not None else self._fresh(self._journal.store.waits.find(wait_id)))

    def newest(self, states: tuple[WaitState, ...], limit: int) -> tuple[list[WaitInfo], int]:
        """Return the waits of these states, newest first, and how many there are."""
        page = self._journal.store.waits.newest(states, limit)
        return [self._info(self._fresh(stored)) for stored in page.waits], page.total

    def on_display(self, name: str) -> list[str]:
        """Return the ids of the live waits that look at the display `name`."""
        return [live.wait_id for live in self._lives.values() if live.display == name and not live.passing]

    def of_task(self, task_id: str, limit: int) -> list[WaitInfo]:
        """Return the waits of a task, live ones first, then newest first."""
        return [self._info(self._fresh(stored)) for stored in self._journal.store.waits.of_task(task_id, limit)]

    def by_task(self) -> dict[str, int]:
        """Return how many live waits each task has, blocked calls included."""
        return Counter(live.spec.task_id for live in self._lives.values() if live.spec.task_id and not live.ended)

    def hold(self, task_id: str) -> None:
        """Judge nothing for a paused task; deadlines run on."""
        self.aims.hold(task_id)

    def release(self, task_id: str) -> None:
        """Judge again for a task."""
        self.aims.release(task_id)

    def end_task(self, task_id: str, reason: str) -> None:
        """Cancel the live waits of a task that ended."""
        for live in [live for live in self._lives.values() if live.spec.task_id == task_id]:
            if not live.ended:
                self.step(live, happened.Cancelled(self._clock.monotonic_s(), reason))
        self._accounts.close(task_id)

    def when_ended(self, wait_id: str, block_s: float, done: Ended, *, fetches: bool) -> None:
        """Call `done` when the wait has ended (at once if it has), or after `block_s` with its state so far.

        `fetches`: the reply will count as seen, so the wake is held back until it has left, or could not.
        """
        info = self.find(wait_id)
        if info.state is not WaitState.WATCHING and info.wait_id not in self._lives:
            done(info, True)
        elif block_s <= 0:
            done(info, False)
        else:
            self._park(info.wait_id, block_s, done, fetches)

    def _park(self, wait_id: str, block_s: float, done: Ended, fetches: bool) -> None:
        poll = _Poll(done, fetches)
        self._polls.setdefault(wait_id, []).append(poll)
        poll.timer = self._loop.call_later(block_s, lambda: self._expire(wait_id, poll))

    def _expire(self, wait_id: str, poll: _Poll) -> None:
        self._polls[wait_id].remove(poll)
        poll.done(self.find(wait_id), False)

    def passing(self, spec: WaitSpec, screen: Screen, done: Callable[[Live], None]) -> None:
        """Run a wait that lives only as long as its caller blocks; `done` gets it at its end."""
        now = self._clock.instant()
        stored = StoredWait(new_id("call"), WaitState.WATCHING, spec, screen.name, now, now.later(spec.timeout_s))
        self._arm(stored, done)

    def _live(self, wait_id: str) -> Live:
        live = self._lives.get(wait_id) or self._lives.get(self._journal.store.waits.find(wait_id).wait_id)
        if live is not None and not live.ended and live.passing is None:
            return live
        state = live.state if live is not None else self._journal.store.waits.find(wait_id).state
        raise Conflict(f"wait {wait_id} has ended: {state.value}", hint="acud waits show tells how", state=state.value)

    def _fresh(self, stored: StoredWait) -> StoredWait:
        live = self._lives.get(stored.wait_id)
        return live.stored() if live is not None and not live.ended else stored

    def _info(self, stored: StoredWait) -> WaitInfo:
        return records.info(stored, self._clock.instant())

    # ---- judges ----------------------------------------------------------------------------------------------------

    def effective_judge(self) -> str:
        """Return the judge that `auto` means now."""
        return self._judge_of(JudgeName.AUTO).value

    def _judge_of(self, asked: JudgeName) -> JudgeName:
        name = JudgeName(self._settings.vision.backend) if asked is JudgeName.AUTO else asked
        if name is not JudgeName.AUTO:
            return name
        ollama = self._pool.judge("ollama")
        return JudgeName.OLLAMA if ollama is not None and ollama.state == "ready" else JudgeName.OCR

    # ---- budgets ---------------------------------------------------------------------------------------------------

    def fund(self, task_id: str, budget: Budget) -> None:
        """Give a task another budget."""
        self._accounts.fund(task_id, budget)
        self.judges_changed()

    def judges_changed(self) -> None:
        """See anew what each wait may spend: who judges it, and so what that costs, may be another now."""
        for live in list(self._lives.values()):
            self._budget(live)

    def _settle(self, live: Live) -> None:
        shared = self._accounts.is_shared(live)
        for other in list(self._lives.values()) if shared else [live]:
            if other is live or other.spec.task_id == live.spec.task_id:
                self._budget(other)

    def _word(self, live: Live) -> Word:
        spending = spends(live, self._judge_of(live.spec.judge))
        return self._accounts.word(live) if spending else Word()

    def _budget(self, live: Live) -> None:
        """Tell the machine what the budgets say, before the jobs of this turn leave."""
        word = self._word(live)
        if word != live.machine.word and not live.ended:
            self.step(live, happened.Budgeted(self._clock.monotonic_s(), word))
            self._save(live)

    # ---- the machines ----------------------------------------------------------------------------------------------

    def _arm(self, stored: StoredWait, passing: Callable[[Live], None] | None = None) -> None:
        armed = machine.arm(stored.spec, self._clock.monotonic_s(), stored.baselines)
        live = self._lives[stored.wait_id] = Live(stored, armed.wait)
        live.passing = passing
        self._set_deadline(live)
        self._obey_all(live, armed.effects)
        self.aims.begin(live)
        self._budget(live)

    def step(self, live: Live, event: happened.Event) -> None:
        """Give `event` to the machine of `live` and obey what it says."""
        if live.ended:
            return
        moved = machine.step(live.machine, event)
        live.machine = moved.wait
        self._obey_all(live, moved.effects)

    def _obey_all(self, live: Live, effects: tuple[out.Effect, ...]) -> None:
        for effect in effects:
            self._obey(live, effect)

    def _obey(self, live: Live, effect: out.Effect) -> None:
        match effect:
            case out.Due():
                self._due(live, effect)
            case out.Withdrawn(kind=kind):
                self._views.withdraw(live, kind)
            case out.Grab():
                self._grab(live)
            case out.Demand(fps=fps):
                self._demand(live, fps)
            case out.WakeAt(at=at):
                self._wake_at(live, at)
            case out.BaselineTaken(index=index, token=token, identity=identity):
                live.baselines[index] = machine.Kept(token, identity)
                self._save(live)
            case out.Evaluated():
                self._evaluated(live, effect)
            case out.Noted(text=text):
                self._noted(live, text)
            case _:
                self._end(live, effect)

    def _due(self, live: Live, due: out.Due) -> None:
        if live.passing is not None and due.kind is out.DueKind.EVIDENCE:
            # A blocking call takes its own picture; its evidence is the reply.
            job_id, now = new_id("job"), self._clock.monotonic_s()
            self.step(live, happened.Dispatched(now, job_id, due.kind))
            evidence = Evidence(reason="a blocking call keeps no picture")
            self.step(live, happened.Judged(now, job_id, due.epoch, due.min_frame, "", evidence=evidence))
            return
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

    def _set_deadline(self, live: Live) -> None:
        if live.deadline_timer is not None:
            live.deadline_timer.cancel()
        remaining_s = live.deadline.remaining_s(self._clock.instant())
        live.deadline_timer = self._loop.call_later(max(0.0, remaining_s), lambda: self._deadline(live))

    def _deadline(self, live: Live) -> None:
        self.step(live, happened.Deadline(self._clock.monotonic_s()))

    def _boot_offset_s(self) -> float:
        return self._clock.instant().boot_s - self._clock.monotonic_s()

    def _check_suspend(self) -> None:
        # The loop's clock stands still in suspend, CLOCK_BOOTTIME does not (clock_gettime(2)); deadlines follow that.
        self._loop.call_later(_SUSPEND_CHECK_S, self._check_suspend)
        if abs(self._boot_offset_s() - self._suspended_s) > _JUMP_S:
            self._suspended_s = self._boot_offset_s()
            for live in list(self._lives.values()):
                if not live.ended:
                    self._set_deadline(live)

    # ---- records and ends ------------------------------------------------------------------------------------------

    def _save(self, live: Live) -> None:
        if live.passing is None:
            self._journal.keep(lambda: self._write(live))

    def _write(self, live: Live) -> None:
        if not live.ended:
            self._journal.store.waits.update(live.stored())

    def _evaluated(self, live: Live, effect: out.Evaluated) -> None:
        answered = live.answers.get(effect.job_id)
        if live.passing is not None or answered is None or effect.gated:
            return
        if effect.stale:
            self._save(live)  # it decides nothing, and was paid for
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

    def _end(self, live: Live, effect: out.Effect) -> None:
        ending = records.ending(live, effect)
        live.state, live.message, live.evidence = ending.state, ending.message, ending.evidence
        live.ended_utc_s = self._clock.instant().utc_s
        changed_at = effect.changed_at if isinstance(effect, out.Resolved) else None
        if changed_at is not None and changed_at >= live.machine.armed_at:
            live.changed_to_resolved_ms = round((self._clock.monotonic_s() - changed_at) * 1000, 1)
        live.stop_timers()
        self.aims.end(live)
        for kind in out.DueKind:
            self._views.withdraw(live, kind)
        if live.passing is not None:
            self._lives.pop(live.wait_id, None)
            live.passing(live)
        else:
            live.wake = self._wakes.of_wait(live.stored())
            self._journal.keep(lambda: self._write_end(live), lambda: self._ended(live))

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
        except NotFound as fault:
            _LOG.error("evidence.missing", wait=live.wait_id, fault=fault.message)

    def _ended(self, live: Live) -> None:
        self._lives.pop(live.wait_id, None)
        _LOG.info("wait.ended", wait=live.wait_id, state=live.state.value, ms=live.changed_to_resolved_ms)
        info = self._info(live.stored())
        polls = self._polls.pop(live.wait_id, [])
        if live.wake is not None:
            self._wakes.begin(live.wake, being_fetched=any(poll.fetches for poll in polls))
        for poll in polls:
            if poll.timer is not None:
                poll.timer.cancel()
            poll.done(info, True)


def _shown(live: Live) -> StoredWait:
    """Return the wait as it may be told: an end is none before the store holds it."""
    stored = live.stored()
    if not live.ended:
        return stored
    note = "it has ended; the store could not take that down yet"
    return replace(
        stored,
        state=WaitState.WATCHING,
        note=note,
        ended_utc_s=0.0,
        message="",
        evidence=None,
        changed_to_resolved_ms=None,
    )
