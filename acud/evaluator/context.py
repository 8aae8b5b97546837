"""What the jobs of one evaluator share: judges, text reading, views kept, counters, and threads for CPU work."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from acud.base.errors import NotInstalled, Unavailable
from acud.base.extras import require
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.evidence import EncodedView, encoded_view, keep_views, record_of
from acud.evaluator.image_search import ImageSearch
from acud.evaluator.judges.judge import Judge, JudgePicture, JudgeReply
from acud.evaluator.judges.picture_encoding import PictureFormat, encode_for_judge, picture_format_for
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.last_views import GateMemory, LastNegativeViews, PicturedViews, ShownFrames
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import JobAnswerer, RedactedPixels, Redactor, Withheld
from acud.evaluator.view_pixels import Frames, Rings, ViewPixels
from acud.evaluator.widget_watches import WidgetWatches
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.evaluation import Job
from acud.types import Echo, Evidence, JudgeName, Rect, ScreenImage, TextLeaf, WindowInfo, unknown
from acud.types.actions import Point

T = TypeVar("T")
_SMALL_PX = 320
_SMALL_QUALITY = 70  # A screen of 1280x720 takes 5 to 12 kB, and 3 ms
_THREADS = 3  # enough that a disk that hangs on fsync leaves a thread for encoding; the work itself is milliseconds


class Counters:
    """Totals since the start, by name. `<what>_n` counts, `<what>_ms` adds up waiting and work."""

    def __init__(self) -> None:
        self._totals: defaultdict[str, float] = defaultdict(float)

    def add(self, name: str, amount: float = 1) -> None:
        self._totals[name] += amount

    @contextmanager
    def measure(self, what: str) -> Iterator[None]:
        """Count one `what`, and add the time that the block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(f"{what}_n")
            self.add(f"{what}_ms", (time.perf_counter() - started) * 1000)

    def snapshot(self) -> dict[str, float]:
        return dict(self._totals)


class Encoded(NamedTuple):
    """A picture, and the time its making took."""

    picture: JudgePicture
    spent_ms: float


class EvaluatorContext:
    """Owns the rings, the threads and what it is given; `close` ends them. `text` is None where this evaluator owns no
    OCR engine.
    """

    def __init__(
        self,
        options: EvaluatorOptions,
        judges: JudgeRegistry,
        text: TextReading | None,
        redactor: Redactor,
        answerers: Mapping[str, JobAnswerer],
        frames: Frames | None = None,
        mirrors: AtSpiProvider | None = None,
    ) -> None:
        """`answerers`: those of the enabled features, by the field of `Job` that asks. `frames`: the source of jobs'
        views, if not the rings of displays. `mirrors`: those of displays' widgets, if others use them too.
        """
        ttl_s = options.accessibility.mirror_ttl_s
        self.widgets = WidgetWatches(options.accessibility, mirrors or AtSpiProvider(ttl_s), redactor)
        self.judges = judges
        self.answerers = dict(answerers)
        self.rings: Frames = frames or Rings()
        self.gates = GateMemory(options.diff_max_width)
        self.shown = ShownFrames()
        self.last_negative_views = LastNegativeViews()
        self.pictured = PicturedViews()
        self.counters = Counters()
        self._images = ImageSearch()
        self.spool = Path(options.spool_dir)
        self.evidence = Path(options.evidence_dir)
        self.vision = options.vision
        self._options, self._text, self._redactor = options, text, redactor
        self.keeps_redacted = options.redaction.evidence == "redacted"
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="work")
        self._to_keep: list[EncodedView] = []
        self._keeping: asyncio.Task[list[Evidence]] | None = None

    def forget(self, wait_ids: Iterable[str]) -> None:
        """Drop everything kept for waits that ended."""
        for wait_id in wait_ids:
            self.gates.forget(wait_id)
            self.last_negative_views.forget(wait_id)
            self.pictured.forget(wait_id)
            self.widgets.forget_wait(wait_id)

    def release_idle_engine(self) -> bool:
        """Let go of an engine that has not read for long; return whether that freed its memory."""
        return self._text is not None and self._text.release_idle_engine()

    async def off_loop(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread, so that heartbeats go on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def form(self, judge: Judge) -> PictureFormat:
        """Return the picture format of `judge`: judges of one format share the picture."""
        return picture_format_for(judge, self._options)

    async def encode(self, shot: ViewPixels, form: PictureFormat) -> Encoded:
        with self.counters.measure("encode"):
            return await self.off_loop(lambda: _encode_shot(shot, form))

    async def redact_shot(self, shot: ViewPixels, password_boxes: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        """Return the shot with each secret hidden, or why it must not leave the machine. `password_boxes`: boxes of
        known password fields, in its pixels.
        """
        with self.counters.measure("redact"):
            return await self._redactor.redact_shot(shot, password_boxes)

    def redact_quote(self, text: str) -> str:
        """Return text from a screen, redacted for leaving the machine. Raises: TookTooLong."""
        return self._redactor.redact_text(text)

    async def read_look(self, shot: ViewPixels, job: Job) -> ViewPixels:
        """Return `shot`, or the newest frame of its job, with its text; `shot` as it is where no engine reads it.
        Raises: FrameGone when a newer frame of the view was read meanwhile.
        """
        if self._text is None:
            return shot
        with self.counters.measure("ocr"), suppress(Unavailable):  # the question that needs the text reports the fault
            return await self._text.read_look(shot, lambda: self.rings.take_view(job))
        return shot

    async def read(
        self, shot: ViewPixels, leaf: TextLeaf, windows: tuple[WindowInfo, ...] = (), echoes: tuple[Echo, ...] = ()
    ) -> JudgeReply:
        """Return whether the text or number of `leaf` shows in the shot, but for `echoes`. For a number, the title and
        address bars of `windows` (in the shot's pixels) are left out.
        """
        if self._text is None:
            return JudgeReply(unknown("engine", "this evaluator owns no OCR engine"), cost_usd=0.0)
        with nullcontext() if shot.lines is not None else self.counters.measure("ocr"):
            verdict = await self._text.look_for(shot, leaf, windows, echoes)
        if verdict.code == "engine":
            self.judges.doubt_health(JudgeName.OCR)
        return JudgeReply(verdict, cost_usd=0.0)

    async def check_images(self, pngs: Sequence[bytes]) -> str:
        """Return why one of the pictures cannot be looked for, "" where all can."""
        images = self._image_search()
        return await self.off_loop(lambda: next(filter(None, map(images.why_useless, pngs)), ""))

    def _image_search(self) -> ImageSearch:
        require("actions", "a search for pictures")
        return self._images

    async def find_image(self, shot: ViewPixels, leaf: ScreenImage, png: bytes | None, origin: Point) -> JudgeReply:
        """Return whether the picture `png` of `leaf` is in the shot. `origin`: where its source is on the display."""
        try:
            images = self._image_search()
        except NotInstalled as fault:
            return JudgeReply(unknown("engine", str(fault)), cost_usd=0.0)
        with self.counters.measure("image"):
            verdict = await self.off_loop(lambda: images.look_for(shot, leaf, png, origin))
        return JudgeReply(verdict, cost_usd=0.0)

    async def evidence_view(self, view: ViewPixels | EncodedView) -> EncodedView:
        """Return the view as evidence, redacted where the settings ask for it, without a picture if that fails."""
        if isinstance(view, EncodedView):
            return view
        if self.keeps_redacted:
            out = await self.redact_shot(view)
            if isinstance(out, Withheld):
                return EncodedView(record_of(view, f"redaction: {out.reason}"))
            view = out.shot
        shot = view
        return await self.off_loop(lambda: encoded_view(shot))

    async def small_picture(self, view: ViewPixels) -> bytes:
        """Return the view as a small JPEG, redacted as evidence is; empty where it cannot be redacted."""
        if self.keeps_redacted:
            out = await self.redact_shot(view)
            if isinstance(out, Withheld):
                return b""
            view = out.shot
        pixels = view.pixels
        return await self.off_loop(lambda: encode_for_judge(pixels, _SMALL_PX, _SMALL_QUALITY).jpeg)

    async def keep_evidence(self, view: EncodedView) -> Evidence:
        """Keep the view's picture on disk, together with all that are to be kept in the same turn of the loop."""
        if self._keeping is None:
            self._to_keep = []
            self._keeping = asyncio.create_task(self._write_evidence())
        keeping, place = self._keeping, len(self._to_keep)
        self._to_keep.append(view)
        return (await asyncio.shield(keeping))[place]

    async def _write_evidence(self) -> list[Evidence]:
        await asyncio.sleep(0)
        self._keeping, views = None, self._to_keep
        return await self.off_loop(lambda: keep_views(views, self.evidence))

    async def close(self) -> None:
        """Let go of judges, threads and rings; work in a thread is waited for, work not begun is dropped."""
        await self.judges.close()
        if self._text is not None:
            self._text.close()
        self._threads.shutdown(cancel_futures=True)
        self.rings.close()


def _encode_shot(shot: ViewPixels, form: PictureFormat) -> Encoded:
    started = time.perf_counter()
    picture = encode_for_judge(shot.pixels, form.max_side_px, form.jpeg_quality)
    return Encoded(picture, (time.perf_counter() - started) * 1000)
