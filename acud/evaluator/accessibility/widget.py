"""Asking one widget: the calls of `org.a11y.atspi` that a walk makes, and their answers cleaned."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from acud.accessibility.nodes import State
from acud.accessibility.roles import role_name
from acud.evaluator.accessibility.bus import Connection, NoAnswer
from acud.types import Rect

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_COMPONENT = "org.a11y.atspi.Component"
_TEXT = "org.a11y.atspi.Text"
_ACTION = "org.a11y.atspi.Action"
_APPLICATION = "org.a11y.atspi.Application"

MAX_NAME = 300
MAX_TEXT = 300
MAX_ACTIONS = 16
_ON_SCREEN, _IN_WINDOW = 0, 1
_LABELLED_BY = 2
_MANAGES_DESCENDANTS = 1 << 31
_MOST_MANAGED = 2000
"""Lists that make their items' objects only when asked would make all of them, and stand still meanwhile."""

_FAR = 1 << 20
"""Toolkits answer -2147483648 for what is scrolled away."""


class Ref(NamedTuple):
    """A widget's handle: a name on the bus and an object path."""

    peer: str
    path: str

    def __str__(self) -> str:
        return f"{self.peer}{self.path}"


class Asked(NamedTuple):
    """One widget's answers. `on_screen` is what it takes for display pixels, `in_window` the same in its window's."""

    states: int
    role: str = ""
    name: str = ""
    on_screen: Rect | None = None
    in_window: Rect | None = None
    children: tuple[Ref, ...] = ()
    is_cut: bool = False


def clean(text: object, most: int = MAX_NAME) -> str:
    """Return words of the screen in one line: bounded, control characters and runs of space as one space."""
    kept = str(text)[: most * 4]
    return " ".join("".join(c if c.isprintable() else " " for c in kept).split())[:most]


class Asker:
    """Asks widgets through one connection. What a widget does not implement is empty; a peer that is gone raises
    NoAnswer, a bus that is gone Unavailable.

    `is_gtk_4`: widgets that are visible count as showing (GTK 4 sets that state for windows only), and none is asked
    for its place on the screen, which GTK 4 doesn't know and writes a warning about.
    """

    def __init__(self, connection: Connection, *, is_gtk_4: bool = False) -> None:
        self._connection = connection
        self._is_gtk_4 = is_gtk_4

    async def states(self, ref: Ref) -> int:
        """Return the state set as one number."""
        (words,) = await self._connection.call(*ref, (_ACCESSIBLE, "GetState"))
        states = int(words[0]) | int(words[1]) << 32 if len(words) > 1 else 0
        return states | State.SHOWING if self._is_gtk_4 and states & State.VISIBLE else states

    async def widget(self, ref: Ref, *, on_screen: bool = True, in_window: bool = True) -> Asked:
        """Return what `ref` says; of one that does not show, only the states. `on_screen`, `in_window`: in which
        pixels to ask for its place.
        """
        states = await self.states(ref)
        if not states & State.SHOWING or states & State.DEFUNCT:
            return Asked(states)
        role, name, screen_box, window_box, (children, is_cut) = await asyncio.gather(
            self._role(ref),
            self.name(ref),
            self._box(ref, _ON_SCREEN, on_screen),
            self._box(ref, _IN_WINDOW, in_window),
            self._some_children(ref, states),
        )
        return Asked(states, role, name, screen_box, window_box, children, is_cut)

    async def _role(self, ref: Ref) -> str:
        (number,) = await self._connection.call(*ref, (_ACCESSIBLE, "GetRole"))
        return role_name(int(number))

    async def name(self, ref: Ref) -> str:
        """Return its name."""
        return clean(await self._connection.get(*ref, (_ACCESSIBLE, "Name")))

    async def description(self, ref: Ref) -> str:
        """Return its description, which is where tool tips go."""
        return clean(await self._connection.get(*ref, (_ACCESSIBLE, "Description")))

    async def _box(self, ref: Ref, space: int, is_wanted: bool) -> Rect | None:
        if not is_wanted or (space == _ON_SCREEN and self._is_gtk_4):
            return None
        try:
            (box,) = await self._connection.call(*ref, (_COMPONENT, "GetExtents"), "u", space)
        except NoAnswer as fault:
            fault.raise_if_gone()
            return None
        x, y, w, h = (int(value) for value in box)
        return Rect(x, y, w, h) if w > 0 and h > 0 and max(abs(x), abs(y), w, h) < _FAR else None

    async def _some_children(self, ref: Ref, states: int) -> tuple[tuple[Ref, ...], bool]:
        if states & _MANAGES_DESCENDANTS:
            count = await self._connection.get(*ref, (_ACCESSIBLE, "ChildCount"))
            if int(count) > _MOST_MANAGED:
                return (), True
        return await self.children(ref), False

    async def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Return its children's handles."""
        (refs,) = await self._connection.call(*ref, (_ACCESSIBLE, "GetChildren"))
        return tuple(Ref(peer, path) for peer, path in refs if peer and not path.endswith("/null"))

    # ---- what only some widgets have --------------------------------------------------------------------------------

    async def text(self, ref: Ref) -> str:
        """Return the beginning of its text."""
        try:
            (text,) = await self._connection.call(*ref, (_TEXT, "GetText"), "ii", 0, MAX_TEXT)
        except NoAnswer as fault:
            fault.raise_if_gone()
            return ""
        return clean(text, MAX_TEXT)

    async def placeholder(self, ref: Ref) -> str:
        """Return the words that stand in an empty field."""
        (attributes,) = await self._connection.call(*ref, (_ACCESSIBLE, "GetAttributes"))
        return clean(attributes.get("placeholder-text") or attributes.get("placeholder") or "")

    async def label(self, ref: Ref) -> str:
        """Return the name of what labels it (relation LABELLED_BY)."""
        (relations,) = await self._connection.call(*ref, (_ACCESSIBLE, "GetRelationSet"))
        labels = [Ref(*target) for kind, targets in relations if kind == _LABELLED_BY for target in targets]
        return " ".join([await self.name(label) for label in labels[:3]])

    async def actions(self, ref: Ref) -> tuple[str, ...]:
        """Return the names of its actions."""
        try:
            (actions,) = await self._connection.call(*ref, (_ACTION, "GetActions"))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return ()
        return tuple(clean(action[0]) for action in actions[:MAX_ACTIONS])

    async def toolkit(self, ref: Ref) -> tuple[str, str]:
        """Return name and version of the toolkit behind an application."""
        try:
            name = await self._connection.get(*ref, (_APPLICATION, "ToolkitName"))
            return clean(name), clean(await self._connection.get(*ref, (_APPLICATION, "Version")))
        except NoAnswer as fault:
            fault.raise_if_gone()
            return "", ""
