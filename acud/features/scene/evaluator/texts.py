"""The text of a display, redacted, with boxes of words: read by the first provider of a chain that can.

The engine that comes with acud is one provider. A Python distribution names others in its entry points; each runs in a
thread of its own and is never trusted to behave:

[project.entry-points."acud.ocr_providers"]
mine = "my_package:MyProvider"        # called without arguments, once, in each evaluator that reads
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from acud.base.errors import Unavailable
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.text_layout import words_of
from acud.evaluator.ports import Redactor
from acud.evaluator.view_pixels import ViewPixels
from acud.process.child_process import call_foreign
from acud.protocol.scene_parts import TextPart
from acud.types import HiddenBox, Rect, RedactedText, redaction_mark
from acud.types.scene import ProviderState

OCR_GROUP = "acud.ocr_providers"
EMBEDDED_PRIORITY = 0
"""The embedded engine's; providers with a higher priority are asked before it, the others after it."""


@runtime_checkable
class OcrProvider(Protocol):
    """Reads text. `name` appears in the scene's `providers`; the highest `priority` is asked first."""

    name: str
    priority: int

    def read(self, pixels: NDArray[np.uint8], fresh: bool) -> Sequence[Line]:
        """Return the lines in `pixels` (height x width x 4 uint8 BGRX, not to be written to), in their pixels.

        Called in a thread of its own, one picture at a time; may take seconds. `fresh`: use nothing remembered of an
        earlier picture. Any exception becomes the provider's reason, and the next provider is asked.
        """


class FoundProviders(NamedTuple):
    """The providers of the entry points, and (name, reason) of those that could not be made."""

    providers: tuple[ExternalProvider, ...]
    failed: tuple[tuple[str, str], ...]


def find_providers(points: Iterable[EntryPoint] | None = None, timeout_s: float = 20.0) -> FoundProviders:
    """Return the providers of `points` (None: all installed ones), the highest priority first."""
    made: list[ExternalProvider] = []
    failed: list[tuple[str, str]] = []
    for point in sorted(entry_points(group=OCR_GROUP) if points is None else points, key=lambda one: one.name):
        try:
            made.append(ExternalProvider(_make_provider(point), timeout_s))
        except Unavailable as fault:
            failed.append((point.name, fault.message))
    return FoundProviders(tuple(sorted(made, key=lambda one: (-one.priority, one.name))), tuple(failed))


def _make_provider(point: EntryPoint) -> OcrProvider:
    provider = call_foreign(lambda: point.load()(), f"the provider {point.name}")
    if not isinstance(provider, OcrProvider):
        raise Unavailable(f"the provider {point.name} has no name, priority and read: see docs/scene.md")
    return provider


class ExternalProvider:
    """One provider with its thread. After a timeout it gets no picture until it has finished the late one."""

    note = ""

    def __init__(self, provider: OcrProvider, timeout_s: float) -> None:
        self.name = str(provider.name)[:64]
        self.priority = int(provider.priority)
        self._provider = provider
        self._timeout_s = timeout_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"ocr-{self.name}")
        self._running: asyncio.Future[list[Line]] | None = None

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> Sequence[Line]:
        """Return the lines in the shot's pixels. Raises: Unavailable when it fails, or takes too long."""
        if self._running is not None and not self._running.done():
            raise Unavailable(f"it still reads an earlier picture, after {self._timeout_s:g} s")
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(self._thread, self._read_lines, shot, fresh)
        done, _ = await asyncio.wait({self._running}, timeout=self._timeout_s)
        if not done:
            raise Unavailable(f"it did not read the picture in {self._timeout_s:g} s")
        return self._running.result()

    def _read_lines(self, shot: ViewPixels, fresh: bool) -> list[Line]:
        pixels, read = shot.pixels.view(), self._provider.read
        pixels.flags.writeable = False
        inside = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
        return call_foreign(lambda: [_check_line(line, inside) for line in read(pixels, fresh)], self.name)

    def close(self) -> None:
        """Start no more readings, without waiting for one under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _check_line(line: Line, inside: Rect) -> Line:
    """Return the line with plain values, clipped to the picture. Raises: ValueError for one outside of it."""
    box = Rect(int(line.box.x), int(line.box.y), int(line.box.w), int(line.box.h)).intersect(inside)
    if box is None:
        raise ValueError(f"a line outside the picture: {line.box}")
    return Line(str(line.text), min(1.0, max(0.0, float(line.confidence))), box, str(line.reader))


_MAX_TEXT, _MAX_READER = 1000, 64
_MAX_VIEWS = 32

Words = tuple[tuple[str, Rect], ...]


class LineReader(Protocol):
    """One provider of the chain. `note`: a present limitation, reported beside its lines ("": none)."""

    name: str

    @property
    def note(self) -> str: ...

    async def lines(self, shot: ViewPixels, *, fresh: bool = False) -> Sequence[Line]:
        """Return the lines in the shot's pixels. Raises: Unavailable."""


class SceneTexts(NamedTuple):
    """The texts read; none with `state` unavailable, which has the reason."""

    state: ProviderState
    parts: tuple[TextPart, ...] = ()


class TextChain:
    """Reads with the first of `readings` that can. `failed`: (name, reason) of providers that could not be made."""

    def __init__(
        self, readings: Sequence[LineReader], redactor: Redactor, failed: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._readings = tuple(readings)
        self._redactor = redactor
        self._failed = [f"{name}: {reason}" for name, reason in failed]
        self._words: OrderedDict[tuple[str, Rect], dict[Line, Words]] = OrderedDict()
        """Boxes of words by view: most lines of a view are the same as before."""

    async def read(self, shot: ViewPixels, *, fresh: bool) -> SceneTexts:
        """Return the shot's text, redacted; never raises for a provider's fault."""
        faults = list(self._failed)
        for reading in self._readings:
            try:
                lines = await reading.lines(shot, fresh=fresh)
                parts = self._make_parts(shot, lines)
            except (Unavailable, TookTooLong) as fault:
                faults.append(f"{reading.name}: {fault.message}")
            else:
                notes = "; ".join([*faults, reading.note] if reading.note else faults)
                return SceneTexts(ProviderState(reading.name, "ready", notes[:1000]), parts)
        name = self._readings[0].name if self._readings else "none"
        reason = "; ".join(faults) or "this evaluator owns no OCR engine"
        return SceneTexts(ProviderState(name, "unavailable", reason[:1000]))

    def _make_parts(self, shot: ViewPixels, lines: Sequence[Line]) -> tuple[TextPart, ...]:
        if shot.hide_fault:
            raise Unavailable(shot.hide_fault)
        key = (shot.source, shot.crop)
        before, now = self._words.pop(key, {}), dict[Line, Words]()
        redacted = self._redactor.redact_in_reading_order(lines)
        parts = [self._make_part(shot, line, masked, before, now) for line, masked in redacted]
        self._words[key] = now
        if len(self._words) > _MAX_VIEWS:
            self._words.popitem(last=False)
        return tuple(parts)

    def _make_part(
        self, shot: ViewPixels, line: Line, masked: RedactedText, before: dict[Line, Words], now: dict[Line, Words]
    ) -> TextPart:
        box = line.box.shift(shot.crop.x, shot.crop.y)
        hidden = find_hiding_box(line.box, shot.hide)
        if hidden is not None:
            return TextPart(redaction_mark(hidden.rule), box, line.confidence, rule=hidden.rule)
        if masked.rule:
            return TextPart(masked.text[:_MAX_TEXT], box, line.confidence, rule=masked.rule)
        words = now[line] = before.get(line) or tuple((one.text, one.box) for one in words_of(line, shot.pixels))
        moved = tuple((text, place.shift(shot.crop.x, shot.crop.y)) for text, place in words)
        return TextPart(line.text[:_MAX_TEXT], box, round(line.confidence, 3), moved, reader=line.reader[:_MAX_READER])


def find_hiding_box(box: Rect, hidden: Sequence[HiddenBox]) -> HiddenBox | None:
    """Return the first hidden box that overlaps `box`, or None."""
    return next((one for one in hidden if one.box.intersect(box) is not None), None)
