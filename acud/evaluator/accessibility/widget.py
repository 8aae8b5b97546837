"""One widget: the calls of `org.a11y.atspi` that a walk makes, their answers cleaned, and when they are doubtful."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from acud.accessibility.nodes import State, role_name
from acud.evaluator.accessibility.bus import BusConnection, NoAnswer
from acud.types import Rect

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
TEXT = "org.a11y.atspi.Text"
_ACTION = "org.a11y.atspi.Action"
_SELECTION = "org.a11y.atspi.Selection"
VALUE = "org.a11y.atspi.Value"
_APPLICATION = "org.a11y.atspi.Application"
MAX_NAME = 300
MAX_TEXT = 300
MAX_ACTIONS = 16

_ON_SCREEN, _IN_WINDOW = 0, 1

_LABELLED_BY = 2
_MANAGES_DESCENDANTS = 1 << 31
_MOST_MANAGED = 2000
"""Lists that make their items' objects only when asked would make all of them, and stand still meanwhile."""
HEADERS = frozenset({"column header", "row header", "table column header", "table row header"})
_FORM_FIELDS = frozenset({"input", "textarea"})
_FAR = 1 << 20  # toolkits answer -2147483648 for what is scrolled away


class Ref(NamedTuple):
    """A widget's handle: a name on the bus and an object path."""

    peer: str
    path: str

    def __str__(self) -> str:
        return f"{self.peer}{self.path}"


class Placeholder(NamedTuple):
    """The words that stand in an empty field. `is_told_as_text`: the program may report them as the field's text, as
    Chromium does for fields that a page makes of other elements.
    """

    words: str = ""
    is_told_as_text: bool = False


class WidgetAnswers(NamedTuple):
    """One widget's answers. `on_screen` is what it takes for display pixels, `in_window` the same in its window's.

    `total`: how many children it has, where they are too many to be listed; `children` are those in view then, once
    somebody asked for them. 0: `children` are all. `is_cut`: some in view are missing.
    """

    states: int
    role: str = ""
    name: str = ""
    on_screen: Rect | None = None
    in_window: Rect | None = None
    children: tuple[Ref, ...] = ()
    total: int = 0
    is_cut: bool = False

    @property
    def beyond(self) -> int:
        """How many children were not listed."""
        return max(0, self.total - len(self.children))


def clean_lines(text: str, most: int) -> str:
    """Return words of the screen in their lines, each as `clean` returns it. A line break at the end stays: what is
    typed there begins a line.
    """
    lines = "\n".join(clean(line, most) for line in text[: most * 4].split("\n"))[:most]
    return lines if lines.strip() else ""


def clean(text: object, most: int = MAX_NAME) -> str:
    """Return words of the screen in one line: bounded, control characters and runs of space as one space."""
    kept = str(text)[: most * 4]
    return " ".join("".join(c if c.isprintable() else " " for c in kept).split())[:most]


class WidgetClient:
    """Asks widgets through one connection. What a widget does not implement is empty; a peer that is gone raises
    NoAnswer, a bus that is gone Unavailable.

    `is_gtk_4`: widgets that are visible count as showing (GTK 4 sets that state for windows only), and none is asked
    for its place on the screen, which GTK 4 doesn't know and writes a warning about.
    """

    def __init__(self, connection: BusConnection, *, is_gtk_4: bool = False) -> None:
        self.connection, self._is_gtk_4 = connection, is_gtk_4

    async def states(self, ref: Ref) -> int:
        (words,) = await self.connection.call(*ref, (ACCESSIBLE, "GetState"))
        states = int(words[0]) | int(words[1]) << 32 if len(words) > 1 else 0
        return states | State.SHOWING if self._is_gtk_4 and states & State.VISIBLE else states

    async def widget(
        self,
        ref: Ref,
        *,
        on_screen: bool = True,
        in_window: bool = True,
        in_scroll_pane: bool = False,
        offscreen: bool = False,
    ) -> WidgetAnswers:
        """Return the widget's answers; only the states, if it does not show. `on_screen`, `in_window`: in which pixels
        to ask for its place. `in_scroll_pane`: it is in a scroll pane of GTK 3. `offscreen`: a widget scrolled out of
        sight counts as showing.
        """
        states = await self.states(ref)
        if in_scroll_pane and not states & State.SHOWING and await self._is_viewport(ref, states):
            states |= State.SHOWING
        if not states & (State.SHOWING | State.VISIBLE if offscreen else State.SHOWING) or states & State.DEFUNCT:
            return WidgetAnswers(states)
        role, name, screen_box, window_box, (children, total) = await asyncio.gather(
            role_of(self.connection, ref),
            self.name(ref),
            self._ask_box(ref, _ON_SCREEN, on_screen),
            self._ask_box(ref, _IN_WINDOW, in_window),
            self._some_children(ref, states),
        )
        return WidgetAnswers(states, role, name, screen_box, window_box, children, total)

    async def _is_viewport(self, ref: Ref, states: int) -> bool:
        """Return whether it is a viewport of GTK 3, which stops showing once it is scrolled further than its size."""
        return bool(states & State.VISIBLE) and await role_of(self.connection, ref) == "viewport"

    async def name(self, ref: Ref) -> str:
        return clean(await self.connection.get(*ref, (ACCESSIBLE, "Name")))

    async def description(self, ref: Ref) -> str:
        """Return its description, which is where tool tips go."""
        return clean(await self.connection.get(*ref, (ACCESSIBLE, "Description")))

    async def _ask_box(self, ref: Ref, space: int, is_wanted: bool) -> Rect | None:
        if not is_wanted or (space == _ON_SCREEN and self._is_gtk_4):
            return None
        return await extents(self.connection, ref, space)

    async def _some_children(self, ref: Ref, states: int) -> tuple[tuple[Ref, ...], int]:
        if states & _MANAGES_DESCENDANTS:
            count = int(await self.connection.get(*ref, (ACCESSIBLE, "ChildCount")))
            if count > _MOST_MANAGED:
                return (), count
        return await self.children(ref), 0

    async def children(self, ref: Ref) -> tuple[Ref, ...]:
        (refs,) = await self.connection.call(*ref, (ACCESSIBLE, "GetChildren"))
        return tuple(Ref(peer, path) for peer, path in refs if peer and not path.endswith("/null"))

    # ---- what only some widgets have --------------------------------------------------------------------------------

    async def text(self, ref: Ref) -> str:
        """Return the beginning of its text."""
        try:
            (text,) = await self.connection.call(*ref, (TEXT, "GetText"), "ii", 0, MAX_TEXT)
            if not text:
                # Empty, or Firefox: it answers "" to an end that lies past the text's.
                count = int(await self.connection.get(*ref, (TEXT, "CharacterCount")))
                if count > 0:
                    (text,) = await self.connection.call(*ref, (TEXT, "GetText"), "ii", 0, min(count, MAX_TEXT))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return ""
        return clean_lines(text, MAX_TEXT)

    async def selected_name(self, ref: Ref, children: Sequence[Ref]) -> str:
        """Return the name of a combo box's selected item, from its closed list or the combo box itself."""
        for one in (*children[:1], ref):  # Chromium complains when its combo box is asked itself
            try:
                (found,) = await self.connection.call(*one, (_SELECTION, "GetSelectedChild"), "i", 0)
                return await self.name(Ref(*found))
            except NoAnswer as fault:
                fault.raise_if_gone()
        return ""

    async def value(self, ref: Ref) -> str:
        """Return the number that a slider or bar stands at."""
        try:
            number = await self.connection.get(*ref, (VALUE, "CurrentValue"))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return ""
        return f"{number:.6g}"

    async def span(self, ref: Ref) -> tuple[float, float] | None:
        """Return the least and the greatest value of a slider or bar; None when it gives none."""
        try:
            low, high = await asyncio.gather(
                *(self.connection.get(*ref, (VALUE, name)) for name in ("MinimumValue", "MaximumValue"))
            )
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        return (low, high) if low < high else None

    async def placeholder(self, ref: Ref, name: str = "") -> Placeholder:
        """Return the words that stand in a field while it is empty; `name` is what the field is called."""
        (attributes,) = await self.connection.call(*ref, (ACCESSIBLE, "GetAttributes"))
        words = clean(attributes.get("placeholder-text") or attributes.get("placeholder") or "")
        if not words and attributes.get("name-from") == "placeholder":
            words = name
        return Placeholder(words, bool(words) and attributes.get("tag", "input") not in _FORM_FIELDS)

    async def label(self, ref: Ref) -> str:
        """Return the name of what labels it (relation LABELLED_BY)."""
        (relations,) = await self.connection.call(*ref, (ACCESSIBLE, "GetRelationSet"))
        labels = [Ref(*target) for kind, targets in relations if kind == _LABELLED_BY for target in targets]
        return " ".join([await self.name(label) for label in labels[:3]])

    async def actions(self, ref: Ref) -> tuple[str, ...]:
        try:
            (actions,) = await self.connection.call(*ref, (_ACTION, "GetActions"))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return ()
        return tuple(clean(action[0]) for action in actions[:MAX_ACTIONS])

    async def toolkit(self, ref: Ref) -> tuple[str, str]:
        """Return name and version of the toolkit behind an application."""
        try:
            name = await self.connection.get(*ref, (_APPLICATION, "ToolkitName"))
            return clean(name), clean(await self.connection.get(*ref, (_APPLICATION, "Version")))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return "", ""


async def role_of(connection: BusConnection, ref: Ref) -> str:
    (number,) = await connection.call(*ref, (ACCESSIBLE, "GetRole"))
    return role_name(int(number))


async def extents(connection: BusConnection, ref: Ref, space: int) -> Rect | None:
    """Return its box in pixels of `space` (AtspiCoordType); None when it has none, or is scrolled away."""
    try:
        (box,) = await connection.call(*ref, (COMPONENT, "GetExtents"), "u", space)
    except NoAnswer as fault:
        fault.raise_if_gone()
        return None
    x, y, w, h = (int(value) for value in box)
    return Rect(x, y, w, h) if w > 0 and h > 0 and max(abs(x), abs(y), w, h) < _FAR else None


class RememberedWidget(Struct):
    """One widget's answers, given at `read_s` (monotonic). `parent` and `top`: the widget it is in, and the top-level
    one (each itself, for a top-level one). `box`: in display pixels. Without a role it did not show.
    """

    asked: WidgetAnswers
    parent: Ref
    top: Ref
    window: int
    read_s: float
    box: Rect | None = None
    name: str = ""
    role: str = ""
    description: str = ""
    text: str = ""
    actions: tuple[str, ...] = ()
    placeholder: str = ""
    span: tuple[float, float] | None = None


class WidgetMemory:
    """The widgets of one application, as they were last read. Bounded by the limits of the walk that fills it."""

    def __init__(self) -> None:
        self._kept: dict[Ref, RememberedWidget] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, ref: Ref) -> RememberedWidget | None:
        """Return the remembered widget, or None when the application must be asked."""
        return self._kept.get(ref)

    def keep(self, widgets: dict[Ref, RememberedWidget]) -> None:
        """Hold exactly `widgets` from now on, in which parents come before what is in them."""
        self._kept = widgets

    def forget_all(self) -> bool:
        """Forget everything. Returns whether anything was forgotten, as the methods below do."""
        had, self._kept = bool(self._kept), {}
        return had

    def forget_older(self, than_s: float) -> bool:
        return self._forget_doubtful(lambda _, one: one.read_s < than_s)

    def forget(self, paths: Collection[str]) -> bool:
        return bool(paths) and self._forget_doubtful(lambda ref, _: ref.path in paths)

    def forget_windows(self, windows: Collection[int]) -> bool:
        """Forget everything in these X windows, and every top-level widget (it may be in one of them now)."""
        return self._forget_doubtful(lambda ref, one: one.window in windows or ref == one.top)

    def forget_around(self, paths: Collection[str]) -> bool:
        """Forget the whole top-level windows that these widgets are in. A widget that is not known may be in any."""
        if not paths:
            return False
        tops = {ref.path: one.top for ref, one in self._kept.items() if ref.path in paths}
        if len(tops) < len(paths):
            return self.forget_all()
        around = set(tops.values())
        return self._forget_doubtful(lambda _, one: one.top in around)

    def forget_in(self, areas: Sequence[Rect]) -> bool:
        """Forget the widgets that touch these display areas, and with them what is hidden in them or scrolled away: it
        moves without a pixel changing where it is.
        """
        if not areas:
            return False
        visible: dict[Ref, Rect | None] = {}
        touched: set[Ref] = set()
        for ref, one in self._kept.items():  # parents come first
            around = visible.get(one.parent, one.box)
            visible[ref] = one.box.intersect(around) if one.box and around else None
            is_out_of_sight = visible[ref] is None and one.parent in touched
            if is_out_of_sight or (one.box and any(one.box.intersect(area) for area in areas)):
                touched.add(ref)
        return self._forget_doubtful(lambda ref, _: ref in touched)

    def _forget_doubtful(self, is_doubtful: Callable[[Ref, RememberedWidget], bool]) -> bool:
        kept = {ref: one for ref, one in self._kept.items() if not is_doubtful(ref, one)}
        had, self._kept = len(kept) < len(self._kept), kept
        return had
