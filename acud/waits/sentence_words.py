"""Patterns that the clauses of sentences share: forms of verbs; shown, gone, open and closed; names."""

from __future__ import annotations

import re
from collections.abc import Callable

from acud.types import Until
from acud.waits.sentence_phrase import Phrase

Read = Callable[[Phrase, re.Match[str]], Until | None]
Row = tuple[str, Read]


def verb(base: str, third: str, past: str) -> str:
    """Return a pattern for the forms of a verb: appears, appeared, has appeared, to appear."""
    return rf"(?:to )?{base}|{third}|(?:(?:has|have|is) )?(?:{past})"


def particle(verbs: str, particle: str) -> str:
    """Return `verb` for each `base/third/past`, with a particle: shows up, has shown up."""
    forms = (one.split("/") for one in verbs.split())
    return "|".join(
        verb(*(f"(?:{form.replace('+', '|')}) {particle}" for form in (base, third, past)))
        for base, third, past in forms
    )


VIEWER = r"(?:I|you|we)"
_BE = (
    r"(?:is|are|be|'s|has|have|(?:has|have) been|gets?|got|becomes?|became|(?:has|have) become|turns"
    r"|to be|to become|to get|to have been|(?:shows|is shown|shows up|appears) as)"
)
BE_ = rf"(?:{_BE} (?:now )?)?"
NOT = (
    r"(?:(?:is|are|has|have) (?:no longer|not)|(?:is|are) not (?:being|to be)"
    r"|stops being|no longer|not)"
)
MORE = r"(?: any ?more| any longer)?"
_AT_SCREEN = (
    r"(?:on screen|up there|(?:up )?on (?:the |my |this |that )?(?:screen|display)|on (?:the|this) page|there|around)"
)
_ON_SCREEN = r"on (?:the |my |this |that )?(?:screen|display)"
_VISIBLE = (
    rf"(?:visible|shown|showing|displayed|present|seen|readable|legible|on display|in view|in sight"
    rf"|{_AT_SCREEN})"
)
SHOWN = (
    rf"(?:{BE_}{_VISIBLE}|{BE_}(?:written|printed) {_ON_SCREEN}|(?:is |are )?to be (?:seen|read)|can be (?:seen"
    rf"|read|found)|(?:to )?shows?"
    rf"|stands? there|{verb('appear', 'appears', 'appeared')}"
    rf"|{verb('come into view', 'comes into view', 'come into view')}"
    rf"|{particle('show/shows/shown+showed pop/pops/popped come/comes/come+came', 'up')}"
    rf"|(?:comes?|came|come) on(?:to)? (?:the |my )?(?:screen|display)"
    rf"|{particle('turn/turns/turned flash/flashes/flashed', 'up')})"
)
_SEEN_NOT = (
    rf"(?:can (?:not|no longer) be (?:seen|read|found){MORE}|(?:is|are) nowhere (?:to be (?:seen|found)|{_ON_SCREEN}))"
)
GONE = (
    rf"(?:{BE_}(?:gone(?: away)?|disappeared|vanished|out of sight)|to be gone|goes|went"
    rf"|{verb('disappear', 'disappears', 'disappeared')}|{verb('vanish', 'vanishes', 'vanished')}"
    rf"|{particle('go/goes/gone+went fade/fades/faded', '(?:away|out of sight)')}"
    rf"|(?:{verb('leave', 'leaves', 'left')}) the (?:screen|display)"
    rf"|{NOT} (?:{_VISIBLE}|to be seen)(?: (?:anywhere )?{_ON_SCREEN}| anywhere)?{MORE}|is off (?:the"
    rf" )?screen|no longer (?:appears|shows(?:"
    rf" up)?)|(?:do|does) not (?:appear|show(?: up)?) any more"
    rf"|{verb('vanish', 'vanishes', 'vanished')} from the (?:screen|display)"
    rf"|{verb('disappear', 'disappears', 'disappeared')} from the (?:screen|display)"
    rf"|{BE_}(?:cleared|removed|wiped) from the (?:screen|display)|(?:{verb('go', 'goes', 'gone|went')}"
    rf"|drops) off the screen"
    rf"|(?:no longer exists|does not exist any more)"
    rf"|(?:is|are) no more|(?:stops|has stopped) (?:being (?:shown|displayed|visible)|showing)"
    rf"|{_SEEN_NOT})"
)
OPENED = (
    rf"(?:{SHOWN}|{BE_}(?:open(?:ed)?|up)|{verb('open', 'opens', 'opened')}|{verb('open up', 'opens up', 'opened up')}"
    rf"|{verb('pop open', 'pops open', 'popped open')}"
    r"|exists|to exist)"
)
CLOSED = (
    rf"(?:{GONE}|{BE_}(?:closed|shut)|{verb('close', 'closes', 'closed')}|{verb('shut', 'shuts', 'shut')}"
    rf"|{NOT} open{MORE}|no longer exists|does not exist any more)"
)
THE = r"(?:the |a |an )?"
NAME = r"(?P<name><\d+>|[^<>]+?)"
OTHER = r"(?P<other><\d+>|[^<>]+?)"
QUOTE = r"(?P<name><\d+>)"
CALLED = (
    r"(?:titled|called|named|labell?ed|(?:with|having) the (?:title|label|name|caption|words|text)(?:"
    r" of)?|(?:by|of) the (?:name|title)(?: of)?"
    r"|(?:that|which) (?:says|reads|(?:is|has been) (?:called|named|labell?ed|titled)|has the (?:title"
    r"|label|name))|saying|reading)"
)


def name_reader(make: Callable[[str], Until]) -> Read:
    """Return a reader of a row with its name in the group `name`, or `other`."""
    return lambda phrase, found: make(name) if (name := phrase.name(name_in(found))) else None


def name_in(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return groups["name"] or groups.get("other") or groups.get("label") or ""
