"""Batches the job requests of waits by view: one job, and one encoding of the picture, for all that share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from acud.base.clock import Clock
from acud.base.ids import new_id
from acud.protocol.evaluation import Answered, Job, JobResult
from acud.protocol.questions import Ask, LaterAsk, LeafAsk, View, display_of
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import Lane
from acud.supervisor.redaction import Redaction
from acud.supervisor.waits.active_waits import ActiveWait, Step
from acud.supervisor.waits.budgets import Admission, Budgets, is_charged
from acud.supervisor.waits.images import WaitImages
from acud.supervisor.waits.judge_selection import JudgeSelection
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.types import JudgeName, Rect, ScreenImage, ScreenNumber, TextLeaf, WindowInfo
from acud.waits import events as happened
from acud.waits.anew import find_echoes
from acud.waits.condition_tree import leaves
from acud.waits.effects import JobKind, JobRequest
from acud.waits.images import list_digests
from acud.waits.schedule import BEHIND, UNWANTED_PRIORITY, job_priority
from acud.waits.stages import get_stage


class _BatchKey(Struct, frozen=True):
    """Requests with equal keys share a job."""

    source: str
    crop: Rect | None
    ignore: tuple[Rect, ...]
    lane: Lane
    kind: JobKind


class JudgeBatches:
    """Turns `JobRequest` effects into jobs; `step` passes their results to the machines, `settle` checks budgets."""

    def __init__(
        self,
        pool: EvaluatorPool,
        sources: Sources,
        clock: Clock,
        step: Step,
        judges: JudgeSelection,
        budgets: Budgets,
        settle: Callable[[ActiveWait], None],
        redaction: Redaction,
        admission: Admission,
        images: WaitImages,
        targets: TargetTracker,
        *,
        shares_answers: bool,
        keeps_pictures: bool,
    ) -> None:
        """`targets`: where sources and windows are. `shares_answers`: whether waits of different agents share model
        calls. `keeps_pictures`: whether evaluators return a small picture of what they judged.
        """
        self.pool, self.sources = pool, sources
        self.now = clock.monotonic_s
        self.step, self.judges, self.budgets, self.settle = step, judges, budgets, settle
        self.redaction, self.admission, self.images, self.targets = redaction, admission, images, targets
        self._shares_answers, self.keeps_pictures = shares_answers, keeps_pictures
        self._open: dict[_BatchKey, _Batch] = {}
        self.in_hand: Counter[_BatchKey] = Counter()
        """Jobs that evaluators have, or had when they died, by key; ended ones are not counted."""

    def add(self, active: ActiveWait, request: JobRequest) -> None:
        """Queue `request` for the next job on its view, in place of an older one of its kind."""
        self.withdraw(active, request.kind)
        key = _BatchKey(request.source, request.crop, request.ignore, self._choose_lane(active, request), request.kind)
        work = self._open.get(key)
        if work is None:
            work = self._open[key] = _Batch(self, key)
            work.entries[active.wait_id] = (active, request)
            self.pool.submit(work)
        else:
            work.entries[active.wait_id] = (active, request)

    def name_party(self, active: ActiveWait) -> str:
        """Return the party that owns the wait, "" if unknown: parties do not share model calls."""
        return "*" if self._shares_answers else self.budgets.name_agent(active)

    def withdraw(self, active: ActiveWait, kind: JobKind) -> None:
        """Drop the queued request of this kind."""
        for key, work in self._open.items():
            if key.kind is kind:
                work.entries.pop(active.wait_id, None)

    def describe_queue(self, active: ActiveWait) -> str:
        """Describe what stands before the queued question of `active` to a judge, "" where none is queued."""
        of = (one for key, one in self._open.items() if key.kind is JobKind.JUDGE and active.wait_id in one.entries)
        work = next(of, None)
        return self.pool.describe_queue(work) if work is not None else ""

    def close(self, key: _BatchKey) -> None:
        """Close the batch of `key`, which left the queue; the next request opens a new batch."""
        self._open.pop(key, None)

    def note_dispatched(self, key: _BatchKey) -> None:
        """Count a job of `key` that was sent to an evaluator."""
        self.in_hand[key] += 1

    def note_job_over(self, key: _BatchKey) -> None:
        self.in_hand[key] -= 1
        if not self.in_hand[key]:
            del self.in_hand[key]

    def _choose_lane(self, active: ActiveWait, request: JobRequest) -> Lane:
        judge, searches = self.judges.judge_of(active.spec.judge), False
        if request.kind is JobKind.JUDGE:
            found = leaves(get_stage(active.spec.until, request.stage))
            asked = [found[ask.index] for ask in request.asks]
            searches = bool(asked) and all(isinstance(leaf, ScreenImage) for leaf in asked)
            reads = any(isinstance(leaf, TextLeaf) for leaf in asked)
            if not searches and (reads or request.local or judge == JudgeName.OCR):
                return Lane.OCR
        local = request.kind is not JobKind.JUDGE or searches or self.judges.is_local(active.spec.judge)
        hides = request.kind is not JobKind.IDENTITY and self.redaction.needs_reader(
            local=local, keeps_evidence=request.keep_evidence
        )
        return Lane.REDACT if hides else Lane.JUDGE


class _Batch:
    """One future job: collects requests until it is dispatched."""

    def __init__(self, batches: JudgeBatches, key: _BatchKey) -> None:
        self._batches, self._key = batches, key
        self._job_id = ""
        self.lane = key.lane
        self.display = display_of(key.source)
        self.entries: dict[str, tuple[ActiveWait, JobRequest]] = {}

    @property
    def priority(self) -> int:
        """The best rank of the requests in the job, as of now; a view that is being read goes behind the others."""
        ranked = (job_priority(request, self._measure_remaining_s(active)) for active, request in self.entries.values())
        behind = self.lane is Lane.OCR and not self._job_id and self._key in self._batches.in_hand
        return min(ranked, default=UNWANTED_PRIORITY) + (BEHIND if behind else 0)

    def build(self, job_id: str) -> Job | None:
        """Return the job for all requests collected so far, and notify their waits."""
        first_try = not self._job_id
        if first_try:
            self._batches.close(self._key)
            self._hold_back()
        source = self._batches.sources.by_name.get(self._key.source)
        epoch = source.epoch if source is not None else None
        current = {
            k: (active, request)
            for k, (active, request) in self.entries.items()
            if request.epoch == epoch and not active.ended
        }
        if source is None or source.path is None or not source.up or not current:
            self._close_job(job_id if not first_try else "")
            return None
        gone = [entry for wait_id, entry in self.entries.items() if wait_id not in current]
        self.entries = current
        if not first_try:
            for active, _ in gone:
                self._batches.step(active, happened.JobLost(self._batches.now(), job_id, "frame_gone", "another epoch"))
        job = self._build_job(job_id, source)
        if first_try:
            self._job_id = job_id
            self._batches.note_dispatched(self._key)
            self._step_all(lambda active, request: happened.JobDispatched(self._batches.now(), job_id, request.kind))
        return job

    def _hold_back(self) -> None:
        """Take out requests that budgets forbid while others are in flight; waits retry as after any unknown."""
        asking = [
            active for active, request in self.entries.values() if request.kind is JobKind.JUDGE and not request.local
        ]
        for wait_id, reason in self._batches.admission.find_held_back(asking).items():
            active, request = self.entries.pop(wait_id)
            now, job_id = self._batches.now(), new_id("job")
            self._batches.step(active, happened.JobDispatched(now, job_id, request.kind))
            self._batches.step(active, happened.JobLost(now, job_id, "budget", reason))

    def _close_job(self, job_id: str) -> None:
        # The machines learn of the lost or renewed source elsewhere; only a job they already count must be closed.
        if job_id:
            self.on_lost("the source was lost")

    def _build_job(self, job_id: str, source: Source) -> Job:
        requests = [request for _, request in self.entries.values()]
        return Job(
            job_id=job_id,
            view=View(self._key.source, self._key.crop, self._key.ignore),
            path=str(source.path),
            epoch=source.epoch,
            min_frame=max(request.min_frame for request in requests),
            asks=tuple(
                self._build_ask(active, request, source)
                for active, request in self.entries.values()
                if request.kind is not JobKind.IDENTITY
            ),
            hide=self._batches.redaction.find_hidden(source, leaves=self._leaves_machine()),
            remember=tuple(
                active.wait_id for active, request in self.entries.values() if request.kind is JobKind.IDENTITY
            ),
        )

    def _leaves_machine(self) -> bool:
        judged = [active for active, request in self.entries.values() if request.kind is JobKind.JUDGE]
        return any(not self._batches.judges.is_local(active.spec.judge) for active in judged)

    def _build_ask(self, active: ActiveWait, request: JobRequest, source: Source) -> Ask:
        images = {digest: self._batches.images.get(digest) for digest in list_digests(active.spec.until)}
        return Ask(
            wait_id=active.wait_id,
            until=get_stage(active.spec.until, request.stage),
            asks=tuple(LeafAsk(want.index, want.memo) for want in request.asks),
            known=request.known,
            judge=JudgeName.OCR if request.local else self._batches.judges.judge_of(active.spec.judge),
            elapsed_s=max(0.0, active.spec.timeout_s - self._measure_remaining_s(active)),
            timeout_s=active.spec.timeout_s,
            gate=request.gate,
            gate_threshold=request.gate_threshold,
            force=request.force,
            keep_evidence=request.keep_evidence,
            images={digest: png for digest, png in images.items() if png is not None},
            origin=self._batches.targets.origin(source),
            windows=self._find_windows(active, source),
            echoes=find_echoes(active.spec.until, active.machine.typed),
            is_typed=bool(active.machine.typed),
            is_last_look=request.is_last_look,
            changed_from=request.changed_from,
            party=self._batches.name_party(active),
            wants_picture=self._batches.keeps_pictures and active.transient is None and request.kind is JobKind.JUDGE,
            later=tuple(
                LaterAsk(stage, get_stage(active.spec.until, stage), keeps) for stage, keeps in request.ahead.items()
            ),
        )

    def _find_windows(self, active: ActiveWait, source: Source) -> tuple[WindowInfo, ...]:
        """Return the windows with title bars to leave out of the reading; none for a region, which is read whole."""
        numbers = any(isinstance(leaf, ScreenNumber) for leaf in leaves(active.spec.until))
        return self._batches.targets.windows(source) if numbers and active.spec.target.region is None else ()

    def _measure_remaining_s(self, active: ActiveWait) -> float:
        return active.deadline_timer.at_s - self._batches.now() if active.deadline_timer is not None else 0.0

    def on_part(self, result: JobResult) -> None:
        """Give the waits answered so far their share; a second try asks only for the others."""
        for answered in result.answered:
            entry = self.entries.pop(answered.wait_id, None)
            if entry is not None:
                self._pass_result(entry[0], result, answered)

    def on_result(self, result: JobResult) -> None:
        """Give every remaining wait its share of the result."""
        self._batches.note_job_over(self._key)
        if result.status == "done":
            answered = {entry.wait_id: entry for entry in result.answered}
            for wait_id, (active, _) in list(self.entries.items()):
                self._pass_result(active, result, answered.get(wait_id))
        else:
            code = "frame_gone" if result.status == "frame_gone" else "engine"
            self._step_all(
                lambda active, request: happened.JobLost(self._batches.now(), self._job_id, code, result.reason)
            )

    def _pass_result(self, active: ActiveWait, result: JobResult, answered: Answered | None) -> None:
        answers = answered.answers if answered is not None else ()
        source = self._batches.sources.by_name.get(self._key.source)
        if answered is not None:
            active.answers[result.job_id] = answered
            self._batches.budgets.charge_answers(active, answered.answers)
        self._batches.step(
            active,
            happened.JobDone(
                at=self._batches.now(),
                job_id=result.job_id,
                epoch=result.epoch,
                frame=result.frame,
                identity=result.identity,
                verdicts={answer.index: answer.verdict for answer in answers},
                memoed=frozenset(answer.index for answer in answers if answer.source == "memo"),
                gated=answered.gated if answered is not None else False,
                evidence=answered.evidence if answered is not None else None,
                retry_after_s=min((one.retry_after_s for one in answers if one.retry_after_s > 0), default=0.0),
                heard=source.frame if source is not None and source.epoch == result.epoch else -1,
                later=answered.later if answered is not None else {},
            ),
        )
        active.answers.pop(result.job_id, None)
        self._batches.settle(active)

    def on_lost(self, reason: str) -> None:
        """Notify every wait that its job gave no result, also when it never left the queue."""
        if not self._job_id:
            self._batches.close(self._key)
            job_id = self._job_id = new_id("job")
            self._step_all(lambda active, request: happened.JobDispatched(self._batches.now(), job_id, request.kind))
        else:
            self._batches.note_job_over(self._key)
            self._pay_for_lost()
        self._step_all(
            lambda active, request: happened.JobLost(self._batches.now(), self._job_id, "judge_down", reason)
        )
        for active, _ in list(self.entries.values()):
            self._batches.settle(active)

    def _pay_for_lost(self) -> None:
        for active, request in self.entries.values():
            asked = request.kind is JobKind.JUDGE and not request.local
            judge = self._batches.judges.judge_of(active.spec.judge)
            if asked and is_charged(active, judge):
                self._batches.budgets.charge_lost_call(active, judge)

    def _step_all(self, event: Callable[[ActiveWait, JobRequest], happened.WaitEvent]) -> None:
        for active, request in list(self.entries.values()):
            self._batches.step(active, event(active, request))
