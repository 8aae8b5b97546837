"""The elements known of one display, with their ids, when they were read and who could not read."""

from __future__ import annotations

from collections.abc import Sequence

from acud.features.scene.element_ids import ElementIds, SeenElement
from acud.features.scene.tables import ReservedNumbers
from acud.protocol.evaluation import JobResult
from acud.protocol.scene_parts import NodePart, SceneParts, TextPart
from acud.types import Rect
from acud.types.scene import (
    AxElement,
    ChangeTiers,
    DisplayProviders,
    OcrElement,
    ProviderState,
    Redacted,
    position,
)

NOT_ASKED = ProviderState("", "off", "nobody has looked at this display yet")


class DisplayElements:
    """One display of the store's number `number`. Times are the monotonic clock's: of the walk, and of when the pixels
    were last seen to be on the screen.
    """

    def __init__(self, number: int, numbers: ReservedNumbers) -> None:
        self.number = number
        self._numbers = numbers
        self._ids = {letter: ElementIds(letter, number, numbers.first(f"{letter}{number}")) for letter in ("t", "a")}
        self.forget(NOT_ASKED)

    def forget(self, state: ProviderState) -> None:
        """Drop every element: nothing of what was read may be shown as present. ElementIds are never given again."""
        self.texts: tuple[OcrElement, ...] = ()
        self.widgets: tuple[AxElement, ...] = ()
        self._rules: dict[str, tuple[Redacted, ...]] = {"t": (), "a": ()}
        self.totals = {"ocr": 0, "ax": 0}
        self.cut = ""
        self.ocr = self.ax = state
        self.change: ChangeTiers | None = None
        self.epoch = self.frame = 0
        self.frame_mono_s = 0.0
        self.ocr_frame = self.ax_frame = (0, 0)
        self.ocr_secure: tuple[Rect, ...] = ()
        """The password fields that were known when the text was read."""
        self.ocr_at_s = self.ax_at_s = float("-inf")

    # ---- what was read ---------------------------------------------------------------------------------------------

    def take(self, result: JobResult, parts: SceneParts, size: tuple[int, int], now_s: float) -> None:
        """Take in what an evaluator read of a frame of `size`."""
        self.epoch, self.frame, self.frame_mono_s = result.epoch, result.frame, result.frame_mono_ns / 1e9
        self.change = parts.change
        if parts.ocr is not None:
            self._take_texts(parts.ocr, parts, size)
        if parts.ax is not None:
            self._take_widgets(parts.ax, parts, now_s)
        if parts.ocr is not None:
            self.ocr_secure = self.secure
        self.cut = parts.cut

    def _take_texts(self, state: ProviderState, parts: SceneParts, size: tuple[int, int]) -> None:
        if state.state == "unavailable":
            self.ocr = _kept(state, bool(self.texts))
            return
        ids = self._given("t", [SeenElement(one.text, one.bbox) for one in parts.lines])
        self.texts = tuple(_text(id_, one, self.number, size) for id_, one in zip(ids, parts.lines, strict=True))
        self._rules["t"] = tuple(Redacted(i, p.rule) for i, p in zip(ids, parts.lines, strict=True) if p.rule)
        self.ocr, self.totals["ocr"] = state, parts.lines_total
        self.ocr_frame, self.ocr_at_s = (self.epoch, self.frame), self.frame_mono_s

    def _take_widgets(self, state: ProviderState, parts: SceneParts, now_s: float) -> None:
        self.ax_at_s, self.ax_frame = now_s, (self.epoch, self.frame)
        if state.state == "unavailable":
            self.ax = state
            self.widgets, self._rules["a"], self.totals["ax"] = (), (), 0
            return
        ids = self._given(
            "a", [SeenElement(f"{one.role} {one.label}", one.bbox, one.role, one.key) for one in parts.nodes]
        )
        self.widgets = tuple(_widget(id_, one, self.number) for id_, one in zip(ids, parts.nodes, strict=True))
        self._rules["a"] = tuple(Redacted(i, _rule(p)) for i, p in zip(ids, parts.nodes, strict=True) if _rule(p))
        self.ax, self.totals["ax"] = state, parts.nodes_total

    def text_stands(self, compared_mono_s: float) -> None:
        """The screen was compared then with the frame that the text was read of, and showed the same."""
        if self.ocr.state == "ready":
            self.ocr_at_s = max(self.ocr_at_s, compared_mono_s)

    def unchanged(self, frame_mono_s: float) -> None:
        """A look at `frame_mono_s` saw the frame that is known already."""
        self.frame_mono_s = frame_mono_s
        self.change = ChangeTiers(0, self.change.dhash if self.change is not None else "", 0, 0, 1.0)

    def _given(self, letter: str, seen: Sequence[SeenElement]) -> list[str]:
        ids = self._ids[letter]
        given = ids.given(seen)
        self._numbers.given(f"{letter}{self.number}", ids.next_number)
        return given

    def went_old(self, reason: str) -> None:
        """Nothing could be read: what is known is said to be old, and what is not stays unknown."""
        self.ocr = _kept(ProviderState(self.ocr.name, "unavailable", reason), bool(self.texts))
        self.ax = _kept(ProviderState(self.ax.name, "unavailable", reason), bool(self.widgets))

    def drop_old_texts(self, now_s: float, ttl_s: float) -> None:
        """Drop text that could not be read again for longer than it may stand."""
        if self.ocr.state == "stale" and now_s - self.ocr_at_s > ttl_s:
            self.texts, self._rules["t"] = (), ()
            self.ocr = ProviderState(self.ocr.name, "unavailable", self.ocr.reason)

    # ---- told ------------------------------------------------------------------------------------------------------

    @property
    def providers(self) -> DisplayProviders:
        """Who read what."""
        return DisplayProviders(self.number, self.ocr, self.ax)

    @property
    def redactions(self) -> tuple[Redacted, ...]:
        """What was taken out of which element."""
        return (*self._rules["t"], *self._rules["a"])

    @property
    def ocr_secure_is_all(self) -> bool:
        """Tell whether each password field was known when the text was read. One that nobody tells of any more does
        not count: its pixels are the same, and were masked.
        """
        return set(self.secure) <= set(self.ocr_secure)

    @property
    def secure(self) -> tuple[Rect, ...]:
        """Boxes of the password fields that were seen."""
        return tuple(one.bbox for one in self.widgets if one.secure)


def _kept(state: ProviderState, has_some: bool) -> ProviderState:
    return ProviderState(state.name, "stale" if has_some else "unavailable", state.reason)


def _rule(part: NodePart) -> str:
    return part.rule or ("secure" if part.secure else "")


def _text(id_: str, part: TextPart, number: int, size: tuple[int, int]) -> OcrElement:
    return OcrElement(id_, part.text, part.bbox, part.conf, number, part.words, position(part.bbox, *size))


def _widget(id_: str, part: NodePart, number: int) -> AxElement:
    return AxElement(
        id_, part.role, part.bbox, number, part.label, part.actions, part.states, part.app, part.pid, part.secure
    )
