"""Observes widgets before and after an action: over the accessibility bus, or by OCR for a dialog without widgets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from acud.accessibility.nodes import Limits, Node, State, Tree
from acud.base.errors import Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.bus import AccessibilityBuses, BusConnection, NoAnswer
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.accessibility.widget import ACCESSIBLE, TEXT, VALUE, Ref, WidgetClient
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import Redactor
from acud.evaluator.view_pixels import ViewPixels
from acud.features.actions import observed_widgets as rules
from acud.features.actions.observed_widgets import WidgetTree
from acud.protocol.observation import MAX_FIELD, ObserveAsk, Observed, Scrollable, WidgetNow
from acud.types import Rect
from acud.types.action_effects import MAX_TOLD, MAX_WORDS, OpenDialog
from acud.types.actions import Point

_WALK_S = 1.5
"""Limit of a walk over widgets: an action waits for two."""
_EMBEDDED = "￼"
"""Stands for a widget inside a text."""
_MOST_ASKED = 2000
"""Hidden widgets that are asked for their names, at most."""
_ASK_S = 1.0
_HIDDEN_DEPTH = 4
_SELECTED_DEPTH = 3


class WidgetObserver:
    """Answers `ObserveAsk`. Owns a connection for each bus; `close` ends them. `text` None: no OCR engine."""

    def __init__(self, settings: AccessibilitySettings, text: TextReading | None, redactor: Redactor) -> None:
        walk_s = min(settings.walk_s, _WALK_S)
        self._limits = Limits(settings.max_depth, settings.max_nodes, walk_s, settings.answer_s)
        self._buses = AccessibilityBuses()
        self._text = text
        self._redactor = redactor

    async def answer(self, ask: ObserveAsk, shot: ViewPixels, context: EvaluatorContext) -> Observed:
        with context.counters.measure("observe"):
            try:
                return await (self._read_lines(shot) if ask.read_text else self._read_widgets(ask, shot))
            except (Unavailable, TookTooLong) as fault:
                return Observed(unread=fault.message[:1000])

    async def close(self) -> None:
        await self._buses.close()

    async def _read_lines(self, shot: ViewPixels) -> Observed:
        if self._text is None:
            raise Unavailable("this evaluator owns no OCR engine")
        lines = self._redactor.redact_in_reading_order(await self._text.lines(shot))
        return Observed(lines=tuple(text.text[:MAX_WORDS] for _, text in lines)[:MAX_TOLD])

    async def _read_widgets(self, ask: ObserveAsk, shot: ViewPixels) -> Observed:
        bus = await self._buses.of(ask.bus_address, ask.a11y_address)
        tree = await TreeReader(bus).read(ask.windows, self._limits, ask.pids or None)
        if not tree.apps:
            return Observed(unread="no program there tells of them", dialogs=self._find_dialogs(ask, tree))
        return await self._observe_tree(ask, tree, await bus.connection(), shot)

    async def _observe_tree(self, ask: ObserveAsk, tree: Tree, connection: BusConnection, shot: ViewPixels) -> Observed:
        widgets = WidgetTree(tree)
        reader = _Reader(connection, widgets, self._redactor)
        point, windows = ask.point, ask.windows
        found = rules.control_at(widgets, point, windows) if point is not None else None
        field = (
            rules.field_at(widgets, point, windows)
            if point is not None
            else rules.find_focused_field(widgets, ask.focused)
        )
        choice = rules.choice_at(widgets, point, windows) if point is not None else None
        focus = rules.find_focused(widgets, ask.focused)
        return Observed(
            unread="; ".join(tree.gaps())[:1000],
            is_late=tree.truncated == "time",
            at=reader.describe(found) if found is not None else None,
            field=await reader.read_field(field) if field is not None else None,
            choice=await reader.read_choice(choice) if choice is not None else None,
            focus=reader.describe(focus) if focus is not None else None,
            dialogs=self._find_dialogs(ask, tree),
            scrollables=await reader.find_scrollables(ask.hint, shot.crop) if ask.hint is not None else (),
        )

    def _find_dialogs(self, ask: ObserveAsk, tree: Tree) -> tuple[OpenDialog, ...]:
        found = rules.find_open_dialogs(WidgetTree(tree), ask.windows)
        return tuple(
            replace(
                one,
                title=self._redact_texts([one.title])[0],
                texts=self._redact_texts(one.texts),
                buttons=self._redact_texts(one.buttons),
            )
            for one in found
        )

    def _redact_texts(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(one.text for one in self._redactor.redact_texts(words))


class _Reader:
    """Reads properties of widgets that their tree does not hold."""

    def __init__(self, connection: BusConnection, tree: WidgetTree, redactor: Redactor) -> None:
        self._connection = connection
        self._client = WidgetClient(connection)
        self._tree = tree
        self._redactor = redactor
        self._asked = 0

    def describe(self, node: Node) -> WidgetNow:
        name = self._redactor.redact_texts([node.name or node.description])[0].text
        return WidgetNow(node.role, name, node.box, node.states, is_secure=node.secure)

    async def read_field(self, node: Node) -> WidgetNow:
        """Return a field with its whole text, or the reason why it cannot be read."""
        parts = rules.find_parts(self._tree, node)
        text, unread = await self._read_text(node, parts)
        first = parts[0].box if parts else None
        return replace(
            self.describe(node),
            text=text,
            quoted=self._redactor.redact_texts([text[:MAX_WORDS]])[0].text if text else "",
            unread=unread,
            caret=await self._read_caret(node) if text is not None and not parts else -1,
            first=Point(first.x + first.w // 2, first.y + first.h // 2) if first is not None else None,
            is_value=rules.is_value(node) or bool(parts),
            is_date=bool(parts) or node.role == "date editor",
            is_multi_line=bool(node.states & rules.MULTI_LINE),
        )

    async def _read_text(self, node: Node, parts: Sequence[Node]) -> tuple[str | None, str]:
        app = self._tree.apps[node.app]
        if node.secure:
            return None, "it is a password field"
        if app.is_gtk_4:
            return None, "GTK 4 does not tell which fields are password fields, so none is read"
        try:
            return (await self._join_date(node), "") if parts else await self._whole_text(node)
        except NoAnswer as fault:
            return None, f"its program does not tell its text ({fault.name.rpartition('.')[2]})"

    async def _whole_text(self, node: Node) -> tuple[str | None, str]:
        ref = _ref(node)
        count = int(await self._connection.get(*ref, (TEXT, "CharacterCount")))
        if count > MAX_FIELD:
            return None, f"it holds more than {MAX_FIELD:,} characters"
        (text,) = await self._connection.call(*ref, (TEXT, "GetText"), "ii", 0, -1)
        if _EMBEDDED in text:
            return None, "it holds more than plain text"
        return str(text), ""

    async def _read_caret(self, node: Node) -> int:
        try:
            return int(await self._connection.get(*_ref(node), (TEXT, "CaretOffset")))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return -1

    async def _join_date(self, node: Node) -> str:
        shown = [one for one in self._tree.descendants(node) if one.role in ("spin button", "static", "label")]
        words = [await self._read_date_part(one) if one.role == "spin button" else one.name for one in shown]
        return "".join(words)

    async def _read_date_part(self, node: Node) -> str:
        if node.text:
            return node.text
        try:
            (attributes,) = await self._connection.call(*_ref(node), (ACCESSIBLE, "GetAttributes"))
            words, empty = attributes.get("valuetext", ""), attributes.get("placeholder", "")
            # Chromium reports an empty part of a date as 0, and shows its placeholder.
            return str(words if words.strip("0") or not empty else empty)
        except NoAnswer as fault:
            fault.raise_if_gone()
            return f"{float(await self._connection.get(*_ref(node), (VALUE, 'CurrentValue'))):g}"

    async def read_choice(self, node: Node) -> WidgetNow:
        """Return a list or combo box with its chosen items."""
        shown = [one for one in self._tree.descendants(node) if one.has(State.SELECTED)]
        reads = [one.name for one in shown if one.name]
        if node.role == "combo box":
            texts = [one.text for one in self._tree.descendants(node) if rules.takes_text(one) and one.text]
            reads = [*texts, *(reads or await self._selected_names(_ref(node), _SELECTED_DEPTH)), node.text, node.name]
        kept = tuple(one for one in dict.fromkeys(reads) if one and _EMBEDDED not in one)
        quoted = self._redactor.redact_texts([kept[0][:MAX_WORDS]])[0].text if kept else ""
        return replace(self.describe(node), reads=kept, quoted=quoted)

    async def _selected_names(self, ref: Ref, depth: int) -> list[str]:
        """Return the names of the selected items of a widget, even of hidden ones, as in a closed list."""
        found: list[str] = []
        try:
            for child in await self._ask_children(ref):
                self._asked += 1
                if await self._client.states(child) & State.SELECTED:
                    found.append((await self._client.name(child))[:MAX_WORDS])
                elif depth > 1:
                    found += await self._selected_names(child, depth - 1)
                if found or self._asked > _MOST_ASKED:
                    break
        except NoAnswer as fault:
            fault.raise_if_gone()
        return found

    async def _ask_children(self, ref: Ref) -> tuple[Ref, ...]:
        self._asked += 1
        return await self._client.children(ref)

    async def find_scrollables(self, hint: str, screen: Rect) -> tuple[Scrollable, ...]:
        """Return the scrollable widgets: first those with something named `hint` out of sight, then the largest."""
        found = []
        for node, box, at in rules.find_scrollable(self._tree, screen):
            is_it = bool(hint) and await self._has_hidden(_ref(node), hint.casefold())
            found.append(Scrollable(box, at, has_hint=is_it))
        # Every widget around it has the hint too: the innermost must scroll first.
        return tuple(sorted(found, key=lambda one: (not one.has_hint, one.box.area if one.has_hint else -one.box.area)))

    async def _has_hidden(self, ref: Ref, hint: str) -> bool:
        """Return whether something in the widget is known to be named `hint`; False is safe: it is only tried later."""
        try:
            async with asyncio.timeout(_ASK_S):
                return await self._has_named(ref, hint, _HIDDEN_DEPTH)
        except (TimeoutError, NoAnswer):
            return False

    async def _has_named(self, ref: Ref, hint: str, depth: int) -> bool:
        children = (await self._ask_children(ref))[:_MOST_ASKED]
        names = await asyncio.gather(*map(self._client.name, children))
        self._asked += len(children)
        if any(_is_called(name, hint) for name in names):
            return True
        if depth > 1:
            for child in children:
                if self._asked > _MOST_ASKED:
                    break
                if await self._has_named(child, hint, depth - 1):
                    return True
        return False


def _is_called(name: str, hint: str) -> bool:
    words = " ".join(name.casefold().split())
    return words == hint or f" {hint} " in f" {words} "


def _ref(node: Node) -> Ref:
    peer, slash, path = node.ref.partition("/")
    return Ref(peer, slash + path)
