"""JobRequest waits, grouped by what they look at: one job, and one encoding, for all that share a view of a frame."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from acud.ids import new_id
from acud.protocol.asks import Ask, LeafAsk, View, display_of
from acud.protocol.evaluation import Answered, Job, JobResult, LeafAnswer
from acud.supervisor.lanes import Lane
from acud.supervisor.pool import Pool
from acud.supervisor.redaction_policy import RedactionPolicy
from acud.supervisor.sources import Source, Sources
from acud.supervisor.waits.accounts import Accounts, spends
from acud.supervisor.waits.admission import Admission
from acud.supervisor.waits.live import Live
from acud.types import JudgeName, Rect, Text
from acud.waits import events as happened
from acud.waits.conditions import leaves
from acud.waits.effects import JobKind, JobRequest
from acud.waits.schedule import UNWANTED_PRIORITY, job_priority

Step = Callable[[Live, happened.WaitEvent], None]


class _Key(Struct, frozen=True):
    """What must be equal for two dues to share a job."""

    source: str
    crop: Rect | None
    ignore: tuple[Rect, ...]
    lane: Lane
    kind: JobKind


class Views:
    """Turns `JobRequest` effects into jobs; `step` takes their results to the machines, and `settle` then checks
    budgets.
    """

    def __init__(
        self,
        pool: Pool,
        sources: Sources,
        monotonic_s: Callable[[], float],
        step: Step,
        judge_of: Callable[[JudgeName], JudgeName],
        is_local: Callable[[JudgeName], bool],
        accounts: Accounts,
        settle: Callable[[Live], None],
        redaction: RedactionPolicy,
        party_of: Callable[[Live], str],
        admission: Admission,
    ) -> None:
        self.pool = pool
        self.sources = sources
        self.now = monotonic_s
        self.step = step
        self.judge_of = judge_of
        self.is_local = is_local
        self.accounts = accounts
        self.settle = settle
        self.redaction = redaction
        self.party_of = party_of
        self.admission = admission
        self._open: dict[_Key, _ViewWork] = {}

    def due(self, live: Live, due: JobRequest) -> None:
        """Queue `due` for the next job on its view, in place of an older one of its kind."""
        self.withdraw(live, due.kind)
        key = _Key(due.source, due.crop, due.ignore, self._lane(live, due), due.kind)
        work = self._open.get(key)
        if work is None:
            work = self._open[key] = _ViewWork(self, key)
            work.entries[live.wait_id] = (live, due)
            self.pool.submit(work)
        else:
            work.entries[live.wait_id] = (live, due)

    def withdraw(self, live: Live, kind: JobKind) -> None:
        """Drop the queued due of this kind."""
        for key, work in self._open.items():
            if key.kind is kind:
                work.entries.pop(live.wait_id, None)

    def closed(self, key: _Key) -> None:
        """The work of `key` left the queue; the next due opens another."""
        self._open.pop(key, None)

    def _lane(self, live: Live, due: JobRequest) -> Lane:
        judge = self.judge_of(live.spec.judge)
        if due.kind is JobKind.JUDGE:
            found = leaves(live.spec.until)
            reads = any(isinstance(found[ask.index], Text) for ask in due.asks)
            if reads or due.local or judge is JudgeName.OCR:
                return Lane.OCR
        local = due.kind is not JobKind.JUDGE or self.is_local(live.spec.judge)
        hides = due.kind is not JobKind.IDENTITY and self.redaction.reads(local=local, keeps_evidence=due.keep_evidence)
        return Lane.REDACT if hides else Lane.JUDGE


class _ViewWork:
    """One job to be: it takes dues until it is dispatched."""

    def __init__(self, views: Views, key: _Key) -> None:
        self._views = views
        self._key = key
        self._job_id = ""
        self.lane = key.lane
        self.display = display_of(key.source)
        self.entries: dict[str, tuple[Live, JobRequest]] = {}

    @property
    def priority(self) -> int:
        """The best rank of those who share the job, as of now."""
        ranked = (job_priority(due, self._remaining_s(live)) for live, due in self.entries.values())
        return min(ranked, default=UNWANTED_PRIORITY)

    def build(self, job_id: str) -> Job | None:
        """Return the job for all dues collected so far, and tell their waits."""
        first_try = not self._job_id
        if first_try:
            self._views.closed(self._key)
            self._hold_back()
        source = self._views.sources.by_name.get(self._key.source)
        epoch = source.epoch if source is not None else None
        current = {k: (live, due) for k, (live, due) in self.entries.items() if due.epoch == epoch and not live.ended}
        if source is None or source.path is None or not source.up or not current:
            self._drop(job_id if not first_try else "")
            return None
        gone = [entry for wait_id, entry in self.entries.items() if wait_id not in current]
        self.entries = current
        if not first_try:
            for live, _ in gone:
                self._views.step(live, happened.JobLost(self._views.now(), job_id, "frame_gone", "another epoch"))
        job = self._job(job_id, source)
        if first_try:
            self._job_id = job_id
            self._tell(lambda live, due: happened.JobDispatched(self._views.now(), job_id, due.kind))
        return job

    def _hold_back(self) -> None:
        """Let those wait for whom there is no money while others are being judged; they come again like after any
        unknown."""
        asking = [live for live, due in self.entries.values() if due.kind is JobKind.JUDGE and not due.local]
        for wait_id, reason in self._views.admission.held(asking).items():
            live, due = self.entries.pop(wait_id)
            now, job_id = self._views.now(), new_id("job")
            self._views.step(live, happened.JobDispatched(now, job_id, due.kind))
            self._views.step(live, happened.JobLost(now, job_id, "budget", reason))

    def _drop(self, job_id: str) -> None:
        # The machines hear of the lost or renewed source itself; only a job they already count must be closed.
        if job_id:
            self.lost("the source was lost")

    def _job(self, job_id: str, source: Source) -> Job:
        dues = [due for _, due in self.entries.values()]
        return Job(
            job_id=job_id,
            view=View(self._key.source, self._key.crop, self._key.ignore),
            path=str(source.path),
            epoch=source.epoch,
            min_frame=max(due.min_frame for due in dues),
            asks=tuple(self._ask(live, due) for live, due in self.entries.values() if due.kind is not JobKind.IDENTITY),
            hide=self._views.redaction.of(source, leaves=self._leaves()),
            remember=tuple(live.wait_id for live, due in self.entries.values() if due.kind is JobKind.IDENTITY),
        )

    def _leaves(self) -> bool:
        judged = [live for live, due in self.entries.values() if due.kind is JobKind.JUDGE]
        return any(not self._views.is_local(live.spec.judge) for live in judged)

    def _ask(self, live: Live, due: JobRequest) -> Ask:
        return Ask(
            wait_id=live.wait_id,
            until=live.spec.until,
            asks=tuple(LeafAsk(want.index, want.memo) for want in due.asks),
            known=due.known,
            judge=JudgeName.OCR if due.local else self._views.judge_of(live.spec.judge).value,
            elapsed_s=max(0.0, live.spec.timeout_s - self._remaining_s(live)),
            timeout_s=live.spec.timeout_s,
            gate=due.gate,
            gate_threshold=due.gate_threshold,
            force=due.force,
            keep_evidence=due.keep_evidence,
            party=self._views.party_of(live),
        )

    def _remaining_s(self, live: Live) -> float:
        return live.deadline_timer.at_s - self._views.now() if live.deadline_timer is not None else 0.0

    def partly(self, result: JobResult) -> None:
        """Give the waits that were answered first their share; a second try then asks only for the others."""
        for answered in result.answered:
            entry = self.entries.pop(answered.wait_id, None)
            if entry is not None:
                self._judged(entry[0], result, answered)

    def finished(self, result: JobResult) -> None:
        """Give every wait that is left its share of the result."""
        if result.status == "done":
            answered = {entry.wait_id: entry for entry in result.answered}
            for wait_id, (live, _) in list(self.entries.items()):
                self._judged(live, result, answered.get(wait_id))
        else:
            code = "frame_gone" if result.status == "frame_gone" else "engine"
            self._tell(lambda live, due: happened.JobLost(self._views.now(), self._job_id, code, result.reason))

    def _judged(self, live: Live, result: JobResult, answered: Answered | None) -> None:
        answers = answered.answers if answered is not None else ()
        source = self._views.sources.by_name.get(self._key.source)
        if answered is not None:
            live.answers[result.job_id] = answered
            self._views.accounts.answered(live, answered.answers)
        self._views.step(
            live,
            happened.JobDone(
                at=self._views.now(),
                job_id=result.job_id,
                epoch=result.epoch,
                frame=result.frame,
                identity=result.identity,
                verdicts={answer.index: answer.verdict for answer in answers},
                memoed=frozenset(answer.index for answer in answers if answer.source == "memo"),
                gated=answered.gated if answered is not None else False,
                evidence=answered.evidence if answered is not None else None,
                retry_after_s=_retry_after_s(answers),
                heard=source.frame if source is not None and source.epoch == result.epoch else -1,
            ),
        )
        live.answers.pop(result.job_id, None)
        self._views.settle(live)

    def lost(self, reason: str) -> None:
        """Tell every wait that its job gave no result, also when it never left the queue."""
        if not self._job_id:
            self._views.closed(self._key)
            job_id = self._job_id = new_id("job")
            self._tell(lambda live, due: happened.JobDispatched(self._views.now(), job_id, due.kind))
        else:
            self._pay_for_lost()
        self._tell(lambda live, due: happened.JobLost(self._views.now(), self._job_id, "judge_down", reason))
        for live, _ in list(self.entries.values()):
            self._views.settle(live)

    def _pay_for_lost(self) -> None:
        for live, due in self.entries.values():
            asked = due.kind is JobKind.JUDGE and not due.local
            judge = self._views.judge_of(live.spec.judge)
            if asked and spends(live, judge):
                self._views.accounts.lost(live, judge)

    def _tell(self, event: Callable[[Live, JobRequest], happened.WaitEvent]) -> None:
        for live, due in list(self.entries.values()):
            self._views.step(live, event(live, due))


def _retry_after_s(answers: tuple[LeafAnswer, ...]) -> float:
    return min((one.retry_after_s for one in answers if one.retry_after_s > 0), default=0.0)
