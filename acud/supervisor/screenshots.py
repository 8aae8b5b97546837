"""Pictures for people and agents: a fresh grab, an evaluator's encoding, the bytes in the reply; and differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from acud import private_files
from acud.errors import AcudError, Refused, Unavailable
from acud.event_loop import EventLoop
from acud.ids import is_id
from acud.protocol.codec import MAX_REPLY_BYTES
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import DiffAsk, PictureAsk, View
from acud.protocol.requests.looks import Picture
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import Lane
from acud.supervisor.redaction import Redaction
from acud.types import Evidence, Rect, picture_views

_TRIES = 5

_DEADLINE_S = 20.0
"""From the grab on; well within what a client listens. Evaluators may all be starting, hang, or have much in hand."""

_REPLY_ROOM = 4096

PictureDone = Callable[[Picture | AcudError], None]

Outcome = TypeVar("Outcome")

DifferenceDone = Callable[[bytes | AcudError], None]


class _Due(Generic[Outcome]):
    """Passes the first outcome on: that of the work or, once its time is over, that of `late`."""

    def __init__(self, done: Callable[[Outcome], None], late: Callable[[], Outcome], loop: EventLoop) -> None:
        self._done = done
        self._timer = loop.call_later(_DEADLINE_S, lambda: self(late()))
        self.over = False

    def __call__(self, outcome: Outcome) -> None:
        """Take an outcome."""
        if not self.over:
            self.over = True
            self._timer.cancel()
            self._done(outcome)


class ScreenshotTarget(Struct, frozen=True):
    """What to show: the source, its part, and the boxes to leave out.

    `screen`: the display's size. `place`: where on the display a covered window is, whose own source this is.
    """

    source: Source
    crop: Rect | None
    ignore: tuple[Rect, ...] = ()
    screen: tuple[int, int] = (0, 0)
    place: Rect | None = None


class ScreenshotJob:
    """One picture of the newest frame that is at least `min_frame`."""

    priority = 0

    def __init__(
        self, screenshots: Screenshots, target: ScreenshotTarget, ask: PictureAsk, done: _Due[Picture | AcudError]
    ) -> None:
        self._screenshots = screenshots
        self._target = target
        self._ask = ask
        self._done = done
        self._epoch = target.source.epoch
        self._min_frame = target.source.frame
        self._tries = 0
        reads = ask.redacted and screenshots.redaction.reads(local=False, keeps_evidence=False)
        self.lane = Lane.REDACT if reads else Lane.JUDGE
        self.display = target.source.display

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile, or the time be over."""
        if self._done.over:
            return None
        source = self._target.source
        if not source.live or source.path is None:
            reason = f"{source.name} was lost while its picture was taken: {source.lost_reason}"
            self._done(Unavailable(reason, lost=source.name))
            return None
        self._epoch = source.epoch
        view = View(source.name, self._target.crop, self._target.ignore)
        oldest = min(self._min_frame, source.frame)
        hide = self._screenshots.redaction.of(source, leaves=True) if self._ask.redacted else None
        return Job(job_id, view, str(source.path), source.epoch, oldest, (), self._ask, hide=hide)

    def partly(self, result: JobResult) -> None:
        """A picture has no parts."""

    def finished(self, result: JobResult) -> None:
        """Answer with the picture, or try the next frame when this one was overwritten."""
        if result.status == "done":
            self._answer(result)
        elif result.status == "frame_gone" and self._tries < _TRIES:
            self._tries += 1
            self._screenshots.again(self)
        else:
            self._done(Unavailable(f"no picture of {self._target.source.name}: {result.reason or 'frame gone'}"))

    def _answer(self, result: JobResult) -> None:
        self._done(self._screenshots.read(result, self._target, self._ask))

    def lost(self, reason: str) -> None:
        """Answer with the fault."""
        self._done(Unavailable(f"no picture: {reason}", hint="acud status"))


class FrameIdentityJob:
    """The baseline of what `target` shows now, with its look where that could be had."""

    lane = Lane.JUDGE
    priority = 0

    def __init__(self, screenshots: Screenshots, target: ScreenshotTarget, done: _Due[str]) -> None:
        self._screenshots = screenshots
        self._target = target
        self._done = done
        self._frame = target.source.frame
        self.display = target.source.display

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now."""
        if self._done.over:
            return None
        source = self._target.source
        if not source.live or source.path is None:
            self.lost("the source was lost")
            return None
        view = View(source.name, self._target.crop, self._target.ignore)
        return Job(job_id, view, str(source.path), source.epoch, min(self._frame, source.frame))

    def partly(self, result: JobResult) -> None:
        """A token has no parts."""

    def finished(self, result: JobResult) -> None:
        """Answer with the token of the frame that was looked at."""
        if result.status == "done":
            self._done(self._screenshots.token(self._target, result))
        else:
            self.lost(result.reason)

    def lost(self, reason: str) -> None:
        """Answer with the token of the frame grabbed for it; without its look, another source counts as a change."""
        self._done(self._screenshots.plain_token(self._target.source, self._frame))


class Screenshots:
    """Takes pictures. `token` makes the baseline of a source's frame, `age_s` tells how old its newest one is."""

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
        self.redaction = redaction

    def take(self, target: ScreenshotTarget, ask: PictureAsk, done: PictureDone) -> None:
        """Encode the newest frame of `target`; `done` gets the picture or the fault, within 20 s."""
        self._pool.submit(ScreenshotJob(self, target, ask, _Due(done, lambda: self._late(target), self._loop)))

    def baseline(self, target: ScreenshotTarget, done: Callable[[str], None]) -> None:
        """Call `done` with the baseline token of `target` now; the look of a part goes with it."""
        if target.crop is None and not target.source.window_id:
            done(self.plain_token(target.source, target.source.frame))
        else:
            frame = target.source.frame
            due = _Due(done, lambda: self.plain_token(target.source, frame), self._loop)
            self._pool.submit(FrameIdentityJob(self, target, due))

    def _late(self, target: ScreenshotTarget) -> Unavailable:
        return Unavailable(
            f"no picture of {target.source.name} in {_DEADLINE_S:.0f} s: {self._pool.standing}",
            hint="acud status; acud logs --level warning",
        )

    def token(self, target: ScreenshotTarget, result: JobResult) -> str:
        """Return the baseline token of the frame in `result`; a part of a display may come to have another source."""
        part = target.crop is not None or target.source.window_id
        return self._token(target.source, result.frame, result.identity if part else "")

    def plain_token(self, source: Source, frame: int) -> str:
        """Return the baseline token of a frame without its look."""
        return self._token(source, frame, "")

    def again(self, work: ScreenshotJob) -> None:
        """Queue `work` once more."""
        self._pool.submit(work)

    def read(self, result: JobResult, target: ScreenshotTarget, ask: PictureAsk) -> Picture | AcudError:
        """Return the spooled picture of `result`, removing its file."""
        name = result.picture
        if not is_id(name.partition(".")[0], "job") or "/" in name:
            return Unavailable(f"an evaluator named a picture {name!r}")
        path = self._spool / name
        try:
            image = private_files.read_regular(path)
        except OSError as fault:
            return Unavailable(f"the picture could not be read: {fault.strerror}", hint="is the disk full?")
        finally:
            path.unlink(missing_ok=True)
        if len(image) > MAX_REPLY_BYTES - _REPLY_ROOM:
            return Refused(f"a picture of {len(image)} bytes is too large", hint="ask for jpeg, or a smaller side")
        return self._picture(result, target, ask, image)

    def _picture(self, result: JobResult, target: ScreenshotTarget, ask: PictureAsk, image: bytes) -> Picture:
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
            baseline=self.token(target, result),
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


class _DiffWork:
    """One difference."""

    lane = Lane.JUDGE
    priority = 0

    def __init__(self, evidence: Evidence, spool: Path, done: DifferenceDone) -> None:
        self._evidence = evidence
        self._spool = spool
        self._done = done
        self.display = evidence.display

    def build(self, job_id: str) -> Job:
        """Return the job; it needs no frame."""
        ask = DiffAsk(self._evidence.before, self._evidence.name)
        return Job(job_id, View(self._evidence.display), "", 0, 0, diff=ask)

    def partly(self, result: JobResult) -> None:
        """A difference has no parts."""

    def finished(self, result: JobResult) -> None:
        """Answer with the picture, or why there is none."""
        if result.status != "done":
            self._done(Unavailable(f"no difference: {result.reason}"))
        elif not is_id(result.picture.removesuffix(".png"), "job"):
            self._done(Unavailable(f"an evaluator named a picture {result.picture!r}"))
        else:
            self._done(_taken(self._spool / result.picture))

    def lost(self, reason: str) -> None:
        """Answer with the fault."""
        self._done(Unavailable(f"no difference: {reason}", hint="acud status"))


class Differences:
    """Makes differences of evidence."""

    def __init__(self, pool: EvaluatorPool, spool: Path) -> None:
        self._pool = pool
        self._spool = spool

    def make(self, evidence: Evidence, done: DifferenceDone) -> None:
        """Call `done` with the PNG of what differs between the view before and after, or with the fault."""
        self._pool.submit(_DiffWork(evidence, self._spool, done))


def _taken(path: Path) -> bytes | Unavailable:
    try:
        return private_files.read_regular(path)
    except OSError as fault:
        return Unavailable(f"the picture could not be read: {fault.strerror}", hint="is the disk full?")
    finally:
        path.unlink(missing_ok=True)
