"""The strict reader of a judge's words: `YES:` or `NO:` is the whole first word of the first line, or nothing is known.

What a reasoning model prints before it is taken off (`thoughts`); a thought is never a verdict.

A guess would wake an agent for nothing ("Yesterday's report …" is not a yes), so whatever is not plain is
`unknown(unparsable)`. Accepted around the word: white space, quotes and Markdown marks. A first line that holds nothing
but the word needs no colon. A later line that says the opposite just as strictly makes the reply unparsable (models
that repeat both forms of the instruction do that).
"""

from __future__ import annotations

import re

from acud.evaluator.vision.thoughts import begins_with_thought, thought_and_answer
from acud.types import Answer, Verdict, unknown

MAX_REPLY = 20_000
"""Characters of an answer that are read."""

MAX_DETAIL = 500
"""Characters kept of a judge's sentence; it ends in the wake's text."""

_MARKS = "*_`~#>\"'“”‘’«»"
_FORM = re.compile(rf"^[\s{_MARKS}]*(YES|NO)[{_MARKS}]*(?:\s*[:：][\s{_MARKS}]*(.*)|[\s{_MARKS}.]*)$", re.IGNORECASE)

_NUMBER = re.compile(
    rf"^[\s{_MARKS}]*(?:condition\s+)?(\d{{1,3}})(?!\d)[{_MARKS}]*[.):：]?\s+(.*)$", re.IGNORECASE | re.ASCII
)
"""A line of a list. `1. YES: …`, `**2** NO: …`; ASCII digits alone."""


def parse_verdict(reply: str) -> Verdict:
    """Return the verdict in a judge's `reply`: yes or no with its sentence, else `unknown(unparsable)` quoting it."""
    answer = _answer(reply)
    if isinstance(answer, Verdict):
        return answer
    lines = [line for line in answer[:MAX_REPLY].splitlines() if line.strip()]
    if not lines:
        return unknown("unparsable", "the judge's answer is empty")
    found = _read(lines[0])
    if found is None:
        return unknown("unparsable", f"the judge did not begin with YES: or NO: {_quote(lines[0])}")
    later = (_read(line) for line in lines[1:])
    if any(other is not None and other.answer is not found.answer for other in later):
        return unknown("unparsable", f"the judge said both YES and NO: {_quote(lines[0])}")
    return found if found.detail else Verdict(found.answer, _sentence(" ".join(lines[1:])))


def parse_verdicts(reply: str, count: int) -> tuple[Verdict, ...]:
    """Return the verdicts on conditions 1 to `count` in a judge's `reply` to all of them, each read alone.

    A line is a number and then a verdict in the strict form. A condition without its line, or with two, is
    `unknown(unparsable)`. All are when the reply does not begin with such a line, numbers a condition that nobody asked
    about, or has a verdict without a number: whoever lost count once may have done so elsewhere.
    """
    answer = _answer(reply)
    if isinstance(answer, Verdict):
        return (answer,) * count
    lines = [line for line in answer[: MAX_REPLY * count].splitlines() if line.strip()]
    found: dict[int, list[Verdict]] = {}
    for place, line in enumerate(lines):
        number, verdict = _numbered(line)
        if number is None:
            if place == 0 or _read(line) is not None:
                return (unknown("unparsable", f"the judge gave a line without a number: {_quote(line)}"),) * count
        elif not 1 <= number <= count:
            return (unknown("unparsable", f"the judge told of a condition {number} of {count}"),) * count
        else:
            found.setdefault(number, []).append(verdict)
    return tuple(_only(found.get(number, []), number) for number in range(1, count + 1))


def _answer(reply: str) -> str | Verdict:
    """Return what of `reply` is no thought, or why that cannot be told."""
    parts = thought_and_answer(reply)
    if parts is None:
        return unknown("unparsable", "the judge's answer cannot be told from its thoughts, which have no plain end")
    thought, answer = parts
    begun = next((line for line in thought.splitlines() if line.strip()), "")
    if thought and not answer:
        return unknown("unparsable", "the judge thought and did not answer")
    if _read(begun) is not None and not begins_with_thought(reply):
        return unknown("unparsable", f"the judge began with an answer and called it a thought: {_quote(begun)}")
    return answer


def _numbered(line: str) -> tuple[int | None, Verdict]:
    """Return the number that a line begins with, None for none, and the verdict after it."""
    match = _NUMBER.match(line)
    if match is None:
        return None, unknown("unparsable", "no number")
    verdict = _read(match[2])
    return int(match[1]), verdict or unknown("unparsable", f"the judge did not say YES: or NO: {_quote(line)}")


def _only(found: list[Verdict], number: int) -> Verdict:
    if len(found) == 1:
        return found[0]
    said = "nothing" if not found else f"{len(found)} lines"
    return unknown("unparsable", f"the judge gave {said} for condition {number} of several")


def _read(line: str) -> Verdict | None:
    match = _FORM.match(line)
    if match is None:
        return None
    return Verdict(Answer.YES if match[1].upper() == "YES" else Answer.NO, _sentence(match[2] or ""))


def _sentence(text: str) -> str:
    folded = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return folded.rstrip("*_`~ ")[:MAX_DETAIL]


def _quote(line: str) -> str:
    return repr(_sentence(line)[:120])
