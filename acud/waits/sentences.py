"""Which sentences say for certain what a local condition says, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. Whatever it does not know (a place, a colour, an order, a
doubt, a second clause that is no condition) is not read away: the sentence stays one for a judge that sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Comparison,
    ConditionWords,
    Criteria,
    JudgeName,
    NotOf,
    ScreenNumber,
    Stable,
    Text,
    Then,
    Until,
    WindowTitle,
    condition_text,
)

NEEDS_VISION = (
    "this condition needs a judge that sees; set `backend` in [vision] (ACU_VISION_BACKEND) to a vision "
    'backend such as "ollama", or ask for quoted words: "Done" is visible'
)
_LOCAL_JUDGES = (JudgeName.AUTO, JudgeName.OCR)
"""Whoever names another judge wants the sentence judged by that one."""
_MOST_PARTS = 4


def with_meanings(until: Until, judge: str = JudgeName.AUTO) -> Until:
    """Return `until` with each sentence that is certain replaced by the condition that it means, for these judges."""
    if judge not in _LOCAL_JUDGES:
        return until
    match until:
        case Criteria(criteria=sentence):
            return meaning(sentence) or until
        case AllOf(parts=parts):
            return AllOf(tuple(with_meanings(part, judge) for part in parts))
        case AnyOf(parts=parts):
            return AnyOf(tuple(with_meanings(part, judge) for part in parts))
        case Then(parts=parts):
            return Then(tuple(with_meanings(part, judge) for part in parts))
        case NotOf(part=part):
            return NotOf(with_meanings(part, judge))
    return until


def meaning_notes(until: Until, judge: str) -> Iterator[str]:
    """Yield for each sentence that is certain how it is read."""
    match until:
        case Criteria(criteria=sentence) if judge in _LOCAL_JUDGES:
            meant = meaning(sentence)
            if meant is not None:
                yield f"read as: {condition_text(meant, ConditionWords.SENTENCE)}; no model is asked"
        case AllOf(parts=parts) | AnyOf(parts=parts) | Then(parts=parts):
            for part in parts:
                yield from meaning_notes(part, judge)
        case NotOf(part=part):
            yield from meaning_notes(part, judge)


def meaning(sentence: str) -> Until | None:
    """Return the condition that `sentence` means, None where that is not certain."""
    phrase = _Phrase.of(sentence)
    while phrase is not None and (meant := _whole(phrase)) is None:
        placed = _PLACE.search(phrase.text)
        phrase = _Phrase(phrase.text[: placed.start()], phrase.quoted) if placed else None
    return None if phrase is None else meant


# ---- phrases -------------------------------------------------------------------------------------------------------

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "`": "`"}
_QUOTED = re.compile("|".join(f"{re.escape(a)}([^{re.escape(a + b)}]+){re.escape(b)}" for a, b in _QUOTES.items()))
_OPENING = re.compile(
    r"(?:please )?(?:wait (?:until|till|for)|(?:wake me(?: up)?|tell me|let me know|notify me|alert me|ping me)"
    r" (?:when|once|as soon as)|until|when|once|as soon as) ",
    re.IGNORECASE,
)
_PLACE = re.compile(r" (?:on|in) (?:the |my )?(?:screen|display|desktop)$| (?:now|anywhere)$", re.IGNORECASE)


class _Phrase(Struct, frozen=True):
    """A sentence with its quoted words taken out: `<0>` stands for the first of them."""

    text: str
    quoted: tuple[str, ...]

    @classmethod
    def of(cls, sentence: str) -> _Phrase | None:
        """Return the phrase; None where quoted words are blank."""
        plain = " ".join(sentence.split()).rstrip(".!").rstrip()
        if "<" in plain or ">" in plain:
            return None
        words: list[str] = []

        def take(found: re.Match[str]) -> str:
            words.append(next(group for group in found.groups() if group is not None).strip())
            return f"<{len(words) - 1}>"

        text = _QUOTED.sub(take, plain)
        opened = _OPENING.match(text)
        text = text[opened.end() :] if opened else text
        return None if not all(words) or re.search(r"[\"“”„«»`?]", text) else cls(text, tuple(words))

    def name(self, given: str) -> str:
        """Return the words that `given` stands for, "" where it is no name for certain: it is quoted, or each of its
        words begins with a capital letter or a digit.
        """
        if (found := re.fullmatch(r"<(\d+)>", given)) is not None:
            return self.quoted[int(found[1])]
        words = given.split()
        return given if words and all(word[0].isupper() or word[0].isdigit() for word in words) else ""


def _whole(phrase: _Phrase) -> Until | None:
    """Return the meaning of one clause, or of clauses joined by one word: `and`, or `or`."""
    single = _clause(phrase)
    if single is not None:
        return single
    for word, join in ((" and ", AllOf), (" or ", AnyOf)):
        parts = phrase.text.removeprefix("either ").split(word)
        if 1 < len(parts) <= _MOST_PARTS:
            meant = [_clause(_Phrase(part, phrase.quoted)) for part in _completed(parts)]
            known = tuple(one for one in meant if one is not None)
            return join(known) if len(known) == len(parts) else None
    return None


def _completed(parts: Sequence[str]) -> Sequence[str]:
    """Return the clauses with what they share: in `"A" or "B" appears` both appear."""
    last = re.fullmatch(r"(?:the |a )?<\d+> (.+)", parts[-1])
    if last is None:
        return parts
    return [f"{part} {last[1]}" if re.fullmatch(r"<\d+>", part) else part for part in parts]


def _clause(phrase: _Phrase) -> Until | None:
    for pattern, read in _CLAUSES:
        found = pattern.fullmatch(phrase.text)
        if found is not None and (meant := read(phrase, found)) is not None:
            return meant
    return None


# ---- clauses -------------------------------------------------------------------------------------------------------

_BE = r"(?:is|are|has become|becomes?|gets?|has|have)(?: now)?"
_SHOWN = (
    rf"(?:{_BE} (?:visible|shown|displayed|present|there|on screen|on (?:the )?(?:screen|display))"
    r"|(?:appears?|shows up|show up|shows|comes up|has appeared|have appeared)"
    r"|to (?:appear|show up|be (?:visible|shown))"
    r"|can be (?:seen|read))"
)
_GONE = (
    rf"(?:{_BE} (?:gone|disappeared|vanished)|(?:disappears?|vanish(?:es)?|goes away|go away)"
    r"|to (?:disappear|vanish|go away|be gone)"
    r"|(?:is|are) (?:no longer|not) (?:visible|shown|displayed|present|there|on screen|on (?:the )?(?:screen|display)))"
)
_NAME = r"(?P<name><\d+>|[^<>]+?)"
_QUOTED_NAME = r"(?P<name><\d+>)"
_TEXT_NOUN = r"(?:visible )?(?:text|words?|phrase|message|string) (?:(?:that )?(?:says|saying|reading) )?"
_OPENED = rf"(?:{_SHOWN}|opens|pops up|is (?:open|opened)|has (?:opened|popped up)|exists|to (?:open|pop up)|is up)"
_CLOSED = rf"(?:{_GONE}|closes|is closed|has (?:closed|been closed)|to (?:close|be closed)|is no longer open)"
_TITLED = r"(?:titled|called|named|with the title|with title|whose title (?:is|contains|includes))"

_COMPARED = {
    Comparison.AT_LEAST: r"reach(?:es)?|has reached|is at least|to reach|gets? to|hits?",
    Comparison.MORE: r"(?:to )?exceeds?|is (?:above|over|(?:more|greater|higher) than)|(?:rises|goes|climbs) above",
    Comparison.LESS: r"is (?:below|under|less than|fewer than|lower than)|(?:falls|drops|goes|sinks) (?:below|under)",
    Comparison.AT_MOST: r"is (?:at most|no more than)",
    Comparison.EQUAL: r"is|is exactly|equals|is equal to",
}
_VALUE = r"(?P<value>[+-]?\d+(?:\.\d+)?)(?: ?(?P<unit>%|percent|[^\W\d]{1,12}))?"
_UNITS = {"percent": "%"}
_NO_LABEL = re.compile(
    r"(?i)\b(?:bar|slider|button|window|page|screen|display|clock|time|date|it|number|count|counter|amount|of|volume)\b"
)
_SECONDS = {"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "min": 60, "mins": 60, "minute": 60, "minutes": 60}
_COUNTS = {
    "a": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "ten": 10,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
}
_SPAN = rf"(?:for |in )?(?:at least )?(?P<span>\d+(?:\.\d+)?|{'|'.join(_COUNTS)}) ?(?P<of>{'|'.join(_SECONDS)})"
_VIEW = r"(?:the (?:whole |entire )?(?:screen|display|picture|image|desktop)|everything)"


def _text(*, gone: bool) -> Callable[[_Phrase, re.Match[str]], Until | None]:
    def read(phrase: _Phrase, found: re.Match[str]) -> Until | None:
        name = phrase.name(found["name"])
        return Text(name, gone=gone) if name else None

    return read


def _window(*, gone: bool) -> Callable[[_Phrase, re.Match[str]], Until | None]:
    def read(phrase: _Phrase, found: re.Match[str]) -> Until | None:
        name = phrase.name(found["name"])
        return WindowTitle(name, gone=gone) if name else None

    return read


def _number(compare: Comparison, *, quoted: bool) -> Callable[[_Phrase, re.Match[str]], Until | None]:
    def read(phrase: _Phrase, found: re.Match[str]) -> Until | None:
        label = phrase.quoted[int(found["name"][1:-1])] if quoted else found["name"]
        if not quoted and (_NO_LABEL.search(label) or len(label.split()) > 3 or not found["unit"]):
            return None
        unit = (found["unit"] or "").casefold()
        return ScreenNumber(compare, float(found["value"]), label[:200], _UNITS.get(unit, unit))

    return read


def _stable(phrase: _Phrase, found: re.Match[str]) -> Until | None:
    count = found["span"].casefold()
    seconds = (_COUNTS[count] if count in _COUNTS else float(count)) * _SECONDS[found["of"].casefold()]
    return Stable(seconds) if seconds > 0 else None


def _change(phrase: _Phrase, found: re.Match[str]) -> Until | None:
    return Change()


def _clauses() -> Iterator[tuple[str, Callable[[_Phrase, re.Match[str]], Until | None]]]:
    for state, gone in ((_SHOWN, False), (_GONE, True)):
        yield rf"(?:the |a |an )?(?:{_TEXT_NOUN})?{_QUOTED_NAME} {state}", _text(gone=gone)
        yield rf"(?:the |a |an )?(?:text|words?|phrase|message) {_NAME} {state}", _text(gone=gone)
    yield rf"(?:the |a |an )?(?:{_TEXT_NOUN})?{_QUOTED_NAME}", _text(gone=False)
    yield (
        rf"(?:the )?(?:screen|display|page|terminal|console) (?:shows|says|reads|displays|contains) {_QUOTED_NAME}",
        _text(gone=False),
    )
    yield rf"(?:I|you|we) (?:can )?see {_QUOTED_NAME}", _text(gone=False)
    for state, gone in ((_OPENED, False), (_CLOSED, True)):
        yield rf"(?:a|the|any) window {_TITLED} {_NAME} {state}", _window(gone=gone)
        yield rf"the window {_QUOTED_NAME} {state}", _window(gone=gone)
        yield rf"(?:the|an?) {_NAME} window {state}", _window(gone=gone)
    yield rf"no window {_TITLED} {_NAME} (?:{_OPENED}|is left)", _window(gone=True)
    yield rf"there is a window {_TITLED} {_NAME}", _window(gone=False)
    yield rf"there is no window {_TITLED} {_NAME}", _window(gone=True)
    for compare, verbs in _COMPARED.items():
        of = r"(?:(?:number|value|count|percentage) (?:after|beside|next to|of|for) )?"
        yield rf"(?:the )?{of}{_QUOTED_NAME} (?:{verbs}) {_VALUE}", _number(compare, quoted=True)
        if compare is not Comparison.EQUAL:
            yield rf"(?:the )?{_NAME} (?:{verbs}) {_VALUE}", _number(compare, quoted=False)
    still = r"(?:still|unchanged|stable|static|quiet|the same|motionless)"
    yield rf"nothing (?:changes|moves|has changed|has moved) {_SPAN}", _stable
    yield rf"{_VIEW} (?:is|stays|remains|has been|has stayed|to be) {still} {_SPAN}", _stable
    yield rf"{_VIEW} (?:has not changed|hasn't changed|does not change|doesn't change|stops changing) {_SPAN}", _stable
    yield rf"(?:{_VIEW}|anything|something) (?:changes|has changed|to change)", _change


_CLAUSES = tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in _clauses())
