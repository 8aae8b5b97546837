"""What a wait waits for. Each kind of condition is declared in a module here; `Leaf` is one, `Until` one or several."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from acud.types.conditions.change import Change, Stable
from acud.types.conditions.clipboard import ClipboardText
from acud.types.conditions.host import FileState, NotificationText, ProcessExit
from acud.types.conditions.image import ScreenImage
from acud.types.conditions.kind import ConditionKind
from acud.types.conditions.number import Comparison, ScreenNumber, number_condition
from acud.types.conditions.text import Criteria, Text
from acud.types.conditions.widget import NameMatch, ValueComparison, Widget, WidgetState, widget_condition
from acud.types.conditions.window import WindowTitle


class AllOf(Struct, frozen=True, tag="all", forbid_unknown_fields=True):
    """Every part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class AnyOf(Struct, frozen=True, tag="any", forbid_unknown_fields=True):
    """At least one part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class NotOf(Struct, frozen=True, tag="not", forbid_unknown_fields=True):
    """The part plainly does not hold; an unknown part stays unknown."""

    part: Until


class Then(Struct, frozen=True, tag="then", forbid_unknown_fields=True):
    """The parts hold one after the other, each on a later look than the one before: stages.

    Only the whole condition may be a `then`. What a part counts (`change`, `stable`) counts from its stage's start.
    """

    parts: Annotated[tuple[Until, ...], Meta(min_length=2, max_length=16)]


def in_sequence(first: Until, *later: Until) -> Until:
    """Return the condition that `first` holds, and later each of `later` in turn."""
    parts = first.parts if isinstance(first, Then) else (first,)
    return Then((*parts, *later)) if later else first


def appears_then_goes(part: Until) -> Then:
    """Return the condition that `part` was seen to hold, and after that plainly does not hold."""
    if isinstance(part, WindowTitle) or (isinstance(part, Text) and part.count == 1):
        return Then((part, replace(part, gone=not part.gone)))
    return Then((part, NotOf(part)))


TextLeaf = Text | ScreenNumber
"""Leaves answered from visible text: by OCR, or from a terminal's own text."""
PixelLeaf = Text | ScreenNumber | ScreenImage
"""Leaves that an evaluator answers from pixels by itself, free of charge."""
TileLeaf = Change | Stable
"""Leaves that the supervisor answers from which tiles changed."""
HostLeaf = FileState | ProcessExit | NotificationText | ClipboardText
"""Leaves that the daemon answers without pixels; files and processes need no display."""
ReportedLeaf = WindowTitle | Widget | HostLeaf
"""Leaves answered from what programs and the system report beside the pixels."""
LocalLeaf = TileLeaf | ReportedLeaf
"""Leaves answered without judging a frame."""
PlacedLeaf = Text | ScreenImage | Widget
"""Leaves about what has a place in the target, where something may hide it."""
NamedLeaf = PlacedLeaf | WindowTitle | FileState
"""Leaves that name what is there or `gone`."""
Leaf = Criteria | PixelLeaf | WindowTitle | Widget | TileLeaf | HostLeaf
"""Every kind, in the order of forms and helps."""
Until = Leaf | AllOf | AnyOf | NotOf | Then

__all__ = [
    "AllOf", "AnyOf", "Change", "ClipboardText", "Comparison", "ConditionKind", "Criteria", "FileState", "HostLeaf",
    "Leaf", "LocalLeaf", "NameMatch", "NamedLeaf", "NotOf", "NotificationText", "PixelLeaf", "PlacedLeaf",
    "ProcessExit", "ReportedLeaf", "ScreenImage", "ScreenNumber", "Stable", "Text", "TextLeaf", "Then", "TileLeaf",
    "Until", "ValueComparison", "Widget", "WidgetState", "WindowTitle", "appears_then_goes", "in_sequence",
    "number_condition", "widget_condition",
]  # fmt: skip
