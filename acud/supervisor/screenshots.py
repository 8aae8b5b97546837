"""Pictures for people and agents: an evaluator encodes a fresh grab for the reply; and pictures of differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

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
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import FrameWork, Lane
from acud.supervisor.redaction import Redaction
from acud.types import Evidence, Rect, ScreenImage, Until, picture_views
from acud.waits.conditions import leaves
from acud.waits.images import OTHER_IMAGE

_DEADLINE_S = 20.0
"""From the grab on; well below a client's timeout. Evaluators may be starting, hung or busy."""

_REPLY_ROOM = 4096

PictureDone = Callable[[Picture | AcudError], None]

Outcome = TypeVar("Outcome")


class _Due(Generic[Outcome]):
    """Passes the first outcome on: that of the work or, after the deadline, that of `late`."""

    def __init__(self, done: Callable[[Outcome], None], late: Callable[[], Outcome], loop: EventLoop) -> None:
        self._done = done
        self._timer = loop.call_later(_DEADLINE_S, lambda: self(late()))
        self.over = False

    def __call__(self, outcome: Outcome) -> None:
        """Pass an outcome on, if it is the first."""
        if not self.over:
            self.over = True
            self._timer.cancel()
            self._done(outcome)


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
    """Takes pictures. `token` makes the baseline of a source's frame, `age_s` returns the age of its newest one."""

    def __init__(
        self,
        pool: EvaluatorPool,
        spool: Path,
        token: Callable[[Source, int, str], str],
        age_s: Callable[[Source], float | None],
        redaction: Redaction,
        loop: EventLoop,
    ) -> None:
        self._pool = pool
        self._loop = loop
        self._spool = spool
        self._token = token
        self._age_s = age_s
        self._redaction = redaction

    def take(self, target: ScreenshotTarget, ask: PictureAsk, done: PictureDone) -> None:
        """Encode the newest frame of `target`; `done` gets the picture or the fault, within 20 s."""
        source = target.source
        due = _Due[Picture | AcudError](done, lambda: self._explain_late(target), self._loop)

        def fill(job: Job) -> Job | None:
            if due.over:
                return None
            hide = self._redaction.find_hidden(source, leaves=True) if ask.redacted else None
            return replace(job, picture=ask, hide=hide)

        def on_look(outcome: JobResult | Unavailable) -> None:
            if not isinstance(outcome, Unavailable):
                due(self._to_outcome(outcome, target, ask))
            elif source.live:
                due(Unavailable(f"no picture: {outcome.message}", hint="acud status"))
            else:
                lost = f"{source.name} was lost while its picture was taken: {source.lost_reason}"
                due(Unavailable(lost, lost=source.name))

        reads = ask.redacted and self._redaction.needs_reader(local=False, keeps_evidence=False)
        self._look(target, Lane.REDACT if reads else Lane.JUDGE, fill, on_look)

    def take_baseline(self, target: ScreenshotTarget, done: Callable[[str], None]) -> None:
        """Call `done` with the present baseline token of `target`, with the look of a part of a display.

        Without that look, the token is of the frame grabbed for it; then another source counts as a change.
        """
        plain = self._token(target.source, target.source.frame, "")
        if target.crop is None and not target.source.window_id:
            done(plain)
            return
        due = _Due(done, lambda: plain, self._loop)

        def on_look(outcome: JobResult | Unavailable) -> None:
            if isinstance(outcome, JobResult) and outcome.status == "done":
                due(self._token_of(target, outcome))
            else:
                due(plain)

        self._look(target, Lane.JUDGE, lambda job: None if due.over else job, on_look)

    def take_difference(self, evidence: Evidence, done: Callable[[bytes | AcudError], None]) -> None:
        """Call `done` with a PNG of the differences between the view before and after, or with the fault."""

        def on_compared(outcome: JobResult | Unavailable) -> None:
            if isinstance(outcome, Unavailable):
                done(Unavailable(f"no difference: {outcome.message}", hint=outcome.hint))
            elif outcome.status != "done":
                done(Unavailable(f"no difference: {outcome.reason}"))
            else:
                done(_take_file(self._spool, outcome.picture))

        ask = DiffAsk(evidence.before, evidence.name)
        self._pool.submit(_FramelessWork(Job("", View(evidence.display), "", 0, 0, diff=ask), on_compared))

    def check_images(self, until: Until, display: str, done: Callable[[InvalidRequest | None], None]) -> None:
        """Call `done` with why a picture in `until` cannot be searched for, None if all can. If no evaluator answers in
        time, the verdicts report it later.
        """
        images = tuple(leaf.png for leaf in leaves(until) if isinstance(leaf, ScreenImage) and leaf.png)
        if not images:
            done(None)
            return
        due = _Due[InvalidRequest | None](done, lambda: None, self._loop)

        def on_checked(outcome: JobResult | Unavailable) -> None:
            why = outcome.reason if isinstance(outcome, JobResult) and outcome.status == "failed" else ""
            due(InvalidRequest(why, hint=OTHER_IMAGE) if why else None)

        self._pool.submit(_FramelessWork(Job("", View(display), "", 0, 0, check_images=images), on_checked))

    def _look(
        self,
        target: ScreenshotTarget,
        lane: Lane,
        fill: Callable[[Job], Job | None],
        on_look: Callable[[JobResult | Unavailable], None],
    ) -> None:
        view = View(target.source.name, target.crop, target.ignore)
        self._pool.submit(FrameWork(self._pool.submit, lane, target.source, fill, on_look, view=view))

    def _explain_late(self, target: ScreenshotTarget) -> Unavailable:
        return Unavailable(
            f"no picture of {target.source.name} in {_DEADLINE_S:.0f} s: {self._pool.backlog}",
            hint="acud status; acud logs --level warning",
        )

    def _token_of(self, target: ScreenshotTarget, result: JobResult) -> str:
        """Return the baseline token of the frame in `result`, with the look of a part, which may change its source."""
        part = target.crop is not None or target.source.window_id
        return self._token(target.source, result.frame, result.identity if part else "")

    def _to_outcome(self, result: JobResult, target: ScreenshotTarget, ask: PictureAsk) -> Picture | AcudError:
        if result.status != "done":
            return Unavailable(f"no picture of {target.source.name}: {result.reason or 'frame gone'}")
        image = _take_file(self._spool, result.picture)
        if isinstance(image, Unavailable):
            return image
        if len(image) > MAX_REPLY_BYTES - _REPLY_ROOM:
            return Refused(f"a picture of {len(image)} bytes is too large", hint="ask for jpeg, or a smaller side")
        return self._build_picture(result, target, ask, image)

    def _build_picture(self, result: JobResult, target: ScreenshotTarget, ask: PictureAsk, image: bytes) -> Picture:
        source = target.source
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
            frame_age_s=self._age_s(source) or 0.0,
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
    """A job that needs no frame. `done` gets its result, or the fault where no evaluator answers."""

    lane = Lane.JUDGE
    priority = 0

    def __init__(self, job: Job, done: Callable[[JobResult | Unavailable], None]) -> None:
        self._job = job
        self._done = done
        self.display = job.view.source

    def build(self, job_id: str) -> Job:
        """Return the job."""
        return replace(self._job, job_id=job_id)

    def on_part(self, result: JobResult) -> None:
        """Do nothing: it has no parts."""

    def on_result(self, result: JobResult) -> None:
        """Pass on the result."""
        self._done(result)

    def on_lost(self, reason: str) -> None:
        """Pass on the fault."""
        self._done(Unavailable(reason, hint="acud status"))


def _take_file(spool: Path, name: str) -> bytes | Unavailable:
    """Return the spooled picture `name`, and remove its file."""
    if not is_id(name.partition(".")[0], "job") or "/" in name:
        return Unavailable(f"an evaluator named a picture {name!r}")
    path = spool / name
    try:
        return private_files.read_regular(path)
    except OSError as fault:
        return Unavailable(f"the picture could not be read: {fault.strerror}", hint="is the disk full?")
    finally:
        path.unlink(missing_ok=True)
