"""Which `criteria` sentences plainly ask for quoted words to be visible or gone, or for a number after them, so that no
vision model is needed.

The grammar is narrow on purpose: one quoted text, a subject that adds nothing, one verb phrase. Whatever else a
sentence says (other negations, counts, positions, times, a second clause) is not read away: it needs a judge that sees.
"""

from __future__ import annotations

import re

from msgspec import Struct

from acud.types import Comparison, ScreenNumber, Text, TextLeaf

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "`": "`"}
_QUOTED = re.compile("|".join(f"{re.escape(a)}([^{re.escape(a + b)}]+){re.escape(b)}" for a, b in _QUOTES.items()))
_SUBJECT = (
    r"(?:wait (?:until|till|for) )?(?:the |a |an )?"
    r"(?:(?:visible )?(?:text|words?|phrase|message|string) )?<>"
)
_PLACE = r"(?: (?:on|in) (?:the )?(?:screen|display))?(?: (?:now|anywhere))?"
_SHOWN = (
    r"(?:is|are|becomes?|is now) (?:visible|shown|displayed|present|on screen)|(?:appears?|shows up|shows)"
    r"|(?:is|are) (?:on|in) (?:the )?(?:screen|display)|to appear|can be (?:seen|read)"
)
_GONE = (
    r"(?:is|are|has|have) (?:gone|disappeared|vanished)|(?:disappears?|vanishes)|to (?:disappear|vanish)"
    r"|(?:is|are) (?:no longer|not) (?:visible|shown|displayed|present|on screen)"
    r"|(?:is|are) no longer (?:on|in) (?:the )?(?:screen|display)"
)
_VISIBLE_SENTENCE = re.compile(f"{_SUBJECT}(?: (?:{_SHOWN}){_PLACE})?")
_GONE_SENTENCE = re.compile(f"{_SUBJECT} (?:{_GONE}){_PLACE}")

_COMPARED = {
    Comparison.AT_LEAST: r"reaches|is at least|to reach|gets to",
    Comparison.MORE: r"exceeds|is (?:above|over|more than|greater than)|to exceed|rises above",
    Comparison.LESS: r"is (?:below|under|less than|fewer than)|(?:falls|drops) below",
    Comparison.AT_MOST: r"is (?:at most|no more than)",
    Comparison.EQUAL: r"is|is exactly|equals|is equal to",
}
_NUMBER_SENTENCES = {
    compare: re.compile(
        r"(?:wait (?:until|till|for) )?(?:the )?"
        r"(?:(?:number|value|count|percentage) (?:after|beside|next to|of|for) )?<>"
        rf" (?:{verbs}) (?P<value>[+-]?\d+(?:\.\d+)?)(?: ?(?P<unit>%|[^\W\d]{{1,12}}))?"
    )
    for compare, verbs in _COMPARED.items()
}

NEEDS_VISION = (
    "this condition needs a judge that sees; set `backend` in [vision] (ACU_VISION_BACKEND) to a vision "
    'backend such as "ollama", or ask for quoted words: "Done" is visible'
)


class TextCriteria(Struct, frozen=True):
    """The leaf that a sentence amounts to, or None and the `reason` why it needs vision."""

    leaf: TextLeaf | None
    reason: str = ""


def text_criteria(criteria: str) -> TextCriteria:
    """Return what `criteria` amounts to when it says no more than that quoted words are visible, or are gone, or which
    number is to stand after them.
    """
    sentence = " ".join(criteria.split()).rstrip(".!").rstrip()
    found = list(_QUOTED.finditer(sentence))
    if len(found) != 1:
        count = "no" if not found else "more than one"
        return TextCriteria(None, f"it has {count} quoted text; {NEEDS_VISION}")
    words = next(group for group in found[0].groups() if group is not None).strip()
    frame = (sentence[: found[0].start()] + "<>" + sentence[found[0].end() :]).casefold()
    return _read(frame, words)


def _read(frame: str, words: str) -> TextCriteria:
    if not words:
        return TextCriteria(None, f"the quoted text is blank; {NEEDS_VISION}")
    if _VISIBLE_SENTENCE.fullmatch(frame):
        return TextCriteria(Text(words))
    if _GONE_SENTENCE.fullmatch(frame):
        return TextCriteria(Text(words, gone=True))
    for compare, sentence in _NUMBER_SENTENCES.items():
        if (found := sentence.fullmatch(frame)) is not None:
            return TextCriteria(ScreenNumber(compare, float(found["value"]), words[:200], found["unit"] or ""))
    return TextCriteria(None, f"it says more than that quoted words are visible or gone; {NEEDS_VISION}")
