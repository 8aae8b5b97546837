"""What was asked of the daemon and what came back, kept by the soak itself: the oracle trusts nothing else of it.

Times are CLOCK_BOOTTIME in seconds, which no fault of this soak moves.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from msgspec import Struct, structs


def now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Asked(Struct, frozen=True):
    """One request: `code` of the error it ended with ("" when it was answered)."""

    step: int
    request: str
    began_s: float
    ended_s: float
    code: str = ""
    words: str = ""


class Armed(Struct):
    """A wait as whoever armed it knows it. `lamp`: the lamp, or a text wait's word. `lit_s`: when what it waits for
    was painted, 0 while it was not.

    Its deadline lies between `due_from_s` and `due_to_s`: `timeout_s` after its request was sent and was answered.
    """

    wait_id: str
    kind: str
    display: str
    step: int
    armed_s: float
    due_from_s: float
    due_to_s: float
    lamp: int = -1
    lit_s: float = 0.0
    cancelled: bool = False
    uprooted: bool = False
    """Its display's X server was broken since, or its canvas closed: a change may be the new server's, or that."""


class Broken(Struct, frozen=True):
    """A fault from its beginning until it was mended. `survived`: the daemon answered afterwards."""

    step: int
    kind: str
    began_s: float
    ended_s: float
    survived: bool = True
    note: str = ""


class Violation(Struct, frozen=True):
    """A broken promise. `round`: which round to run again. `known`: what the daemon knew of it then."""

    what: str
    words: str
    round: int = 0
    step: int = -1
    wait_id: str = ""
    known: str = ""


class Ledger:
    """Everything that is known, to be added to from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.round = 0
        self.asked: list[Asked] = []
        self.armed: dict[str, Armed] = {}
        self.broken: list[Broken] = []
        self.violations: list[Violation] = []
        self.told: list[tuple[float, str, str]] = []
        """Ends of waits as the event stream told them: when, topic, wait id."""
        self.counts: Counter[str] = Counter()
        self._open: dict[int, tuple[str, float]] = {}
        self._uprooted_s: dict[str, float] = {}

    def ask(self, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)

    def arm(self, armed: Armed) -> None:
        """Keep a wait, which may have been asked for before its display was uprooted and is known only now."""
        with self._lock:
            armed.uprooted = armed.armed_s <= self._uprooted_s.get(armed.display, 0.0)
            self.armed[armed.wait_id] = armed

    def uproot(self, display: str) -> None:
        """What a display shows is about to go: for the waits on it, and for those that are being armed."""
        with self._lock:
            self._uprooted_s[display] = now_s()
            for armed in self.armed.values():
                armed.uprooted = armed.uprooted or armed.display == display

    def tell(self, at_s: float, topic: str, wait_id: str) -> None:
        with self._lock:
            self.told.append((at_s, topic, wait_id))

    def begin(self, step: int, kind: str) -> None:
        with self._lock:
            self._open[step] = (kind, now_s())

    def end(self, step: int, *, survived: bool, note: str = "") -> None:
        """A fault was mended, and what it broke is back or is not."""
        with self._lock:
            kind, began_s = self._open.pop(step)
            self.broken.append(Broken(step, kind, began_s, now_s(), survived, note))

    def violate(self, what: str, words: str, step: int = -1, known: str = "") -> None:
        with self._lock:
            self.violations.append(Violation(what, words, self.round, step, known=known))

    def count(self, what: str, by: int = 1) -> None:
        with self._lock:
            self.counts[what] += by

    def waits(self, *kinds: str, display: str = "") -> list[Armed]:
        """Return the waits of these kinds (and that display), oldest first."""
        with self._lock:
            found = list(self.armed.values())
        return [a for a in found if (not kinds or a.kind in kinds) and (not display or a.display == display)]

    def ended(self) -> set[str]:
        with self._lock:
            return {wait_id for _, _, wait_id in self.told}

    def windows(self, *kinds: str) -> list[Broken]:
        with self._lock:
            lasting = [Broken(step, kind, began, now_s()) for step, (kind, began) in self._open.items()]
            return [broken for broken in [*self.broken, *lasting] if not kinds or broken.kind in kinds]

    def as_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                "asked": [structs.asdict(one) for one in self.asked],
                "armed": [structs.asdict(one) for one in self.armed.values()],
                "broken": [structs.asdict(one) for one in self.broken],
            }
