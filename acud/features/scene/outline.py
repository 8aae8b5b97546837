"""The outline of a scene: per display its windows, and in each what a person would name, as lines with a depth.

It lists controls, headings, texts and named containers. It leaves out nameless containers, texts that repeat a label,
and texts read from the screen that a widget reports too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from acud.accessibility.nodes import PAGES
from acud.features.scene.elements import subtract_boxes
from acud.features.scene.repeats import LabelsBeside, WidgetWords, has_label_beside
from acud.features.scene.widget_words import (
    CELLS,
    ROWS,
    can_act,
    describe_widget,
    is_holder,
    is_listed_unnamed,
    is_silent,
    name_role,
    plain,
    quote,
)
from acud.types import Rect
from acud.types.scene import AxElement, OcrElement, Scene, SceneWindow

SURE = 0.8
"""Confidence below which a text's line shows it."""
_CRUMB, _MOST_LETTERS = 0.5, 3
"""A text of less confidence is a misread icon, if it is on a control or has no more letters than this."""
_MOST_DEEP = 60
_TEXTS = frozenset({"static", "label", "paragraph", "caption", "text", "tool tip", "section", "block quote", "comment"})

Kind = Literal["holder", "control", "text"]


class OutlineLine(Struct, frozen=True):
    """One line. `key`: the element's id, or else its words. `words`: the line, without its indent.

    `offscreen`: the element is scrolled out of sight.
    """

    key: str
    words: str
    kind: Kind
    depth: int = 0
    offscreen: bool = False


class WindowOutline(Struct, frozen=True):
    """A window and its lines. `window` None: the elements in no window of the display. `hidden`: how much of it which
    window covers ("": nothing).
    """

    display_id: int
    window: SceneWindow | None
    app: str
    has_focus: bool
    lines: tuple[OutlineLine, ...]
    hidden: str = ""


def outline_windows(scene: Scene) -> list[WindowOutline]:
    """Return the windows of every display, the focused display and window first, then from the topmost down."""
    first = scene.focused_window.display_id if scene.focused_window is not None else 0
    displays = sorted(scene.displays, key=lambda one: one.id != first)
    return [outline for display in displays for outline in _outline_display(scene, display.id)]


def _outline_display(scene: Scene, display_id: int) -> Iterator[WindowOutline]:
    windows = [(app.name, one) for app in scene.apps for one in app.windows if one.display_id == display_id]
    windows.sort(key=lambda pair: pair[1].stacking)
    stack = [one for _, one in windows]
    focused = _find_focused(scene, display_id, stack)
    windows.sort(key=lambda pair: pair[1].id != focused)
    places = WindowContents(scene, display_id)
    for app, window in windows:
        lines = tuple(WindowLines(*places.of(window.id)).lines())
        if lines or window.kind != "popup" or window.hides_screen:
            yield WindowOutline(display_id, window, app, window.id == focused, lines, _describe_cover(window, stack))
    rest = tuple(WindowLines(*places.of("")).lines())
    if rest:
        yield WindowOutline(display_id, None, "", has_focus=False, lines=rest)


def _find_focused(scene: Scene, display_id: int, windows: Sequence[SceneWindow]) -> str:
    focus = next((one.focused_window for one in scene.displays if one.id == display_id), None) or scene.focused_window
    if focus is None or focus.display_id != display_id:
        return ""
    return next((one.id for one in windows if (one.title, one.bounds) == (focus.title, focus.bounds)), "")


def _describe_cover(window: SceneWindow, stack: Sequence[SceneWindow]) -> str:
    if window.visibility == "unmapped":
        return "not shown"
    if window.visibility == "full":
        return ""
    above = [one for one in stack if one.stacking < window.stacking and one.visibility != "unmapped"]
    over = [one.id for one in above if one.bounds.intersect(window.bounds)]
    how = "partly covered" if subtract_boxes(window.bounds, [one.bounds for one in above]) else "covered"
    return f"{how} by {over[0]}" if over else how


class WindowContents:
    """Which window the elements of a display are in."""

    def __init__(self, scene: Scene, display_id: int) -> None:
        apps = [app for app in scene.apps if app.display_id in (0, display_id)]
        windows = [(app.pid, one) for app in apps for one in app.windows if one.display_id == display_id]
        self._windows = sorted(windows, key=lambda pair: pair[1].stacking)
        self._widgets: dict[str, list[AxElement]] = {}
        self._texts: dict[str, list[OcrElement]] = {}
        where: dict[str, str] = {}
        for widget in scene.ax:
            if widget.display_id == display_id:
                place = where[widget.id] = where.get(widget.parent) or self._find_window_of(widget)
                self._widgets.setdefault(place, []).append(widget)
        for text in scene.ocr:
            if text.display_id == display_id:
                self._texts.setdefault(self._find_window_at(text.bbox), []).append(text)

    def of(self, window: str) -> tuple[list[AxElement], list[OcrElement]]:
        """Return the widgets and texts of a window ("": of none)."""
        return self._widgets.get(window, []), self._texts.get(window, [])

    def _find_window_of(self, widget: AxElement) -> str:
        known = {window.id for _, window in self._windows}
        if widget.window in known:
            return widget.window
        own = [window.id for pid, window in self._windows if pid and pid == widget.pid]
        return own[0] if len(own) == 1 else self._find_window_at(widget.bbox, widget.pid)

    def _find_window_at(self, box: Rect, pid: int = 0) -> str:
        """Return the topmost window that shows the middle of `box`; with `pid`, of that process."""
        middle = Rect(box.x + box.w // 2, box.y + box.h // 2, 1, 1)
        shown = ((p, one) for p, one in self._windows if one.visibility != "unmapped" and (not pid or p == pid))
        return next((one.id for _, one in shown if one.bounds.contains(middle)), "")


class WindowLines:
    """The lines of one window: `widgets` in document order, `texts` read from the screen. `labels`: the label of each
    control, its own or the one beside it.
    """

    def __init__(self, widgets: Sequence[AxElement], texts: Sequence[OcrElement]) -> None:
        self._roots: list[AxElement] = []
        self._children: dict[str, list[AxElement]] = {}
        places: dict[str, tuple[int, str]] = {}
        for one in widgets:
            depth, around = places.get(one.parent, (-1, ""))
            if depth < 0:
                self._roots.append(one)
            else:
                self._children.setdefault(one.parent if depth < _MOST_DEEP else around, []).append(one)
            # Deeper widgets become children of the deepest allowed one.
            places[one.id] = (depth + 1, one.parent) if depth < _MOST_DEEP else (depth, around)
        shown = WidgetWords(widgets)
        # A single letter beside widgets is an icon, such as an arrow.
        read = [one for one in texts if not widgets or (len(plain(one.text)) > 1 and not shown.has(one))]
        signs = [one.bbox for one in widgets if one.role == "tool bar" or can_act(one)]
        self._texts = [one for one in read if not _is_crumb(one, signs)]
        self._beside = LabelsBeside(widgets, self._texts)
        self.labels = {one.id: self._find_label(one) for one in widgets if can_act(one)}
        self._names = "\n".join(plain(label) for label in self.labels.values())

    def _find_label(self, widget: AxElement) -> str:
        # GTK names a combo box by its chosen item.
        own = "" if widget.role == "combo box" and widget.label == widget.value else widget.label
        holds_label = not has_label_beside(widget) and self._has_words(widget)
        return own or ("" if holds_label else self._beside.of(widget))

    def _has_words(self, widget: AxElement) -> bool:
        return any(one.label or self._has_words(one) for one in self._children.get(widget.id, ()))

    def lines(self) -> list[OutlineLine]:
        """Return the lines: pages first, then the widgets around them, then texts that no widget reports."""
        found: list[OutlineLine] = []
        pages: list[OutlineLine] = []
        for root in self._roots:
            self._add_widget(root, 0, found, pages)
        return [*_drop_labels([*pages, *found]), *map(_make_ocr_line, self._sort_texts())]

    def _sort_texts(self) -> list[OcrElement]:
        left = [one for one in self._texts if one.id not in self._beside.used]
        return sorted(left, key=lambda one: (one.bbox.y + one.bbox.h // 2, one.bbox.x))

    def _add_widget(
        self, widget: AxElement, depth: int, out: list[OutlineLine], pages: list[OutlineLine] | None = None
    ) -> None:
        if is_silent(widget) or widget.id in self._beside.used:
            return
        if pages is not None and widget.role in PAGES:
            self._add_holder(widget, 0, pages)
        elif can_act(widget):
            self._add_control(widget, depth, out)
        elif widget.role in ROWS:
            self._add_row(widget, depth, out)
        elif is_holder(widget):
            self._add_holder(widget, depth, out, pages)
        else:
            self._add_text(widget, depth, out)

    def _add_control(self, widget: AxElement, depth: int, out: list[OutlineLine]) -> None:
        label, inner = self.labels[widget.id], list[OutlineLine]()
        self._add_children(widget, depth + 1, inner, label)
        texts = [] if label else [one.words for one in inner if one.kind == "text"]
        words = " ".join([describe_widget(widget, label), *([" | ".join(texts)] if texts else [])])
        out.append(_make_line(widget, words, "control", depth))
        out += [one for one in inner if one.kind != "text"] if texts else inner

    def _add_children(
        self,
        widget: AxElement,
        depth: int,
        out: list[OutlineLine],
        shown: str = "",
        pages: list[OutlineLine] | None = None,
    ) -> None:
        """Add the children of a widget, without texts that repeat its words `shown`."""
        run: list[AxElement] = []
        for child in self._children.get(widget.id, ()):
            if run and (child.role != "static" or child.offscreen != run[0].offscreen):
                self._add_text_run(run, depth, out, shown)
                run = []
            if child.role == "static":
                run.append(child)
                continue
            inner: list[OutlineLine] = []
            self._add_widget(child, depth, inner, pages)
            out += [one for one in inner if one.kind != "text" or not shown or plain(one.words) not in plain(shown)]
        self._add_text_run(run, depth, out, shown)

    def _add_text_run(self, run: Sequence[AxElement], depth: int, out: list[OutlineLine], shown: str) -> None:
        run = [one for one in run if one.id not in self._beside.used]
        words = " ".join(one.label for one in run if one.label)
        if plain(words) and not (shown and plain(words) in plain(shown)):
            out.append(_make_text_line(run[0], words, depth))

    def _add_holder(
        self, widget: AxElement, depth: int, out: list[OutlineLine], pages: list[OutlineLine] | None = None
    ) -> None:
        inner: list[OutlineLine] = []
        is_told_here = bool(widget.parent) and (bool(widget.label) or is_listed_unnamed(widget))
        self._add_children(widget, depth + is_told_here, inner, widget.label if is_told_here else "", pages)
        if inner and is_told_here:
            label = "" if widget.role in PAGES else widget.label
            out.append(_make_line(widget, describe_widget(widget, label), "holder", depth))
        out += inner

    def _add_text(self, widget: AxElement, depth: int, out: list[OutlineLine]) -> None:
        inner: list[OutlineLine] = []
        self._add_children(widget, depth, inner)
        has_controls = any(one.kind != "text" for one in inner)
        if not has_controls and widget.label:
            inner = [one for one in inner if plain(one.words) not in plain(widget.label)]
        if (widget.label or widget.value) and not has_controls:
            if widget.role in _TEXTS:
                if plain(widget.label) and not (widget.role == "label" and plain(widget.label) in self._names):
                    out.append(_make_text_line(widget, widget.label, depth))
            else:
                out.append(_make_line(widget, describe_widget(widget, widget.label), "text", depth, with_id=False))
        elif widget.role == "label":
            inner = [one for one in inner if one.kind != "text" or plain(one.words) not in self._names]
        elif widget.role == "heading" and inner and inner[0].kind == "text":
            inner[0] = _make_line(widget, f"{name_role(widget)} {inner[0].words}", "text", depth, with_id=False)
        out += inner

    def _add_row(self, widget: AxElement, depth: int, out: list[OutlineLine]) -> None:
        """Add the texts of a row as one line, and below it its controls."""
        inner: list[OutlineLine] = []
        for child in self._children.get(widget.id, ()):
            if child.role not in CELLS or can_act(child):
                self._add_widget(child, depth + 1, inner)
            elif child.id in self._children:
                self._add_children(child, depth + 1, inner)
            elif plain(child.label):
                inner.append(_make_text_line(child, child.label, depth + 1))
        own = [widget.label] if widget.label and not inner else []
        texts = [*map(quote, own), *(one.words for one in inner if one.kind == "text")]
        rest = [one for one in inner if one.kind != "text"]
        names = {plain(self.labels.get(one.key, "")) for one in rest}
        texts = [words for words in dict.fromkeys(texts) if plain(words) not in names]
        words = " | ".join(texts)
        if texts and not rest and widget.role != "table row":
            out.append(OutlineLine(words, words, "text", depth, widget.offscreen))
        elif texts or (len(rest) > 1 and widget.role == "table row"):
            out.append(_make_line(widget, f"{name_role(widget)} {words}".strip(), "text", depth))
        else:
            rest = [OutlineLine(one.key, one.words, one.kind, one.depth - 1, one.offscreen) for one in rest]
        out += rest


def _make_line(widget: AxElement, words: str, kind: Kind, depth: int, *, with_id: bool = True) -> OutlineLine:
    if with_id:
        return OutlineLine(widget.id, f"{widget.id} {words}", kind, depth, widget.offscreen)
    return OutlineLine(words, words, kind, depth, widget.offscreen)


def _make_text_line(widget: AxElement, words: str, depth: int) -> OutlineLine:
    return OutlineLine(quote(words), quote(words), "text", depth, widget.offscreen)


def _make_ocr_line(text: OcrElement) -> OutlineLine:
    doubt = "" if text.conf >= SURE else f" {text.conf:.2f}"
    return OutlineLine(text.id, f"{text.id} {quote(text.text)}{doubt}", "text")


def _is_crumb(text: OcrElement, signs: Sequence[Rect]) -> bool:
    """Return whether a text is probably a misread icon of a toolbar or a button."""
    box = text.bbox
    middle = Rect(box.x + box.w // 2, box.y + box.h // 2, 1, 1)
    is_short = len(plain(text.text)) <= _MOST_LETTERS
    return text.conf < _CRUMB and (is_short or any(sign.contains(middle) for sign in signs))


def _drop_labels(lines: Sequence[OutlineLine]) -> list[OutlineLine]:
    """Return the lines without texts that repeat the control just before or after them."""
    kept = []
    for index, one in enumerate(lines):
        beside = [*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2]]
        repeats = one.words.startswith('"') and any(
            other.kind == "control" and plain(one.words) == plain(_extract_label(other.words)) for other in beside
        )
        if not repeats:
            kept.append(one)
    return kept


def _extract_label(words: str) -> str:
    return words.split('"')[1] if words.count('"') > 1 else ""
