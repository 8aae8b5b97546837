"""A scripted day at a screen: hours of work in stretches, a talk that is listened to, a lunch, and a night."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

DAY_S = 24 * 3600
_WORK = ((9 * 3600, 12 * 3600), (13 * 3600, 17 * 3600))
_TALK = (14 * 3600, 15 * 3600)
_APPS = ("Editor", "Terminal", "Browser", "Mail", "Chat")
_WORDS = [
    "error", "line", "build", "test", "mail", "review", "merge", "the", "of", "and", "list", "open", "draft", "note",
    "result", "value", "page", "field",
]  # fmt: skip


class Moment(NamedTuple):
    """Something came in at `at_s` of the day: `heard` words, or `text` (""; a switch) seen in `app`."""

    at_s: float
    app: str = ""
    text: str = ""
    heard: str = ""


def day(seed: int) -> list[Moment]:
    rng = random.Random(seed)
    moments = [moment for begin, end in _WORK for moment in _stretches(rng, begin, end)]
    return sorted([*moments, *_talk(rng)])


def _stretches(rng: random.Random, begin: float, end: float) -> Iterator[Moment]:
    now = begin
    while now < end:
        app = rng.choice(_APPS)
        yield Moment(now, app)
        until = min(end, now + rng.uniform(60, 480))
        for at_s in _steps(rng, now + 2, until):
            yield Moment(at_s, app, _words(rng, 12))
        now = until + (rng.uniform(60, 600) if rng.random() < 0.4 else 1)  # reads, thinks, is called away


def _steps(rng: random.Random, begin: float, end: float) -> Iterator[float]:
    """Yield when new text is seen: while somebody types, every few seconds; a page once."""
    now = begin
    typing = rng.random() < 0.6
    while now < end:
        yield now
        now += rng.uniform(4, 20) if typing else rng.uniform(40, 180)


def _talk(rng: random.Random) -> Iterator[Moment]:
    now: float = _TALK[0]
    while now < _TALK[1]:
        yield Moment(now, heard=f"[1s ago, openrouter] {_words(rng, 25)}")
        now += rng.uniform(8, 14)


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count))
