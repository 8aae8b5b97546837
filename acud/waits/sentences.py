"""Which sentences say for certain what a local condition says, so that no model is needed to judge them.

The grammar is narrow on purpose: it reads whole sentences. Whatever it does not know (a place, a colour, an order, a
doubt, a second clause that is no condition) is not read away: the sentence stays one for a judge that sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from acud.types import (
    AllOf,
    AnyOf,
    ConditionWords,
    Criteria,
    FileState,
    JudgeName,
    Leaf,
    NotOf,
    ProcessExit,
    ScreenNumber,
    Text,
    Then,
    Until,
    Widget,
    WindowTitle,
    condition_text,
)
from acud.waits.conditions import leaves, map_leaves
from acud.waits.sentence_clauses import clause
from acud.waits.sentence_controls import OPPOSITE
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_requests import asked

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
    return map_leaves(until, lambda leaf: _meaning_in(until, leaf) or leaf)


def meaning_notes(until: Until, judge: str) -> Iterator[str]:
    """Yield for each sentence that is certain how it is read."""
    for leaf in leaves(until) if judge in _LOCAL_JUDGES else ():
        meant = _meaning_in(until, leaf)
        if meant is not None:
            yield f"read as: {condition_text(meant, ConditionWords.SENTENCE)}; no model is asked"


def _meaning_in(whole: Until, leaf: Leaf) -> Until | None:
    """Return the meaning of a sentence in `whole`, of which only the whole may be a sequence; None for other leaves."""
    meant = meaning(leaf.criteria) if isinstance(leaf, Criteria) else None
    return None if isinstance(meant, Then) and leaf is not whole else meant


def meaning(sentence: str) -> Until | None:
    """Return the condition that `sentence` means, None where that is not certain."""
    phrase = Phrase.of(sentence)
    if phrase is None:
        return None
    for part in asked(phrase.text):
        condition = part.condition.removesuffix("?")
        meant = None if "?" in condition else _whole(phrase.with_text(condition))
        meant = _opposite(meant) if part.ends else meant
        if meant is not None and (not part.given or _whole(phrase.with_text(part.given)) is not None):
            return meant
    return None


# ---- sentences -----------------------------------------------------------------------------------------------------

_PLACE = re.compile(
    r"(?: (?:anywhere|somewhere))? (?:on|in|from) (?:(?:the |my |this |that )?(?:screen|display"
    r"|desktop|computer|laptop|pc|machine)|(?:the|this) page)$"
    r"| (?:anywhere|somewhere)$",
    re.IGNORECASE,
)
_SOON = re.compile(
    r" (?:(?P<short>now|soon|shortly|together)|right now|by now|at some point|in the end|in a (?:(?:few|couple of) (?:minutes|seconds|moments)|minute|moment"
    r"|bit|while)|any (?:minute|moment|second|time)(?: now)?|too|as well"
    r"|at (?:once|the same time)|simultaneously)$",
    re.IGNORECASE,
)
_IRREGULAR = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_DUE = re.compile(
    r"\b(?:should|must|ought to|(?:has|have|needs?) to|(?:is|are) (?:supposed |meant )to|to|will|shall)"
    r" (?P<denied>not |no longer )?(?P<verb>(?-i:[a-z]+))\b",
    re.IGNORECASE,
)
"""What has to be is what is waited for."""
_ANY_MORE = re.compile(r"\bany ?more\b", re.IGNORECASE)
_LATER = re.compile(
    r"[,;.:]? (?:(?:and |but )?(?:only )?(?:then|after that|after it|afterwards|thereafter|later(?: on)?|subsequently"
    r"|some ?time (?:later|after(?: it| that)?)|once that has happened|when that is done)|followed by)(?: that)?,? |, "
    r"(?:and )?(?:hold on|wait|watch|look|look out|(?:start|begin|keep) (?:looking|watching|waiting|checking)) "
    r"(?=for |until |till )| (?=(?:start|begin) (?:looking|watching|waiting|checking) (?:for|until) )",
    re.IGNORECASE,
)
_RETURNS = re.compile(r"(?: ?\b(?:comes?|is|came|has come) back|reappears?|returns?|shows? up again)$", re.IGNORECASE)
"""What something does that had been gone before."""
_FIRST = re.compile(r"(?:first|at first|first of all|to begin with|start with),? (?!of )| first$", re.IGNORECASE)
_I_WANT = re.compile(r"^(?:I|we) (?:want|need|would like) (?=\S+ (?:\S+ ){0,6}to )", re.IGNORECASE)
"""In a sequence, what has to happen is what is waited for."""
_AFTER = re.compile(r"after (?P<first>[^,]+), (?:then )?(?P<later>[^,]+)", re.IGNORECASE)
_THEREAFTER = re.compile(
    r"(?P<first>[^,]+?),? and (?P<later>[^,]+?),? (?:after that|afterwards|thereafter|later(?: on)?)", re.IGNORECASE
)
_AFTERWARDS = re.compile(
    r"(?!.*\b(?:right|soon|just|long|shortly|directly|immediately) after )"
    r"(?P<later>[^,]+?),? (?:but )?(?:only )?after (?P<first>(?!that\b)[^,]+)",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"either |both ", re.IGNORECASE)
_AND_BACK = re.compile(r"(?P<first>[^,]+?),? and (?P<later>[^,]+) again", re.IGNORECASE)
"""Of one thing, what it does and then takes back."""
_IN_ORDER = re.compile(r",? in (?:that|this|exactly this|exactly that) order$", re.IGNORECASE)
_JOINED = (
    (" or ", re.compile(r",? or(?: else)?(?: when| if| once| until| for)? |, ", re.IGNORECASE), "either", AnyOf),
    (" and ", re.compile(r",? and(?: also)?(?: when| if| once| until| for)? |, ", re.IGNORECASE), "both", AllOf),
    (" as well as ", re.compile(r",? as well as ", re.IGNORECASE), "both", AllOf),
    (" plus ", re.compile(r",? plus ", re.IGNORECASE), "both", AllOf),
    (" but ", re.compile(r",? but(?: also)? ", re.IGNORECASE), "both", AllOf),
    (" while ", re.compile(r",? (?:while|whereas) ", re.IGNORECASE), "both", AllOf),
)
"""What joins clauses: a word that is there, where it parts them, and the word that may stand before them."""
_ONE_OF = re.compile(
    r"(?:any|(?:at least )?one|either|whichever) of (?=<|the (?:words|texts|messages)"
    r" <)",
    re.IGNORECASE,
)
_WHICHEVER = re.compile(
    r",? ?\(?(?:whichever|whatever)(?: of them| one)? (?:it is|(?:is|comes|happens|occurs|appears) (?:first"
    r"|sooner|earlier))\)?$",
    re.IGNORECASE,
)
_WHICHEVER_FIRST = re.compile(r"whichever (?:of them )?(?:happens|comes|is|appears) first[:,] ", re.IGNORECASE)
_BARE = re.compile(r"<\d+>")
_MOST_WORDS = 40
"""Of a clause that shares its subject or its predicate with another."""


def _whole(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, of clauses that are all joined by `and` or all by `or`, or of a sequence."""
    if (found := _WHICHEVER.search(phrase.text) or _WHICHEVER_FIRST.match(phrase.text)) is not None:
        of_any = _joined(phrase.with_text(phrase.text[: found.start()] or phrase.text[found.end() :]))
        return of_any if isinstance(of_any, AnyOf) else None
    if (found := _IN_ORDER.search(phrase.text)) is not None:
        ordered = phrase.with_text(phrase.text[: found.start()])
        stages = _stages(ordered) or _joined(ordered)
        if isinstance(stages, AllOf):
            return Then(stages.parts) if _ONE_OF.match(phrase.text) is None else None
        return stages if isinstance(stages, Then) else None
    return _single(phrase) or _stages(phrase) or _joined(phrase)


def _single(phrase: Phrase) -> Until | None:
    """Return the meaning of one clause, whether or not it says that it is about the screen."""
    is_placed = is_soon = False
    while (meant := clause(phrase) or _due(phrase)) is None:
        left = _PLACE.search(phrase.text)
        is_placed |= left is not None
        soon = _SOON.search(phrase.text)
        left = left or soon
        if left is None:
            return None
        is_soon |= left is soon and soon["short"] is not None
        phrase = phrase.with_text(phrase.text[: left.start()])
    if is_soon and any(phrase.text.endswith(name) for name in _names(meant)):
        return None  # what was left out may be a part of the name
    return None if is_placed and isinstance(meant, FileState | ProcessExit) else meant


def _names(until: Until | None) -> list[str]:
    """Return the names that a condition holds."""
    return [name for field in ("text", "title", "name", "label") if (name := getattr(until, field, ""))]


def _due(phrase: Phrase) -> Until | None:
    """Return the meaning of what has to be. The words of a name stay as they are (`the text Ready to print`)."""
    is_so = phrase.with_text(_DUE.sub(_finite, phrase.text))
    meant = clause(is_so) if is_so.text != phrase.text else None
    return meant if all(name in phrase.quoted or name in phrase.text for name in _names(meant)) else None


def _finite(due: re.Match[str]) -> str:
    """Return what has to be as what is: `should be` as `is`, `must not appear` as `does not appear`."""
    verb, denied = due["verb"].casefold(), due["denied"] or ""
    if denied == "not " and _ANY_MORE.search(due.string) is None:
        return due[0]  # of what must not be, it may be asked for when it is
    if denied.strip() == "not" and verb not in _IRREGULAR:
        return f"does not {verb}"
    third = _IRREGULAR.get(verb) or re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"
    third = re.sub(r"(?<=sh|ch|ss)s$|(?<=[xz])s$", "es", third)
    return f"{denied}{third}" if denied.strip() == "no longer" and verb not in _IRREGULAR else f"{third} {denied}".strip()


def _joined(phrase: Phrase) -> Until | None:
    """Return the meaning of clauses that are all joined by `and`, or all by `or`."""
    for pattern, full in _LEFT_OUT:
        phrase = phrase.with_text(pattern.sub(full, phrase.text))
    if (neither := _NEITHER.fullmatch(phrase.text)) is not None:
        return _none_of(_joined(phrase.with_text(f"{neither['first']} or {neither['last']}")))
    for pattern, join in _NESTED:
        if (nested := pattern.fullmatch(phrase.text)) is not None:
            first, rest = (_whole(phrase.with_text(nested[part])) for part in ("first", "rest"))
            is_one = first is not None and not isinstance(first, AllOf | AnyOf | Then)
            return join((first, rest)) if is_one and isinstance(rest, AllOf | AnyOf) else None
    if (listed := _listed(phrase)) is not None:
        return listed
    is_one_of = _ONE_OF.match(phrase.text) is not None
    text = _ONE_OF.sub("", phrase.text, count=1)
    for word, joint, before, join in _JOINED:
        if word not in text.casefold():
            continue
        text = re.sub(rf"(?i)\b{before}:? (?!of )", "", text, count=1)
        text = re.sub(r"(?i)\b(are|have) all ", r"\1 ", text) if join is AllOf else text
        parts = [part for part in joint.split(text) if part]
        if 1 < len(parts) <= _MOST_PARTS:
            known = _all_meant(phrase, parts, may_share=join is AnyOf)
            if not known:
                return None
            return known[0] if len(known) == 1 else AnyOf(known) if is_one_of else join(known)
    return None


def _none_of(any_of: Until | None) -> Until | None:
    """Return that none of what is joined by `or` is there."""
    if not isinstance(any_of, AnyOf) or any(isinstance(part, NotOf) for part in map(_opposite, any_of.parts)):
        return None
    return AllOf(tuple(one for one in map(_opposite, any_of.parts) if one is not None))


_NEITHER = re.compile(r"neither (?P<first>.+?),? nor (?P<last>.+?)(?: any ?more)?", re.IGNORECASE)
_NESTED = (
    (
        re.compile(
            r"(?P<first>.+?),? (?:and|plus|(?:together|along) with),? (?P<rest>(?:either|one of) .+ or .+)", re.IGNORECASE
        ),
        AllOf,
    ),
    (re.compile(r"(?P<first>.+?)[,;] or(?: else)?,? (?P<rest>both .+ and .+)", re.IGNORECASE), AnyOf),
    (re.compile(r"(?P<first>.+?)[,;] or else,? (?P<rest>.+ and .+)", re.IGNORECASE), AnyOf),
)
"""A clause beside others that are joined by another word, where the words show what belongs together."""
_LEFT_OUT = (
    (
        re.compile(
            r"^(.+?) (?:(?:is|lies|gets|moves) )?(?:anywhere |somewhere )?between ([\d.,]+)( ?[^\s\d,]+)?"
            r" and ([\d.,]+)( ?[^\s\d,]+)?$",
            re.IGNORECASE,
        ),
        r"\1 is at least \2\5 and \1 is at most \4\5",
    ),
    (re.compile(r"^(<\d+>) ([^<]+?),? or (<\d+>) (?:does|is|has)$", re.IGNORECASE), r"\1 \2 or \3 \2"),
    (re.compile(r"^(<\d+>) ([^<]+?),? and so (?:does|is|has) (<\d+>)$", re.IGNORECASE), r"\1 \2 and \3 \2"),
    (
        re.compile(r"^(<\d+>) is (visible|shown|there|on the screen),? (?:and|but) (<\d+>) is not$", re.IGNORECASE),
        r"\1 is \2 and \3 is not \2",
    ),
)
"""What a second clause leaves out, and how it is in full."""
_KINDS = (
    "window", "text", "word", "message", "phrase", "notification", "button", "toggle button", "radio button",
    "check box", "checkbox", "tick box", "switch", "toggle", "link", "menu item", "field", "text field", "slider",
    "progress bar", "tab",
)  # fmt: skip
_PLURALS = {f"{one}{'es' if one.endswith(('x', 'ch')) else 's'}": one for one in _KINDS}
_KIND = rf"(?P<kind>{'|'.join(sorted(_PLURALS, key=len, reverse=True))})"
_LISTED = r"(?:<\d+>|(?-i:[A-Z][\w-]*(?: [A-Z][\w-]*)*))"
_LIST = rf"(?P<list>{_LISTED}(?:(?:, |,? (?:or|and) ){_LISTED})+)"
_ANY_OF = r"(?P<any>(?:any(?: one)?|(?:at least )?one|either|whichever) of (?:the )?)"
_ALL_OF = r"(?P<all>(?:both|all|all three)(?: of)?(?: the)? )"
_SOME = r"(?:the )?(?:(?:two|three|four) )?"
_THESE = r"(?:(?:these|those|the following|the)(?: two| three)?|two|three)"
_LISTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_ANY_OF}|{_ALL_OF}|{_SOME}){_KIND},? {_LIST},? (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}|the )?{_LIST} {_KIND} (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}|the )?(?P<kind>process(?:es)?(?: with(?: the)? pids?)?|pids) (?P<list>\d+(?:(?:, |,? (?:or"
        rf"|and) )\d+)+) (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}){_LIST} (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}){_THESE}(?: {_KIND})?(?P<said> .+?)??(?: first)?(?: will do| is (?:enough"
        rf"|fine))?: {_LIST}",
        rf"(?P<any>whichever (?:is|comes|appears|shows up) first): {_LIST}",
    )
)
"""Lists of quoted words of one kind, of which one thing is said."""


def _listed(phrase: Phrase) -> Until | None:
    """Return the meaning of what is said of each in a list: `both windows, <0> and <1>, are closed`."""
    found = next((one for pattern in _LISTS if (one := pattern.fullmatch(phrase.text)) is not None), None)
    if found is None:
        return None
    groups, names = found.groupdict(), re.split(r", |,? (?:or|and) ", found["list"])
    is_or, is_and = (f" {word} " in found["list"].casefold() for word in ("or", "and"))
    is_any, is_all = groups.get("any") is not None, groups.get("all") is not None
    if (is_or and (is_all or is_and)) or not (is_or or is_and or is_any or is_all) or len(names) > _MOST_PARTS:
        return None
    if is_all and found["all"].casefold().startswith("both") and len(names) != 2:
        return None
    kind = _PLURALS.get(groups["kind"].casefold(), "process") if groups.get("kind") else ""
    said = re.sub(r"(?i)^(are|have|is) (?:both|all) ", r"\1 ", (groups.get("said") or "is visible").strip(" ,"))
    said = re.sub(r"(?i)^(?:will do|is (?:enough|fine))$", "is visible", said)
    parts = [_single(phrase.with_text(f"the {kind} {name} {said}" if kind else f"{name} {said}")) for name in names]
    known = tuple(one for one in parts if one is not None)
    join = AnyOf if is_any or is_or else AllOf
    return join(known) if len(known) == len(parts) else None


def _all_meant(phrase: Phrase, parts: list[str], *, may_share: bool) -> tuple[Until, ...]:
    """Return the meaning of each part, () where one has none. A part may leave out what it shares: its predicate with
    the last part, and its subject with the first one. Of one subject all states hold at once only of a control, where
    they are one condition, and of a number ("A" appears and disappears: one after the other); `may_share`: or any one.
    """
    parts = _completed(parts)
    if any(map(_BARE.fullmatch, parts)) and not all(map(_BARE.fullmatch, parts)):
        return ()
    known: list[Until | None] = []
    for part in parts:
        if _is_noun(phrase, part) and not _is_noun(phrase, parts[-1]):
            meant = _predicated(phrase, part, parts[-1])
        else:
            meant = _single(phrase.with_text(part))
        if meant is None and (denied := _IS_NOT.fullmatch(part)) is not None and known:
            meant = _opposite(_predicated(phrase, denied["noun"], parts[len(known) - 1]))
            meant = None if isinstance(meant, NotOf) else meant
        if meant is None and (there := _THERE_IS.match(parts[0])) is not None:
            meant = _single(phrase.with_text(f"{there[0]}{part}"))
        if meant is None and part is not parts[0]:
            meant = _of_subject(phrase, parts[0], part)
            if not may_share and isinstance(meant, Widget):
                known[0] = _with_states(known[0], meant)
                continue
            if not (may_share or isinstance(meant, ScreenNumber)):
                return ()
        if meant is None:
            return ()
        known.append(meant)
    return () if None in known else tuple(one for one in known if one is not None)


_THERE_IS = re.compile(r"(?:there is|(?:I|you|we) (?:can )?see) ", re.IGNORECASE)
_IS_NOT = re.compile(r"(?P<noun>.+) (?:is|are|has|have) not", re.IGNORECASE)
"""Of a second clause that leaves out what it denies."""


def _with_states(first: Until | None, other: Widget) -> Widget | None:
    """Return a control in the states of both conditions; None where one says that it is gone, or compares a value."""
    if not isinstance(first, Widget) or first.gone or other.gone or (first.value, other.value) != (None, None):
        return None
    return replace(first, states=tuple(dict.fromkeys((*first.states, *other.states))))


def _completed(parts: list[str]) -> list[str]:
    """Return the clauses with what they share: in `"A" or "B" appears`, and in `it says "A" or "B"`, both do."""
    first, last = parts[0], parts[-1]
    full: list[str] = []
    predicate = ""
    for part in reversed(parts):
        if (shared := re.fullmatch(r"(?:the |a )?<\d+> (.+)", part)) is not None:
            predicate = shared[1]
        full.append(f"{part} {predicate}" if predicate and _BARE.fullmatch(part) else part)
    if predicate:
        return full[::-1]
    if _BARE.fullmatch(last) and len(_BARE.findall(first)) == 1 and first.endswith(">"):
        return [_BARE.sub(part, first) if _BARE.fullmatch(part) else part for part in parts]
    return parts


def _is_noun(phrase: Phrase, part: str) -> bool:
    """Tell whether a part only names something, so that its predicate stands elsewhere."""
    of_host = (_single(phrase.with_text(f"{part} {said}")) for said in ("is downloaded", "ends"))
    is_shown = _single(phrase.with_text(f"{part} is visible")) is not None
    return is_shown or any(isinstance(one, FileState | ProcessExit) for one in of_host)


def _predicated(phrase: Phrase, noun: str, last: str) -> Until | None:
    """Return what the predicate of the `last` part says of `noun`: "the text <0> or the text <1> disappears"."""
    words = last.split()[:_MOST_WORDS]
    tries = (_single(phrase.with_text(" ".join([noun, *words[start:]]))) for start in range(1, len(words)))
    known = (one for one in tries if one is not None and all(name in (*phrase.quoted, noun) or name in noun for name in _names(one)))
    told, meant = next(known, None), _single(phrase.with_text(last))
    return told if getattr(told, "gone", None) == getattr(meant, "gone", None) else None


def _stages(phrase: Phrase) -> Until | None:
    """Return the meaning of `first …, then …`: what comes later may leave out its subject, or call it `it`."""
    first, *later = _LATER.split(_FIRST.sub("", _in_order(phrase.text), count=1))
    if not later and (back := _AND_BACK.fullmatch(first)) is not None:
        of_subject = _of_subject(phrase, back["first"], back["later"])
        known = _part(phrase, back["first"])
        return Then((known, of_subject)) if known and of_subject and not isinstance(known, AllOf | AnyOf) else None
    if not later or len(later) >= _MOST_PARTS:
        return None
    first, *later = _completed([first, *later])
    first, *later = (_FIRST.sub("", _I_WANT.sub("", part)) for part in (first, *later))
    meant = [_part(phrase, first)]
    for part in later:
        if getattr(meant[-1], "gone", False):
            part = _RETURNS.sub(" appears", part).strip()
        rest = re.sub(r"^(?:(?:until|till|for|when|once) )?(?:it|that|this) (?=\S)", "", part.removesuffix(" again"))
        whole = _part(phrase, part)
        meant.append(whole if whole is not None else _of_subject(phrase, first, rest))
    known = tuple(one for one in meant if one is not None)
    is_shared = getattr(meant[-1], "gone", False) and _is_noun(phrase, first) and not _is_noun(phrase, later[-1])
    return Then(known) if len(known) == len(meant) and not is_shared else None


def _in_order(text: str) -> str:
    """Return `after A, B` and `B after A` as `A, then B`."""
    found = _AFTER.fullmatch(text) or _THEREAFTER.fullmatch(text) or _AFTERWARDS.fullmatch(text)
    return text if found is None else f"{found['first']}, then {found['later']}"


def _part(phrase: Phrase, text: str) -> Until | None:
    """Return the meaning of a clause of a sequence, before which a request may stand of its own: `then wait for …`."""
    for one in asked(text):
        part = phrase.with_text(one.condition)
        meant = None if one.ends else _single(part) or (_joined(part) if _TOGETHER.match(part.text) else None)
        if meant is not None:
            return meant
    return None


def _of_subject(phrase: Phrase, first: str, rest: str) -> Until | None:
    """Return the meaning of `rest` said of what `first` begins with."""
    words = first.split()[:_MOST_WORDS]
    tries = (_single(phrase.with_text(" ".join([*words[:end], rest]))) for end in range(len(words) - 1, 0, -1))
    has_number = re.search(r"\d|zero", rest) is not None
    return next((one for one in tries if one and (has_number or not isinstance(one, ScreenNumber))), None)


def _opposite(until: Until | None) -> Until | None:
    """Return the condition that what was said holds no longer."""
    match until:
        case Text() | WindowTitle() | Widget(states=(), value=None):
            return replace(until, gone=not until.gone)
        case FileState(still_s=0.0) | FileState(gone=True):
            return replace(until, still_s=0.0 if until.gone else 1.0, gone=not until.gone)
        case Widget(states=(state,), value=None, gone=False) if state in OPPOSITE:
            return replace(until, states=(OPPOSITE[state],))
        case None | Then():
            return None
    return NotOf(until)
