"""Statements one after the other: `first "A" appears, then it goes away`."""

from __future__ import annotations

import re

from acud.types import Then, Until
from acud.waits.sentence_joints import MOST_PARTS, complete_parts, read_joined
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_requests import find_conditions
from acud.waits.sentence_statements import apply_to_subject, is_noun, read_single

_LATER = re.compile(
    r"[,;.:]? (?:(?:and |but )?(?:only )?(?:then|after that|after it|afterwards|thereafter|later(?: on)?|subsequently"
    r"|some ?time (?:later|after(?: it| that)?)|once that has happened|when that is done)|followed by)(?: that)?,? |, "
    r"(?:and )?(?:hold on|wait|watch|look|look out|(?:start|begin|keep) (?:looking|watching|waiting|checking)) "
    r"(?=for |until |till )| (?=(?:start|begin) (?:looking|watching|waiting|checking) (?:for|until) )",
    re.IGNORECASE,
)
_RETURNS = re.compile(r"(?: ?\b(?:comes?|is|came|has come) back|reappears?|returns?|shows? up again)$", re.IGNORECASE)
"""The return of something that was gone."""
_FIRST = re.compile(r"(?:first|at first|first of all|to begin with|start with),? (?!of )| first$", re.IGNORECASE)
_I_WANT = re.compile(r"^(?:I|we) (?:want|need|would like) (?=\S+ (?:\S+ ){0,6}to )", re.IGNORECASE)
"""In a sequence, what the user wants to happen is what to wait for."""
_AFTER = re.compile(r"after (?P<first>[^,]+), (?:then )?(?P<later>[^,]+)", re.IGNORECASE)
_THEREAFTER = re.compile(
    r"(?P<first>[^,]+?),? and (?P<later>[^,]+?),? (?:after that|afterwards|thereafter|later(?: on)?)", re.IGNORECASE
)
_AFTERWARDS = re.compile(
    r"(?!.*\b(?:right|soon|just|long|shortly|directly|immediately) after )"
    r"(?P<later>[^,]+?),? (?:but )?(?:only )?after (?P<first>(?!that\b)[^,]+)",
    re.IGNORECASE,
)
_SAID = re.compile(r"(?:it|the (?:screen|page)) (?:says|shows|reads) (?P<name><\d+>)", re.IGNORECASE)
"""Words on the screen that are the subject of the next clause."""
_AND_THEN = re.compile(r" and (is|has|goes|gets|must) then ", re.IGNORECASE)
_COME_AND_GONE = re.compile(r"(?P<it>.+) (?:has|have) come and gone", re.IGNORECASE)
_OF_IT = re.compile(r"^(?:(?:until|till|for|when|once) )?(?:it|that|this) (?=\S)")
_TOGETHER = re.compile(r"either |both ", re.IGNORECASE)
_AND_BACK = re.compile(r"(?P<first>[^,]+?),? and (?P<later>[^,]+) again", re.IGNORECASE)
"""What one thing does and then undoes."""


def read_sequence(phrase: Phrase) -> Until | None:
    """Return the meaning of `first …, then …`; a later clause may leave out its subject, or call it `it`."""
    first, *later = _LATER.split(_FIRST.sub("", _put_in_order(phrase.text), count=1))
    if not later and (back := _AND_BACK.fullmatch(first)) is not None:
        does = read_single(phrase.with_text(back["first"]))
        undoes = apply_to_subject(phrase, back["first"], back["later"])
        return None if does is None or undoes is None else Then((does, undoes))
    if not later or len(later) >= MOST_PARTS:
        return None
    first, *later = complete_parts([first, *later])
    first, *later = (_FIRST.sub("", _I_WANT.sub("", part)) for part in (first, *later))
    meant = [_read_part(phrase, first)]
    if meant[0] is None and _OF_IT.match(later[0]) is not None and is_noun(phrase, first):
        meant = [read_single(phrase.with_text(f"{first} is visible"))]
    for part in later:
        if getattr(meant[-1], "gone", False):
            part = _RETURNS.sub(" appears", part).strip()
        rest = _OF_IT.sub("", part.removesuffix(" again"))
        whole = _read_part(phrase, part)
        said = _SAID.fullmatch(first)
        of_first = apply_to_subject(phrase, first, rest)
        if of_first is None and (said is not None or is_noun(phrase, first)):
            of_first = read_single(phrase.with_text(f"{said['name'] if said else first} {rest}"))
        meant.append(whole if whole is not None else of_first)
    known = tuple(one for one in meant if one is not None)
    is_shared = getattr(meant[-1], "gone", False) and is_noun(phrase, first) and not is_noun(phrase, later[-1])
    return Then(known) if len(known) == len(meant) and not is_shared else None


def _put_in_order(text: str) -> str:
    """Return `after A, B` and `B after A` as `A, then B`."""
    text = _AND_THEN.sub(r", then \1 ", text)
    text = _COME_AND_GONE.sub(r"\g<it> appears, then \g<it> disappears", text)
    found = _AFTER.fullmatch(text) or _THEREAFTER.fullmatch(text) or _AFTERWARDS.fullmatch(text)
    return text if found is None else f"{found['first']}, then {found['later']}"


def _read_part(phrase: Phrase, text: str) -> Until | None:
    """Return the meaning of a clause of a sequence, which may begin with its own request: `then wait for …`."""
    for one in find_conditions(text):
        part = phrase.with_text(one.condition)
        meant = None if one.ends else read_single(part) or (read_joined(part) if _TOGETHER.match(part.text) else None)
        if meant is not None:
            return meant
    return None
