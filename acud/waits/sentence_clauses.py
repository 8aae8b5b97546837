"""The clauses that say for certain what a local condition says: a subject that is named, and one predicate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from acud.types import (
    Change,
    Comparison,
    FileState,
    ProcessExit,
    ScreenNumber,
    Stable,
    Text,
    Until,
    ValueComparison,
    Widget,
    WidgetState,
    WindowTitle,
)

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "`": "`"}
_QUOTED = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(a)}((?:[^{re.escape(a + b)}]|(?<=\w){re.escape(b)}(?=\w))+){re.escape(b)}(?!\w)"
        for a, b in _QUOTES.items()
    )
)
_CLOSING = re.compile(
    r"(?:,? (?:please|thanks|thank you))+$"
    r"|, (?:please )?(?:wake me(?: up)?|tell me|ping me|let me know|notify me|alert me|say so|come back|continue)$",
    re.IGNORECASE,
)
_POLITE = re.compile(r"(?:could|can|would|will) you ", re.IGNORECASE)


class Phrase(Struct, frozen=True):
    """Words of a sentence with its quoted ones taken out: `<0>` stands for the first of them."""

    text: str
    quoted: tuple[str, ...]

    @classmethod
    def of(cls, sentence: str) -> Phrase | None:
        """Return the sentence as a phrase; None where quoted words are blank, quotes are left over, or it asks."""
        plain = " ".join(sentence.split())
        if re.search(r"<\d", plain):
            return None
        words: list[str] = []

        def take(found: re.Match[str]) -> str:
            words.append(next(group for group in found.groups() if group is not None).strip())
            return f"<{len(words) - 1}>"

        text = _QUOTED.sub(take, plain).rstrip(".!").rstrip()
        if _POLITE.match(text):
            text = text.rstrip("?").rstrip()
        text = _CLOSING.sub("", text)
        return None if not all(words) or re.search(r"[\"“”„«»`?]", text) else cls(text, tuple(words))

    def with_text(self, text: str) -> Phrase:
        """Return other words of the same sentence."""
        return Phrase(text.strip(" ,"), self.quoted)

    def cut(self, start: int) -> Phrase:
        """Return the words from the character `start` on."""
        return self.with_text(self.text[start:])

    def quote(self, given: str) -> str:
        """Return the quoted words that `given` stands for, "" where it stands for none."""
        found = re.fullmatch(r"<(\d+)>", given)
        return self.quoted[int(found[1])] if found else ""

    def name(self, given: str) -> str:
        """Return the name that `given` is for certain, else "": quoted, or words that each have a capital or digit."""
        words = given.split()
        is_name = all(re.search(r"[A-Z\dÀ-ÖØ-Þ]", word) or word in ("&", "-") for word in words)
        return self.quote(given) or (given if words and is_name and "<" not in given else "")


_HEDGE = re.compile(
    r"\b(?:is|are|was|be|has|have|isn't|not|no|never|almost|nearly|about|only|again|yet|still|just|already"
    r"|first|last|every|all|"
    r"both|than|then|when|if|unless|until|before|after|while|because|but|on|in|at|of|with|without|longer"
    r"|somehow|finally)\b"
)


def is_hedged(words: str) -> bool:
    """Tell whether words that were not quoted say more than a name: lower-case ones that belong to a sentence."""
    return _HEDGE.search(words) is not None


def clause(phrase: Phrase) -> Until | None:
    """Return what one clause means, None where that is not certain."""
    for pattern, read in _CLAUSES:
        found = pattern.fullmatch(phrase.text)
        if found is not None and (meant := read(phrase, found)) is not None:
            return meant
    return None


Read = Callable[[Phrase, re.Match[str]], Until | None]
_Row = tuple[str, Read]

# ---- words ---------------------------------------------------------------------------------------------------------

_BE = r"(?:is|are|'s|has|have|has been|have been|gets?|becomes?|has become|turns|to be|to become|to get|to have been)"
_BE_ = rf"(?:{_BE} (?:now )?)?"
_NOT = r"(?:(?:is|are|has|have) (?:no longer|not)|(?:is|are|has|have)n't|no longer|not)"
_MORE = r"(?: any ?more| any longer)?"
_AT_SCREEN = r"(?:on screen|on (?:the )?(?:screen|display)|there|around)"
_VISIBLE = rf"(?:visible|shown|displayed|present|up|{_AT_SCREEN})"
_SHOWN = (
    rf"(?:{_BE_}{_VISIBLE}|appears?|(?:has|have) appeared|to appear|(?:shows?|pops?|comes?|turns?) up"
    rf"|to (?:show|pop|come) up"
    r"|(?:has|have) (?:shown|popped|come|turned) up|comes? into view|can be (?:seen|read|found)|shows|to be seen)"
)
_GONE = (
    rf"(?:{_BE_}(?:gone(?: away)?|disappeared|vanished)|disappears?|to (?:disappear|vanish|go away|be gone)"
    rf"|vanish(?:es)?"
    rf"|(?:goes|go) away|{_NOT} {_VISIBLE}{_MORE}|can(?:not| ?not|'t) be (?:seen|read){_MORE})"
)
_OPENED = rf"(?:{_SHOWN}|opens(?: up)?|opened|{_BE_}(?:open|opened)|has (?:opened|popped up)|exists|to open)"
_CLOSED = rf"(?:{_GONE}|closes|{_BE_}closed|(?:has|have) closed|to close|{_NOT} open{_MORE}|{_BE_}left)"
_THE = r"(?:the |a |an )?"
_NAME = r"(?P<name><\d+>|[^<>]+?)"
_QUOTE = r"(?P<name><\d+>)"
_CALLED = (
    r"(?:titled|called|named|labell?ed|with the (?:title|label|name)"
    r"|(?:that|which) (?:says|is (?:called|named|labell?ed|titled)))"
)


def _of_name(make: Callable[[str], Until]) -> Read:
    return lambda phrase, found: make(name) if (name := phrase.name(found["name"])) else None


# ---- texts and windows ---------------------------------------------------------------------------------------------

_TEXT = (
    r"(?:visible )?(?:texts?|words?|phrase|(?:error |status |success )?messages?|string|error|notice"
    r"|notification|warning|banner"
    r"|toast|alert|line)"
)


def _text_rows() -> Iterator[_Row]:
    for state, gone in ((_SHOWN, False), (_GONE, True)):
        read = _of_name(partial(Text, gone=gone))
        yield rf"{_THE}(?:{_TEXT} (?:(?:that )?(?:says|saying|reading) )?)?{_QUOTE} {state}", read
        yield rf"{_THE}{_TEXT} {_NAME} {state}", read
    yield rf"{_THE}(?:{_TEXT} )?{_QUOTE}", _of_name(Text)
    subject = r"(?:it|(?:the )?(?:screen|display|page|terminal|console))"
    yield (
        rf"{subject} (?:shows|says|reads|displays|contains|prints|to (?:show|say|read|display)) {_QUOTE}",
        _of_name(Text),
    )
    yield rf"(?:(?:I|you|we) (?:can )?see|there is|there's) (?:the (?:{_TEXT}) )?{_QUOTE}", _of_name(Text)


def _window_rows() -> Iterator[_Row]:
    titled = rf"(?:{_CALLED}|whose title (?:is|contains|includes)|with)"
    in_title = r"(?: in (?:its|the) title)"
    for state, gone in ((_OPENED, False), (_CLOSED, True)):
        read = _of_name(partial(WindowTitle, gone=gone))
        yield rf"(?:a |the |any )?window {titled} {_NAME}{in_title}? {state}", read
        yield rf"{_THE}window {_NAME} {state}", read
        yield rf"{_THE}{_NAME} window {state}", read
    for begin, gone in ((r"(?:there is|there's) a", False), (r"(?:there is|there's) no", True), (r"no", True)):
        read = _of_name(partial(WindowTitle, gone=gone))
        state = rf" (?:{_OPENED}|is left)" if begin == "no" else _MORE
        yield rf"{begin} window {titled} {_NAME}{in_title}?{state}", read
        yield rf"{begin} {_NAME} window{state}", read


# ---- widgets -------------------------------------------------------------------------------------------------------

_ROLES = (
    "toggle button", "radio button", "spin button", "button", "btn", "check box", "checkbox", "tick box",
    "radio", "hyperlink", "link", "menu item", "menu entry", "menuitem", "menu", "tree item", "list item",
    "tab", "text field", "text box", "textbox", "text area", "search box", "input field", "field", "entry",
    "input", "slider", "switch", "toggle", "combo box", "combobox", "dropdown", "drop-down", "spin box",
    "spinbox", "progress bar", "progressbar", "option",
)  # fmt: skip
_ROLE = rf"(?P<role>{'|'.join(map(re.escape, _ROLES))})"
_WRITTEN = {"checkbox": "check box", "tick box": "check box", "radio": "radio button", "input field": "text field",
            "dropdown": "combo box", "drop-down": "combo box", "menu entry": "menu item"}  # fmt: skip
_STATE_WORDS: dict[WidgetState, tuple[str, str]] = {
    WidgetState.ENABLED: (
        r"enabled|active|activated|available|clickable|usable|pressable", r"can be (?:clicked|pressed|used)(?: on)?"
    ),
    WidgetState.DISABLED: (
        r"disabled|gr[ea]yed out|gr[ea]yed|inactive|unavailable"
        r"|deactivated", r"gr[ea]ys out|goes gr[ea]y|to gr[ea]y out"
        rf"|can(?:not| not|'t) be (?:clicked|pressed|used){_MORE}"
    ),
    WidgetState.CHECKED: (r"checked|ticked|on|turned on|switched on|toggled on", r"turns on|goes on|to turn on"),
    WidgetState.UNCHECKED: (
        r"unchecked|unticked|off|turned off|switched off|toggled off|cleared", r"turns off|goes off"
    ),
    WidgetState.SELECTED: (r"selected|chosen|picked|highlighted", r""),
    WidgetState.UNSELECTED: (r"unselected|deselected", r""),
    WidgetState.FOCUSED: (
        r"focus(?:s)?ed|in focus",
        r"(?:has|gets?|receives|gains|takes|to have|to get) (?:the )?(?:keyboard |input )?focus",
    ),
    WidgetState.UNFOCUSED: (r"unfocused|out of focus", r"loses (?:the )?(?:keyboard |input )?focus"),
    WidgetState.EXPANDED: (r"expanded|unfolded", r"expands|unfolds|to expand"),
    WidgetState.COLLAPSED: (r"collapsed|folded", r"collapses|to collapse"),
}  # fmt: skip
_OF_RADIO = {WidgetState.SELECTED: WidgetState.CHECKED, WidgetState.UNSELECTED: WidgetState.UNCHECKED}
"""People select a radio button; toolkits tell that it is checked."""
_PLAIN_NAMES = frozenset(
    {
        "add", "add to cart", "address", "apply", "back", "bluetooth", "brightness", "build", "buy", "cancel",
        "checkout", "city", "close", "commit", "confirm", "continue", "copy", "country", "cut", "dark mode",
        "debug", "delete", "download", "e-mail", "edit", "email", "export", "finish", "forward", "import",
        "install", "language", "log in", "log out", "login", "merge", "mute", "name", "notifications", "ok",
        "okay", "opacity", "paste", "pause", "pay", "place order", "play", "print", "publish", "pull", "push",
        "record", "redo", "refresh", "reload", "remove", "reply", "retry", "run", "save", "save as", "search",
        "send", "sign in", "sign out", "sign up", "start", "stop", "subject", "submit", "undo", "unmute",
        "upload", "url", "username", "volume", "wi-fi", "wifi", "zoom",
    }
)  # fmt: skip
"""Names that controls have everywhere: in lower case, too, they are names and no adjectives."""
_OPPOSITE = {
    WidgetState.ENABLED: WidgetState.DISABLED, WidgetState.DISABLED: WidgetState.ENABLED,
    WidgetState.CHECKED: WidgetState.UNCHECKED, WidgetState.UNCHECKED: WidgetState.CHECKED,
    WidgetState.SELECTED: WidgetState.UNSELECTED, WidgetState.FOCUSED: WidgetState.UNFOCUSED,
    WidgetState.EXPANDED: WidgetState.COLLAPSED, WidgetState.COLLAPSED: WidgetState.EXPANDED,
}  # fmt: skip
_RANGES = ("slider", "progress bar", "progressbar", "spin button", "spin box", "spinbox")
_HOLDING = (
    "text field", "text box", "textbox", "text area", "search box", "field", "entry", "input", "combo box", "combobox"
)  # fmt: skip
_TWO_WAY = ("switch", "toggle", "check box", "toggle button", "radio button", "menu item", "option")


def _widget(states: tuple[WidgetState, ...] = (), *, gone: bool = False) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        role, name = _role(found), _control_name(phrase, found["name"])
        if not name or (role == "tab" and WidgetState.ENABLED in states):
            return None  # a tab that is active is the one that shows
        spoken = found[0].casefold()
        if states and re.search(r" (?:on|off)$", spoken) and role not in _TWO_WAY:
            return None
        told = tuple(_OF_RADIO.get(state, state) for state in states) if role.startswith("radio") else states
        return Widget(role, name, states=told, gone=gone)

    return read


def _control_name(phrase: Phrase, given: str) -> str:
    return phrase.name(given) or (given if given.casefold() in _PLAIN_NAMES else "")


def _role(found: re.Match[str]) -> str:
    role = found["role"].casefold()
    return _WRITTEN.get(role, role)


def _valued(compare: ValueComparison, *, number: bool = False) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        role, name = _role(found), _control_name(phrase, found["name"])
        if not name or role not in (_RANGES if number else _HOLDING):
            return None
        if number:
            unit = found["unit"] or ""
            percent = unit.casefold() in ("%", "percent", "per cent")
            return (
                Widget(role, name, value=found["value"], compare=compare, percent=percent)
                if percent or not unit
                else None
            )
        given = found["held"]
        held = phrase.quote(given) or ("" if "<" in given or " " in given else given)
        exact = compare if found.groupdict().get("exactly") is None else ValueComparison.EQUAL
        return Widget(role, name, value=held, compare=exact) if held else None

    return read


def _widget_rows() -> Iterator[_Row]:
    for subject in (rf"{_THE}{_ROLE} (?:{_CALLED} )?{_NAME}", rf"{_THE}{_NAME} {_ROLE}"):
        for state, (adjectives, verbs) in _STATE_WORDS.items():
            verb = f"|{verbs}" if verbs else ""
            yield rf"{subject} (?:{_BE_}(?:{adjectives}){verb})", _widget((state,))
            if state in _OPPOSITE:
                yield rf"{subject} {_NOT} (?:{adjectives}){_MORE}", _widget((_OPPOSITE[state],))
        yield rf"{subject} {_SHOWN}", _widget()
        yield rf"{subject} {_GONE}", _widget(gone=True)
        yield rf"(?:there is|there's) {subject}", _widget()
        for compare, verb, after in _COMPARED:
            yield rf"{subject} (?:{verb}) {_NUMBER}{after}", _valued(ValueComparison(compare.value), number=True)
        quoted, held = r"(?P<held><\d+>)", r"(?P<held><\d+>|[^<>\s]+)"
        holds = r"(?:contains|holds|to contain|to hold)(?P<exactly> exactly)?"
        yield rf"{subject} {holds} {quoted}", _valued(ValueComparison.CONTAINS)
        yield rf"{subject} (?:is|reads|says|shows|to be|to read|is exactly) {quoted}", _valued(ValueComparison.EQUAL)
        equals = r"(?:equals|(?:is |has been |to be )?set to|has the value)"
        yield rf"{subject} {equals} {held}", _valued(ValueComparison.EQUAL)
    for subject in (rf"{_ROLE} (?:{_CALLED} )?{_NAME}", rf"{_NAME} {_ROLE}"):
        yield rf"(?:there is|there's) no {subject}{_MORE}", _widget(gone=True)
        yield rf"no {subject} (?:is left|{_SHOWN})", _widget(gone=True)


# ---- numbers -------------------------------------------------------------------------------------------------------

_NUMBER = r"(?P<before>[$€£])?(?P<value>[+-]?\d+(?:\.\d+)?)(?: ?(?P<unit>[%€$£]|per ?cent|[^\W\d][\w°/]{0,11}))?"
_UP, _DOWN = r"(?:rises|goes|climbs|gets|grows)", r"(?:drops|falls|goes|sinks|gets|shrinks)"
_COMPARED: tuple[tuple[Comparison, str, str], ...] = (
    (
        Comparison.AT_LEAST,
        r"reach(?:es)?|has reached|to reach|hits|has hit|to hit|gets? to|(?:is )?at least|>=|≥|is (?:at )?>="
        rf"|{_UP} to",
        "",
    ),
    (Comparison.AT_LEAST, rf"is|is at|at|{_UP} to", r" (?:or|and) (?:more|higher|above|over|greater|up)"),
    (
        Comparison.MORE,
        rf"exceeds?|to exceed|{_UP} (?:above|over|past|beyond)|is (?:above|over|past)|passes|tops"
        r"|is (?:more|greater|higher|larger) than|>",
        "",
    ),
    (Comparison.AT_MOST, r"is at most|is no more than|at most|<=|≤", ""),
    (Comparison.AT_MOST, rf"is|is at|at|{_DOWN} to", r" (?:or|and) (?:less|fewer|lower|below|under)"),
    (
        Comparison.LESS,
        rf"{_DOWN} (?:below|under)|to (?:drop|fall|go) (?:below|under)|is (?:below|under)"
        r"|is (?:less|fewer|lower|smaller) than|<",
        "",
    ),
    (Comparison.NOT_EQUAL, r"is not|isn't|is no longer|!=|≠|is other than|differs from", _MORE),
    (Comparison.EQUAL, r"is|is exactly|is at|equals|is equal to|shows|reads|=|==|to be", ""),
)
_UNITS = {"percent": "%", "per cent": "%"}
_NO_LABEL = re.compile(
    r"(?i)\b(?:bar|slider|button|window|page|screen|display|clock|time|date|it|number|count|counter|amount|of"
    r"|volume|file|pid|process)\b"
)


def _number(compare: Comparison) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        label, unit = phrase.quote(found["name"]), (found["unit"] or found["before"] or "").casefold()
        if not label:
            label = found["name"].rstrip(":").strip()
            is_sign = re.search(r" [<>=!≥≤≠]+ ?[+-]?\d", found[0]) is not None
            is_certain = bool(phrase.name(label) or unit or is_sign)
            if not is_certain or _NO_LABEL.search(label) or is_hedged(label) or len(label.split()) > 3:
                return None
        return ScreenNumber(compare, float(found["value"]), label.rstrip(":")[:200], _UNITS.get(unit, unit))

    return read


def _number_rows() -> Iterator[_Row]:
    of = r"(?:(?:number|value|count|percentage|figure) (?:after|beside|next to|of|for|behind) )?"
    for compare, verb, after in _COMPARED:
        yield rf"(?:the )?{of}{_NAME} (?:{verb}) {_NUMBER}{after}", _number(compare)


# ---- files, processes, and the screen as a whole -------------------------------------------------------------------

_PATH = r"(?:(?P<path>[~/][^<>]*?[^<>\s,])|(?P<file><\d+>)|(?P<bare>[^<>\s/]+\.\w{1,8}(?:\.\w{1,4})?))"
_DONE = r"(?:complete|completed|done|finished|ready)"
_LOADED = (
    rf"(?:(?:has|have) finished downloading|finish(?:es|ed) downloading|to finish downloading"
    rf"|{_BE_}(?:fully "
    rf"|completely )?"
    r"(?:downloaded|written|saved|copied|transferred)"
    r"|(?:has|have) (?:completely |fully )?(?:downloaded|arrived)|(?:finished|completed) downloading"
    r"|(?:is )?no longer being (?:written|"
    r"downloaded)|(?:stops|has stopped) growing)"
)
_THERE = rf"(?:exists|to exist|{_BE_}(?:there|created|present)|appears|to appear|shows up|has appeared|turns up)"
_DELETED = (
    rf"(?:{_BE_}(?:gone|deleted|removed)|disappears|to disappear|to be (?:deleted|removed)|{_NOT} (?:exists?"
    rf"|there|present){_MORE}"
    r"|(?:does not|doesn't|no longer) exists?)"
)


def _file(*, whole: bool = True, gone: bool = False, downloads: bool = False) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        given = found["path"] or phrase.quote(found["file"] or "") or found["bare"] or ""
        is_path = given.startswith(("/", "~/"))
        if found["path"] and " " in given and re.search(r"\.\w{1,8}$", given) is None:
            return None  # more than a path
        if not is_path and (not downloads or "/" in given or "." not in given):
            return None  # where a bare name lies is not certain
        path = given if is_path else f"~/Downloads/{given}"
        return FileState(path, 1.0 if whole else 0.0, gone=gone)

    return read


def _process(phrase: Phrase, found: re.Match[str]) -> Until | None:
    pid = int(found["pid"])
    return ProcessExit(pid) if 0 < pid <= 4_194_304 else None


_SECONDS = {
    "s": 1,
    "sec": 1,
    "secs": 1,
    "second": 1,
    "seconds": 1,
    "min": 60,
    "mins": 60,
    "minute": 60,
    "minutes": 60,
    "hour": 3600,
}
_COUNTS = {
    "half a": 0.5, "half an": 0.5, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60,
}  # fmt: skip
_SPAN = (
    rf"(?:for |in )?(?:at least )?(?P<span>\d+(?:\.\d+)?|{'|'.join(sorted(_COUNTS, key=len, reverse=True))}) ?"
    rf"(?P<of>{'|'.join(sorted(_SECONDS, key=len, reverse=True))})(?: straight| in a row)?"
)
_VIEW = r"(?:(?:(?:the )?(?:whole |entire )?(?:screen|display|picture|image|desktop))|everything)"


def _stable(phrase: Phrase, found: re.Match[str]) -> Until | None:
    count = found["span"].casefold()
    seconds = (_COUNTS[count] if count in _COUNTS else float(count)) * _SECONDS[found["of"].casefold()]
    return Stable(seconds) if seconds > 0 else None


def _change(phrase: Phrase, found: re.Match[str]) -> Until | None:
    return Change()


def _other_rows() -> Iterator[_Row]:
    for state, read in (
        (_DELETED, _file(gone=True)), (_LOADED, _file(downloads=True)), (_THERE, _file(whole=False)),
    ):  # fmt: skip
        yield rf"(?:the |a )?(?:files? )?(?:{_CALLED} )?{_PATH} {state}", read
    yield (
        rf"(?:the )?download of (?:the file )?{_PATH} (?:{_BE_}{_DONE}|finishes|completes|has finished"
        rf"|has completed)",
        _file(downloads=True),
    )
    yield rf"(?:there is|there's) (?:a |the )?file (?:{_CALLED} )?{_PATH}", _file(whole=False)
    ended = (
        r"(?:ends|exits|finishes|terminates|dies|quits|stops|(?:has|is) (?:ended|exited|finished|terminated"
        r"|died|done|gone|over)"
        r"|(?:is )?(?:no longer|not) (?:running|alive)(?: any ?more)?|is dead|isn't running(?: any ?more)?"
        r"|to (?:end|exit|finish|terminate|stop)|ended|exited|finished)"
    )
    yield rf"(?:the )?(?:process(?: with (?:the )?(?:pid|id))?|pid)(?: number)? (?P<pid>\d+) {ended}", _process
    still = r"(?:still|unchanged|stable|static|quiet|the same|motionless|idle)"
    on = r"(?: (?:on|in) the (?:screen|display))?"
    yield rf"nothing{on} (?:changes|moves|has changed|has moved|changed|happens){on} {_SPAN}", _stable
    yield rf"no (?:changes?|movement){on} {_SPAN}", _stable
    yield rf"{_VIEW} (?:(?:is|stays|remains|has been|has stayed|has remained|to (?:be|stay)) )?{still} {_SPAN}", _stable
    yield rf"{_VIEW} (?:has not|hasn't|does not|doesn't|stops) (?:changed?|changing|moved?) {_SPAN}", _stable
    yield (
        rf"(?:{_VIEW}|anything|something)(?: at all)?{on} (?:changes|has changed|to change|moves)(?: at all)?",
        _change,
    )
    yield rf"any change(?: at all)?{on}", _change


_CLAUSES = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for rows in (_other_rows(), _window_rows(), _widget_rows(), _text_rows(), _number_rows())
    for pattern, read in rows
)
