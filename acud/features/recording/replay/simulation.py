"""One wait over a recording: the rules of `acud.waits` on its clock, and an evaluator's own code for the jobs.

The run's remaining budget follows the rules of `acud.waits.budget`; its report has a row for each verdict.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from acud.base.ids import new_id
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.job import run_job
from acud.features.recording.replay.frame_source import FrameSource
from acud.features.recording.replay.recording import RecordedFrame, RecordedFrames, RecordedSegment
from acud.protocol.evaluation import Answered, Job, JobResult
from acud.protocol.questions import Ask, LaterAsk, LeafAsk, View
from acud.protocol.replay import Gate, ReplayAsk, ReplayRow, ReplayRun
from acud.types import Spent, Verdict, WaitSpec, WaitState, Widget, unknown
from acud.waits import budget as rules
from acud.waits import effects as out
from acud.waits import events as happened
from acud.waits import machine
from acud.waits.budget import BudgetAccount, BudgetStatus
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED, leaves, may_ask_model
from acud.waits.effects import EvaluationRecord
from acud.waits.images import strip_pictures
from acud.waits.stages import get_stage
from acud.waits.targets import locate
from acud.waits.tiles import bits

_GAP = "not_recorded"
_NO_WIDGETS = unknown(_GAP, "a recording holds pixels, and nothing of what programs tell of their widgets")


class ReplayReport:
    """The rows of run `run`, in order, and their sums."""

    def __init__(self, run: int) -> None:
        self._run = run
        self.rows: list[ReplayRow] = []

    def add_judgement(
        self, effect: EvaluationRecord, answered: Answered | None, at_s: float, utc_ms: int, *, forced: bool
    ) -> ReplayRow:
        """Add a job's answer on a frame; `answered` None: it gave none."""
        answers = answered.answers if answered is not None else ()
        worked = [one for one in answers if one.source == "judge"]
        asked: Gate = "forced" if forced else "judged"
        gate: Gate = "held" if effect.gated else asked if worked or not answers else "memo"
        costs = [one.cost_usd for one in worked]
        row = ReplayRow(
            self._run,
            at_s,
            utc_ms,
            effect.epoch,
            effect.frame,
            gate,
            effect.verdict,
            "+".join(sorted({one.judge for one in answers})),
            round(max((one.latency_ms for one in worked), default=0.0), 3),
            _sum_known(one.tokens_in for one in worked),
            _sum_known(one.tokens_out for one in worked),
            sum(cost for cost in costs if cost is not None) if None not in costs else None,
        )
        self.rows.append(row)
        return row

    def add_tile_verdict(self, verdict: Verdict, at_s: float, utc_ms: int, epoch: int, frame: int) -> ReplayRow:
        row = ReplayRow(self._run, at_s, utc_ms, epoch, frame, "tiles", verdict)
        self.rows.append(row)
        return row

    def count(self, gate: Gate) -> int:
        return sum(row.gate == gate for row in self.rows)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out, of the judges that report them."""
        return sum(row.tokens_in or 0 for row in self.rows), sum(row.tokens_out or 0 for row in self.rows)

    @property
    def cost_usd(self) -> float | None:
        """The cost of the judges; None when one did not report it."""
        costs = [row.cost_usd for row in self.rows if row.gate in ("judged", "forced")]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


class Cue(Struct, frozen=True):
    """A moment of the recording: a frame appears, or (`shown` None) the recording pauses."""

    at_s: float
    stretch: RecordedSegment
    shown: RecordedFrame | None


class Simulation:
    """Runs `spec` over `recording` by `ask`. Borrows context and frames, which belong to one run.

    `tell` gets each row. `deadline_s`: the wait's, in the recording.
    """

    def __init__(
        self,
        recording: RecordedFrames,
        spec: WaitSpec,
        judge: str,
        ask: ReplayAsk,
        context: EvaluatorContext,
        frames: FrameSource,
        report: ReplayReport,
        tell: Callable[[ReplayRow], None],
        deadline_s: float,
    ) -> None:
        until, self._images = strip_pictures(spec.until)
        self._spec = spec = replace(spec, until=until)
        self._recording, self._judge, self._ask = recording, judge, ask
        self._context, self._source, self._report, self._tell = context, frames, report, tell
        self._deadline_s = deadline_s
        self._display = spec.target.display or "recorded"
        self._spends = judge not in rules.FREE and any(may_ask_model(leaf) for leaf in leaves(spec.until))
        self._spent = Spent()
        self._wait_id = new_id("wait")
        self._wait = machine.Wait(spec, 0.0, ())
        self._at = self._began = 0.0
        self._tick: float | None = None
        self._dues: dict[out.JobKind, out.JobRequest] = {}
        self._air: list[tuple[float, int, out.JobRequest, JobResult]] = []
        self._order = itertools.count()
        self._landing: tuple[Answered, bool] | None = None
        self._grab = False
        self._now: Cue | None = None
        self._end: out.WaitEffect | None = None
        self._reported = NOT_JUDGED
        self._frames = self._touching = 0

    async def play(self, run: int, from_s: float, to_s: float) -> ReplayRun:
        cues = [cue for cue in _make_cues(self._recording) if cue.at_s <= to_s]
        before = [cue for cue in cues if cue.at_s <= from_s]
        ahead = cues[len(before) :]
        self._at = self._began = from_s
        self._arm_wait()
        for cue in before:
            self._show_cue(cue)
        await self._apply_events(self._on_cue(before[-1]) if before else ())
        while self._end is None and (at := self._find_next_s(ahead, to_s)) is not None:
            self._at = at
            await self._apply_events(self._due_events(ahead))
        return self._make_run(run, to_s)

    def _arm_wait(self) -> None:
        armed = machine.arm(self._spec, self._at)
        self._wait = armed.wait
        self._apply_effects(armed.effects)
        self._check_budget()

    def _find_next_s(self, ahead: list[Cue], to_s: float) -> float | None:
        """Return the time of the next event; after the end of the replayed part only answers still come."""
        times = [self._deadline_s]
        times += [ahead[0].at_s] if ahead else []
        times += [self._air[0][0]] if self._air else []
        times += [self._tick] if self._tick is not None else []
        if min(times) <= to_s:
            return max(self._at, min(times))
        return max(self._at, self._air[0][0]) if self._air else None

    def _due_events(self, ahead: list[Cue]) -> Iterator[happened.WaitEvent]:
        """Yield the events of now, one thing at a time: an answer, else a frame, else a tick or the deadline."""
        if self._air and self._air[0][0] <= self._at:
            yield from self._on_result(heapq.heappop(self._air))
        elif ahead and ahead[0].at_s <= self._at:
            cue = ahead.pop(0)
            self._show_cue(cue)
            yield from self._on_cue(cue)
        elif self._deadline_s <= self._at:
            yield happened.DeadlinePassed(self._at)
        else:
            self._tick = None
            yield happened.Tick(self._at)

    def _show_cue(self, cue: Cue) -> None:
        if cue.shown is not None:
            self._source.show(cue.stretch, cue.shown)

    def _on_cue(self, cue: Cue) -> Iterator[happened.WaitEvent]:
        before, self._now = self._now, cue
        if cue.shown is None:
            yield happened.SourceLost(self._at, _GAP, "nothing was recorded here")
            return
        if before is None or before.shown is None or before.stretch is not cue.stretch:
            yield self._locate_target(cue.stretch, cue.shown)
            yield self._refuse_widgets()
        row = cue.shown.row
        # The frame at the beginning is no change.
        tiles = cue.shown.tiles if before is not None else 0
        self._frames += 1
        view_state = self._wait.view_state
        self._touching += view_state is None or bool(tiles & view_state.view.masks.touching)
        # Frames of one identity are alike, and so is each of their tiles.
        looks = dict.fromkeys(bits(tiles), int(row.identity, 16) or 1) if row.identity and tiles else {}
        yield happened.FrameSeen(self._at, row.epoch, row.frame, tiles, self._at, looks=looks)

    def _locate_target(self, stretch: RecordedSegment, shown: RecordedFrame) -> happened.WaitEvent:
        found = locate(self._spec.target, self._display, stretch.width, stretch.height, ())
        if found.missing is not None:
            return happened.TargetLost(self._at, found.missing)
        server = f"{self._recording.recording_id}.{stretch.server_run}"
        epoch, size = shown.row.epoch, (stretch.width, stretch.height)
        return happened.TargetLocated(self._at, self._display, epoch, server, *size, found.crop, found.ignore)

    def _refuse_widgets(self) -> happened.WaitEvent:
        """Return that each condition on a widget is unknown, and why."""
        asked = {index: _NO_WIDGETS for index, leaf in enumerate(leaves(self._spec.until)) if isinstance(leaf, Widget)}
        return happened.WidgetsRead(self._at, asked, math.inf)

    async def _apply_events(self, events: Iterator[happened.WaitEvent] | tuple[()]) -> None:
        for event in events:
            self._apply_event(event)
        while self._end is None and (self._grab or self._dues):
            if self._grab:
                self._grab = False
                self._answer_grab()
            else:
                await self._run_due_job(min(self._dues.values(), key=lambda due: due.priority))

    def _apply_event(self, event: happened.WaitEvent) -> None:
        if self._end is not None:
            return
        moved = machine.step(self._wait, event)
        self._wait = moved.wait
        self._apply_effects(moved.effects)
        if self._wait.verdict not in (NOT_LOCATED, NOT_JUDGED):
            self._report_verdict(self._wait.verdict)

    def _apply_effects(self, effects: tuple[out.WaitEffect, ...]) -> None:
        for effect in effects:
            match effect:
                case out.JobRequest():
                    self._dues[effect.kind] = effect
                case out.JobWithdrawal(kind=kind):
                    self._dues.pop(kind, None)
                case out.GrabRequest():
                    self._grab = True
                case out.TickRequest(at=at):
                    self._tick = at
                case out.EvaluationRecord():
                    self._on_evaluated(effect)
                case out.StageReached(verdict=verdict):
                    self._report_verdict(verdict)
                case out.WaitResolved() | out.WaitTimedOut() | out.WaitFailed():
                    self._end = effect

    def _answer_grab(self) -> None:
        """Answer a grab from the recording: the display still shows the frame recorded last."""
        if self._now is not None and self._now.shown is not None:
            row = self._now.shown.row
            self._apply_event(happened.FrameSeen(self._at, row.epoch, row.frame, 0, self._at))

    def _check_budget(self) -> None:
        account = BudgetAccount(self._spec.budget, self._spent)
        status = rules.check_budgets(account, BudgetAccount()) if self._spends else BudgetStatus()
        if status != self._wait.budget_status:
            self._apply_event(happened.BudgetChecked(self._at, status))

    async def _run_due_job(self, due: out.JobRequest) -> None:
        job = self._make_job(due)
        self._dues.pop(due.kind)
        self._apply_event(happened.JobDispatched(self._at, job.job_id, due.kind))
        parts: list[Answered] = []

        async def keep(part: JobResult) -> None:
            parts.extend(part.answered)

        started = time.perf_counter()
        result = await run_job(job, self._context, keep)
        spent_s = time.perf_counter() - started
        at = self._at + (spent_s if self._ask.latency_s is None else self._ask.latency_s)
        heapq.heappush(self._air, (at, next(self._order), due, result))

    def _make_job(self, due: out.JobRequest) -> Job:
        ask = Ask(
            self._wait_id,
            get_stage(self._spec.until, due.stage),
            tuple(LeafAsk(want.index, want.memo) for want in due.asks),
            due.known,
            "ocr" if due.local else self._judge,
            self._at - self._began,
            self._spec.timeout_s,
            due.gate,
            due.gate_threshold,
            due.force,
            due.keep_evidence,
            changed_from=due.changed_from,
            images=self._images,
            later=tuple(LaterAsk(stage, get_stage(self._spec.until, stage), on) for stage, on in due.ahead.items()),
        )
        identity = due.kind is out.JobKind.IDENTITY
        return Job(
            new_id("job"),
            View(due.source, due.crop, due.ignore),
            "",
            due.epoch,
            due.min_frame,
            asks=() if identity else (ask,),
            remember=(self._wait_id,) if identity else (),
        )

    def _on_result(self, flight: tuple[float, int, out.JobRequest, JobResult]) -> Iterator[happened.WaitEvent]:
        _, _, due, result = flight
        if result.status != "done":
            code = "frame_gone" if result.status == "frame_gone" else "engine"
            yield happened.JobLost(self._at, result.job_id, code, result.reason)
            return
        answered = next(iter(result.answered), None)
        answers = answered.answers if answered is not None else ()
        self._landing = (answered, due.force) if answered is not None else None
        worked = (one.cost_usd for one in answers if one.source == "judge" and one.judge not in rules.FREE)
        self._spent = rules.with_costs(self._spent, worked)
        yield happened.JobDone(
            self._at,
            result.job_id,
            result.epoch,
            result.frame,
            result.identity,
            {answer.index: answer.verdict for answer in answers},
            frozenset(answer.index for answer in answers if answer.source == "memo"),
            gated=answered.gated if answered is not None else False,
            evidence=answered.evidence if answered is not None else None,
            later=answered.later if answered is not None else {},
        )
        self._landing = None
        self._check_budget()

    def _on_evaluated(self, effect: out.EvaluationRecord) -> None:
        answered, forced = self._landing or (None, False)
        row = self._report.add_judgement(effect, answered, *self._moment(), forced=forced)
        self._reported = effect.verdict
        self._tell(row)

    def _report_verdict(self, verdict: Verdict) -> None:
        view_state = self._wait.view_state
        if verdict == self._reported:
            return
        self._reported = verdict
        epoch, frame = (view_state.view.epoch, view_state.frame) if view_state is not None else (0, -1)
        self._tell(self._report.add_tile_verdict(verdict, *self._moment(), epoch, frame))

    def _moment(self) -> tuple[float, int]:
        return round(self._at, 3), self._recording.utc_ms(self._at)

    def _make_run(self, run: int, to_s: float) -> ReplayRun:
        wait, end = self._wait, self._end
        self._at = self._at if end is not None else max(self._at, to_s)
        state = wait.state if end is not None else WaitState.WATCHING
        frame = end.frame if isinstance(end, out.WaitResolved) else -1
        report = self._report
        return ReplayRun(
            run,
            self._judge,
            state.value,
            *self._moment(),
            frame,
            wait.verdict,
            self._frames,
            self._touching,
            wait.judged,
            wait.judge_calls,
            report.count("memo"),
            report.count("held"),
            *report.tokens,
            report.cost_usd,
            wait.note,
        )


def _sum_known(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _make_cues(recording: RecordedFrames) -> list[Cue]:
    cues: list[Cue] = []
    for stretch in recording.stretches:
        cues += [Cue(shown.at_s, stretch, shown) for shown in stretch.shown]
        cues.append(Cue(stretch.end_s, stretch, None))
    return cues[:-1]
