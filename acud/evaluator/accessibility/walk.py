"""Walking one application's widgets, level by level, so that what a limit cuts off is what lies deepest.

What a toolkit says about places becomes display pixels: most know them, GTK 4 knows only its windows'.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from acud.accessibility.nodes import PASSWORD, TEXT_INPUT, AccessibleApp, Limits, Node, State
from acud.evaluator.accessibility.bus import NoAnswer
from acud.evaluator.accessibility.widget import Ref, RememberedWidget, WidgetAnswers, WidgetClient, WidgetMemory
from acud.types import Rect, WindowInfo

_SLACK_PX = 3
_FRAME_PX = 80
"""How much a window manager's frame may add on one side."""
_AT_ONCE = 48
"""Widgets asked at once: enough to fill the round trips, few enough that a peer's queue stays short."""
_HIDDEN_PER_NODE = 4
_WITH_TIP = frozenset({"push button", "toggle button", "icon", "image", "push button menu"})
_LABELLED = frozenset({*TEXT_INPUT, "combo box", "slider", "check box", "radio button", "switch", "list box"})
_PAGES = frozenset({"document web", "document frame"})
_OFFSCREEN_PART = 5
_WITH_NUMBER = frozenset({"slider", "progress bar", "level bar", "dial"})
_INERT = frozenset({"frame", "window", "dialog", "panel", "filler", "scroll pane", "document web", "page tab list"})


class WindowPlace(Struct, frozen=True):
    """Which X window a top-level widget is, and how its widgets' places become display pixels.

    `origin`: where the window's own coordinates begin, to be used instead of what widgets take for display pixels;
    None: they are right. `is_known` False: neither is known, and widgets of it have no place.
    """

    window: int = 0
    origin: tuple[int, int] | None = None
    is_known: bool = True

    @property
    def needs_screen(self) -> bool:
        """Whether widgets are to be asked for display pixels."""
        return self.is_known and self.origin is None

    @property
    def needs_window(self) -> bool:
        """Whether widgets are to be asked for their window's pixels."""
        return self.is_known and self.origin is not None

    def box(self, on_screen: Rect | None, in_window: Rect | None) -> Rect | None:
        """Return a widget's box in display pixels, or None."""
        if not self.is_known:
            return None
        if self.origin is None:
            return on_screen
        return in_window.moved(*self.origin) if in_window is not None else None


def place_of(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo], *, is_gtk_4: bool
) -> WindowPlace:
    """Return the place of a top-level widget; `own` are the windows of its process, topmost first."""
    window = _matching(name, on_screen, in_window, own)
    if window is None:
        # A menu or tip that no window list names. GTK 4 has no screen coordinates at all; others do.
        return WindowPlace(is_known=not is_gtk_4)
    if on_screen is not None and _agrees(on_screen, window.bounds):
        return WindowPlace(window.window_id)
    if in_window is None:
        return WindowPlace(window.window_id, is_known=False)
    return WindowPlace(window.window_id, _origin(in_window, window.bounds))


class WalkBudget:
    """What the applications of one walk share: widgets that may still be asked, and the end (monotonic seconds)."""

    def __init__(self, limits: Limits, until: float) -> None:
        self.limits = limits
        self.until = until
        self.nodes = limits.max_nodes
        self.asked = limits.max_nodes * (1 + _HIDDEN_PER_NODE)
        self.cut = ""

    def take(self, wanted: Sequence[WalkStep]) -> Sequence[WalkStep]:
        """Return as many of `wanted` as may be asked."""
        few = wanted[: max(0, min(self.nodes, self.asked))]
        self.asked -= len(few)
        if len(few) < len(wanted):
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
    """A widget that was asked. `is_whole`: all that it is to be asked was asked."""

    step: WalkStep
    place: WindowPlace
    widget: RememberedWidget
    is_whole: bool


class AppWalk:
    """One application's walk. `run` ends by itself or is cancelled; `found` holds what was read until then.

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
        self._asker = asker
        self._root = root
        self._app = app
        self._windows = [window for window in windows if window.pid == app.pid]
        self._limits = budget.limits
        self._budget = budget
        self._memory = memory or WidgetMemory()
        self._hidden: list[tuple[Ref, RememberedWidget]] = []
        self._offscreen: list[WalkStep] = []
        """Widgets of pages that are scrolled out of sight: asked last."""
        self._is_offscreen = False
        self.found: list[WalkedWidget] = []
        self.answers = 0
        """Widgets that answered so far: how the reader sees that the application is alive."""

    @property
    def hidden(self) -> int:
        """How many widgets did not show."""
        return len(self._hidden)

    async def run(self) -> None:
        """Ask every widget that shows. Raises: NoAnswer when the application is gone, Unavailable when the bus is."""
        tops = await self._asker.children(self._root)
        self.answers += 1
        level = [WalkStep(ref, -1, (index,), None) for index, ref in enumerate(tops)]
        for _ in range(self._limits.max_depth):
            if not level:
                break
            level = await self._asked(level)
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
            self._offscreen += await self._asked(level)
        if self._offscreen and not self._budget.cut:
            self._budget.cut = "nodes"

    async def _asked(self, level: Sequence[WalkStep]) -> list[WalkStep]:
        below: list[WalkStep] = []
        for start in range(0, len(level), _AT_ONCE):
            steps = self._budget.take(level[start : start + _AT_ONCE])
            known = [self._known(step) for step in steps]
            fresh = iter(await asyncio.gather(*(self._one(s) for s, one in zip(steps, known, strict=True) if not one)))
            answers = [one.asked if one else next(fresh) for one in known]
            kept = [
                (self._kept(step, asked, one), one)
                for step, asked, one in zip(steps, answers, known, strict=True)
                if asked is not None
            ]
            new = [index for index, one in kept if index >= 0 and not one]
            await asyncio.gather(*(self._more(self.found[index]) for index in new))
            below.extend(step for index, _ in kept if index >= 0 for step in _below(index, self.found[index]))
        return below

    def _known(self, step: WalkStep) -> RememberedWidget | None:
        """Return what is remembered. An earlier walk may have asked less of what is out of sight."""
        known = self._memory.get(step.ref)
        is_less = known is not None and not known.role and known.asked.states & State.VISIBLE
        return None if self._is_offscreen and is_less else known

    async def _one(self, step: WalkStep) -> WidgetAnswers | None:
        """Ask one widget; None when it vanished meanwhile."""
        try:
            at = step.place
            asked = await self._asker.widget(
                step.ref,
                on_screen=at is None or at.needs_screen,
                in_window=at is None or at.needs_window,
                offscreen=self._is_offscreen,
            )
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        self.answers += 1
        return asked

    def _kept(self, step: WalkStep, asked: WidgetAnswers, known: RememberedWidget | None) -> int:
        """Add a widget to those found and return its index, -1 for one that does not show."""
        at, read_s = step.place, known.read_s if known else time.monotonic()
        parent, top = self._around(step)
        if not asked.role and self._is_scrolled_away(step, asked):
            self._offscreen.append(step)
            return -1
        if not asked.role:
            self._hidden.append((step.ref, RememberedWidget(asked, parent, top, at.window if at else 0, read_s)))
            return -1
        self._budget.nodes -= 1
        if asked.is_cut:
            self._budget.cut = "nodes"
        at = at or place_of(asked.name, asked.on_screen, asked.in_window, self._windows, is_gtk_4=self._app.is_gtk_4)
        box = at.box(asked.on_screen, asked.in_window)
        if known:
            widget = replace(known, parent=parent, top=top, window=at.window, box=box)
        else:
            name, role = self._own_name(asked), self._role(asked)
            widget = RememberedWidget(asked, parent, top, at.window, read_s, box, name, role)
        self.found.append(WalkedWidget(step, at, widget, is_whole=known is not None))
        return len(self.found) - 1

    def _is_scrolled_away(self, step: WalkStep, asked: WidgetAnswers) -> bool:
        is_wanted = self._limits.offscreen and not self._is_offscreen and step.is_in_page
        return is_wanted and asked.states & (State.VISIBLE | State.DEFUNCT) == State.VISIBLE

    def _around(self, step: WalkStep) -> tuple[Ref, Ref]:
        """Return the widget that it is in and the top-level one; each itself for a top-level one."""
        if step.parent < 0:
            return step.ref, step.ref
        parent = self.found[step.parent]
        return parent.step.ref, parent.widget.top

    def _own_name(self, asked: WidgetAnswers) -> str:
        return "" if self._is_class_name(asked.name) else asked.name

    def _is_class_name(self, name: str) -> bool:
        """GTK 4 names what has no name by its class, such as GtkEntry."""
        return self._app.toolkit == "GTK" and name.startswith("Gtk") and name[3:4].isupper() and name.isalnum()

    def _role(self, asked: WidgetAnswers) -> str:
        """GTK 4 tells no password field by its role; one without a name tells its class."""
        return PASSWORD if self._is_class_name(asked.name) and asked.name == "GtkPasswordEntry" else asked.role

    def remembered(self) -> dict[Ref, RememberedWidget]:
        """Return everything that was asked to its end, for the memory of a later walk."""
        return {one.step.ref: one.widget for one in self.found if one.is_whole} | dict(self._hidden)

    # ---- asked of some widgets only -------------------------------------------------------------------------------

    async def _more(self, walked: WalkedWidget) -> None:
        try:
            await self._asked_more(walked.step.ref, walked.widget)
        except NoAnswer as fault:
            fault.raise_if_gone()
        walked.is_whole = True

    # GTK 4 doesn't tell which fields hide what is typed into them, and hands it out: no text of its fields is read.

    async def _asked_more(self, ref: Ref, widget: RememberedWidget) -> None:
        role = widget.role
        secure = role == PASSWORD
        if not widget.name and role in _LABELLED:
            widget.name = await self._asker.label(ref)
        if not secure and (self._limits.details or role in _WITH_TIP):
            widget.description = await self._asker.description(ref)
        if not widget.description and role in TEXT_INPUT:
            widget.description = await self._asker.placeholder(ref)
        if (
            not secure
            and role in TEXT_INPUT
            and not self._app.is_gtk_4
            and widget.asked.states & (State.EDITABLE | State.FOCUSABLE)
        ):
            widget.text = await self._asker.text(ref)
        if role == "combo box":
            widget.text = await self._asker.chosen(ref, widget.asked.children)
        if role in _WITH_NUMBER:
            widget.text = await self._asker.value(ref)
        if self._limits.details or (self._limits.actions and _may_act(role, widget.asked.states)):
            widget.actions = await self._asker.actions(ref)


def in_document_order(found: Sequence[WalkedWidget], app: int, first: int) -> list[Node]:
    """Return an application's widgets as nodes in document order, `first` being the index of the first of them."""
    order = sorted(range(len(found)), key=lambda index: found[index].step.order)
    new = {old: first + index for index, old in enumerate(order)}
    return [_node(found[old], app, new.get) for old in order]


def _matching(
    name: str, on_screen: Rect | None, in_window: Rect | None, own: Sequence[WindowInfo]
) -> WindowInfo | None:
    titled = [window for window in own if name and _one_line(window.title) == name]
    agreeing = [w for w in titled or own if on_screen is not None and _agrees(on_screen, w.bounds)]
    return next(iter(agreeing or titled), None) or (
        own[0] if len(own) == 1 and _same_size(on_screen or in_window, own[0]) else None
    )


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _same_size(box: Rect | None, window: WindowInfo) -> bool:
    bounds = window.bounds
    return box is not None and abs(box.w - bounds.w) <= _SLACK_PX and abs(box.h - bounds.h) <= _SLACK_PX


def _agrees(box: Rect, bounds: Rect) -> bool:
    """Tell whether a top-level's own box is that client area, or its frame, or lies inside it (drawn shadows)."""
    sides = (bounds.x - box.x, bounds.y - box.y, box.right - bounds.right, box.bottom - bounds.bottom)
    return all(-_FRAME_PX <= side <= _FRAME_PX for side in sides) and (
        min(sides) >= -_SLACK_PX or max(sides) <= _SLACK_PX
    )


def _origin(in_window: Rect, bounds: Rect) -> tuple[int, int]:
    """Return where window coordinates begin: at the client area, or, with a frame counted, above and left of it."""
    spare_x, spare_y = (bounds.w - in_window.w) // 2, (bounds.h - in_window.h) // 2
    return bounds.x + max(spare_x, 0), bounds.y + max(spare_y, 0)


def _may_act(role: str, states: int) -> bool:
    """Tell whether a widget is worth asking for its actions: GTK 3 writes a warning for each that has none."""
    return bool(states & State.FOCUSABLE) and role not in _INERT


def _below(index: int, walked: WalkedWidget) -> Iterable[WalkStep]:
    is_in_page = walked.step.is_in_page or walked.widget.role in _PAGES
    for place, ref in enumerate(walked.widget.asked.children):
        yield WalkStep(ref, index, (*walked.step.order, place), walked.place, is_in_page)


def _node(walked: WalkedWidget, app: int, index_of: Callable[[int, int], int]) -> Node:
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
    )
