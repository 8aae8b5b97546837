"""Walking one application's widgets, level by level, so that what a limit cuts off is what lies deepest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from acud.accessibility.nodes import App, Limits, Node, State
from acud.accessibility.roles import PASSWORD, TEXT_INPUT
from acud.evaluator.accessibility.bus import NoAnswer
from acud.evaluator.accessibility.memory import Memory, Remembered
from acud.evaluator.accessibility.placing import Place, place_of
from acud.evaluator.accessibility.widget import Asked, Asker, Ref
from acud.types import Rect, WindowInfo

_AT_ONCE = 48
"""Widgets asked at once: enough to fill the round trips, few enough that a peer's queue stays short."""

_HIDDEN_PER_NODE = 4
_WITH_TIP = frozenset({"push button", "toggle button", "icon", "image", "push button menu"})
_LABELLED = frozenset({*TEXT_INPUT, "combo box", "slider", "check box", "radio button", "switch", "list box"})

_INERT = frozenset({"frame", "window", "dialog", "panel", "filler", "scroll pane", "document web", "page tab list"})


class Budget:
    """Widgets that may still be asked, shared by the applications of one walk."""

    def __init__(self, limits: Limits) -> None:
        self.nodes = limits.max_nodes
        self.asked = limits.max_nodes * (1 + _HIDDEN_PER_NODE)
        self.cut = ""

    def take(self, wanted: Sequence[Step]) -> Sequence[Step]:
        """Return as many of `wanted` as may be asked."""
        few = wanted[: max(0, min(self.nodes, self.asked))]
        self.asked -= len(few)
        if len(few) < len(wanted):
            self.cut = "nodes"
        return few


class Step(Struct, frozen=True):
    """A widget still to be asked: its handle, its parent's index (-1: none), its place among its siblings."""

    ref: Ref
    parent: int
    order: tuple[int, ...]
    place: Place | None


class Walked(Struct):
    """A widget that was asked, at `read_s` (monotonic)."""

    step: Step
    asked: Asked
    place: Place
    name: str
    read_s: float
    description: str = ""
    text: str = ""
    actions: tuple[str, ...] = ()
    role: str = ""
    is_whole: bool = False


class AppWalk:
    """One application's walk. `run` ends by itself or is cancelled; `found` holds what was read until then.

    Widgets that `memory` holds are not asked again.
    """

    def __init__(
        self,
        asker: Asker,
        root: Ref,
        app: App,
        windows: Sequence[WindowInfo],
        limits: Limits,
        budget: Budget,
        memory: Memory | None = None,
    ) -> None:
        self._asker = asker
        self._root = root
        self._app = app
        self._windows = [window for window in windows if window.pid == app.pid]
        self._limits = limits
        self._budget = budget
        self._memory = memory or Memory()
        self._hidden: list[tuple[Step, Asked, float]] = []
        self.found: list[Walked] = []
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
        level = [Step(ref, -1, (index,), None) for index, ref in enumerate(tops)]
        for _ in range(self._limits.max_depth):
            if not level:
                return
            level = await self._asked(level)
        if level and not self._budget.cut:
            self._budget.cut = "depth"

    async def _asked(self, level: Sequence[Step]) -> list[Step]:
        below: list[Step] = []
        for start in range(0, len(level), _AT_ONCE):
            steps = self._budget.take(level[start : start + _AT_ONCE])
            known = [self._memory.get(step.ref) for step in steps]
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

    async def _one(self, step: Step) -> Asked | None:
        """Ask one widget; None when it vanished meanwhile."""
        try:
            at = step.place
            asked = await self._asker.widget(
                step.ref, on_screen=at is None or at.needs_screen, in_window=at is None or at.needs_window
            )
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        self.answers += 1
        return asked

    def _kept(self, step: Step, asked: Asked, known: Remembered | None) -> int:
        """Add a widget to those found and return its index, -1 for one that does not show."""
        now = known.read_s if known else time.monotonic()
        if not asked.role:
            self._hidden.append((step, asked, now))
            return -1
        self._budget.nodes -= 1
        if asked.is_cut:
            self._budget.cut = "nodes"
        place = step.place or self._place(asked)
        if known:
            more = (known.description, known.text, known.actions, known.role, True)
            self.found.append(Walked(step, asked, place, known.name, now, *more))
        else:
            self.found.append(Walked(step, asked, place, self._own_name(asked), now, role=self._role(asked)))
        return len(self.found) - 1

    def _place(self, top: Asked) -> Place:
        return place_of(top.name, top.on_screen, top.in_window, self._windows, is_gtk_4=self._app.is_gtk_4)

    def _own_name(self, asked: Asked) -> str:
        return "" if self._is_class_name(asked.name) else asked.name

    def _is_class_name(self, name: str) -> bool:
        """GTK 4 names what has no name by its class, such as GtkEntry."""
        return self._app.toolkit == "GTK" and name.startswith("Gtk") and name[3:4].isupper() and name.isalnum()

    def _role(self, asked: Asked) -> str:
        """GTK 4 tells no password field by its role; one without a name tells its class."""
        return PASSWORD if self._is_class_name(asked.name) and asked.name == "GtkPasswordEntry" else asked.role

    def remembered(self) -> dict[Ref, Remembered]:
        """Return everything that was asked to its end, for the memory of a later walk."""
        kept = {}
        for walked in (one for one in self.found if one.is_whole):
            parent, top = self._around(walked.step)
            kept[walked.step.ref] = Remembered(
                walked.asked, parent, top, walked.place.window, walked.read_s, _box(walked), walked.name, walked.role,
                walked.description, walked.text, walked.actions,
            )  # fmt: skip
        for step, asked, read_s in self._hidden:
            parent, top = self._around(step)
            kept[step.ref] = Remembered(asked, parent, top, step.place.window if step.place else 0, read_s)
        return kept

    def _around(self, step: Step) -> tuple[Ref, Ref]:
        parent = top = step.ref
        if step.parent >= 0:
            parent = self.found[step.parent].step.ref
        while step.parent >= 0:
            step = self.found[step.parent].step
            top = step.ref
        return parent, top

    # ---- what only some widgets are asked ---------------------------------------------------------------------------

    async def _more(self, walked: Walked) -> None:
        try:
            await self._asked_more(walked)
        except NoAnswer as fault:
            fault.raise_if_gone()
        walked.is_whole = True

    # GTK 4 doesn't tell which fields hide what is typed into them, and hands it out: no text of its fields is read.

    async def _asked_more(self, walked: Walked) -> None:
        ref, role = walked.step.ref, walked.role
        secure = role == PASSWORD
        if not walked.name and role in _LABELLED:
            walked.name = await self._asker.label(ref)
        if not secure and (self._limits.details or role in _WITH_TIP):
            walked.description = await self._asker.description(ref)
        if not walked.description and role in TEXT_INPUT:
            walked.description = await self._asker.placeholder(ref)
        if (
            not secure
            and role in TEXT_INPUT
            and not self._app.is_gtk_4
            and walked.asked.states & (State.EDITABLE | State.FOCUSABLE)
        ):
            walked.text = await self._asker.text(ref)
        if self._limits.details or (self._limits.actions and _may_act(role, walked.asked.states)):
            walked.actions = await self._asker.actions(ref)


def _may_act(role: str, states: int) -> bool:
    """Tell whether a widget is worth asking for its actions: GTK 3 writes a warning for each that has none."""
    return bool(states & State.FOCUSABLE) and role not in _INERT


def _below(index: int, walked: Walked) -> Iterable[Step]:
    for place, ref in enumerate(walked.asked.children):
        yield Step(ref, index, (*walked.step.order, place), walked.place)


def _box(walked: Walked) -> Rect | None:
    return walked.place.box(walked.asked.on_screen, walked.asked.in_window)


def in_document_order(found: Sequence[Walked], app: int, first: int) -> list[Node]:
    """Return an application's widgets as nodes in document order, `first` being the index of the first of them."""
    order = sorted(range(len(found)), key=lambda index: found[index].step.order)
    new = {old: first + index for index, old in enumerate(order)}
    return [_node(found[old], app, new.get) for old in order]


def _node(walked: Walked, app: int, index_of: Callable[[int, int], int]) -> Node:
    step, asked = walked.step, walked.asked
    return Node(
        ref=str(step.ref),
        app=app,
        parent=index_of(step.parent, -1),
        depth=len(step.order) - 1,
        role=walked.role,
        name=walked.name,
        states=asked.states,
        box=_box(walked),
        window=walked.place.window,
        description=walked.description,
        text=walked.text,
        actions=walked.actions,
        secure=walked.role == PASSWORD,
    )
