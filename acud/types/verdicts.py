"""Verdicts on conditions: three values with their words."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from acud.types.displays import Rect

MOST_BOXES = 16
"""Boxes that a verdict carries."""


class Answer(StrEnum):
    """The three values of a verdict."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer with its words: evidence for yes, what is missing for no, the reason for unknown.

    `code` names the reason of an unknown for programs: `judge_down`, `unparsable`, `frame_gone`, `not_viewable`,
    `covered`, `locked`, `not_compared`, `window_missing`, `session_missing`, `session_unread`, `monitor_missing`,
    `display_down`, `paused`, `needs_vision`, `redaction`, `no_accessibility`, `incomplete`, `no_value`, `budget`,
    `not_judged`, `engine`, `rate_limited`, `no_key`, `refusal`, `truncated`, `rejected`, `unavailable`, `unreadable`,
    `ambiguous`, `not_allowed`, `no_permission`, `watch_limit`, `no_notifications`, `image_flat`, `image_too_large`,
    `image_unreadable`, `image_missing` … ("" for yes and no). `boxes`: where its subject is (lines of text, a widget,
    an image, a window, what changed or keeps moving), in pixels of the target's picture; at most `MOST_BOXES`, none if
    not known. `times`: how often it is there (0: not counted).
    """

    answer: Answer
    detail: str = ""
    code: str = ""
    boxes: Annotated[tuple[Rect, ...], Meta(max_length=MOST_BOXES)] = ()
    times: Annotated[int, Meta(ge=0)] = 0


class Echo(Struct, frozen=True, forbid_unknown_fields=True):
    """The letters and digits around a condition's words in a command that acud typed.

    The last `command` letters of `before` are of the one command that has the words as an argument, the last
    `arguments` of its arguments alone, which the command may write itself.
    """

    before: str
    after: str
    command: int = 0
    arguments: int = 0


def yes(detail: str, boxes: tuple[Rect, ...] = (), times: int = 0) -> Verdict:
    return Verdict(Answer.YES, detail, boxes=boxes[:MOST_BOXES], times=times)


def no(detail: str, boxes: tuple[Rect, ...] = (), times: int = 0) -> Verdict:
    return Verdict(Answer.NO, detail, boxes=boxes[:MOST_BOXES], times=times)


def unknown(code: str, detail: str) -> Verdict:
    return Verdict(Answer.UNKNOWN, detail, code)
