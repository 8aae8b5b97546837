"""Pictures for people and agents: an evaluator encodes a fresh grab for the reply; and pictures of differences."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from acud.base import private_files
from acud.base.errors import AcudError, InvalidRequest, Refused, Unavailable
from acud.base.ids import is_id
from acud.process.event_loop import EventLoop
from acud.protocol.codec import MAX_REPLY_BYTES
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import DiffAsk, PictureAsk, View
from acud.protocol.requests.looks import Picture
from acud.supervisor.coroutines import Callback, Resume, Within
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import FillJob, Lane
from acud.supervisor.redaction import Redaction
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.types import Evidence, Rect, ScreenImage, Until, picture_views
from acud.waits.condition_tree import leaves
from acud.waits.images import OTHER_IMAGE

_DEADLINE_S = 20.0  # from the grab on; well below a client's timeout. Evaluators may be starting, hung or busy.

_REPLY_ROOM = 4096


class ScreenshotTarget(Struct, frozen=True):
    """What to show: the source, its part, and the boxes to leave out.

    `screen`: the display's size. `place`: where on the display a covered window is, if this is its own source.
    """

    source: Source
    crop: Rect | None
    ignore: tuple[Rect, ...] = ()
    screen: tuple[int, int] = (0, 0)
    place: Rect | None = None


class Screenshots:
    """Takes pictures."""

    def __init__(
        self,
        pool: EvaluatorPool,
        spool: Path,
        targets: TargetTracker,
        sources: Sources,
        redaction: Redaction,
        loop: EventLoop,
    ) -> None:
        self._pool, self._loop, self._spool, self._targets = pool, loop, spool, targets
        self._sources, self._redaction = sources, redaction

    async def take(self, target: ScreenshotTarget, ask: PictureAsk) -> Picture:
        """Encode the newest frame of `target`, within 20 s. Raises: Unavailable, Refused."""
        reads = ask.redacted and self._redaction.needs_reader(local=False, keeps_evidence=False)
        lane = Lane.REDACT if reads else Lane.JUDGE
        try:
            outcome = await self._await_look(target, lane, partial(self._fill_picture, target.source, ask))
        except Unavailable as fault:
            if target.source.live:
                raise Unavailable(f"no picture: {fault.message}", hint="acud status") from fault
            lost = f"{target.source.name} was lost while its picture was taken: {target.source.lost_reason}"
            raise Unavailable(lost, lost=target.source.name) from fault
        if outcome is None:
            raise Unavailable(
                f"no picture of {target.source.name} in {_DEADLINE_S:.0f} s: {self._pool.backlog}",
                hint="acud status; acud logs --level warning",
            )
        return self._read_picture(target, ask, outcome)

    def _fill_picture(self, source: Source, ask: PictureAsk, job: Job) -> Job:
        hide = self._redaction.find_hidden(source, leaves=True) if ask.redacted else None
        return replace(job, picture=ask, hide=hide)

    async def take_baseline(self, target: ScreenshotTarget) -> str:
        """Return the present baseline token of `target`, with the look of a part of a display. Without that look, the
        token is of the frame grabbed for it; then another source counts as a change.
        """
        plain = self._targets.make_token(target.source, target.source.frame, "")
        if target.crop is None and not target.source.window_id:
            return plain
        try:
            outcome = await self._await_look(target, Lane.JUDGE, lambda job: job)
        except Unavailable:
            return plain
        return self._token_of(target, outcome) if outcome is not None and outcome.status == "done" else plain

    async def take_difference(self, evidence: Evidence) -> bytes:
        """Return a PNG of the differences between the view before and after. Raises: Unavailable."""
        job = Job("", View(evidence.display), "", 0, 0, diff=DiffAsk(evidence.before, evidence.name))
        try:
            compared = await Callback[JobResult](partial(self._submit_frameless, job))
        except Unavailable as fault:
            raise Unavailable(f"no difference: {fault.message}", hint=fault.hint) from fault
        if compared.status != "done":
            raise Unavailable(f"no difference: {compared.reason}")
        return _take_file(self._spool, compared.picture)

    async def check_images(self, until: Until, display: str) -> None:
        """Raise InvalidRequest for a picture in `until` that cannot be searched for. If no evaluator answers in time,
        the verdicts report it later.
        """
        images = tuple(leaf.png for leaf in leaves(until) if isinstance(leaf, ScreenImage) and leaf.png)
        if not images:
            return
        job = Job("", View(display), "", 0, 0, check_images=images)
        with suppress(Unavailable):
            checked = await Within(self._loop, _DEADLINE_S, partial(self._submit_frameless, job))
            if checked is not None and checked.status == "failed" and checked.reason:
                raise InvalidRequest(checked.reason, hint=OTHER_IMAGE)

    def _submit_frameless(self, job: Job, on_done: Resume[JobResult]) -> None:
        self._pool.submit(_FramelessWork(job, on_done))

    def _await_look(self, target: ScreenshotTarget, lane: Lane, fill: FillJob) -> Within[JobResult]:
        """Await a look for 20 s; a picture that comes later is removed."""
        view = View(target.source.name, target.crop, target.ignore)
        begun = self._pool.look(lane, target.source, lambda job: None if look.is_over else fill(job), view)
        look = Within(self._loop, _DEADLINE_S, begun.begin, self._drop_late)
        return look

    def _drop_late(self, outcome: JobResult | AcudError) -> None:
        if isinstance(outcome, JobResult) and outcome.picture:
            with suppress(Unavailable):
                _take_file(self._spool, outcome.picture)

    def _token_of(self, target: ScreenshotTarget, result: JobResult) -> str:
        """Return the baseline token of the frame in `result`, with the look of a part, which may change its source."""
        part = target.crop is not None or target.source.window_id
        return self._targets.make_token(target.source, result.frame, result.identity if part else "")

    def _read_picture(self, target: ScreenshotTarget, ask: PictureAsk, result: JobResult) -> Picture:
        source = target.source
        if result.status != "done":
            raise Unavailable(f"no picture of {source.name}: {result.reason or 'frame gone'}")
        image = _take_file(self._spool, result.picture)
        if len(image) > MAX_REPLY_BYTES - _REPLY_ROOM:
            raise Refused(f"a picture of {len(image)} bytes is too large", hint="ask for jpeg, or a smaller side")
        return Picture(
            display=source.display,
            epoch=result.epoch,
            frame=result.frame,
            crop=target.crop or Rect(0, 0, source.width, source.height),
            width=result.width,
            height=result.height,
            format=ask.format,
            image=image,
            baseline=self._token_of(target, result),
            frame_age_s=self._sources.age_s(source) or 0.0,
            hidden=result.hidden,
            view=view_of(target, result.width, result.height),
        )


def view_of(target: ScreenshotTarget, across: int, down: int) -> str:
    """Return the view token of a picture of `target` that is `across` x `down` px."""
    source = target.source
    width, height = target.screen if source.window_id else (source.width, source.height)
    crop = target.place or target.crop or Rect(0, 0, source.width, source.height)
    view = picture_views.ViewGeometry(source.display, width, height, crop, across, down, source.window_id)
    return picture_views.encode(view)


class _FramelessWork:
    """A job that needs no frame. `on_done` gets its result, or the fault where no evaluator answers."""

    lane = Lane.JUDGE
    priority = 0

    def __init__(self, job: Job, on_done: Resume[JobResult]) -> None:
        self._job, self._done = job, on_done
        self.display = job.view.source

    def build(self, job_id: str) -> Job:
        return replace(self._job, job_id=job_id)

    def on_part(self, result: JobResult) -> None:
        """Do nothing: this work's result comes whole."""

    def on_result(self, result: JobResult) -> None:
        self._done(result)

    def on_lost(self, reason: str) -> None:
        self._done(Unavailable(reason, hint="acud status"))


def _take_file(spool: Path, name: str) -> bytes:
    """Return the spooled picture `name`, and remove its file. Raises: Unavailable."""
    if not is_id(name.partition(".")[0], "job") or "/" in name:
        raise Unavailable(f"an evaluator named a picture {name!r}")
    path = spool / name
    try:
        return private_files.read_regular(path)
    except OSError as fault:
        raise Unavailable(f"the picture could not be read: {fault.strerror}", hint="is the disk full?") from fault
    finally:
        path.unlink(missing_ok=True)
