"""A description taken apart: the words that must be explained, and the kind, states, order and places that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from msgspec import Struct

from acud.features.grounding.icon_words import icon_table
from acud.features.grounding.widget_words import WORDS
from acud.features.grounding.word_likeness import normal
from acud.language.numbers import ORDINALS
from acud.language.quotation_marks import OPENING, QUOTED, quoted_words


def _to_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MOST = {
    "leftmost": "left", "rightmost": "right", "topmost": "top", "uppermost": "top", "bottommost": "bottom",
    "lowest": "bottom", "highest": "top",
}  # fmt: skip
_ZONES = {
    "left": "left", "right": "right", "top": "top", "upper": "top", "bottom": "bottom", "lower": "bottom",
    "lefthand": "left", "righthand": "right",
}  # fmt: skip
_NO_WHOLE = (
    r"(?! (?:the |a |its )?(?:page|window|screen|dialog|toolbar|row|card|bar|header|list|table|whole|form|app)\b)"
)
_NO_ZONE = r"(?<!top )(?<!bottom )(?<!upper )(?<!lower )"
_ROW = re.compile(
    rf"\b(?:in|of|on|at|from|for) (?:the |its )?(?P<number>{'|'.join(ORDINALS)}) (?:row|line)\b(?: (?:of|in|from) "
    r"(?:the|this|that) (?:\w+ )?(?:table|list|grid))?|\b(?:in|of|on|at|from|for) (?:row|line) (?P<digits>\d{1,3})\b"
)
_RELATIONS = (
    (rf"{_NO_ZONE}(?:(?:immediately|directly|just|at|to|on|the) )*left (?:of|from){_NO_WHOLE}", "left"),
    (rf"{_NO_ZONE}(?:(?:immediately|directly|just|at|to|on|the) )*right (?:of|from){_NO_WHOLE}", "right"),
    (r"(?:(?:immediately|directly|just|right) )*above", "above"),
    (r"(?:(?:immediately|directly|just|right) )*(?:below|under|underneath|beneath)", "below"),
    (r"(?:right )?(?:next to|beside|alongside|adjacent to)", "beside"),
    (r"(?:right |just )?after", "after"),
    (r"(?:right |just )?before", "before"),
    (r"between", "between"),
)
_RELATION = re.compile(
    r"\b(?:" + "|".join(f"(?P<r{index}>{pattern})" for index, (pattern, _) in enumerate(_RELATIONS)) + r") (?=\S)"
)
_ASIDE = re.compile(r"\s*[(\[;)\]]\s*|\s*,\s+|\s*:\s+|\s+[–—-]\s+")
_LOG_IN = re.compile(r"\b(log|sign)[ -](in|on|out|off)\b", re.IGNORECASE)
_HELD = "\x02"

DISABLED = frozenset({"disabled", "greyed", "grayed", "inactive", "greyed-out", "grayed-out", "deactivated"})
_STRUCTURES = {
    "edge": re.compile(r"\b(?:side ?bar|side pane|(?:left|right)(?:-hand)? (?:rail|column|pane|panel|side))\b"),
    "top": re.compile(
        r"\b(?:(?:tool ?bar|top bar|header bar|title bar|top menu|menu ?bar)\b"
        r"|(?:in|on|at|from) (?:the |its )?(?:(?:page|site|app|window) )?header\b(?! row))"
    ),
    "bottom": re.compile(r"\b(?:status ?bar|footer|bottom (?:bar|line|row))\b"),
}
"""Parts of windows that no widget stands for, and the side that they lie on (`edge`: left or right)."""
_BEHIND = re.compile(r"\bbehind (?:the|a) (?:dialog|dialogue|window|question)\b")
_IN_MENU = re.compile(r"\b(?:in|of|from|under) the (?:\w+ ){1,2}menu\b|\b\w+ menu's(?!\w)")
_IN_PAGE = re.compile(
    r"\b(?:(?:in|on|of|at) (?:the|this) (?:web ?)?(?:page|site|website)|page's(?: own)?|website's)(?!\w)"
)
_OF_BROWSER = re.compile(r"\b(?:browser's|browser (?:toolbar|window|bar|tab|menu|chrome)|(?:in|of) the browser)(?!\w)")
_STATES = {
    **dict.fromkeys(DISABLED, "disabled"),
    **dict.fromkeys(("checked", "ticked"), "checked"),
    **dict.fromkeys(("unchecked", "unticked", "empty"), "unchecked"),
    "selected": "selected",
}
_TICK_IT = re.compile(r"(?:un)?tick \S")
_EMPTY_IT = re.compile(r"empty (?:the|my|your|this|that|all|its)\b")
"""Here "empty" is what to do, and no state."""
_FREE = _to_words(
    """
    about another different them they one ones yes
    a an the this that these those of for in on at to from with by into onto inside within over under its it is are
    be as and or my your his her their our me i you we have has where which who whose there here please want one
    click press tap push hit choose pick select open go show get set make use find locate take do type enter put
    turn let start jump icon sign symbol shape glyph logo pictogram named called titled labelled labeled marked
    saying says reading reads text word words label name caption title own whole very small big little large tiny
    long wide thin thick red green blue yellow orange purple grey gray black white dark light coloured colored round
    square bar row line column section group panel pane area part list table tree dialog dialogue window page form
    card header footer head heading corner side rail sidebar screen app application browser program site website
    field toolbar tool box middle out centre center end far hand out
    """
)
"""Words that need no explanation: for no thing, for a thing around the target, or for looks that widgets lack."""


class AnchoredPlace(Struct, frozen=True):
    """`relation`: where the thing is, seen from what `anchors` call (two for `between`)."""

    relation: str
    anchors: tuple[tuple[str, ...], ...]


class Parts(Struct, frozen=True):
    """`words`: the normalised words that must be explained, of the thing and of what is around it; the first `head` of
    them name the thing itself. `kind`: the word for its kind ("" for none); `unlike`: kinds that it is not. `number`:
    its ordinal (-1: the last; 0: none given); `most`: the side to which it is the furthest. `zones`: sides of the
    window; `structures`: sides of a named part of the window (a toolbar). `states`: states that the description names.
    """

    words: tuple[str, ...] = ()
    head: int = 0
    kind: str = ""
    unlike: tuple[str, ...] = ()
    number: int = 0
    most: str = ""
    zones: frozenset[str] = frozenset()
    structures: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    places: tuple[AnchoredPlace, ...] = ()
    is_behind: bool = False
    row: int = 0
    is_in_menu: bool = False


_BARE = re.compile(
    r"^(?:please )?(?:(?:left |right |double |triple )?[ -]?(?:click|press|tap|select|choose|find|locate|open|focus)"
    rf"(?: on| in| into)? (?=the |a |an |{OPENING}))?(?:the |a |an |that |this )?",
    re.IGNORECASE,
)


def strip_lead_in(description: str) -> str:
    """Return `description` without the verb, article and quotation marks that it may begin with."""
    text = _BARE.sub("", " ".join(description.split())[:1000].rstrip(".!"))
    found = QUOTED.fullmatch(text)
    return quoted_words(found) if found else text


def parts_of(description: str, shown: Set[str] = frozenset()) -> Parts:
    """Return the parts of `description`. All clauses ("delete Ada, the bin in her row") describe one thing. `shown`:
    pairs of adjacent words on the screen, so that "last name" is not read as the last of the names.
    """
    text = " ".join(description.split())[:1000].rstrip(".!")
    quoted: list[str] = []

    def hold(match: re.Match[str]) -> str:
        quoted.append(normal(quoted_words(match)))
        return f" {_HELD}{len(quoted) - 1}{_HELD} "

    held = " ".join(QUOTED.sub(hold, _LOG_IN.sub(r"\1\2", text)).split())
    clauses = [clause for clause in _ASIDE.split(held) if clause.strip()]
    reader = _PartsReader(quoted, shown)
    for index, clause in enumerate(clauses):
        reader.read_clause(clause.strip(), is_first=index == 0)
    return reader.parts()


class _PartsReader:
    def __init__(self, quoted: Sequence[str], shown: Set[str]) -> None:
        self._quoted = quoted
        self._shown = shown
        self._row = 0
        self._in_menu = False
        self._split: list[str] = []
        self._head = 0
        self._kind = ""
        self._unlike: list[str] = []
        self._number = 0
        self._most = ""
        self._zones: set[str] = set()
        self._structures: set[str] = set()
        self._states: set[str] = set()
        self._places: list[AnchoredPlace] = []
        self._behind = False
        self._is_emptying = False

    def parts(self) -> Parts:
        return Parts(
            tuple(self._split), self._head, self._kind, tuple(self._unlike), self._number,
            self._most, frozenset(self._zones), frozenset(self._structures), frozenset(self._states),
            tuple(self._places),
            self._behind, self._row, self._in_menu,
        )  # fmt: skip

    def read_clause(self, text: str, *, is_first: bool) -> None:
        lowered = text.lower()
        if lowered.startswith("not "):
            self._unlike += [kind for kind in (last_kind(self._split_words(lowered[4:])),) if kind]
            return
        if _BEHIND.search(lowered):
            self._behind = True
            lowered = _BEHIND.sub("", lowered)
        if found := _ROW.search(lowered):
            self._row = int(found["digits"]) if found["digits"] else ORDINALS[found["number"]]
            lowered = lowered[: found.start()] + lowered[found.end() :]
        if (found := _PURPOSE.match(lowered)) and found[0].strip() not in self._shown:
            lowered = lowered[found.end() :]
        self._is_emptying = is_first and _EMPTY_IT.match(lowered) is not None
        lowered = _DESCRIPTIVE.sub("", lowered) if _PREPOSITION.search(lowered) else lowered
        if _IN_MENU.search(lowered):
            self._in_menu = True
        if _IN_PAGE.search(lowered):
            self._structures.add("page")
        elif _OF_BROWSER.search(lowered):
            self._structures.add("browser")
        self._structures |= {side for side, pattern in _STRUCTURES.items() if pattern.search(lowered)}
        related = list(_RELATION.finditer(lowered))
        self._read_thing(lowered[: related[0].start()] if related else lowered, is_first=is_first)
        for index, one in enumerate(related):
            until = related[index + 1].start() if index + 1 < len(related) else len(lowered)
            relation = next(word for at, (_, word) in enumerate(_RELATIONS) if one[f"r{at}"])
            self._add_place(relation, lowered[one.end() : until])

    def _add_place(self, relation: str, text: str) -> None:
        anchors = text.split(" and ", 1) if relation == "between" else [text]
        told = tuple(tuple(self._split_words(anchor)) for anchor in anchors)
        if all(told):
            self._places.append(AnchoredPlace(relation, told))

    def _split_words(self, text: str) -> list[str]:
        filled = re.sub(f"{_HELD}(\\d+){_HELD}", lambda found: self._quoted[int(found[1])], text)
        return [word for word in normal(filled).split() if word not in ("a", "an", "the")]

    def _read_thing(self, text: str, *, is_first: bool) -> None:
        """Take the words of a clause. The kind stands before the first preposition, or is a word for a control anywhere
        ("check in button for Ada").
        """
        before, after = _first_preposition(text)
        kind = last_kind(self._split_words(before))
        if not is_first and not _CONTROL.fullmatch(kind):
            kind = ""
        if found := _MARK.search(before) if after else None:
            kind = normal(found[0])
        if not kind and (found := _CONTROL.search(text)) is not None:
            kind, before, after = normal(found[0]), text[: found.end()], text[found.end() :]
        ticks = is_first and not kind and _TICK_IT.match(text) is not None
        if not self._kind:
            self._kind = "checkbox" if ticks else _find_kind(kind)
        told = self._split_words(before)[ticks:]
        count = len(normal(kind).split())
        self._take_words(told[: len(told) - count], normal(kind).partition(" ")[0])
        if is_first:
            self._head = len(self._split)
        self._take_words(self._split_words(after))

    def _take_words(self, words: Sequence[str], following: str = "") -> None:
        phrases = icon_table().by_phrase
        index = 0
        while index < len(words):
            longest = min(4, len(words) - index)
            count = next((n for n in range(longest, 1, -1) if " ".join(words[index : index + n]) in phrases), 1)
            run = words[index : index + count]
            if count > 1:
                self._split += run
            else:
                self._take_word(run[0], words[index + 1] if index + 1 < len(words) else following)
            index += count

    def _take_word(self, word: str, following: str) -> None:
        if f"{word} {following}" in self._shown:
            self._split.append(word)
        elif word in ORDINALS and following:
            self._number = ORDINALS[word]
        elif word in _MOST:
            self._most = _MOST[word]
        elif word in _ZONES:
            self._zones.add(_ZONES[word])
        elif word in _STATES and not (word == "empty" and self._is_emptying):
            self._states.add(_STATES[word])
        else:
            self._split.append(word)


_PREPOSITION = re.compile(
    r"\b(?:in|of|for|on|at|from|with|inside|within|over|by|that|which|to|where|showing|whose)\b", re.IGNORECASE
)


_MARK = re.compile(r"\b(?:check|tick) ?mark$")
"""A mark in a row, if words that pick the row follow; else it is an icon."""
_PURPOSE = re.compile(
    r"^(?:sort(?:ed|ing)?|order(?:ed)?|arrange|group|filter|pay|search|find|send|ship|deliver|contact|notify|continue|"
    r"connect|proceed)(?: it| them| this| the list)? (?:by|via|with|through|using) (?=\S)"
)
"""Actions that are done by choosing what is named after them."""


def _first_preposition(text: str) -> tuple[str, str]:
    found = _PREPOSITION.search(text)
    if found is None or not text[: found.start()].strip():
        return text, ""
    return text[: found.start()], text[found.start() :]


_BY_LENGTH = sorted(WORDS, key=lambda word: -len(word))


def last_kind(words: Sequence[str]) -> str:
    """Return the longest word for a kind that `words` end with ("" for none)."""
    text = " ".join(words)
    phrases = icon_table().by_phrase
    if any(" ".join(words[-count:]) in phrases for count in range(2, len(words) + 1)):
        return ""  # a hamburger menu is no menu, and "new folder" no folder
    kind = next((kind for kind in _BY_LENGTH if text == normal(kind) or text.endswith(" " + normal(kind))), "")
    if words and words[0] in _DOING and kind not in ("", "menu") and " " not in kind and not _CONTROL.fullmatch(kind):
        return ""  # "close the tab" is no tab
    return kind


def _find_kind(kind: str) -> str:
    return next((word for word in (kind, kind.replace(" ", ""), kind.split()[-1] if kind else "") if word in WORDS), "")


_DOING = _to_words(
    """
    create add new delete remove close edit rename sort reload refresh upload download share print copy clear reset
    show hide find search insert make open save send reply change view
    """
)
_CONTROL = re.compile(
    r"\b(?:push |radio |toggle |tool |toolbar )?(?:button|btn)\b|\bcheck ?box\b|\btick ?box\b|"
    r"\b(?:text|input|number|search) (?:field|box|input|area)\b|\bfield\b|\bcombo ?(?:box)?\b|"
    r"\bdrop-?down(?: list| menu)?\b|\bslider\b|\bhyperlink\b|"
    r"\bspin (?:box|button)\b|\btextarea\b"
)
"""Words that name a control and nothing else."""


FUNCTION = _to_words(
    """
    a an the this that these those of for in on at to from with by into onto inside within over under its it is are be
    as and or my your his her their our me i you we has where which who whose there here about them they please
    icon button btn called named labelled labeled saying says reading reads
    """
)
"""Free words that do not describe the thing, even where something else is called so."""


LOOKS = _to_words(
    """
    small big little large tiny long wide thin thick red green blue yellow orange purple grey gray black white dark
    light coloured colored round square left right top bottom upper lower middle centre center end far corner side
    whole very out another different one ones row bar
    """
)
"""Free words for how a thing looks, and where it is."""


def is_free(word: str) -> bool:
    return word in _FREE or word in _KIND_WORDS


_KIND_WORDS = _to_words(
    """
    button btn icon field box checkbox link tab menu item entry list table row cell column header heading label text
    slider combobox dropdown dialog window toolbar image textbox textarea
    """
)
_DESCRIPTIVE = re.compile(
    r"\b(?:file|folder|message|navigation|button|main|browser|search|status|icon|tool|address|menu) "
    r"(?=(?:tree|list|table|bar|toolbar|sidebar|section|panel|pane|window|view|row)\b)"
)
