"""What events say of an application's widgets: which of them must be read again. No D-Bus here."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

ROOT = "/org/a11y/atspi/accessible/root"
MOST_PATHS = 2000
"""Beyond so many, everything is read again: it costs less than keeping account."""

_OBJECT, _WINDOW = "org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"
_ALONE = frozenset({"TextChanged", "SelectionChanged", "ActiveDescendantChanged"})
_LAYOUT_STATES = frozenset({"showing", "visible", "defunct", "expanded", "collapsed"})
_PLACING = frozenset({"activate", "deactivate"})
_LAYOUT_PROPERTIES = frozenset({"accessible-parent", "accessible-role"})


class Marks(Struct):
    """Doubts that came up since the last reading. `alone`: object paths of widgets that are different themselves;
    `around`: of widgets whose whole window may be laid out anew; `all`: nothing may be believed; `tops`: top-level
    widgets came or went.
    """

    alone: set[str] = field(default_factory=set)
    around: set[str] = field(default_factory=set)
    all: bool = False
    tops: bool = False

    def add(self, interface: str, member: str, path: str, body: list[Any]) -> None:
        """Take account of one event (AT-SPI: detail, two numbers, a value, properties)."""
        if self.all:
            return
        if path == ROOT:
            self.tops = True
        elif _is_alone(interface, member, str(body[0]) if body else ""):
            self.alone.add(path)
        else:
            self.around.add(path)
        if len(self.alone) + len(self.around) > MOST_PATHS:
            self.doubt_all()

    def doubt_all(self) -> None:
        """Believe nothing any more."""
        self.all = True
        self.alone.clear()
        self.around.clear()


def _is_alone(interface: str, member: str, detail: str) -> bool:
    """Tell whether an event is about one widget only, and moves no other.

    A scroll bar tells `accessible-value`, and so does what merely counts: both are taken for scrolling.
    """
    if interface == _WINDOW:
        return member.lower() in _PLACING
    if member == "StateChanged":
        return detail not in _LAYOUT_STATES
    if member == "PropertyChange":
        return detail not in _LAYOUT_PROPERTIES and detail != "accessible-value"
    return member in _ALONE


def is_of_interest(interface: str) -> bool:
    """Tell whether signals of this interface are events about widgets."""
    return interface in (_OBJECT, _WINDOW)


def rules(peer: str) -> tuple[str, str]:
    """Return the match rules for the events of one application."""
    return (
        f"type='signal',sender='{peer}',interface='{_OBJECT}'",
        f"type='signal',sender='{peer}',interface='{_WINDOW}'",
    )
