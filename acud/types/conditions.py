"""Conditions: what `until` may say."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types.values import PositiveSeconds, Seconds, Share, ShortText


class Criteria(Struct, frozen=True, tag="criteria", forbid_unknown_fields=True):
    """A condition in natural language, answered by a judge."""

    criteria: ShortText


class Text(Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    """Visible text (white space folded, case ignored unless told), or its absence when `gone`."""

    text: ShortText
    regex: bool = False
    gone: bool = False
    match_case: bool = False


class WindowTitle(Struct, frozen=True, tag="window", forbid_unknown_fields=True):
    """A window whose title contains `title` (or matches, with `regex`) is on the display, or none is when `gone`."""

    title: ShortText
    regex: bool = False
    gone: bool = False


class Change(Struct, frozen=True, tag="change", forbid_unknown_fields=True):
    """A tile of the target changed since the baseline.

    `share` asks that changed tiles cover at least that part of the target. `settle_s` asks that nothing changed for so
    long after the first change (0: the first changed frame). `baseline` is a token, or "" for the moment of arming.
    """

    share: Share = 0.0
    settle_s: Seconds = 0.0
    baseline: str = ""


class Stable(Struct, frozen=True, tag="stable", forbid_unknown_fields=True):
    """Nothing in the target changed for `stable_s`, shown by a fresh compared grab."""

    stable_s: PositiveSeconds


class AllOf(Struct, frozen=True, tag="all", forbid_unknown_fields=True):
    """Every part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class AnyOf(Struct, frozen=True, tag="any", forbid_unknown_fields=True):
    """At least one part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class NotOf(Struct, frozen=True, tag="not", forbid_unknown_fields=True):
    """The part plainly does not hold; an unknown part stays unknown."""

    part: Until


Leaf = Criteria | Text | WindowTitle | Change | Stable
Until = Criteria | Text | WindowTitle | Change | Stable | AllOf | AnyOf | NotOf
