"""One reading of a display for its scene: text and widgets side by side, of one frame, bounded."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from msgspec.structs import replace

from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.ocr.changes import changed_boxes
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import Redactor
from acud.evaluator.view_pixels import ViewPixels
from acud.features.scene.evaluator.texts import (
    EMBEDDED_PRIORITY,
    ExternalProvider,
    FoundProviders,
    LineReader,
    SceneTexts,
    TextChain,
    find_providers,
)
from acud.features.scene.evaluator.widgets import FrameFacts, SceneWidgets, WidgetReader
from acud.protocol import codec
from acud.protocol.questions import display_of
from acud.protocol.scene_parts import MAX_LINES, MAX_NODES, MAX_PARTS_BYTES, NodePart, SceneAsk, SceneParts, TextPart
from acud.types import HiddenBox, Rect, redaction_mark

MAX_KEPT_BYTES = 32 << 20
"""Eight displays of 1280x720."""
_MOST_BOXES = 64
_SECURE = "secure"
"""The redaction rule of password fields."""


class PreviousFrames:
    """The last frame of each display of which widgets were read. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ViewPixels] = OrderedDict()
        self._lock = threading.Lock()

    def find_changes(self, shot: ViewPixels) -> tuple[Rect, ...] | None:
        """Return the boxes where `shot` differs from the previous frame, in display pixels, and keep `shot`.

        None without a comparable previous frame, or with more than `_MOST_BOXES` boxes.
        """
        with self._lock:
            before = self._kept.pop(shot.source, None)
            self._kept[shot.source] = shot
            while len(self._kept) > 1 and sum(one.pixels.nbytes for one in self._kept.values()) > MAX_KEPT_BYTES:
                self._kept.popitem(last=False)
        if before is None or before.crop != shot.crop or before.epoch != shot.epoch:
            return None
        boxes = [box.shift(shot.crop.x, shot.crop.y) for box in changed_boxes(before.pixels, shot.pixels)]
        return tuple(boxes) if len(boxes) <= _MOST_BOXES else None


class SceneReader:
    """Reads displays. Owns the providers of other packages, and the connections to the buses."""

    def __init__(
        self, embedded: LineReader | None, others: FoundProviders, widgets: WidgetReader, redactor: Redactor
    ) -> None:
        self._others = others.providers
        self._widgets = widgets
        self._frames = PreviousFrames()
        self._texts = TextChain(_order_by_priority(embedded, others.providers), redactor, others.failed)

    async def answer(self, ask: SceneAsk, shot: ViewPixels, context: EvaluatorContext) -> SceneParts:
        """Answer a job's `scene`: the elements, and how much the display changed since the frame shown before."""
        with context.counters.measure("scene"):
            parts = await self.read(ask, shot)
        place = shot.source, shot.epoch, shot.frame
        with context.counters.measure("tiers"):
            return replace(parts, change=await context.off_loop(lambda: context.shown.advance(*place, shot.pixels)))

    async def read(self, ask: SceneAsk, shot: ViewPixels) -> SceneParts:
        """Return the parts of the display that `ask` names; a part that could not be read has the reason."""
        texts, widgets = await asyncio.gather(self._read_text(ask, shot), self._read_widgets(ask, shot))
        # Stay within the limits of one message: drop boxes of words first, then the last parts.
        parts = _join_parts(ask, texts, widgets)
        if len(parts.lines) > MAX_LINES or len(parts.nodes) > MAX_NODES:
            parts = _cut_parts(parts, MAX_LINES, MAX_NODES, f"more than {MAX_LINES} lines or {MAX_NODES} widgets")
        if len(codec.encode(parts)) > MAX_PARTS_BYTES:
            parts = replace(parts, lines=tuple(replace(line, words=()) for line in parts.lines))
        while len(codec.encode(parts)) > MAX_PARTS_BYTES:
            parts = _cut_parts(parts, len(parts.lines) * 3 // 4, len(parts.nodes) * 3 // 4, "the size of a message")
        return parts

    async def _read_text(self, ask: SceneAsk, shot: ViewPixels) -> tuple[SceneTexts, float] | None:
        if not ask.ocr:
            return None
        begun = time.perf_counter()
        return await self._texts.read(shot, fresh=ask.fresh), (time.perf_counter() - begun) * 1000

    async def _read_widgets(self, ask: SceneAsk, shot: ViewPixels) -> tuple[SceneWidgets, float] | None:
        if not ask.ax:
            return None
        begun = time.perf_counter()
        hide = tuple(HiddenBox(one.rule, one.box.shift(shot.crop.x, shot.crop.y)) for one in shot.hide)
        changed = await asyncio.to_thread(self._frames.find_changes, shot)
        found = await self._widgets.read(ask, FrameFacts(display_of(shot.source), hide, shot.hide_fault, changed))
        return found, (time.perf_counter() - begun) * 1000

    async def close(self) -> None:
        for other in self._others:
            other.close()
        await self._widgets.close()


def make_reader(
    settings: AccessibilitySettings, text: TextReading | None, mirrors: AtSpiProvider, redactor: Redactor
) -> SceneReader:
    """Return this process's reader. `text`: its OCR engine, or None; `mirrors`: as in `WidgetReader`."""
    others = find_providers() if text is not None else FoundProviders((), ())
    return SceneReader(text, others, WidgetReader(settings, mirrors, redactor), redactor)


def _order_by_priority(embedded: LineReader | None, others: Sequence[ExternalProvider]) -> list[LineReader]:
    before = [one for one in others if one.priority > EMBEDDED_PRIORITY]
    after = [one for one in others if one.priority <= EMBEDDED_PRIORITY]
    return [*before, *([embedded] if embedded is not None else []), *after]


def _join_parts(
    ask: SceneAsk, texts: tuple[SceneTexts, float] | None, widgets: tuple[SceneWidgets, float] | None
) -> SceneParts:
    parts = SceneParts()
    if widgets is not None:
        found, spent_ms = widgets
        parts = replace(
            parts,
            ax=found.state,
            nodes=found.parts,
            nodes_total=len(found.parts) + found.left_out,
            cut=found.cut,
            ax_ms=spent_ms,
        )
    if texts is not None:
        read, spent_ms = texts
        fields = (
            [one.bbox for one in parts.nodes if one.secure and not one.offscreen] if widgets is not None else ask.secure
        )
        lines = without_secure(read.parts, fields)
        parts = replace(parts, ocr=read.state, lines=lines, lines_total=len(lines), ocr_ms=spent_ms)
    return parts


def without_secure(lines: tuple[TextPart, ...], fields: Sequence[Rect]) -> tuple[TextPart, ...]:
    """Return the lines, with those in password fields masked: mostly dots, but a field may reveal its text."""
    return tuple(_mask_line(line) if _is_in_field(line.bbox, fields) else line for line in lines) if fields else lines


def _is_in_field(box: Rect, fields: Sequence[Rect]) -> bool:
    return any((common := box.intersect(field)) is not None and 2 * common.h >= box.h for field in fields)


def _mask_line(line: TextPart) -> TextPart:
    return TextPart(redaction_mark(_SECURE), line.bbox, line.conf, rule=_SECURE)


def _cut_parts(parts: SceneParts, lines: int, nodes: int, reason: str) -> SceneParts:
    return replace(parts, lines=parts.lines[:lines], nodes=first_nodes(parts.nodes, nodes), cut=parts.cut or reason)


def first_nodes(nodes: Sequence[NodePart], most: int) -> tuple[NodePart, ...]:
    """Return at most `most` of the widgets, in their order; those scrolled out of sight are dropped first."""
    if len(nodes) <= most:
        return tuple(nodes)
    kept = sorted(sorted(range(len(nodes)), key=lambda index: (nodes[index].offscreen, index))[:most])
    new = {index: number for number, index in enumerate(kept)}
    return tuple(replace(nodes[index], parent=_kept_parent(nodes, new, nodes[index].parent)) for index in kept)


def _kept_parent(nodes: Sequence[NodePart], new: dict[int, int], parent: int) -> int:
    while parent >= 0 and parent not in new:
        parent = nodes[parent].parent
    return new.get(parent, -1)
