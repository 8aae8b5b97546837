"""Verdicts: three values, with their words."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Answer(StrEnum):
    """The three values of a verdict."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer with its words: evidence for yes, what is missing for no, the reason for unknown.

    `code` names the reason of an unknown for programs: `judge_down`, `unparsable`, `frame_gone`, `not_viewable`,
    `window_missing`, `session_missing`, `session_unread`, `monitor_missing`, `display_down`, `paused`, `needs_vision`,
    `redaction`, `budget`, `not_judged`, `engine`, `rate_limited`, `no_key`, `refusal`, `truncated`, `rejected`,
    `unavailable` … ("" for yes and no).
    """

    answer: Answer
    detail: str = ""
    code: str = ""


def yes(detail: str) -> Verdict:
    """Return a yes with its evidence."""
    return Verdict(Answer.YES, detail)


def no(detail: str) -> Verdict:
    """Return a no, saying what is missing."""
    return Verdict(Answer.NO, detail)


def unknown(code: str, detail: str) -> Verdict:
    """Return an unknown with its reason."""
    return Verdict(Answer.UNKNOWN, detail, code)
