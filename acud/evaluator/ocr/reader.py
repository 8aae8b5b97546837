"""Reads the text of views, and of a view seen before only what changed.

Finding and reading lines cost far more than comparing pixels, so both are kept: lines outside the changed regions
stand as they are, and a line with the pixels of one read before, in any view, is not read again; nor are known words of
a line that changes where it stands (`memo`). Lines are looked for in bands where text can be (`bands`), all bands of a
frame in a few calls of the detector. The regions are cut on a grid with room around them, so that the bands in them are
those that the whole frame would give. A line that changes between its upper and lower edge only is not looked for.

The engine is loaded when needed, and unloaded when nothing was read for a while; what was read is kept. Views are read
in one thread, step by step: see `read_queue`.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from acud.base.errors import AcudError, Unavailable
from acud.base.extras import has_rapidocr, not_installed
from acud.config import OcrSettings
from acud.evaluator.ocr import bands
from acud.evaluator.ocr.changes import REACH_Y_PX, apart, around, changed_boxes, on_grid, plan_reading
from acud.evaluator.ocr.engine import Bgr, Engine, EngineOnDemand, Line, Reading
from acud.evaluator.ocr.match import look_for, without_echoes
from acud.evaluator.ocr.memo import ReadingMemo, Unread, join_readings
from acud.evaluator.ocr.number import look_for_number, outside_bars
from acud.evaluator.ocr.read_queue import ReadingQueue, Steps
from acud.evaluator.ocr.scripts import needs_rapidocr
from acud.evaluator.ocr.second_reader import Doubt, LineProgram, SecondReader, ViewScripts, is_doubtful, without_icons
from acud.evaluator.ocr.tesseract import ENGINE_VERSION, Tesseract, TesseractEngine
from acud.evaluator.ocr.text_layout import segments
from acud.evaluator.view_pixels import ViewPixels
from acud.protocol.evaluation import JudgeHealth
from acud.types import Answer, Echo, JudgeName, Rect, ScreenNumber, TextLeaf, Verdict, WindowInfo, unknown

MAX_KEPT_BYTES = 64 << 20
"""Pixels of earlier frames kept to compare with: 17 views of 1280x720."""
_GRID_PX = 32
_CONTEXT_PX = 16
AREA_A_STEP, _LINES_A_STEP = 130_000, 4
"""Pixels searched and lines, or parts of them, read before another view may go first: 0.1 to 0.3 s (measured)."""
_ENLARGED = 2  # times, for a row that the first search missed: the detector loses a line at one size only
_BEYOND_PX = 4  # A detector's boxes reach so far past their letters, which all lie in their band
_SAME_PX = 3  # A detector's box of the same line moves so far when the line changes
_RELEASE_S, _UNLOAD_S = 5.0, 120.0
"""Between readings an engine holds 150 MB that the next one takes anew in 4 ms, and else 170, with 0.4 s to load."""
_DENSE_PX = 2  # boxes of lines nearer than this were one over the other, or nearly
_ONE_LINE_X = 0.75  # gaps of so many heights are those of one line: a detector cuts at wider ones, as between columns

ViewKey = tuple[object, ...]
"""What makes two frames the same view: source, crop and ignored boxes."""


class _Known(NamedTuple):
    """A line, and its box as the detector gave it."""

    found: Rect
    line: Line


class _Seen(NamedTuple):
    pixels: NDArray[np.uint8]
    known: tuple[_Known, ...]
    scripts: ViewScripts


class _Fresh(NamedTuple):
    """A first reading of what is unread of a crop, `rest`; `place`: which of the crops."""

    place: int
    unread: Unread
    rest: Bgr
    reading: Reading

    def doubt(self, places: Sequence[Rect]) -> Doubt:
        """`places`: where the crops are in the view."""
        return Doubt(self.rest, self.reading, (places[self.place].x + self.unread.left, places[self.place].y))


class ScreenReader:
    """Reads views with `engine`. Blocks; for one thread. Keeps the last frame of each view, oldest use first out."""

    def __init__(self, engine: Engine, second: SecondReader | None = None) -> None:
        """`second`: reads lines again that `engine` doubts; None where nothing shall."""
        self._engine, self._second = engine, second
        self._seen: OrderedDict[ViewKey, _Seen] = OrderedDict()
        self._memo = ReadingMemo()

    def read(self, key: ViewKey, pixels: NDArray[np.uint8]) -> tuple[Line, ...]:
        """Return the lines in `pixels`; see `read_in_steps`."""
        steps = self.read_in_steps(key, pixels)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: tuple[Line, ...] = end.value
                return found

    def read_in_steps(self, key: ViewKey, pixels: NDArray[np.uint8]) -> Steps[tuple[Line, ...]]:
        """Return the lines in `pixels` (height x width x 4 uint8 BGRX; kept, so never to be written to again).

        Another view may be read between two steps, of some tenths of a second each. A reading that ends early, or by a
        fault, leaves what was known of the view. Raises: Unavailable when the engine fails.
        """
        before = self._seen.get(key)
        shown = ViewScripts() if before is None else before.scripts
        retried = shown.failed and self._second is not None and not self._second.paused
        if before is None or before.pixels.shape != pixels.shape or retried:
            shown.failed = False
            known = yield from self._read_regions(pixels, shown, [_whole_box(pixels)], (), (), ())
        else:
            known = yield from self._read_changes(before, pixels)
        self._seen[key] = _Seen(pixels, known, shown)
        self._seen.move_to_end(key)
        while len(self._seen) > 1 and sum(seen.pixels.nbytes for seen in self._seen.values()) > MAX_KEPT_BYTES:
            self._seen.popitem(last=False)
        return tuple(one.line for one in known if one.line.text)

    def knows(self, key: ViewKey) -> bool:
        """Return whether a frame of that view was read."""
        return key in self._seen

    def forget_view(self, key: ViewKey) -> None:
        """Find every line of that view anew the next time, whatever changed. Readings of equal pixels are kept: the
        engine would read the same again.
        """
        self._seen.pop(key, None)

    def _read_changes(self, before: _Seen, pixels: NDArray[np.uint8]) -> Steps[tuple[_Known, ...]]:
        changed = changed_boxes(before.pixels, pixels)
        plan = plan_reading(changed, [one.line.box for one in before.known], _whole_box(pixels))
        stand = set(plan.stand)
        gone = [one for index, one in enumerate(before.known) if index not in stand]
        rewritten = {region: _rewritten_box(region, gone, before, pixels) for region in plan.regions}
        regions = [region for region, box in rewritten.items() if box is None]
        boxes = [box for box in rewritten.values() if box is not None]
        standing = [before.known[index] for index in plan.stand]
        return self._read_regions(pixels, before.scripts, regions, standing, [one.found for one in gone], boxes)

    def _read_regions(
        self, pixels: NDArray[np.uint8], scripts: ViewScripts, regions: Sequence[Rect], standing: Sequence[_Known],
        old_boxes: Sequence[Rect], rewritten: Sequence[Rect],
    ) -> Steps[tuple[_Known, ...]]:  # fmt: skip
        found = [one.found for one in standing]
        searched = yield from self._find(pixels, regions, [*found, *rewritten])
        settled = [(box, True) for box in rewritten] + [_settle_box(box, old_boxes) for box in searched]
        fresh = [box for box, _ in settled]
        parted = apart([*found, *fresh])
        kept = [
            _Known(one.found, replace(one.line, box=box))
            for one, box in zip(standing, parted, strict=False)  # the parted boxes of fresh lines follow
        ]
        boxes = parted[len(found) :]
        areas = [_with_descenders(box, parted) for box in boxes]
        readings = yield from self._read_areas(pixels, scripts, areas, [changed for _, changed in settled])
        lines = [Line(one.text, one.confidence, box, one.reader) for one, box in zip(readings, boxes, strict=True)]
        return (*kept, *(_Known(box, line) for box, line in zip(fresh, lines, strict=True)))

    def _find(self, pixels: NDArray[np.uint8], regions: Sequence[Rect], standing: Sequence[Rect]) -> Steps[list[Rect]]:
        """Return the boxes in reach of `regions` that are no line standing already: searched where text can be, and
        once more, alone and enlarged, what looks like letters and was not found there.
        """
        whole = _whole_box(pixels)
        cuts = [on_grid(region, _CONTEXT_PX, _GRID_PX, whole) for region in regions]
        reaches = [around(region, 0, REACH_Y_PX, whole) for region in regions]
        held = [
            inside
            for cut, reach in zip(cuts, reaches, strict=True)
            for band in bands.text_bands(_cut_part(pixels, cut))
            if (inside := band.shift(cut.x, cut.y).intersect(reach)) is not None
        ]
        boxes = yield from self._search_places(pixels, held, (bands.MARGIN_X_PX, bands.MARGIN_Y_PX))
        seen = np.zeros(pixels.shape[:2], np.bool_)
        for box in (*standing, *boxes):
            seen[box.y : box.bottom, box.x : box.right] = True
        missed = [row for band in held for row in bands.unfound_rows(pixels, band, seen)]
        boxes += yield from self._search_places(pixels, missed, (bands.ALONE_PX, bands.ALONE_PX), _ENLARGED)
        fresh: list[Rect] = []
        for box in sorted(boxes, key=lambda one: -one.area):  # a band may show a part of what another one shows whole
            if not any(_is_part_of(box, other) for other in (*standing, *fresh)):
                fresh.append(box)
        return fresh

    def _search_places(
        self, pixels: NDArray[np.uint8], places: Sequence[Rect], margins: tuple[int, int], scale: int = 1
    ) -> Steps[list[Rect]]:
        """Return the boxes of lines that the engine finds in `places`, each with `margins` (x, y) of what is around and
        enlarged by `scale`.
        """
        whole = _whole_box(pixels)
        parts = [around(place, *margins, whole) for place in places]
        searched: list[list[Rect]] = []
        for some in _group_parts(parts, AREA_A_STEP // scale**2):
            searched += self._engine.detect([_enlarge_crop(_cut_bgr(pixels, part), scale) for part in some])
            yield
        return [
            cell
            for place, part, found in zip(places, parts, searched, strict=True)
            for box in found
            if (own := _own_part(_reduce_box(box, scale).shift(part.x, part.y), place, whole)) is not None
            for cell in bands.cells(pixels, own)
        ]

    def _read_areas(
        self, pixels: NDArray[np.uint8], scripts: ViewScripts, areas: Sequence[Rect], changed: Sequence[bool]
    ) -> Steps[list[Reading]]:
        """Return the reading of the line in each area. A line that `changed` in its place is read part by part, between
        known words. Any other is read whole, which costs a tenth less.
        """
        parts = [
            [part.shift(area.x, area.y) for part in bands.line_parts(_cut_part(pixels, area))] if one else [area]
            for area, one in zip(areas, changed, strict=True)
        ]
        places = [part for line in parts for part in line]
        crops = [_cut_bgr(pixels, part) for part in places]
        by_words = [one for line, one in zip(parts, changed, strict=True) for _ in line]
        found = [self._memo.recall(crop) for crop in crops]
        missing = [place for place, reading in enumerate(found) if reading is None]
        fresh: list[_Fresh] = []
        for start in range(0, len(missing), _LINES_A_STEP):
            some = missing[start : start + _LINES_A_STEP]
            fresh += self._read_crops([(place, crops[place], by_words[place]) for place in some])
            yield
        settled = yield from self._settle_doubts([one.doubt(places) for one in fresh if one.rest.size], scripts)
        read = iter(settled)
        for one in fresh:
            middle = [next(read)] if one.rest.size else []
            found[one.place] = join_readings([*one.unread.before, *middle, *one.unread.after])
        told = iter([reading for reading in found if reading is not None])
        return [join_readings([next(told) for _ in line]) for line in parts]

    def _read_crops(self, some: Sequence[tuple[int, Bgr, bool]]) -> list[_Fresh]:
        """Return the first reading of each crop at its place; the flag leaves known words out."""
        unread = [self._memo.unread(crop) if by_words else Unread(0, crop.shape[1]) for _, crop, by_words in some]
        rests = [
            np.ascontiguousarray(crop[:, one.left : one.right]) for (_, crop, _), one in zip(some, unread, strict=True)
        ]
        read = iter(self._engine.recognise([rest for rest in rests if rest.size]))
        return [
            _Fresh(place, one, rest, without_icons(next(read), rest) if rest.size else Reading("", 0.0))
            for (place, _, _), rest, one in zip(some, rests, unread, strict=True)
        ]

    def _settle_doubts(self, doubts: Sequence[Doubt], scripts: ViewScripts) -> Steps[list[Reading]]:
        if self._second is None:
            settled = [one.reading for one in doubts]
        else:
            settled = yield from self._second.reread(doubts, scripts)
        for one, reading in zip(doubts, settled, strict=True):
            if not (scripts.failed and is_doubtful(reading, one.crop)):
                self._memo.learn(one.crop, reading)
        return settled


def _group_parts(parts: Sequence[Rect], area_a_step: int) -> Iterator[list[Rect]]:
    """Yield the parts in order, so many at a time as one step searches."""
    share: list[Rect] = []
    for part in parts:
        if share and sum(one.area for one in (*share, part)) > area_a_step:
            yield share
            share = []
        share.append(part)
    if share:
        yield share


def _whole_box(pixels: NDArray[np.uint8]) -> Rect:
    return Rect(0, 0, pixels.shape[1], pixels.shape[0])


def _cut_part(pixels: NDArray[np.uint8], box: Rect) -> NDArray[np.uint8]:
    return pixels[box.y : box.bottom, box.x : box.right]


def _cut_bgr(pixels: NDArray[np.uint8], box: Rect) -> Bgr:
    return np.ascontiguousarray(pixels[box.y : box.bottom, box.x : box.right, :3])


def _settle_box(box: Rect, old_boxes: Sequence[Rect]) -> tuple[Rect, bool]:
    """Return `box` with the left, top and bottom of the line of `old_boxes` at almost the same place, and whether there
    is such a line: its unchanged part then has the same pixels, and is not read again.
    """
    for old in old_boxes:
        if max(abs(box.x - old.x), abs(box.y - old.y), abs(box.bottom - old.bottom)) <= _SAME_PX:
            return Rect(old.x, old.y, max(1, box.right - old.x), old.h), True
    return box, False


def _with_descenders(box: Rect, boxes: Sequence[Rect]) -> Rect:
    """Return the box of a line with one row more if another one of `boxes` begins there: halfway between two lines of a
    dense terminal the descenders of the upper one are not over.
    """
    dense = any(
        0 <= other.y - box.bottom <= _DENSE_PX and other.x < box.right and box.x < other.right for other in boxes
    )
    return Rect(box.x, box.y, box.w, box.h + dense)


def _rewritten_box(region: Rect, old_lines: Sequence[_Known], before: _Seen, pixels: NDArray[np.uint8]) -> Rect | None:
    """Return the box of the line in `region` that changed between its upper and lower edge alone and is one line still,
    as far as it reaches now. None if that is uncertain: then it must be looked for.
    """
    here = [one for one in old_lines if one.line.box.intersect(region) is not None]
    if len(here) != 1 or not here[0].line.text:
        return None
    found, box = here[0].found, here[0].line.box
    area = _with_descenders(box, [one.line.box for one in before.known])
    if region.y < area.y or region.bottom > area.bottom:
        return None
    row = Rect(region.x, area.y, region.w, area.h)
    old, new = (bands.text_extent(_cut_part(picture, row)) for picture in (before.pixels, pixels))
    if old is None or new is None or new.gap > _ONE_LINE_X * box.h:
        return None
    moved = (new.box.x - old.box.x, new.box.y - old.box.y, new.box.bottom - old.box.bottom)
    if max(map(abs, moved)) > _SAME_PX:
        return None
    return Rect(found.x, found.y, max(1, found.right + new.box.right - old.box.right - found.x), found.h)


def _enlarge_crop(crop: Bgr, scale: int) -> Bgr:
    return crop if scale == 1 else crop.repeat(scale, 0).repeat(scale, 1)


def _reduce_box(box: Rect, scale: int) -> Rect:
    """Return a box of a picture enlarged by `scale` in pixels of the picture."""
    x, y = box.x // scale, box.y // scale
    return Rect(x, y, -(-box.right // scale) - x, -(-box.bottom // scale) - y)


def _own_part(box: Rect, band: Rect, whole: Rect) -> Rect | None:
    """Return what of a box found around `band` belongs to it: its margins show the beginnings of other bands."""
    own = box.intersect(around(band, _BEYOND_PX, _BEYOND_PX, whole))
    return own if own is not None and 2 * own.h >= box.h and 2 * own.w >= own.h else None


def _is_part_of(box: Rect, standing: Rect) -> bool:
    """Return whether a box found again is (a part of) a line that stands."""
    common = box.intersect(standing)
    return common is not None and 2 * common.area >= box.area


def choose_engine(settings: OcrSettings) -> EngineOnDemand:
    """Return RapidOCR's models where acud[ocr] or acud[openvino] is installed, else tesseract."""
    if not has_rapidocr():
        return EngineOnDemand(TesseractEngine, ENGINE_VERSION)
    from acud.evaluator.ocr import rapid

    return EngineOnDemand(lambda: rapid.RapidEngine(settings.runtime), rapid.VERSION)


class TextReading:
    """Owns the engine and the queue for it. A whole frame takes a second or more; judges do not wait for it."""

    name = "rapidocr"

    def __init__(
        self,
        settings: OcrSettings,
        make_engine: Callable[[], Engine] | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
        make_program: Callable[[], LineProgram] = Tesseract,
    ) -> None:
        self._min_confidence = settings.min_confidence
        self._second = SecondReader(make_program, monotonic_s) if settings.second_reader == "auto" else None
        self._engine = EngineOnDemand(make_engine, "") if make_engine else choose_engine(settings)
        self._queue: ReadingQueue[ViewPixels] = ReadingQueue()
        self._reader = ScreenReader(self._engine, self._second)
        self._now = monotonic_s
        self._read_s = monotonic_s()
        self._released = True
        self._fault = ""

    async def look_for(
        self, shot: ViewPixels, leaf: TextLeaf, windows: Sequence[WindowInfo] = (), echoes: Sequence[Echo] = ()
    ) -> Verdict:
        """Return whether `leaf` holds on `shot`, but for `echoes`, a number outside of the bars of `windows` (in the
        shot's pixels); `unknown(engine)` when the engine fails, or when the text was not found and no reader here can
        read its letters.
        """
        try:
            lines = await self.lines(shot)
        except Unavailable as fault:
            return unknown("engine", fault.message)
        if isinstance(leaf, ScreenNumber):
            counted = without_echoes(lines, leaf.label, echoes)
            parted = (Line(one.text, one.confidence, one.box) for one in segments(counted, shot.pixels))
            cells = outside_bars(list(parted), windows)
            return look_for_number(cells, leaf, self._min_confidence, shot.crop, shot.pixels)
        verdict = look_for(lines, leaf, self._min_confidence, shot.crop, echoes, shot.pixels)
        if verdict.answer is not (Answer.YES if leaf.gone else Answer.NO):
            return verdict
        if not has_rapidocr() and needs_rapidocr(leaf.text):
            return unknown("engine", str(not_installed("ocr", "reading Chinese and Japanese")))
        if self._second is None:
            return verdict
        reason = await asyncio.to_thread(self._second.cannot_read, leaf.text)
        return unknown("engine", reason) if reason else verdict

    @property
    def note(self) -> str:
        """Why lines that another reader should have read are the first one's ("": none is)."""
        return self._second.fault if self._second is not None else ""

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> tuple[Line, ...]:
        """Return the lines of text in `shot`, in its pixels; with `fresh` nothing of an earlier frame is taken for it.
        Raises: Unavailable when the engine fails.
        """
        read = shot if shot.lines is not None and not fresh else await self._ask(shot, lambda: shot, fresh=fresh)
        return read.lines or ()

    async def read_look(self, shot: ViewPixels, take: Callable[[], ViewPixels]) -> ViewPixels:
        """Return `shot` with its lines. While frames come faster than they are read, it is the newest one when its turn
        comes: what `take` returns. Raises: Unavailable when the engine fails; FrameGone when a newer one was read.
        """

        def take_newest() -> ViewPixels:
            if self._queue.crowded:
                with suppress(AcudError):  # its ring is gone, or what rules hide of the frame is not known
                    return take()
            return shot

        return await self._ask(shot, take_newest, is_look=True)

    async def _ask(
        self, shot: ViewPixels, take: Callable[[], ViewPixels], *, fresh: bool = False, is_look: bool = False
    ) -> ViewPixels:
        key = (shot.source, shot.crop, shot.ignore)
        asked = self._queue.ask(
            key, lambda: self._read(key, take(), fresh), lambda: not fresh and self._reader.knows(key), is_look=is_look
        )
        try:
            return await asyncio.wrap_future(asked)
        finally:
            self._read_s, self._released = self._now(), False

    def _read(self, key: ViewKey, shot: ViewPixels, fresh: bool) -> Steps[ViewPixels]:
        try:
            self._engine.load()  # a screen without text needs none, but a failure to load it is reported now
            if fresh:
                self._reader.forget_view(key)
            lines = yield from self._reader.read_in_steps(key, shot.pixels)
        except Unavailable as fault:
            self._fault = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
            raise
        self._fault = ""
        return shot._replace(lines=lines)

    async def check_health(self) -> JudgeHealth:
        """Return idle while no engine is loaded, down after a failure, else ready."""
        if self._fault:
            return JudgeHealth(JudgeName.OCR, "down", self._fault, self._engine.version)
        state: Literal["ready", "idle"] = "ready" if self._engine.loaded else "idle"
        if self._second is None:
            return JudgeHealth(JudgeName.OCR, state, version=self._engine.version)
        version = ", ".join(filter(None, (self._engine.version, self._second.version)))
        return JudgeHealth(JudgeName.OCR, state, self.note, version, missing=self._second.missing)

    def release_idle_engine(self) -> bool:
        """Have the engine release memory if nothing was read for five seconds, and unload it after two minutes; return
        whether that has freed any.
        """
        rests_s = self._now() - self._read_s
        if not self._engine.loaded or not self._queue.idle or rests_s < _RELEASE_S:
            return False
        if rests_s >= _UNLOAD_S:
            self._engine.unload()
            return True
        due, self._released = not self._released, True
        if due:
            self._engine.release()
        return due

    def close(self) -> None:
        """End the thread after the step that it is at; what is left of readings is dropped."""
        self._queue.close()
