"""Walking one application's widgets, level by level, so that what a limit cuts off is what lies deepest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.nodes import FIELD, PAGES, PASSWORD, TEXT_INPUT, AccessibleApp, Limits, Node, State
from acud.evaluator.accessibility.browsers import tab_title
from acud.evaluator.accessibility.bus import NoAnswer
from acud.evaluator.accessibility.children_in_view import children_in_view
from acud.evaluator.accessibility.place import WindowPlace, is_closed_list, place_inside, place_of
from acud.evaluator.accessibility.widget import (
    Placeholder,
    Ref,
    RememberedWidget,
    WidgetAnswers,
    WidgetClient,
    WidgetMemory,
)
from acud.types import Rect, WindowInfo

_AT_ONCE = 48  # widgets asked at once: enough to fill the round trips, few enough that a peer's queue stays short
_HIDDEN_PER_NODE = 4
_WITH_TIP = frozenset({"push button", "toggle button", "icon", "image", "push button menu"})
_LABELLED = frozenset({*TEXT_INPUT, "combo box", "slider", "check box", "radio button", "switch", "list box"})
_CLIPPING = frozenset({"viewport", "scroll pane", "frame", "window", "dialog"})
_OFFSCREEN_PART = 5
_WITH_NUMBER = frozenset({"slider", "progress bar", "level bar", "dial"})
_EDITED = State.EDITABLE | State.FOCUSABLE
_UNSPECIFIC = frozenset(
    {"section", "paragraph", "panel", "filler", "grouping", "unknown", "static", "label", "canvas", "drawing area"}
)
_WITH_WORDS = frozenset({"paragraph", "section", "label", "static", "caption", "block quote"})
"""What holds the words of a page, and has no name."""
_EMBEDDED = "\ufffc"  # what stands in a text for a widget in it
_EDITORS = frozenset({"document text", "document spreadsheet", "document presentation", "document email"})
"""What holds paragraphs that can be edited, and is the field itself."""
_INERT = frozenset({"frame", "window", "dialog", "panel", "filler", "scroll pane", "document web", "page tab list"})


class WalkBudget:
    """What the applications of one walk share: widgets that may still be asked, and the end (monotonic seconds)."""

    def __init__(self, limits: Limits, until: float) -> None:
        self.limits, self.until = limits, until
        self.nodes = limits.max_nodes
        self.asked = limits.max_nodes * (1 + _HIDDEN_PER_NODE)
        self.cut = ""

    def take_steps(self, steps: Sequence[WalkStep]) -> Sequence[WalkStep]:
        """Return as many of `steps` as may be asked."""
        few = steps[: max(0, min(self.nodes, self.asked))]
        self.asked -= len(few)
        if len(few) < len(steps):
            self.cut = "nodes"
        return few


class WalkStep(Struct, frozen=True):
    """A widget still to be asked: its handle, its parent's index (-1: none), its place among its siblings."""

    ref: Ref
    parent: int
    order: tuple[int, ...]
    place: WindowPlace | None
    is_in_page: bool = False


class WalkedWidget(Struct):
    """A widget that was asked. `is_whole`: every question to it was answered."""

    step: WalkStep
    place: WindowPlace
    widget: RememberedWidget
    is_whole: bool


class AppWalk:
    """One application's walk. `ask_widgets` ends by itself or is cancelled; `found` holds what was read until then.

    Widgets that `memory` holds are not asked again.
    """

    def __init__(
        self,
        asker: WidgetClient,
        root: Ref,
        app: AccessibleApp,
        windows: Sequence[WindowInfo],
        budget: WalkBudget,
        memory: WidgetMemory | None = None,
    ) -> None:
        self._asker, self._root, self._app = asker, root, app
        self._windows = [window for window in windows if window.pid == app.pid]
        self._popups = [window for window in self._windows if window.kind == "popup"]
        self._is_gtk_3 = app.is_gtk_3
        self._limits = budget.limits
        self._budget = budget
        self._memory = memory or WidgetMemory()
        self._hidden: list[tuple[Ref, RememberedWidget]] = []
        self._offscreen: list[WalkStep] = []  # widgets of pages that are scrolled out of sight: asked last
        self._is_offscreen = False
        self._reached: set[Ref] = set()
        self._waiting = 0
        self._skipped = 0
        self.found: list[WalkedWidget] = []
        self.answers = 0  # widgets that answered so far: how the reader sees that the application is alive

    @property
    def hidden(self) -> int:
        """How many widgets did not show; those of a long list that are not in view count as well."""
        return len(self._hidden) + sum(one.widget.asked.beyond for one in self.found if not one.widget.asked.is_cut)

    @property
    def left_out(self) -> int:
        """How many widgets were not asked though they may show: by a limit, or because the walk is not at its end."""
        cut = sum(one.widget.asked.beyond for one in self.found if one.widget.asked.is_cut)
        return self._waiting + self._skipped + cut + len(self._offscreen)

    async def ask_widgets(self) -> None:
        """Ask every widget that shows. Raises: NoAnswer when the application is gone, Unavailable when the bus is."""
        tops = await self._asker.children(self._root)
        self.answers += 1
        level = self._drop_reached(WalkStep(ref, -1, (index,), None) for index, ref in enumerate(tops))
        for _ in range(self._limits.max_depth):
            self._waiting = len(level)
            if not level:
                break
            level = await self._ask_level(level)
        self._waiting = len(level)
        if level and not self._budget.cut:
            self._budget.cut = "depth"
        await self._run_offscreen()

    async def _run_offscreen(self) -> None:
        """Ask what pages have out of sight: it changes with each scrolling, so it gets a part of the limit only."""
        self._is_offscreen = True
        left = self._limits.max_nodes // _OFFSCREEN_PART
        while self._offscreen and left > 0:
            level, self._offscreen = self._offscreen[:left], self._offscreen[left:]
            left -= len(level)
            self._waiting += len(level)
            below = await self._ask_level(level)
            self._waiting -= len(below)
            self._offscreen += below
        if self._offscreen and not self._budget.cut:
            self._budget.cut = "nodes"

    async def _ask_level(self, level: Sequence[WalkStep]) -> list[WalkStep]:
        below: list[WalkStep] = []
        for start in range(0, len(level), _AT_ONCE):
            wanted = level[start : start + _AT_ONCE]
            steps = self._budget.take_steps(wanted)
            known = [self._find_remembered(step) for step in steps]
            unknown = [step for step, one in zip(steps, known, strict=True) if not one]
            fresh = iter(await asyncio.gather(*map(self._ask_widget, unknown)))
            answers = [one.asked if one else next(fresh) for one in known]
            kept = [
                (self._record_widget(step, asked, one), one)
                for step, asked, one in zip(steps, answers, known, strict=True)
                if asked is not None
            ]
            new = [index for index, one in kept if index >= 0 and not one]
            await asyncio.gather(*(self._ask_details(self.found[index]) for index in new))
            shown = [index for index, _ in kept if index >= 0]
            more = self._drop_reached(step for index in shown for step in _child_steps(index, self.found[index]))
            below.extend(more)
            self._skipped += len(wanted) - len(steps)
            self._waiting += len(more) - len(wanted)
        return below

    def _drop_reached(self, steps: Iterable[WalkStep]) -> list[WalkStep]:
        """Return the steps to widgets not reached yet: GTK 3 lists the menu of an open combo box twice, in the box
        and in a top-level window of its own, which comes first.
        """
        found = []
        for step in steps:
            if step.ref not in self._reached:
                self._reached.add(step.ref)
                found.append(step)
        return found

    def _find_remembered(self, step: WalkStep) -> RememberedWidget | None:
        """Return the remembered widget, unless an earlier walk asked it less for being out of sight."""
        known = self._memory.get(step.ref)
        is_less = known is not None and not known.role and known.asked.states & State.VISIBLE
        return None if self._is_offscreen and is_less else known

    async def _ask_widget(self, step: WalkStep) -> WidgetAnswers | None:
        """Ask one widget; None when it vanished meanwhile."""
        try:
            at = step.place
            asked = await self._asker.widget(
                step.ref,
                on_screen=at is None or at.needs_screen,
                in_window=at is None or at.needs_window,
                offscreen=self._is_offscreen,
                in_scroll_pane=self._is_gtk_3 and self._role_around(step) == "scroll pane",
            )
            asked = await self._with_children_in_view(step, asked) if asked.total else asked
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        self._count_answer()
        return asked

    def _count_answer(self) -> None:
        self.answers += 1

    def _role_around(self, step: WalkStep) -> str:
        return self.found[step.parent].widget.asked.role if step.parent >= 0 else ""

    async def _with_children_in_view(self, step: WalkStep, answers: WidgetAnswers) -> WidgetAnswers:
        """Add the children in view to a widget that has too many to list them all."""
        in_window = step.place is not None and step.place.needs_window
        view = self._visible_part(step, answers.in_window if in_window else answers.on_screen)
        if view is None:
            return answers._replace(is_cut=True)
        try:
            found = await children_in_view(
                self._asker.connection, step.ref, view, int(in_window), self._limits.max_nodes, self._count_answer
            )
        except NoAnswer as fault:
            fault.raise_if_gone()
            found = None
        if found is None:
            return answers._replace(is_cut=True)
        return answers._replace(children=found.refs, is_cut=found.is_cut)

    def _visible_part(self, step: WalkStep, box: Rect | None) -> Rect | None:
        """Return the part of `box` that the widgets around it do not clip, in the toolkit's pixels."""
        while box is not None and step.parent >= 0:
            around = self.found[step.parent]
            outer = around.place.toolkit_box(around.widget.asked)
            if outer is not None and around.widget.asked.role in _CLIPPING:
                box = box.intersect(outer)
            step = around.step
        return box

    def _record_widget(self, step: WalkStep, answers: WidgetAnswers, remembered: RememberedWidget | None) -> int:
        """Record a widget as found and return its index, -1 for one that does not show."""
        at, read_s = step.place, remembered.read_s if remembered else time.monotonic()
        parent, top = self._find_parent_and_top(step)
        inside = self.found[step.parent].widget.asked if step.parent >= 0 else None
        if not answers.role and self._is_scrolled_away(step, answers):
            self._offscreen.append(step)
            return -1
        if not answers.role or (inside is not None and is_closed_list(answers, inside, self._app)):
            self._hidden.append((step.ref, RememberedWidget(answers, parent, top, at.window if at else 0, read_s)))
            return -1
        self._budget.nodes -= 1
        if answers.is_cut:
            self._budget.cut = "nodes"
        if at is None or inside is None:
            at = place_of(answers.name, answers.on_screen, answers.in_window, self._windows, self._app)
        else:
            at = place_inside(at, answers, inside, self._app, self._popups)
        box = at.box(answers.on_screen, answers.in_window)
        if remembered:
            widget = replace(remembered, parent=parent, top=top, window=at.window, box=box)
        else:
            name, role = self._own_name(step, answers), self._find_role(answers, inside)
            widget = RememberedWidget(answers, parent, top, at.window, read_s, box, name, role)
        self.found.append(WalkedWidget(step, at, widget, is_whole=remembered is not None))
        return len(self.found) - 1

    def _is_scrolled_away(self, step: WalkStep, answers: WidgetAnswers) -> bool:
        is_wanted = self._limits.offscreen and not self._is_offscreen and step.is_in_page
        return is_wanted and answers.states & (State.VISIBLE | State.DEFUNCT) == State.VISIBLE

    def _find_parent_and_top(self, step: WalkStep) -> tuple[Ref, Ref]:
        """Return the parent and the top-level widget; each is the widget itself for a top-level one."""
        if step.parent < 0:
            return step.ref, step.ref
        parent = self.found[step.parent]
        return parent.step.ref, parent.widget.top

    def _own_name(self, step: WalkStep, answers: WidgetAnswers) -> str:
        if self._app.is_chromium and answers.role == "page tab" and not step.is_in_page:
            return tab_title(answers.name)
        return "" if self._is_class_name(answers.name) else answers.name

    def _is_class_name(self, name: str) -> bool:
        """GTK 4 names what has no name by its class, such as GtkEntry."""
        return self._app.toolkit == "GTK" and name.startswith("Gtk") and name[3:4].isupper() and name.isalnum()

    def _find_role(self, answers: WidgetAnswers, around: WidgetAnswers | None) -> str:
        """Return the widget's role. GTK 4 has no role for password fields, but names those without a name by their
        class. What can be edited as a whole, such as a part of a page, may have a role of no editable widget.
        """
        if self._is_class_name(answers.name) and answers.name == "GtkPasswordEntry":
            return PASSWORD
        is_in_other = around is not None and (around.states & State.EDITABLE or around.role in _EDITORS)
        is_edited = answers.states & _EDITED == _EDITED and answers.role in _UNSPECIFIC
        return FIELD if is_edited and not is_in_other else answers.role

    def finished_widgets(self) -> dict[Ref, RememberedWidget]:
        """Return the widgets that were asked completely, for the memory of a later walk."""
        return {one.step.ref: one.widget for one in self.found if one.is_whole} | dict(self._hidden)

    # ---- asked of some widgets only -------------------------------------------------------------------------------

    async def _ask_details(self, walked: WalkedWidget) -> None:
        try:
            await self._fill_details(walked.step.ref, walked.widget)
        except NoAnswer as fault:
            fault.raise_if_gone()
        walked.is_whole = True

    # GTK 4 doesn't mark fields that hide what is typed, and returns their text: no text of its fields is read.

    async def _fill_details(self, ref: Ref, widget: RememberedWidget) -> None:
        role = widget.role
        secure = role == PASSWORD
        is_cell = role == "table cell" and self._app.is_libreoffice
        if not widget.name and role in _LABELLED:
            widget.name = await self._asker.label(ref)
        if not widget.name and role in _WITH_WORDS and self._app.is_gecko:
            widget.name = " ".join((await self._asker.text(ref)).replace(_EMBEDDED, "").split())
        if not secure and (self._limits.details or role in _WITH_TIP):
            widget.description = await self._asker.description(ref)
        is_edited = role in TEXT_INPUT or (role == "combo box" and widget.asked.states & State.EDITABLE)
        empty = await self._asker.placeholder(ref, widget.name) if is_edited else Placeholder()
        widget.placeholder = empty.words
        if not widget.description and empty.words != widget.name:
            widget.description = empty.words
        is_field = role in TEXT_INPUT and widget.asked.states & (State.EDITABLE | State.FOCUSABLE)
        if is_cell or (is_field and not secure and not self._app.is_gtk_4):
            widget.text = await self._asker.text(ref)
            if empty.is_told_as_text and " ".join(widget.text.split()) == empty.words:
                widget.text = ""
        if role == "combo box":
            widget.text = await self._asker.selected_name(ref, widget.asked.children)
        if role in _WITH_NUMBER:
            widget.text, widget.span = await asyncio.gather(self._asker.value(ref), self._asker.span(ref))
        if self._limits.details or (self._limits.actions and _may_act(role, widget.asked.states)):
            widget.actions = await self._asker.actions(ref)


def in_document_order(widgets: Sequence[WalkedWidget], app: int, first: int) -> list[Node]:
    """Return an application's widgets as nodes in document order, `first` being the index of the first of them."""
    order = sorted(range(len(widgets)), key=lambda index: widgets[index].step.order)
    new = {old: first + index for index, old in enumerate(order)}
    return [_make_node(widgets[old], app, new.get) for old in order]


def _may_act(role: str, states: int) -> bool:
    """Return whether a widget is worth asking for its actions: GTK 3 writes a warning for each that has none."""
    return bool(states & State.FOCUSABLE) and role not in _INERT


def _child_steps(index: int, walked: WalkedWidget) -> Iterable[WalkStep]:
    is_in_page = walked.step.is_in_page or walked.widget.role in PAGES
    for place, ref in enumerate(walked.widget.asked.children):
        yield WalkStep(ref, index, (*walked.step.order, place), walked.place, is_in_page)


def _make_node(walked: WalkedWidget, app: int, index_of: Callable[[int, int], int]) -> Node:
    step, widget = walked.step, walked.widget
    return Node(
        ref=str(step.ref),
        app=app,
        parent=index_of(step.parent, -1),
        depth=len(step.order) - 1,
        role=widget.role,
        name=widget.name,
        states=widget.asked.states,
        box=widget.box,
        window=widget.window,
        description=widget.description,
        text=widget.text,
        actions=widget.actions,
        secure=widget.role == PASSWORD,
        placeholder=widget.placeholder,
        span=widget.span,
    )
