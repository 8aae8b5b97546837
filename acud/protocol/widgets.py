"""The widgets that waits ask for: the supervisor's messages to an evaluator about a display, and the answers.

An evaluator answers an ask at once, and again whenever an answer has changed, until the wait is over.
"""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.children import MonoNs
from acud.types import Number, Rect, Verdict, Widget, WindowInfo
from acud.waits.widgets import WidgetPlace


class WidgetQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    """Leaf `index` of a condition. `was_there`: the widget was seen before."""

    index: int
    leaf: Widget
    was_there: bool = False


class WidgetAsk(Struct, frozen=True, tag="widget_ask", forbid_unknown_fields=True):
    """A wait's questions about the widgets in `place` of a display announced by `DisplayWidgets`; they replace the
    wait's former ones. `number`: counts the wait's asks.
    """

    wait_id: str
    number: Number
    display: str
    place: WidgetPlace
    questions: tuple[WidgetQuestion, ...]


class WidgetAskOver(Struct, frozen=True, tag="widget_ask_over", forbid_unknown_fields=True):
    """The wait has no questions about widgets any more."""

    wait_id: str


class WidgetLook(Struct, frozen=True, tag="widget_look", forbid_unknown_fields=True):
    """Answer the wait's questions from a reading that begins now, even if the answers are the same."""

    wait_id: str


class DisplayWidgets(Struct, frozen=True, tag="display_widgets", forbid_unknown_fields=True):
    """The buses on which a display's widgets are, and its windows now, topmost first. `bus_address`, `a11y_address`: as
    of `SceneAsk`.
    """

    display: str
    windows: tuple[WindowInfo, ...] = ()
    bus_address: str = ""
    a11y_address: str = ""


class WidgetsPainted(Struct, frozen=True, tag="widgets_painted", forbid_unknown_fields=True):
    """Pixels of a display changed in these boxes since the last such message; None: it is not known where."""

    display: str
    changed: tuple[Rect, ...] | None


class WidgetAnswer(Struct, frozen=True, tag="widget_answer", forbid_unknown_fields=True):
    """The answers to a wait's ask, in the order of its questions, from a reading that began at `read_mono_ns`."""

    wait_id: str
    number: Number
    verdicts: tuple[Verdict, ...]
    read_mono_ns: MonoNs


WidgetMessage = WidgetAsk | WidgetAskOver | WidgetLook | DisplayWidgets | WidgetsPainted
"""The messages of the supervisor."""
