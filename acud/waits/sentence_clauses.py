"""The clauses that surely mean a local condition: a named subject and one predicate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from acud.types import Change, Stable, Text, Until, WindowTitle
from acud.waits.sentence_controls import PLAIN_NAMES, number_rows, widget_rows
from acud.waits.sentence_host import file_rows, process_rows
from acud.waits.sentence_phrase import NO_NAMES, Phrase, is_hedged, is_label
from acud.waits.sentence_rewordings import reword
from acud.waits.sentence_words import (
    CALLED,
    CLOSED,
    GONE,
    MORE,
    NAME,
    OPENED,
    OTHER,
    QUOTE,
    SHOWN,
    THE,
    Read,
    Row,
    name_reader,
)


def read_clause(phrase: Phrase) -> Until | None:
    """Return the condition that one clause means, None if that is not certain."""
    text = reword(phrase.text)
    for row, read in _CLAUSES:
        found = row.fullmatch(text)
        if found is not None and (meant := read(phrase, found)) is not None:
            return meant
    return None


# ---- texts and windows ---------------------------------------------------------------------------------------------

_TEXT = (
    r"(?:visible )?(?:texts?|caption|label|words?|phrase|(?:error |status |success |warning |info )?messages?|string"
    r"|sentence|error|notice"
    r"|note|notification|warning|banner|toast|alert|line)"
)
_SAYING = (
    r"(?:(?:that |which )?(?:says|reads|shows|contains)|saying|reading|containing|with the "
    r"(?:texts?|words?|message))"
)
_SCREEN = r"(?:(?:the |my |this )?(?:screen|display|page|terminal|console))"


_STATUS = r"(?:done|ready|finished|completed?|connected|success|failed|error|ok|online|offline|passed|saved|sent|idle)"
"""Words for the state of a program, and of nothing else."""
_WHOLE_MESSAGE = (
    r"Thanks(?: you)? for [a-z]+|Please (?:wait|hold|stand by|hold the line|try again|try again later|log in|sign in"
    r"|restart|reconnect)"
    r"|(?:Your|The|This|All|Everything|You|We|It|That) (?:[a-z]+ ){0,3}(?:is|are|was|has been|have been)(?: not|"
    r" now)? [a-z]+"
)
"""Whole sentences that programs show: Please wait, Your order has been sent."""
_SAID_BY = re.compile(
    r"(?i)\b(?:said|says|wrote|sent|typed|types|entered|told|gave|posted|asked|uses|used|wants|likes|chose|picked"
    r"|pasted|copied|mentioned|highlighted|quoted|meant|means|made|put|showed|twice|again|once)\b"
)


_PREDICATE = re.compile(rf"(?i) (?:{SHOWN}|{GONE})$")


def _label_reader(*, gone: bool = False, ends: bool = True) -> Read:
    """Return a reader of unquoted words in sentence case: the text Payment received. `ends`: what follows shows where
    they end.
    """

    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        words = found["name"]
        is_certain = is_label(words, after_kind=True) and _SAID_BY.search(words) is None
        is_certain &= _PREDICATE.search(words) is None
        is_certain &= ends or re.search(r"(?i)\bto\b|ing\b", words) is None
        is_certain |= re.fullmatch(rf"(?i:{_STATUS})|{_WHOLE_MESSAGE}", words) is not None
        return Text(phrase.name(words) or words, gone=gone) if phrase.name(words) or is_certain else None

    return read


def _read_word(phrase: Phrase, found: re.Match[str], *, gone: bool = False) -> Until | None:
    """Return the condition that one unquoted word is there: the word loading."""
    is_name = found["name"].casefold() not in NO_NAMES and not is_hedged(found["name"])
    return Text(found["name"], gone=gone) if is_name else None


def _text_rows() -> Iterator[Row]:
    a_text = rf"{THE}(?:{_TEXT} (?:{_SAYING} )?(?:the {_TEXT} )?)?{QUOTE}(?: {_TEXT})?"
    for state, gone in ((SHOWN, False), (GONE, True)):
        read = name_reader(partial(Text, gone=gone))
        yield rf"{a_text} {state}", read
        yield rf"{THE}{_TEXT} {NAME} {state}", read
        yield rf"the (?:text|words?|phrase) {NAME} {state}", _label_reader(gone=gone)
        yield rf"(?:the |a |an ){_TEXT} {state} {_SAYING} {QUOTE}", read
    up = r"(?:(?:is|are|has been) up|comes up|has come up)"
    yield rf"{THE}{_TEXT} (?:{_SAYING} )?{QUOTE} {up}", name_reader(Text)
    yield rf"{NAME} (?:is|are|gets|has been) (?:written|printed) (?:on (?:the |my )?screen)", _label_reader()
    yield (
        rf"{a_text} (?:(?:is|has been|gets|was) (?:removed|cleared)|has cleared|clears)",
        name_reader(partial(Text, gone=True)),
    )
    yield rf"(?:something|anything) (?:that|which) (?:says|reads) {QUOTE}", name_reader(Text)
    yield a_text, name_reader(Text)
    yield rf"there is (?:now )?{a_text}(?: there)?", name_reader(Text)
    yield rf"there is (?:now )?the (?:text|words?|phrase) {NAME}", _label_reader(ends=False)
    word = r"the word (?!(?:count|cloud|processor|list|limit|wrap|art|document|file|order|game)\b)(?P<name>[^\W\d]+)"
    yield rf"{word} {SHOWN}", _read_word
    yield rf"{word} {GONE}", partial(_read_word, gone=True)
    gone_read = name_reader(partial(Text, gone=True))
    yield rf"there is no (?:longer )?(?:a |the |any )?(?:{_TEXT} (?:{_SAYING} )?{QUOTE}{MORE})", gone_read
    yield rf"there is (?:no longer|no|not) (?:a |the |any )?{QUOTE} any more", gone_read
    yield (
        rf"no more {QUOTE}|no {QUOTE.replace('name', 'other')} (?:(?:left )?on (?:the |my )?screen )?any ?more",
        gone_read,
    )
    subject = rf"(?:it|(?:something|anything)(?: on the screen)?|{_SCREEN})"
    says = "show say read display contain print"
    third = "|".join(f"{verb}s" for verb in says.split())
    base = says.replace(" ", "|")
    it = rf"(?:the {_TEXT} )?{QUOTE}"
    yield rf"{subject} (?:now )?(?:{third}|to (?:{base})|{base}) {it}", name_reader(Text)
    yield rf"(?:it|{_SCREEN}) (?:now )?says? (?P<name>{_STATUS}|[^<>]+)", _label_reader()
    yield rf"(?:it|{_SCREEN}) (?:now )?(?:says?|reads?|prints?) {NAME}", name_reader(Text)
    not_says = rf"(?:no longer (?:{third})|(?:do|does) not (?:{base})|stops (?:showing|saying|reading|displaying))"
    yield rf"(?:it|{_SCREEN}) {not_says} {it}{MORE}", gone_read
    yield rf"(?:it|{_SCREEN}) {not_says} {NAME}{MORE}", _label_reader(gone=True)
    yield rf"{NAME} can (?:no longer|not) be read{MORE}", gone_read
    doing = r"(?P<name>(?-i:(?!Beijing|Evening|Morning|Sterling|Wedding|Meeting)[A-Z][a-z]{3,}ing))"
    yield rf"{doing} {SHOWN}", name_reader(Text)
    yield rf"{doing} {GONE}", gone_read


def _window_reader(*, gone: bool, is_called: bool = False) -> Read:
    """Return a reader of a window with a name maybe in sentence case: the Sign in window, a window called Low ink."""

    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        given = found["name"]
        is_plain = given[:1].isupper() and given.casefold() in PLAIN_NAMES
        is_plain |= is_called and is_label(given, after_kind=True) and _PREDICATE.search(given) is None
        return WindowTitle(name, gone=gone) if (name := given if is_plain else phrase.name(given)) else None

    return read


def _window_rows() -> Iterator[Row]:
    titled = (
        rf"(?:{CALLED}|(?:whose|where the) (?:title|name) (?:is|contains|includes|has|says)(?: the words?)?|with title)"
    )
    in_title = r"(?: (?:somewhere )?in (?:its|the) (?:title(?: bar)?|name)| in it)"
    window = (
        r"(?:pop-?up |program |browser |app(?:lication)? )?window"
        rf" (?:{titled} {NAME}{in_title}?|(?:with|having) (?:the words? )?{OTHER}{in_title})"
    )
    for state, gone in ((OPENED, False), (CLOSED, True)):
        read = name_reader(partial(WindowTitle, gone=gone))
        yield rf"(?:a |the |any |some )?{window} {state}", read
        yield rf"(?:a |the |any |some )?window {CALLED} {NAME} {state}", _window_reader(gone=gone, is_called=True)
        if gone:
            yield rf"no {window} any ?more", read
            yield rf"{THE}{NAME} window (?:is|has been|gets) dismissed", _window_reader(gone=True)
        yield rf"{THE}window {NAME} {state}", read
        yield rf"{THE}{NAME} window {state}", _window_reader(gone=gone)
        yield rf"(?:a |the |any )window {state},? {titled} {NAME}{in_title}?", read
    for state, gone in ((OPENED, False), (CLOSED, True)):
        yield (
            rf"(?:a |any )window {state} (?:that|which) has {NAME}{in_title}",
            name_reader(partial(WindowTitle, gone=gone)),
        )
    a_title = r"(?:the title(?: bar)? of (?:a|any|some) window|(?:a|any|some) window(?:'s)? title)"
    yield rf"{a_title} (?:contains|includes|has|says|reads|is|becomes) {QUOTE}", name_reader(WindowTitle)
    yield rf"{QUOTE} (?:is|appears|shows up|comes up) in {a_title}", name_reader(WindowTitle)
    for begin, gone in (
        (r"there is (?:now )?(?:a|the|any)", False), (r"there is (?:no|no longer an?|not an?)(?: more|"
r" the| any)?", True), (r"no", True)
    ):  # fmt: skip
        read = name_reader(partial(WindowTitle, gone=gone))
        state = rf" (?:{OPENED}|is left|remains)(?: open)?{MORE}" if begin == "no" else r"(?: left| open)?" + MORE
        yield rf"{begin} {window}{state}", read
        yield rf"{begin} (?:window {NAME}|{OTHER} window){state}", read


# ---- the screen as a whole -----------------------------------------------------------------------------------------

_SECONDS = {
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "hour": 3600, "hours": 3600,
}  # fmt: skip
_COUNTS = {
    "a quarter of a": 0.25, "a quarter of an": 0.25, "half a": 0.5, "half an": 0.5, "a": 1, "an": 1, "one": 1,
    "one and a half": 1.5, "two": 2, "two and a half": 2.5, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20,
    "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip
_SPAN = (
    rf"(?:for |in |during )?(?:a (?:full|whole|good|solid) |at least |the last )?(?P<span>\d+"
    rf"(?:\.\d+)?|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
    rf"(?: ?| (?:full|whole|entire|solid|good) )(?P<of>{'|'.join(sorted(_SECONDS, key=len, reverse=True))})"
    r"(?P<half> and a half)?(?: straight| in a row| without (?:any |a )?(?:change|movement|interruption|break)"
    r"| or (?:more|longer))?"
)
_VIEW = (
    r"(?:(?:(?:the |my |that |this )?(?:whole |entire )?(?:screen|display|desktop))"
    r"|the (?:picture|image) on (?:the |my )?(?:screen|display)|the whole (?:picture|image)|(?:the "
    r"|my )?screen contents?"
    r"|the contents? of (?:the |my )screen|everything(?: on (?:the )?screen)?)"
)
_ANYHOW = (
    r"(?:,? \(?(?:in any way|in some way|somehow|anything(?: at all)?|at all|whatsoever|whatever it is|(?:no matter"
    r"|regardless of|I do not care)"
    r" (?:what|where|how|which)(?: (?:it is|small|big|little|tiny))?|however (?:small|little|tiny)"
    r"|be it (?:what|where) it may"
    r"|(?:big|large) or small|of any kind)\)?)*"
)


def _to_stable(phrase: Phrase, found: re.Match[str]) -> Until | None:
    count = found["span"].casefold()
    seconds = (_COUNTS[count] if count in _COUNTS else float(count)) * _SECONDS[found["of"].casefold()]
    seconds += _SECONDS[found["of"].casefold()] / 2 if found["half"] else 0
    return Stable(seconds) if seconds > 0 else None


def _to_change(phrase: Phrase, found: re.Match[str]) -> Until | None:
    return Change()


def _change_rows() -> Iterator[Row]:
    still = r"(?:still|unchanged|stable|static|quiet|the same|motionless|idle|calm|steady|frozen|as it is)"
    on = r"(?: (?:anywhere )?(?:on|in|of|to) (?:the |my |that |this )?(?:whole |entire )?(?:screen|display|desktop))?"
    moves = (
        r"(?:(?:has |have )?(?:changed|moved|happened)|(?:(?:is|has been) )?(?:changing|moving|happening)"
        r"|changes|moves|happens|to change|to move)(?: any more)?"
    )
    yield (
        rf"(?:(?:there is )?nothing(?: at all)?|no pixel|not a single pixel){on} {moves}{_ANYHOW}{on}{_ANYHOW} {_SPAN}",
        _to_stable,
    )
    a_no = (
        r"(?:(?:there (?:has been|have been|is|was|are|were) )?no|there (?:has|have) not been (?:any|a single))"
        r" (?:more )?(?:changes?|movements?|motion)"
    )
    yield rf"{_VIEW} has had {a_no}{_ANYHOW} {_SPAN}", _to_stable
    yield (
        rf"it (?:is|has been) {_SPAN} since (?:anything|something){on} (?:last )?(?:changed|moved|happened){on}",
        _to_stable,
    )
    yield rf"the last (?:change|movement){on} (?:is|was) {_SPAN} ago", _to_stable
    yield rf"nothing new(?: (?:appears|happens|shows up))?{on} {_SPAN}", _to_stable
    yield rf"(?:it|all) (?:is|stays|has been|has stayed) {still} on (?:the |my )?(?:screen|display) {_SPAN}", _to_stable
    yield rf"{a_no}{_ANYHOW}{on}{_ANYHOW} {_SPAN}", _to_stable
    stays = (
        r"(?:(?:is|stays|remains|looks|keeps|stands|sits|holds|(?:has|have) (?:been|stayed|remained|kept"
        r"|stood)|to (?:be|stay|remain)) )?"
    )
    yield (
        rf"{_VIEW} {stays}(?:exactly |completely |perfectly |totally |entirely |absolutely )?{still} {_SPAN}",
        _to_stable,
    )
    yield (
        rf"(?:{_VIEW}|things{on}) (?:has not|have not|does not|stops?|has stopped|to stop|is not|is no longer)"
        rf" (?:changed?|altered|changing|moved?|moving|budged?|budging){_ANYHOW}{on}{_ANYHOW}{MORE} {_SPAN}",
        _to_stable,
    )
    yield (
        rf"{_VIEW} (?:(?:settles|calms|(?:has |is )?(?:settled|calmed))(?: down)?|(?:comes|has come) to (?:a"
        rf" )?(?:rest|stop|standstill)) {_SPAN}",
        _to_stable,
    )
    passing = r"(?:pass|passes|go by|goes by|have passed|has passed)"
    yield rf"{_SPAN} {passing} with(?:out(?: any| a)?| no) (?:change|movement)s?{_ANYHOW}{on}", _to_stable
    yield rf"(?:all |any )?(?:movement|motion){on} (?:has stopped|stops|has ceased) {_SPAN}", _to_stable
    yield rf"{_SPAN},? nothing(?: at all)?{on} {moves}{_ANYHOW}{on}{_ANYHOW}", _to_stable
    yield (
        rf"{_SPAN} (?:of (?:no (?:change|movement)|stillness)|without (?:any |a )?(?:change|movement)s?){_ANYHOW}{on}",
        _to_stable,
    )
    any_one = r"(?:anything|something|something, anything|any ?thing|any pixel|(?:even )?(?:one|a single) pixel)"
    changing = r"(?:changes?|has changed|to change|moves|is changing)"
    yield (
        (
            rf"(?:(?:the |my )?(?:whole |entire )?(?:screen|display)|(?:the |my )?screen contents?"
            r"|the (?:picture|image) on (?:the |my )?screen"
            rf"|the contents? of (?:the |my )screen|what is on (?:the |my )screen|{any_one}(?: at all)?{on}){_ANYHOW}"
            rf",? {changing}{_ANYHOW}{on}{_ANYHOW}"
        ),
        _to_change,
    )
    yield rf"{any_one}(?: at all)? (?:to )?happens?{_ANYHOW} on (?:the |my )?(?:screen|display)", _to_change
    happens = r"(?: (?:happens|occurs|is (?:seen|noticed|detected)))?"
    yield (
        r"(?:there is )?(?:any(?: (?:kind|sort|type) of)?|a|some(?: (?:kind|sort) of)?|whatever|the (?:next|first"
        r"|slightest|smallest)) (?:change"
        rf"|movement){_ANYHOW}{on}{_ANYHOW}{happens}",
        _to_change,
    )
    other = r"(?:looks (?:any )?different|is different|is no longer the same|is not the same any more)"
    yield rf"{any_one}{_ANYHOW}{on},? (?:looks|is) different{on}{_ANYHOW}", _to_change
    yield rf"(?:the |my )?(?:screen|display) {other}(?: (?:from|than|as) (?:it (?:does|is) )?now)?", _to_change


_CLAUSES = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for rows in (
        file_rows(),
        process_rows(),
        _change_rows(),
        _window_rows(),
        widget_rows(),
        _text_rows(),
        number_rows(),
    )
    for pattern, read in rows
)
