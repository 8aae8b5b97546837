"""In which order waits' jobs go when there is more to do than evaluators can: lower goes first.

Pictures of a verdict and comparisons of pixels come first, as they are short and a wake waits for them; then judgements
by the wait's priority. A judgement that is only repeated because nothing was judged for long comes after its equals. A
wait that is about to time out is judged as one of high priority: what a low one was not asked for, it still ends with.
"""

from __future__ import annotations

from acud.types import Priority
from acud.waits.effects import Due, DueKind

EVIDENCE, IDENTITY, HIGH, NORMAL, LOW = 0, 1, 2, 4, 6
NOBODY = 9
"""Of a job that nobody wants any more."""
URGENT_S = 5.0
"""So long before its deadline a wait is urgent: two looks of the default cadence, and a reading."""

_JUDGE = {Priority.HIGH: HIGH, Priority.NORMAL: NORMAL, Priority.LOW: LOW}


def judging(priority: Priority, *, force: bool) -> int:
    """Return the rank of a judgement."""
    return _JUDGE[priority] + force


def rank(due: Due, remaining_s: float) -> int:
    """Return the rank of `due` of a wait that ends in `remaining_s`."""
    urgent = due.kind is DueKind.JUDGE and remaining_s <= URGENT_S
    return min(due.priority, HIGH) if urgent else due.priority
