"""What an HTTP status means for a call, and when its answer says that another try may come."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from acud.evaluator.vision.faults import FREE, CallFailed, Usage

_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "not now" (RFC 9110, RFC 6585, RFC 8470)."""

_CODES = {401: "no_key", 402: "budget", 403: "no_key", 404: "judge_down", 408: "judge_down", 429: "rate_limited"}

_SPENT = ("insufficient_quota", "credit_balance_exhausted", "enforced_spend_limit_reached", "credit balance is too low")
"""How vendors say, under 400 and 429, that the money is gone (OpenAI, Anthropic): waiting a minute helps nobody."""


def fault(status: int, said: str, after_s: float | None = None, usage: Usage = FREE) -> CallFailed:
    """Return what an answer with `status`, not 2xx, and the words `said` means."""
    words = said.lower()
    if status in (400, 402, 429) and any(mark in words for mark in _SPENT):
        return CallFailed("budget", said, usage=usage)
    if 300 <= status < 400:
        return CallFailed("judge_down", f"{said} (a redirect, which is not followed: check the url)", usage=usage)
    code = _CODES.get(status, "judge_down" if status >= 500 or status in _LATER else "rejected")
    retry = status >= 500 or status in _LATER
    return CallFailed(code, said, retry=retry, after_s=after_s, usage=usage, status=status)


def after_s(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the sender asks to wait; None when it does not say, or says it unreadably.

    `retry-after-ms` (OpenAI and Azure), `retry-after` in seconds or as an HTTP date (RFC 9110, section 10.2.3), and
    OpenRouter's `x-ratelimit-reset`, milliseconds of UTC, where nothing is left.
    """
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    return _until(said) if said else _reset(headers)


def _reset(headers: Mapping[str, str]) -> float | None:
    reset_ms = _number(headers.get("x-ratelimit-reset", ""))
    # Others put seconds, or a duration, under this name: only a plain time of this century in milliseconds is read.
    if headers.get("x-ratelimit-remaining", "") != "0" or reset_ms is None or reset_ms < 1e12:
        return None
    return max(0.0, reset_ms / 1000 - time.time())


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None
