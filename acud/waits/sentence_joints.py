"""Statements that are joined by `and`, by `or` or in a list: `both windows, "A" and "B", are closed`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from acud.types import AllOf, AnyOf, NotOf, ScreenNumber, Until, Widget
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_statements import apply_predicate, apply_to_subject, invert_condition, is_noun, read_single

MOST_PARTS = 4
_JOINED = (
    (" or ", re.compile(r",? or(?: else)?(?: when| if| once| until| for)? |, ", re.IGNORECASE), "either", AnyOf),
    (" and ", re.compile(r",? and(?: also)?(?: when| if| once| until| for)? |, ", re.IGNORECASE), "both", AllOf),
    (" as well as ", re.compile(r",? as well as ", re.IGNORECASE), "both", AllOf),
    (" plus ", re.compile(r",? plus ", re.IGNORECASE), "both", AllOf),
    (" but ", re.compile(r",? but(?: also)? ", re.IGNORECASE), "both", AllOf),
    (" while ", re.compile(r",? (?:while|whereas) ", re.IGNORECASE), "both", AllOf),
)
"""How clauses are joined: the joining word, where to split, the word that may stand before them, the condition."""
ONE_OF = re.compile(
    r"(?:any|(?:at least )?one|either|whichever) of (?=<|the (?:words|texts|messages)"
    r" <)",
    re.IGNORECASE,
)
_NEITHER = re.compile(r"neither (?P<first>.+?),? nor (?P<last>.+?)(?: any ?more)?", re.IGNORECASE)
_NESTED = (
    (
        re.compile(
            r"(?P<first>.+?),? (?:and|plus|(?:together|along) with),? (?P<rest>(?:either|one of) .+ or .+)",
            re.IGNORECASE,
        ),
        AllOf,
    ),
    (re.compile(r"(?P<first>.+?)[,;] or(?: else)?,? (?P<rest>both .+ and .+)", re.IGNORECASE), AnyOf),
    (re.compile(r"(?P<first>.+?)[,;] or else,? (?P<rest>.+ and .+)", re.IGNORECASE), AnyOf),
)
"""A clause beside others that are joined by another word, if the words show which belong together."""
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
        re.compile(
            r"^(<\d+>) (?:is (?:visible|shown|there|on the screen)|(?:shows|comes|turns) up|appears),? (?:and|but)"
            r" (<\d+>) (?:is|does|has) not$",
            re.IGNORECASE,
        ),
        r"\1 is visible and \2 is not visible",
    ),
)
"""Clauses that leave out what they share, and their full forms."""
_THERE_IS = re.compile(r"(?:there is|(?:I|you|we) (?:can )?see) ", re.IGNORECASE)
_IS_NOT = re.compile(r"(?P<noun>.+) (?:is|are|has|have) not", re.IGNORECASE)
"""A second clause that leaves out what it denies."""
_BARE = re.compile(r"<\d+>")


def read_joined(phrase: Phrase) -> Until | None:
    """Return the meaning of clauses that are all joined by `and`, or all by `or`."""
    for pattern, full in _LEFT_OUT:
        phrase = phrase.with_text(pattern.sub(full, phrase.text))
    if (neither := _NEITHER.fullmatch(phrase.text)) is not None:
        return _negate_any(read_joined(phrase.with_text(f"{neither['first']} or {neither['last']}")))
    for pattern, join in _NESTED:
        if (nested := pattern.fullmatch(phrase.text)) is not None:
            first, rest = read_single(phrase.with_text(nested["first"])), read_joined(phrase.with_text(nested["rest"]))
            return join((first, rest)) if first is not None and isinstance(rest, AllOf | AnyOf) else None
    if (listed := _read_list(phrase)) is not None:
        return listed
    is_one_of = ONE_OF.match(phrase.text) is not None
    text = ONE_OF.sub("", phrase.text, count=1)
    for word, joint, before, join in _JOINED:
        if word not in text.casefold():
            continue
        text = re.sub(rf"(?i)\b{before}:? (?!of )", "", text, count=1)
        text = re.sub(r"(?i)\b(are|have) all ", r"\1 ", text) if join is AllOf else text
        parts = [part for part in joint.split(text) if part]
        if 1 < len(parts) <= MOST_PARTS:
            known = _read_all(phrase, parts, may_share=join is AnyOf)
            if not known:
                return None
            return known[0] if len(known) == 1 else AnyOf(known) if is_one_of else join(known)
    return None


def _negate_any(any_of: Until | None) -> Until | None:
    """Return the condition that none of the parts joined by `or` is there."""
    if not isinstance(any_of, AnyOf) or any(isinstance(part, NotOf) for part in map(invert_condition, any_of.parts)):
        return None
    return AllOf(tuple(one for one in map(invert_condition, any_of.parts) if one is not None))


def _read_all(phrase: Phrase, parts: list[str], *, may_share: bool) -> tuple[Until, ...]:
    """Return the meaning of each part, () if one has none. A part may share its predicate with the last part, or its
    subject with the first. With one subject, several states hold at once only for a control (as one condition) and for
    a number: "A" appears and disappears one after the other. `may_share`: any one state is enough.
    """
    parts = complete_parts(parts)
    if any(map(_BARE.fullmatch, parts)) and not all(map(_BARE.fullmatch, parts)):
        return ()
    known: list[Until | None] = []
    for part in parts:
        if is_noun(phrase, part) and not is_noun(phrase, parts[-1]):
            meant = apply_predicate(phrase, part, parts[-1])
        else:
            meant = read_single(phrase.with_text(part))
        if meant is None and (denied := _IS_NOT.fullmatch(part)) is not None and known:
            meant = invert_condition(apply_predicate(phrase, denied["noun"], parts[len(known) - 1]))
            meant = None if isinstance(meant, NotOf) else meant
        if meant is None and (there := _THERE_IS.match(parts[0])) is not None:
            meant = read_single(phrase.with_text(f"{there[0]}{part}"))
        if meant is None and may_share and part is not parts[0] and is_noun(phrase, part):
            meant = apply_predicate(phrase, part, parts[0])
        if meant is None and part is not parts[0]:
            meant = apply_to_subject(phrase, parts[0], part)
            if not may_share and isinstance(meant, Widget):
                known[0] = _merge_states(known[0], meant)
                continue
            if not (may_share or isinstance(meant, ScreenNumber)):
                return ()
        if meant is None:
            return ()
        known.append(meant)
    return () if None in known else tuple(one for one in known if one is not None)


def _merge_states(first: Until | None, other: Widget) -> Widget | None:
    """Return a control in the states of both conditions; None if one asks for its absence or compares a value."""
    if not isinstance(first, Widget) or first.gone or other.gone or (first.value, other.value) != (None, None):
        return None
    return replace(first, states=tuple(dict.fromkeys((*first.states, *other.states))))


def complete_parts(parts: list[str]) -> list[str]:
    """Return the clauses with the shared words in each: `"A" or "B" appears` and `it says "A" or "B"`."""
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
_ALL_OF = r"(?P<all>(?:both|all three|all)(?: of)?(?: the)?,? )"
_SOME = r"(?:the )?(?:(?:two|three|four) )?"
_THESE = r"(?:(?:these|those|the following|the)(?: two| three)?|two|three)"
_LISTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_ANY_OF}|{_ALL_OF}|{_SOME}){_KIND},? {_LIST},? (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}|the )?{_LIST} {_KIND} (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}|the )?(?P<kind>process(?:es)?(?: with(?: the)? pids?)?|pids)"
        r" (?P<list>\d+(?:(?:, |,? (?:or|and) )\d+)+) (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}){_LIST},? (?P<said>.+)",
        rf"(?:{_ANY_OF}|{_ALL_OF}){_THESE}(?: {_KIND})?(?P<said> .+?)??(?: first)?(?: will do| is (?:enough"
        rf"|fine))?: {_LIST}",
        rf"(?P<any>whichever (?:is|comes|appears|shows up) first): {_LIST}",
    )
)
"""Lists of quoted words of one kind with one predicate."""


def _read_list(phrase: Phrase) -> Until | None:
    """Return the meaning of a list with one predicate: `both windows, <0> and <1>, are closed`."""
    found = next((one for pattern in _LISTS if (one := pattern.fullmatch(phrase.text)) is not None), None)
    if found is None:
        return None
    groups, names = found.groupdict(), re.split(r", |,? (?:or|and) ", found["list"])
    is_or, is_and = (f" {word} " in found["list"].casefold() for word in ("or", "and"))
    is_any, is_all = groups.get("any") is not None, groups.get("all") is not None
    if (is_or and (is_all or is_and)) or not (is_or or is_and or is_any or is_all) or len(names) > MOST_PARTS:
        return None
    counted = {"both": 2, "all three": 3}
    told = found["all"].casefold() if is_all else ""
    if any(told.startswith(word) and len(names) != count for word, count in counted.items()):
        return None
    kind = _PLURALS.get(groups["kind"].casefold(), "process") if groups.get("kind") else ""
    said = re.sub(r"(?i)^(are|have|is) (?:both|all) ", r"\1 ", (groups.get("said") or "is visible").strip(" ,"))
    said = re.sub(r"(?i)^(?:will do|is (?:enough|fine))$", "is visible", said)
    parts = [read_single(phrase.with_text(f"the {kind} {name} {said}" if kind else f"{name} {said}")) for name in names]
    known = tuple(one for one in parts if one is not None)
    join = AnyOf if is_any or is_or else AllOf
    return join(known) if len(known) == len(parts) else None
