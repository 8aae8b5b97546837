"""Clauses about named controls and about numbers after a label: `the Save button is enabled`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.types import Comparison, ScreenNumber, Until, ValueComparison, Widget, WidgetState
from acud.waits.sentence_phrase import NO_NAMES, Phrase, is_hedged, is_label
from acud.waits.sentence_words import BE_, CALLED, GONE, MORE, NAME, NOT, SHOWN, THE, VIEWER, Read, Row, name_in, verb

# ---- controls -------------------------------------------------------------------------------------------------------

_ROLES = (
    "toggle button", "radio button", "radio-button", "spin button", "push button", "button", "btn", "check box",
    "check-box", "checkbox", "tick box", "tickbox", "radio"
" option", "radio", "hyperlink", "link", "menu item", "menu entry", "menuitem", "menu", "tree item", "list item",
    "tab", "text field", "text box", "textbox", "text area", "search box", "input field", "field", "entry",
    "text input", "text entry", "entry field", "edit field", "input box", "input", "slider", "switch", "toggle",
    "combo box", "combobox",
    "dropdown list", "dropdown menu", "drop-down list", "drop-down menu", "dropdown", "drop-down", "spin box",
    "spinbox", "progress bar", "progressbar", "option", "dialog box", "dialogue box", "dialogue", "dialog",
    "option button", "list entry", "tree node",
)  # fmt: skip
_ROLE = rf"(?P<role>{'|'.join(map(re.escape, sorted(_ROLES, key=len, reverse=True)))})"
_WRITTEN = {
    "checkbox": "check box", "check-box": "check box", "tick box": "check box", "tickbox": "check box",
    "radio": "radio button", "radio-button": "radio button", "option button": "radio button", "list entry": "list item",
    "tree node": "tree item", "radio option": "radio button", "push button": "button",
    "input field": "text field", "input box": "text field", "text input": "text field", "entry field": "text field",
    "edit field": "text field", "text entry": "text field",
    "dropdown": "combo box", "drop-down": "combo box", "dropdown list": "combo box", "dropdown menu": "combo box",
    "dialog box": "dialog", "dialogue box": "dialog", "dialogue": "dialog", "drop-down list": "combo box",
    "drop-down menu": "combo box", "menu entry": "menu item",
}  # fmt: skip
_STATE_WORDS: dict[WidgetState, tuple[str, str]] = {
    WidgetState.ENABLED: (
        r"enabled|active|activated|available(?: to (?:click|press|use))?|clickable|usable|pressable"
        r"|ready to (?:be )?(?:clicked|pressed|click"
        r"|press)", r"can be (?:clicked|pressed|used|chosen|selected|picked)(?: on)?"
        r"|goes (?:active|live)"
    ),
    WidgetState.DISABLED: (
        r"disabled|gr[ea]yed out|gr[ea]yed|inactive|unavailable|dimmed|ghosted"
        r"|deactivated", r"gr[ea]ys out|goes (?:gr[ea]y|inactive|unavailable)|to gr[ea]y out"
        rf"|can(?:not| not| no longer|'t) be (?:clicked|pressed|used|chosen|selected|picked){MORE}"
    ),
    WidgetState.CHECKED: (
        r"checked|ticked|on|turned on|switched on|toggled on|flipped on|set to on",
        r"turns on|goes on|to turn on|(?:has|gets|shows) (?:a |its |the )?(?:tick|check ?mark)(?: in it)?",
    ),
    WidgetState.UNCHECKED: (
        r"unchecked|unticked|off|turned off|switched off|toggled off|flipped off|set to off|cleared",
        r"turns off|goes off|loses its (?:tick|check ?mark)|has no (?:tick|check ?mark)(?: in it)?(?: any ?more)?",
    ),
    WidgetState.SELECTED: (r"selected|chosen|picked|highlighted", r""),
    WidgetState.UNSELECTED: (r"unselected|deselected", r""),
    WidgetState.FOCUSED: (
        r"focus(?:s)?ed|in focus",
        r"(?:has|have|has got|gets?|got|receives?|has received|gains|takes|to have|to get) (?:the )?(?:keyboard "
        r"|input )?focus|(?:has|gets) the (?:text )?cursor(?: in it)?",
    ),
    WidgetState.UNFOCUSED: (
        r"unfocused|out of focus",
        r"(?:loses|lost|has lost|to lose|no longer has|does not have) (?:the )?(?:keyboard |input )?focus" + MORE,
    ),
    WidgetState.EXPANDED: (
        r"expanded|unfolded|opened up|opened out|dropped down", r"expands|unfolds|folds out|to expand"
    ),
    WidgetState.COLLAPSED: (r"collapsed|folded", r"collapses|to collapse"),
    WidgetState.EDITABLE: (r"editable", r"can be edited"),
    WidgetState.PRESSED: (r"pressed|pressed in|pushed in", r""),
    WidgetState.MIXED: (r"indeterminate|partly checked|partially checked", r""),
}  # fmt: skip
_OF_RADIO = {WidgetState.SELECTED: WidgetState.CHECKED, WidgetState.UNSELECTED: WidgetState.UNCHECKED}
"""People select a radio button; toolkits report it as checked."""
PLAIN_NAMES = frozenset(
    {
        "add", "add to cart", "address", "apply", "back", "bluetooth", "brightness", "build", "buy", "cancel",
        "checkout", "city", "close", "commit", "confirm", "continue", "copy", "country", "cut", "dark mode",
        "card number", "debug", "delete", "download", "first name", "full name", "last name", "phone number",
        "zip code", "e-mail", "edit", "email", "export", "finish", "forward", "import",
        "install", "language", "log in", "log out", "login", "merge", "mute", "name", "notifications", "ok",
        "okay", "opacity", "paste", "pause", "pay", "place order", "play", "print", "publish", "pull", "push",
        "record", "redo", "refresh", "reload", "remove", "reply", "retry", "run", "save", "save as", "search",
        "send", "sign in", "sign out", "sign up", "start", "stop", "subject", "submit", "undo", "unmute",
        "upload", "url", "username", "volume", "wi-fi", "wifi", "zoom",
    }
)  # fmt: skip
"""Names that controls have everywhere: in lower case, too, they are names and not adjectives."""
OPPOSITE = {
    WidgetState.ENABLED: WidgetState.DISABLED, WidgetState.DISABLED: WidgetState.ENABLED,
    WidgetState.CHECKED: WidgetState.UNCHECKED, WidgetState.UNCHECKED: WidgetState.CHECKED,
    WidgetState.SELECTED: WidgetState.UNSELECTED, WidgetState.FOCUSED: WidgetState.UNFOCUSED,
    WidgetState.EXPANDED: WidgetState.COLLAPSED, WidgetState.COLLAPSED: WidgetState.EXPANDED,
    WidgetState.PRESSED: WidgetState.UNPRESSED,
}  # fmt: skip
_RANGES = ("slider", "progress bar", "progressbar", "spin button", "spin box", "spinbox")
_HOLDING = (
    "text field", "text box", "textbox", "text area", "search box", "field", "entry", "input", "combo box", "combobox"
)  # fmt: skip
_COLOURS = {"red", "green", "blue", "yellow", "orange", "purple", "grey", "gray", "black", "white", "pink", "brown"}
_LABELLED = (*_HOLDING, "radio button", "check box", "slider", "switch", "toggle", "link", "menu item")
"""Controls with a label beside them, so that the words before the kind are the label: the Express delivery radio
button.
"""
_ITEMS = ("tree item", "list item", "menu item", "tab")
_ONE_WORD = re.compile(r"(?!(?:underneath|nearby|itself|alone|also|too|here|there|was|were)\b)[^\W\d]\w+(?<!ly)")
"""The name of an item in lower case: the tree item src."""
_TWO_WAY = ("switch", "toggle", "check box", "toggle button", "radio button", "menu item", "option")


def _widget_reader(states: tuple[WidgetState, ...] = (), *, gone: bool = False) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        role, name = _role_of(found), _find_control_name(phrase, found)
        if role == "dialog" and states:
            return None  # programs report no state of a dialog
        if role == "option" and states:
            return None  # of a list, of radio buttons, of a combo box
        if role != "toggle button" and {WidgetState.PRESSED, WidgetState.UNPRESSED} & set(states):
            return None  # a click, which no screen shows
        if role in ("link", "hyperlink") and re.search(r"(?i)available|active", found[0]):
            return None  # a link that is there is available
        if (not name and "name" in found.groupdict()) or (role == "tab" and WidgetState.ENABLED in states):
            return None  # a tab that is active is the one that shows
        spoken = found[0].casefold()
        if states and re.search(r" (?:on|off)$", spoken) and role not in _TWO_WAY:
            return None
        told = tuple(_OF_RADIO.get(state, state) for state in states) if role.startswith("radio") else states
        return Widget(role, name, states=told, gone=gone)

    return read


def _read_tick(phrase: Phrase, found: re.Match[str]) -> Until | None:
    return _widget_reader((WidgetState.CHECKED,))(phrase, found) if _role_of(found) in _TWO_WAY else None


def _state_pattern() -> str:
    """Return a pattern for all states, each a group with a name of `_STATE_OF_GROUP`."""
    said = []
    for state, (adjectives, verbs) in _STATE_WORDS.items():
        said.append(rf"(?P<{state.name}>{BE_}(?:{adjectives}){f'|{verbs}' if verbs else ''})")
        if state in OPPOSITE:
            said.append(rf"(?P<NOT_{state.name}>{NOT} (?:{adjectives}){MORE})")
    return "|".join(said)


_IN_A_STATE = _state_pattern()
_STATE_OF_GROUP = {state.name: state for state in _STATE_WORDS} | {f"NOT_{one.name}": OPPOSITE[one] for one in OPPOSITE}


def _read_state(phrase: Phrase, found: re.Match[str]) -> Until | None:
    state = next(state for group, state in _STATE_OF_GROUP.items() if found[group])
    return _widget_reader((state,))(phrase, found)


_FINITE = re.compile(
    r"(?:is|are|has|gets|becomes|turns|appears|shows|pops|comes|goes|disappears|vanishes|can|contains"
    r"|holds|reads|reaches"
    r"|exceeds|equals|loses|receives|to)\b",
    re.IGNORECASE,
)
"""The beginning of a predicate that shows where an unquoted label ends."""


def _find_control_name(phrase: Phrase, found: re.Match[str]) -> str:
    """Return the control's name, "" if it has none or that is not certain."""
    given = found.groupdict().get("name") or ""
    is_after = bool(given) and found.start("role") < found.start("name")
    is_told_apart = not is_after or _FINITE.match(found.string, found.end("name") + 1) is not None
    is_plain = given.casefold() in PLAIN_NAMES and not (given.islower() and found["role"].startswith("progress"))
    if is_plain or (is_told_apart and is_label(given, after_kind=is_after)):
        return given
    if not is_after and _role_of(found) in _LABELLED and is_label(given, after_kind=True):
        words = given.casefold().split()
        return "" if words[0] in NO_NAMES or _COLOURS & set(words) else given
    if is_after and is_told_apart and _role_of(found) in _ITEMS and _ONE_WORD.fullmatch(given) and not is_hedged(given):
        return given if given.casefold() not in NO_NAMES else ""
    return phrase.name(given)


def _role_of(found: re.Match[str]) -> str:
    role = found["role"].casefold()
    return _WRITTEN.get(role, role)


def _value_reader(compare: ValueComparison) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        role, name = _role_of(found), _find_control_name(phrase, found)
        held = phrase.quote(found["held"]) or ("" if "<" in found["held"] else found["held"])
        if not name or not held or role not in _HOLDING:
            return None
        exact = compare if found.groupdict().get("exactly") is None else ValueComparison.EQUAL
        return Widget(role, name, value=held, compare=exact)

    return read


def _read_range(phrase: Phrase, found: re.Match[str]) -> Until | None:
    role, name, unit = _role_of(found), _find_control_name(phrase, found), (found["unit"] or "").casefold()
    compare, percent = _find_comparison(found), unit in ("%", "percent", "per cent")
    is_named = bool(name) or "name" not in found.groupdict()
    if compare is None or not is_named or role not in _RANGES or (unit and not percent):
        return None
    return Widget(role, name, value=_spell_digits(found), compare=ValueComparison(compare.value), percent=percent)


_ALONE = r"(?:the |a |any )?(?P<role>progress ?bar)"
"""A kind of control that needs no name, as a screen usually shows one."""


def widget_rows() -> Iterator[Row]:
    quoted, held = r"(?P<held><\d+>)", r"(?P<held><\d+>|[^<>\s]+)"
    named = rf"(?:(?:{CALLED}|marked|for|of) )?"
    of_name = (rf"{THE}{_ROLE} {named}{NAME}", rf"{THE}{_ROLE} with {NAME} on it", rf"{THE}{NAME} {_ROLE}")
    for subject in (*of_name, _ALONE):
        yield rf"{subject} (?:{SHOWN}|exists|to exist)", _widget_reader()
        if subject is not _ALONE:
            dialog = subject.replace(_ROLE, r"(?P<role>dialog(?:ue)?(?: box)?)")
            yield rf"{dialog} (?:is|has been|comes|has come) up", _widget_reader()
            is_open = r"(?:is open(?:ed)?|opens(?: up)?|has (?:been )?opened)"
            yield rf"{dialog} {is_open}", _widget_reader()
            tab = subject.replace(_ROLE, r"(?P<role>tab)")
            yield rf"{tab} (?:has been|is|gets|has)? ?clos(?:ed|es)", _widget_reader(gone=True)
            menu = subject.replace(_ROLE, r"(?P<role>menu|combo ?box|drop-?down(?: list| menu)?)")
            yield rf"{menu} {is_open}", _widget_reader((WidgetState.EXPANDED,))
        yield rf"{subject} {GONE}", _widget_reader(gone=True)
        yield rf"{subject} (?:is|has been|gets) (?:removed|dismissed)", _widget_reader(gone=True)
        yield rf"there is (?:now )?{subject}(?: there)?", _widget_reader()
        yield rf"{subject} {_IS_A_NUMBER}", _read_range
    for subject in of_name:
        yield rf"{subject} (?:{_IN_A_STATE})", _read_state
        click = r"(?:click|press|push|use|hit)(?: on)?"
        yield rf"{VIEWER} can {click} {subject}", _widget_reader((WidgetState.ENABLED,))
        yield rf"{VIEWER} can (?:not|no longer) {click} {subject}{MORE}", _widget_reader((WidgetState.DISABLED,))
        caret = r"(?:the )?(?:(?:keyboard |input )?focus|(?:text |typing |keyboard )?cursor(?= is (?:now )?in )|caret)"
        yield rf"{caret} (?:leaves|has left) {subject}", _widget_reader((WidgetState.UNFOCUSED,))
        ticked = r"(?:there is )?(?:a |the )?(?:tick|check ?mark)(?: (?:appears|shows up|is|has appeared))? in"
        yield rf"{ticked} {subject}", _read_tick
        yield rf"{caret} on {subject}", _widget_reader((WidgetState.FOCUSED,))
        focus = rf"{caret} (?:is|moves|has moved|goes|jumps|switches) (?:now )?(?:in|on|to|into)"
        yield rf"{focus} {subject}", _widget_reader((WidgetState.FOCUSED,))
        holds = r"(?:now )?(?:contains|holds|to contain|to hold)(?P<exactly> exactly)?(?: the (?:text|words?))?"
        yield rf"{subject} {holds} {quoted}", _value_reader(ValueComparison.CONTAINS)
        reads = (
            r"(?:(?:now )?(?:is|reads|says|shows)(?: the value)?|to be|to read|(?:is|reads|says) exactly|has the text)"
        )
        yield rf"{subject} {reads} {quoted}", _value_reader(ValueComparison.EQUAL)
        content = r"the (?:value|text|contents?|selection|choice|selected (?:value|entry|option|item)) (?:of|in)"
        yield (
            rf"{content} {subject} (?:is|reads|equals|becomes|is exactly|is set to) {quoted}",
            _value_reader(ValueComparison.EQUAL),
        )
        chosen = r"(?:is|becomes) the (?:selected|chosen) (?:value|entry|option|item) (?:of|in)"
        yield rf"{quoted} {chosen} {subject}", _value_reader(ValueComparison.EQUAL)
        named_held = r"(?:the (?:text|words?|value|number) )?(?P<held>(?-i:[^\W_a-z][^<>\s]*(?: [^\W_a-z][^<>\s]*)*))"
        yield rf"{subject} has {named_held} in it", _value_reader(ValueComparison.CONTAINS)
        says = r"(?:contains|holds|reads|says|shows|(?:contains|reads|is|says) exactly)"
        yield rf"{subject} {says} {named_held}", _value_reader(ValueComparison.EQUAL)
        yield rf"{subject} {BE_}filled(?: in)? with {named_held}", _value_reader(ValueComparison.CONTAINS)
        yield rf"{named_held} {BE_}(?:selected|chosen|picked) in {subject}", _value_reader(ValueComparison.EQUAL)
        equals = (
            r"(?:=|==|equals|gets the value|stands at|is at|has changed to|has the value|is equal to"
            r"|(?:is |has been |to be |gets )?(?:now )?(?:set|changed|switched) to)"
        )
        yield rf"{subject} {equals} {held}", _value_reader(ValueComparison.EQUAL)
        yield rf"{subject} has {quoted} (?:selected|chosen|picked)", _value_reader(ValueComparison.EQUAL)
        yield rf"{subject} (?:has|contains) {quoted} in it", _value_reader(ValueComparison.CONTAINS)
        yield rf"{subject} {BE_}filled(?: in)? with {quoted}", _value_reader(ValueComparison.CONTAINS)
        into = rf"(?:is|stands|appears|shows|can be read|{BE_}(?:entered|typed|written|filled|put))(?: now)? in(?:to)?"
        yield rf"{quoted} {into} {subject}", _value_reader(ValueComparison.CONTAINS)
        yield rf"the (?:value|position) of {subject} {_IS_A_NUMBER}", _read_range
        yield rf"{quoted} {BE_}(?:selected|chosen|picked) in {subject}", _value_reader(ValueComparison.EQUAL)
    for subject in (rf"{_ROLE} (?:{CALLED} )?{NAME}", rf"{NAME} {_ROLE}", _ALONE[_ALONE.index("(?P") :]):
        nothing = r"there is (?:no|no longer an?|not an?)(?: more| the| any)?"
        yield rf"{nothing} {subject}{MORE}", _widget_reader(gone=True)
        yield rf"no {subject} (?:is left|remains|{SHOWN}){MORE}", _widget_reader(gone=True)


# ---- numbers -------------------------------------------------------------------------------------------------------

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "a hundred": 100, "one hundred": 100, "hundred": 100,
    "a thousand": 1000, "one thousand": 1000,
}  # fmt: skip
_WORDS |= {
    f"{ten}{sign}{one}": _WORDS[ten] + _WORDS[one]
    for ten in ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    for one in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    for sign in "- "
}
_IN_WORDS = "|".join(sorted(_WORDS, key=len, reverse=True))
_NUMBER = (
    rf"(?P<before>[$€£])?(?P<value>[+-]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?|{_IN_WORDS})"
    r"(?: ?(?P<unit>[%€$£]|per ?cent|°[CFcf]?|[^\W\d][\w°/]{0,11}))?"
)
_UP = (
    r"(?:(?:has )?(?:risen|gone|got|climbed|grown|increased|jumped)|rises|goes|climbs|gets|grows"
    r"|increases|jumps|(?:to )?(?:rise|go|climb|get|grow))"
)
_DOWN = (
    r"(?:(?:has )?(?:dropped|fallen|gone|got|sunk|shrunk|decreased|dipped|come)|drops|falls|goes|sinks|gets"
    r"|shrinks|decreases|dips|comes(?= down)"
    r"|(?:to )?(?:drop|fall|go|sink|get))"
)
_SAYS = r"(?:is|are|is at|are at|of|shows|reads|says|stands at|is now|is now at|gets to|to be|at)"
_SET = r"(?:is |has been )?(?:set|moved|dragged|pulled|turned)"
_OVER, _UNDER = r"(?:above|over|past|beyond)", r"(?:below|under|beneath)"
_BIGGER = r"(?:more|greater|higher|larger|bigger|hotter|warmer|heavier|longer|older) than"
_LESSER = r"(?:less|fewer|lower|smaller|cheaper|colder|cooler|lighter|shorter|younger) than"
_COMPARED: tuple[tuple[Comparison, str, str], ...] = (
    (
        Comparison.AT_LEAST,
        rf"(?:{verb('reach', 'reaches', 'reached')}|{verb('hit', 'hits', 'hit')})(?: at least)?|gets? to"
        rf"|{_UP} (?:up )?to"
        r"|(?:fills|has filled)(?: up)? to|arrives at|makes it to"
        rf"|(?:{_SAYS} )?{_BIGGER} or equal to"
        rf"|(?:{_SAYS} |{_UP} to )?(?:at least(?: at)?|(?:at )?a minimum of|(?:no|not) {_LESSER})|(?:is )?(?:not"
        rf"|no longer) (?:{_UNDER}"
        rf"|{_LESSER})"
        r"|(?:is )?at or (?:above|over)|reaches or exceeds"
        r"|>=|≥|is (?:at )?>=",
        "",
    ),
    (
        Comparison.AT_LEAST,
        rf"{_SAYS}|{_UP} (?:up )?to|reaches|hits",
        r" (?:or|and) (?:more|higher|above"
        r"|over|greater|up|better)",
    ),
    (
        Comparison.MORE,
        rf"{verb('exceed', 'exceeds', 'exceeded')}|(?:is |are |{_SET} |{_UP} (?:to )?)?{_OVER}|passes|tops|surpasses"
        rf"|beats"
        r"|has (?:passed|topped)"
        rf"|(?:(?:{_UP}|{_SAYS}) )?{_BIGGER}|>",
        "",
    ),
    (
        Comparison.AT_MOST,
        rf"(?:{_SAYS} )?{_LESSER} or equal to"
        rf"|(?:{_SAYS} |{_DOWN} (?:down )?to )?(?:at most|(?:at )?a maximum of|(?:no|not) {_BIGGER})|(?:does not"
        r"|no longer) exceeds?"
        rf"|(?:is )?(?:not|no longer) (?:{_OVER}|{_BIGGER})|(?:is )?at or (?:below|under)|<=|≤",
        "",
    ),
    (Comparison.AT_LEAST, _SAYS, r" at (?:least|the least)"),
    (Comparison.AT_MOST, _SAYS, r" at (?:most|the most)"),
    (
        Comparison.AT_MOST,
        rf"{_SAYS}|is down to|{_DOWN} (?:down )?to",
        r" (?:or|and) (?:less|fewer|lower|below|under|smaller)",
    ),
    (
        Comparison.LESS,
        rf"(?:is |are |{_SET} |{_DOWN} (?:to )?)?{_UNDER}|(?:(?:{_DOWN}(?: to)?|{_SAYS}) )?{_LESSER}|<",
        "",
    ),
    (
        Comparison.NOT_EQUAL,
        r"is not(?: equal to)?|(?:is|are) no longer|no longer (?:shows|reads|says)|does not (?:show|read)"
        r"|is different from|is (?:anything"
        r"|something) (?:but|other than)|!=|≠|is other than"
        r"|differs from"
        r"|stops being",
        MORE,
    ),
    (
        Comparison.EQUAL,
        rf"(?:{_SAYS} )?exactly|{_SAYS}|equals|is equal to|has the value|(?:(?:is|has been) )?(?:set|moved|turned"
        r"|dragged) to|becomes|has become"
        rf"|changes to|=|==",
        "",
    ),
)
_IS_A_NUMBER = (
    rf"(?P<verb>{'|'.join(verbs for _, verbs, _ in _COMPARED)}) (?:the (?:value )?)?{_NUMBER}(?: mark)?"
    rf"(?P<after>{'|'.join(dict.fromkeys(after for _, _, after in _COMPARED if after))}|)"
)
_COMPARISONS = tuple(
    (compare, re.compile(verbs, re.IGNORECASE), re.compile(after, re.IGNORECASE)) for compare, verbs, after in _COMPARED
)
_UNITS = {"percent": "%", "per cent": "%"}
_NO_UNITS = frozenset(
    {
        "more", "less", "again", "now", "times", "time", "left", "long", "ago", "late", "here", "there", "high",
        "low", "higher", "lower", "fewer", "greater", "above", "below", "over", "under", "twice", "longer", "or",
        "and", "than", "of", "in", "on", "at", "up", "down", "after", "since", "for", "to", "points", "degrees",
        "degree", "full", "complete", "done", "today", "yet", "not", "red", "green", "blue", "away", "behind",
        "is", "are", "has", "ends", "something", "odd", "plus", "rising", "falling", "back", "ahead", "each", "per",
        "day", "days", "too", "also", "still", "only", "apart",
    }
)  # fmt: skip
"""Words after a number that are not certainly its unit."""
_NO_LABEL = re.compile(
    r"(?i)^time$|\b(?:bar|slider|button|window|page|screen|display|clock|date|it|number|count|counter|amount|of"
    r"|file|pid|process|\w+'s|stays?|remains?|keeps?|goes|falls|rises|drops|climbs|contains?|holds?|shows?|says|field"
    r"|reading|level|value|figure|percentage|meter|gauge"
    r"|(?-i:current)|\w+est|average|mean|median|sum|combined|overall|own)\b|(?-i:\bvolume\b)"
    r"|(?-i:\b(?:upload|download|build|render|installation|update|scan|backup|copy|transfer|job|task"
    r"|song|video|game|film"
    r"|movie)$)"
    r"|(?-i:\b(?:folder|directory|archive|log|logfile)\b)|\w\.[a-z]\w{0,4}$"
)
"""Subjects that are not certainly a label: parts of the screen, what takes time, a file by its name."""


_IN_LABEL = re.compile(r" (?:in|of|on|at|for|per|with|by|left|right|to) ", re.IGNORECASE)
"""Words inside a label, allowed where a sign such as `>=` shows that the words before it are one."""
_REACHED = re.compile(r"(?!(?:\w+ )*(?:at least|no|not|>=|≥))", re.IGNORECASE)
"""A verb of motion: neither `at least` nor `not less than`."""


def _spell_digits(found: re.Match[str]) -> str:
    value = found["value"].replace(",", "")
    return str(_WORDS.get(value.casefold(), value))


def _find_comparison(found: re.Match[str]) -> Comparison | None:
    """Return how a number is compared; None if it "reaches" 0, which probably means from above."""
    for compare, verbs, after in _COMPARISONS:
        if verbs.fullmatch(found["verb"]) and after.fullmatch(found["after"]):
            is_reached = compare is Comparison.AT_LEAST and not found["after"] and _REACHED.match(found["verb"])
            return None if is_reached and float(_spell_digits(found)) <= 0 else compare
    return None


def _read_number(phrase: Phrase, found: re.Match[str]) -> Until | None:
    label, unit = phrase.quote(name_in(found)), (found["unit"] or found["before"] or "").casefold()
    compare = _find_comparison(found)
    if compare is None or unit in _NO_UNITS:
        return None
    if not label:
        label = found["name"].rstrip(":").strip()
        is_written = re.match(r"[<>=!≥≤≠]", found["verb"]) is not None
        label_of = re.sub(r"^([A-Z]\w*s) left$", r"\1", label)
        is_certain = bool(phrase.name(label_of) or unit) or is_written or is_label(label, after_kind=True)
        is_name = label.split(" ", 1)[0] not in NO_NAMES and len(label.split()) <= 3 and "/" not in label
        plain = _IN_LABEL.sub("", label_of) if is_written else label_of
        if not is_certain or not is_name or _NO_LABEL.search(label) or is_hedged(plain):
            return None
    return ScreenNumber(compare, float(_spell_digits(found)), label.rstrip(":")[:200], _UNITS.get(unit, unit))


def number_rows() -> Iterator[Row]:
    what = r"(?:number|value|count|percentage|figure|reading|counter|amount|price|total|sum|score|rate|level)"
    where = (
        r"(?:(?:shown |displayed |written )?(?:right |just |directly )?(?:after|by|beside|next to|behind|at"
        r"|(?:to the )?right of"
        r"|following)|of"
        r"|for|labell?ed|called|named"
        r"|(?:that|which) (?:comes|stands|follows|is|is shown) (?:after|next to|beside|behind))"
    )
    of_it = rf"(?:{what} {where} (?:the (?:word|label|text) )?|label )?{NAME}"
    quoted = rf"(?:{what} (?P<other><\d+>)|(?P<label><\d+>) {what})"
    yield rf"(?:the )?(?:{of_it}|{quoted}) {_IS_A_NUMBER}", _read_number
