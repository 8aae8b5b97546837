"""Serves requests on waits: creates, finds, changes and cancels them, and waits for their ends."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.errors import Conflict, InvalidRequest, NoJudge, NotFound
from acud.base.ids import new_id
from acud.config import Settings
from acud.process.event_loop import EventLoop
from acud.protocol.requests.fleet import FleetRearm
from acud.protocol.requests.waits import WaitList, WaitListReply, WaitUpdate
from acud.store.rows import OwnerFilter
from acud.store.waits import StoredWait
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.host_conditions import HostConditions
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from acud.supervisor.waits import records
from acud.supervisor.waits.active_waits import ActiveWait, OnWaitEnd
from acud.supervisor.waits.budgets import WaitLimits
from acud.supervisor.waits.end_polls import EndPolls, Polled
from acud.supervisor.waits.last_pictures import LastPictures
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.supervisor.waits.wait_runtime import WaitRuntime
from acud.supervisor.wakes import Wakes
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import (
    Criteria,
    Evidence,
    JudgeChoice,
    JudgeName,
    OnDisplayLost,
    OnHostLost,
    Rearmed,
    Rect,
    Target,
    Until,
    Verdict,
    WaitInfo,
    WaitSpec,
    WaitState,
)
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.condition_tree import NOT_JUDGED, leaves, needs_display
from acud.waits.effects import FleetEnd
from acud.waits.lifecycle import describe_asking, measure_backlog_s
from acud.waits.look_turns import has_unjudged
from acud.waits.model import NO_DISPLAY
from acud.waits.sentence_suggestions import suggest_call
from acud.waits.sentences import NEEDS_VISION, with_meanings
from acud.waits.validation import update_spec

_LOOK_S = 5.0  # how long a call without time blocks at most for its one look


class Waits:
    """Serves requests on waits. Live ones belong to `WaitRuntime`, ended ones are rows."""

    def __init__(
        self,
        runtime: WaitRuntime,
        wakes: Wakes,
        last_pictures: LastPictures,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        settings: Settings,
        host_conditions: HostConditions,
    ) -> None:
        self._runtime = runtime
        self._polls = EndPolls(self, loop, clock, wakes)
        runtime.ended.add(self._polls.on_ended, Order.CORE)
        self._last_pictures = last_pictures
        self._active = runtime.active
        self._journal, self._loop, self._clock, self._settings = journal, loop, clock, settings
        self._host = host_conditions
        self._limits = WaitLimits(settings.wait, runtime.active, clock)
        self.armed = 0  # number of waits created and armed, without those resumed after a restart
        self.is_stopping = False
        """Whether the daemon ends; the fleet then arms waits with `on_host_lost` = rearm on another host."""
        self._breaking: set[str] = set()
        self._on_broken: Resume[None] | None = None

    @property
    def targets(self) -> TargetTracker:
        return self._runtime.targets

    # ---- requests --------------------------------------------------------------------------------------------------

    def create(self, spec: WaitSpec, watched: WatchedDisplay | None) -> tuple[WaitInfo, list[str]]:
        """Store a new wait in this turn and arm it after the commit; return it with notes for its client.
        `watched` None: it needs no display.

        Raises: Refused beyond the settings' limits, and for a path that no condition may name.
        """
        spec, display = replace(spec, until=self._host.pin_to_now(spec.until)), watched.name if watched else ""
        self._limits.count_wait(spec, display)
        spec = replace(spec, until=self.keep_images(spec.until))
        now = self._clock.instant()
        lasts_s = spec.timeout_s or self._settings.wait.timeout_s  # one look ends with its answer
        stored = StoredWait(new_id("wait"), WaitState.WATCHING, spec, display, now, now.later(lasts_s))
        self._record_wait(stored)
        return self._build_info(stored), self._collect_notes(stored)

    def rearm(self, request: FleetRearm, watched: WatchedDisplay) -> WaitInfo:
        """Arm a wait of a lost host here, under its id and with its times, unless that was done already. Raises:
        Refused as `create`; Conflict for a wait that this host had before it went elsewhere.
        """
        with contextlib.suppress(NotFound):
            known = self._journal.store.waits.get(request.wait_id)
            if known.rearmed is not None and known.rearmed.lost == request.lost:
                return self.find(request.wait_id)
            raise Conflict(f"wait {request.wait_id} was on this host before", hint="arm it on another one")
        spec = replace(request.spec, target=replace(request.spec.target, display=watched.name))
        self._limits.count_wait(spec, watched.name)
        now = self._clock.instant()
        created, deadline = (now.later(utc_s - now.utc_s) for utc_s in (request.created_utc_s, request.deadline_utc_s))
        rearmed = Rearmed(now.utc_s, request.host, request.lost)
        stored = StoredWait(request.wait_id, WaitState.WATCHING, spec, watched.name, created, deadline, rearmed=rearmed)
        self._record_wait(stored)
        return self._build_info(stored)

    def _record_wait(self, stored: StoredWait) -> None:
        self._journal.store.waits.insert(stored)
        self._runtime.budgets.open(stored.spec.task_id)
        self._runtime.notify_recorded(stored)
        self._journal.event("wait.created", stored.wait_id, **records.created_facts(stored))
        self._journal.after_commit(lambda: self._arm_wait(stored))

    def keep_images(self, until: Until) -> Until:
        """Store the condition's pictures in this turn; return it with their digests in their place. Raises:
        InvalidRequest for bytes that are no usable PNG, and for an unknown digest.
        """
        return self._runtime.images.keep(until)

    def _arm_wait(self, stored: StoredWait) -> None:
        self.armed += 1
        self._runtime.arm(stored)

    def check_judged(self, until: Until, judge: JudgeChoice, *, force: bool) -> None:
        """Raise NoJudge for a sentence that no judge configured for `judge` can answer (not with `force`);
        InvalidRequest for an unknown judge.
        """
        self._settings.check_judge(judge)
        sentences = (leaf.criteria for leaf in leaves(until) if isinstance(leaf, Criteria))
        unread = next(sentences, "")
        why = self._runtime.judges.explain_missing_judge(judge) if unread and not force else ""
        if why:
            raise NoJudge(
                f'nobody could judge "{unread}": {why}',
                hint=f"ask for what shows it: {suggest_call(unread)}; name a vision backend in [vision] backends "
                "(docs/backends.md); or arm it anyway with force (acud wait --force)",
            )

    def _collect_notes(self, stored: StoredWait) -> list[str]:
        probe = ActiveWait(stored, machine.arm(stored.spec, self._clock.monotonic_s()).wait)
        found = self.targets.find_target(probe)
        missing, quiet = found.missing, (NOT_JUDGED.code, NO_DISPLAY.code)
        notes = [missing.detail] if missing is not None and missing.code not in quiet else []
        notes += self.targets.notes.collect(probe, found.window_id)
        budget = self._runtime.budget_status(probe).note
        return notes + ([budget] if budget else []) + list(self._judge_notes(stored.spec))

    def _judge_notes(self, spec: WaitSpec) -> Iterator[str]:
        judge, lack = self._runtime.judges.judge_of(spec.judge), self._runtime.judges.describe_lack(spec.judge)
        if lack and any(isinstance(leaf, Criteria) for leaf in leaves(spec.until)):
            yield f"not judged for now: {lack}"
        for leaf in leaves(spec.until):
            if not isinstance(leaf, Criteria):
                continue
            if judge == JudgeName.OCR:
                yield f'unknown for now: "{leaf.criteria}": {NEEDS_VISION}, or: {suggest_call(leaf.criteria)}'
            elif judge == JudgeName.PASSTHROUGH:
                yield "the passthrough judge never says yes; this wait can only time out"

    def resume(self) -> None:
        """Arm every stored live wait again, when a supervisor starts. Passed deadlines fire at once, in a fleet on
        `Deadlines.release_all`.
        """
        for stored in self._journal.store.waits.live():
            self._runtime.budgets.open(stored.spec.task_id)
            self._runtime.arm(_with_meanings(stored), is_new=False)

    def find_target(self, wait_id: str) -> Target:
        """Return the target of a live wait, with its display. Raises: NotFound; Conflict when it has ended."""
        active = self._find_live(wait_id)
        return replace(active.spec.target, display=active.display)

    def find_place(self, wait_id: str) -> tuple[Rect | None, bool]:
        """Return where on its display the target of a wait is now (None: nowhere, or the wait has ended), and whether
        it is partly covered or off the screen.
        """
        active = self._active.get(wait_id)
        return (None, False) if active is None or active.ended else self.targets.find_place(active)

    def find_hidden(self) -> dict[str, str]:
        """Return by live wait what hides its target: a lock screen, or windows over it."""
        notes = ((wait_id, active.machine) for wait_id, active in self._active.items() if not active.ended)
        return {wait_id: machine.note for wait_id, machine in notes if machine.verdict.code in ("covered", "locked")}

    def end_by_fleet(self, wait_id: str, verdict: Verdict, end: FleetEnd) -> bool:
        """End a wait as the fleet did while this host was lost; return False if it had ended here in another way.
        Raises: NotFound.
        """
        active = self._active.get(wait_id)
        if active is not None and not active.ended:
            self._runtime.step(active, happened.FleetEnded(self._clock.monotonic_s(), verdict, end))
            return True
        return self._journal.store.waits.get(wait_id).verdict == verdict

    def update(self, request: WaitUpdate) -> tuple[WaitInfo, list[str]]:
        """Change a live wait; a new timeout counts from now."""
        active = self._find_live(request.wait_id)
        if request.until is not None:
            self.check_judged(request.until, active.spec.judge, force=request.force)
            if not active.display and needs_display(request.until, active.spec.target):
                raise InvalidRequest(
                    f"wait {active.wait_id} looks at no display", hint="cancel it, and arm another one on a display"
                )
        spec = update_spec(
            active.spec,
            until=self._host.pin_to_now(request.until) if request.until is not None else None,
            timeout_s=request.timeout_s,
            policy=request.policy,
            budget=request.budget,
            max_timeout_s=self._settings.wait.max_timeout_s,
        )
        if request.until is not None:
            spec = replace(spec, until=self.keep_images(spec.until))
        if request.timeout_s is not None:
            active.deadline = self._clock.instant().later(spec.timeout_s)
            self._runtime.deadlines.set(active)
        if request.until is not None:
            active.baselines.clear()
            active.stages = ()
        self._runtime.step(active, happened.SpecUpdated(self._clock.monotonic_s(), spec))
        self.targets.pass_known(active)
        self._runtime.rebudget(active)
        self._runtime.save(active)
        self._journal.event("wait.updated", active.wait_id, **records.created_facts(active.to_row()))
        return self._build_info(active.to_row()), list(self._judge_notes(spec))

    def cancel(self, wait_id: str, reason: str) -> WaitInfo:
        """End a live wait without a verdict. Raises: Conflict with its state if it has ended."""
        active = self._find_live(wait_id)
        self._runtime.step(active, happened.CancelRequested(self._clock.monotonic_s(), reason))
        return self._build_info(active.to_row())

    def find(self, wait_id: str) -> WaitInfo:
        """Return the wait with this id or unique beginning of an id. Raises: NotFound."""
        active = self._active.get(wait_id)
        return self._build_info(
            _hide_unstored_end(active)
            if active is not None
            else self._find_newest(self._journal.store.waits.find(wait_id))
        )

    def list_newest(self, request: WaitList) -> WaitListReply:
        states = request.states or (tuple(WaitState) if request.ended else (WaitState.WATCHING,))
        of = OwnerFilter(request.tasks, request.displays)
        table = self._journal.store.waits
        page = table.newest(states, request.limit, of, request.filter, request.offset)
        infos = tuple(self._build_info(self._find_newest(stored)) for stored in page.waits)
        return WaitListReply(infos, page.total, table.facets(states, of) if request.facets else None)

    def list_on_display(self, name: str) -> list[str]:
        return [active.wait_id for active in self._active.values() if active.display == name and not active.transient]

    def lost_hosts(self, display: str) -> tuple[str, ...] | None:
        """Return the hosts that the waits with `on_host_lost` = rearm on `display` were on before; None if there are no
        such waits.
        """
        found = [one for one in self._active.on_display(display) if not one.ended and one.transient is None]
        again = [one for one in found if one.spec.policy.on_host_lost is OnHostLost.REARM]
        before = {host for one in again if one.rearmed is not None for host in one.rearmed.lost}
        return tuple(sorted(before)) if again else None

    def list_of_task(self, task_id: str, limit: int) -> list[WaitInfo]:
        """Return the waits of a task, live ones first, then newest first."""
        return [
            self._build_info(self._find_newest(stored)) for stored in self._journal.store.waits.of_task(task_id, limit)
        ]

    def count_by_task(self) -> dict[str, int]:
        """Return how many live waits each task of this host has, blocked calls included."""
        live = (one for one in self._active.values() if not one.ended and one.rearmed is None)
        return Counter(one.spec.task_id for one in live if one.spec.task_id)

    def end_task(self, task_id: str, reason: str) -> None:
        for active in [active for active in self._active.values() if active.spec.task_id == task_id]:
            if not active.ended:
                self._runtime.step(active, happened.CancelRequested(self._clock.monotonic_s(), reason))
        self._runtime.budgets.close(task_id)

    def when_ended(
        self, wait_id: str, block_s: float, on_done: Resume[Polled], *, fetched_s: float
    ) -> Callable[[], None] | None:
        """Call `on_done` when the wait has ended (at once if it has), or after `block_s` with its state so far.

        `fetched_s` above 0: the reply will count as seen, so the wake is held back for so long.
        Return a function that gives the call up unanswered; harmless once it was answered.
        """
        info = self.find(wait_id)
        if info.state is not WaitState.WATCHING and info.wait_id not in self._active:
            on_done(Polled(info, has_ended=True))
        elif block_s <= 0:
            on_done(Polled(info, has_ended=False))
        else:
            return self._polls.add_poll(info.wait_id, block_s, on_done, fetched_s).give_up
        return None

    def hold_wake(self, wait_id: str, for_s: float) -> None:
        """Hold back the wake of a live wait for a client that asks for its end again within `for_s`."""
        info = self.find(wait_id)
        if info.wait_id in self._active and not self._active[info.wait_id].ended:
            self._polls.hold_wake(info.wait_id, for_s)

    def when_judged(self, wait_id: str, within_s: float, on_done: Resume[Polled], *, fetched_s: float) -> None:
        """Call `on_done` with the wait at its first verdict or its end, or after `within_s`. `fetched_s`: as for
        `when_ended`.
        """
        self._runtime.first_verdicts[wait_id] = self._polls.add_poll(wait_id, within_s, on_done, fetched_s).expire

    def note_action(self, wait_id: str, *, is_over: bool) -> None:
        """Notify a live wait that the action which it follows begins or is over."""
        active = self._active.get(wait_id)
        if active is not None and not active.ended:
            self._runtime.step(active, happened.Acting(self._clock.monotonic_s(), is_over))

    def note_launch(self, pid: int, wait_id: str = "") -> None:
        """Note a launched program, and point the wait at the window that it opens, if one looks for that."""
        self.targets.opened_windows.note_launch(pid)
        active = self._active.get(wait_id)
        if active is None or active.ended:
            return
        target = replace(active.spec.target, opened_by=pid)
        self._runtime.step(active, happened.SpecUpdated(self._clock.monotonic_s(), replace(active.spec, target=target)))
        self.targets.note_launch(active)
        self._runtime.save(active)

    async def look_once(self, spec: WaitSpec, watched: WatchedDisplay | None, within_s: float) -> Verdict:
        """Return the first verdict on the present target, or the last one once `within_s` is over. `watched` and
        Refused: as for `create`.
        """
        self._limits.count_wait(spec, watched.name if watched else "")
        self._runtime.budgets.open(spec.task_id)
        spec = replace(spec, timeout_s=0.0)
        run = partial(self.run_transient, spec, watched, payer=spec.task_id, look_s=within_s)
        return (await Callback[ActiveWait](run)).machine.verdict

    def run_transient(
        self,
        spec: WaitSpec,
        watched: WatchedDisplay | None,
        on_done: OnWaitEnd,
        payer: str = "",
        *,
        look_s: float = _LOOK_S,
        reads_back: bool = False,
    ) -> Callable[[], None]:
        """Run a wait that lives only as long as its caller blocks; `on_done` gets it at its end. `payer` and
        `reads_back`: see `ActiveWait`. `look_s`: how long one with a timeout of 0 looks at most.

        Return a function that ends it without calling `on_done`. Raises: Refused for a path that is not allowed.
        """
        spec = replace(spec, until=self._host.pin_to_now(spec.until))
        now = self._clock.instant()
        spec = replace(spec, until=self._runtime.images.keep_brought(spec.until))
        lasts_s = spec.timeout_s or look_s
        display = watched.name if watched else ""
        stored = StoredWait(new_id("call"), WaitState.WATCHING, spec, display, now, now.later(lasts_s))
        self._runtime.arm(stored, on_done, payer, reads_back=reads_back)
        return lambda: self._give_up(stored.wait_id)

    def display_removed(self, watched: WatchedDisplay) -> None:
        """End the blocking calls on a display that was removed, as if their time were over."""
        self._loop.call_later(0.0, lambda: self._end_transients(watched.name))  # after its other observers

    def _end_transients(self, display: str) -> None:
        for active in [
            active for active in self._active.values() if active.transient is not None and active.display == display
        ]:
            if not active.ended:
                self._runtime.step(active, happened.DeadlinePassed(self._clock.monotonic_s()))

    def display_gone(self, name: str, reason: str) -> None:
        """Fail the waits on a display that nothing starts again, each with its last picture, unless their policy has
        them go on.
        """
        self._loop.call_later(0.0, lambda: self._end_transients(name))  # after its other observers
        words = f"display {name} is gone, and nothing starts it again: {reason}"
        for active in self._active.on_display(name):
            policy = active.spec.policy
            goes_on = policy.on_display_lost is not OnDisplayLost.FAIL or (
                self.is_stopping and policy.on_host_lost is OnHostLost.REARM
            )
            if not active.ended and active.transient is None and not goes_on:
                self._breaking.add(active.wait_id)
                self._last_pictures.take_last(active, partial(self._break_wait, active, words))

    def _break_wait(self, active: ActiveWait, reason: str, last_picture: Evidence | None) -> None:
        if not active.ended:
            self._runtime.step(active, happened.WaitBroken(self._clock.monotonic_s(), reason, last_picture))
        self._breaking.discard(active.wait_id)
        self._report_broken()

    def when_broken(self, on_done: Resume[None]) -> None:
        """Call `on_done` in a later turn, once every wait that `display_gone` fails has ended."""
        self._on_broken = on_done
        self._loop.call_later(0.0, self._report_broken)

    def _report_broken(self) -> None:
        if not self._breaking and self._on_broken is not None:
            done, self._on_broken = self._on_broken, None
            self._loop.call_later(0.0, lambda: done(None))

    def _give_up(self, wait_id: str) -> None:
        active = self._active.get(wait_id)
        if active is not None:
            active.transient = lambda _: None
            self._runtime.step(active, happened.CancelRequested(self._clock.monotonic_s()))

    def _find_live(self, wait_id: str) -> ActiveWait:
        active = self._active.get(wait_id) or self._active.get(self._journal.store.waits.find(wait_id).wait_id)
        if active is not None and not active.ended and active.transient is None:
            return active
        state = active.state if active is not None else self._journal.store.waits.find(wait_id).state
        raise Conflict(f"wait {wait_id} has ended: {state.value}", hint="acud wait show tells how", state=state.value)

    def is_judging(self, wait_id: str, shown_s: float) -> bool:
        """Return whether a judge is being asked for a live wait, or is still to be asked about what its target showed
        at `shown_s` (monotonic seconds).
        """
        active, now_s = self._active.get(wait_id), self._clock.monotonic_s()
        return active is not None and (
            bool(describe_asking(active.machine, now_s)) or has_unjudged(active.machine, now_s, shown_s)
        )

    def _find_newest(self, stored: StoredWait) -> StoredWait:
        active = self._active.get(stored.wait_id)
        return active.to_row() if active is not None and not active.ended else stored

    def _build_info(self, stored: StoredWait) -> WaitInfo:
        active = self._active.get(stored.wait_id)
        info = records.wait_info(stored, self._clock.instant())
        if active is None or active.ended:
            return info
        wait, now_s = active.machine, self._clock.monotonic_s()
        return replace(info, asking=describe_asking(wait, now_s), behind_s=measure_backlog_s(wait, now_s))


def _with_meanings(stored: StoredWait) -> StoredWait:
    """Return a wait stored by an earlier acud with its sentences read, unless that changes the number of leaves."""
    meant = with_meanings(stored.spec.until, stored.spec.judge)
    same = len(leaves(meant)) == len(leaves(stored.spec.until))
    return replace(stored, spec=replace(stored.spec, until=meant)) if same else stored


def _hide_unstored_end(active: ActiveWait) -> StoredWait:
    """Return the wait's row; an end that the store does not hold yet is left out."""
    stored = active.to_row()
    if not active.ended:
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
