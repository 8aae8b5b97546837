"""What a description may mean: name, kind, place and number, in more than one reading where words allow it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from acud.features.grounding.widget_names import CONTAINERS, GROUPS, LISTS, WINDOWS, WORDS, normal

_POLITE = re.compile(
    r"^(?:please )?(?:(?:left |right |double |triple )?[ -]?(?:click|press|tap|select|choose|find|locate|open|focus)"
    r"(?: on| in| into)? (?=the |a |an |\"|'))",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|that|this) ", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”‘`]([^\"“”’`]+)[\"“”’`]|(?:^|(?<=\s))'([^']+)'(?=\s|$)")
_ORDINALS = {
    **{word: index for index, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)},
    **{f"{n}{end}": n for n, end in ((1, "st"), (2, "nd"), (3, "rd"), *((n, "th") for n in range(4, 21)))},
    "last": -1,
    "topmost": 1,
    "top": 1,
    "bottom": -1,
    "bottommost": -1,
}
_SIDES = {"leftmost": "left", "left": "left", "rightmost": "right", "right": "right"}
_RELATIONS = (
    (r"(?:immediately |directly |just )?(?:to the )?left of", "left"),
    (r"(?:immediately |directly |just )?(?:to the )?right of", "right"),
    (r"(?:immediately |directly |just |right )?above", "above"),
    (r"(?:immediately |directly |just |right )?(?:below|under|underneath|beneath)", "below"),
    (r"(?:right )?(?:next to|beside|near|alongside|in front of)", "beside"),
)
_RELATION = re.compile(
    r"^(?P<what>.+?) (?:(?:that is|which is|located) )?(?:"
    + "|".join(f"(?P<r{index}>{pattern})" for index, (pattern, _) in enumerate(_RELATIONS))
    + r") (?:the |a )?(?P<anchor>.+)$",
    re.IGNORECASE,
)  # fmt: skip
_CONTAINER = "|".join(sorted((re.escape(word) for word in CONTAINERS), key=len, reverse=True))
_WITHIN = re.compile(
    rf"^(?P<what>.+) (?:in|on|of|at|inside|within|from|under) (?:the |a )?(?P<name>.*?)\s*\b(?P<kind>{_CONTAINER})"
    r"(?: (?:for|of|with|called|named|titled|labell?ed) (?:the )?(?P<after>.+))?$",
    re.IGNORECASE,
)
_LOOSELY = re.compile(r"^(?P<what>.+?) (?:in|for|of|from|on|within|inside) (?:the |a )?(?P<name>.+)$", re.IGNORECASE)
_OWNER = re.compile(r"^(?P<name>.+?)['\u2019]s (?P<what>.+)$")
ANYWHERE = frozenset({"row", *GROUPS, *WINDOWS, *LISTS})
"""What something is in when no word says: a group, a window, or the row of a table."""
_KIND = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))
_SUFFIX = re.compile(rf"^(?P<name>.*?)\s*\b(?P<kind>{_KIND})$", re.IGNORECASE)
_PREFIX = re.compile(
    rf"^(?P<kind>{_KIND})"
    r"(?: (?:for|of|with|that says|which says|saying|reading|called|named|titled|labell?ed|marked|to)"
    r"(?: the| a| an| your)?(?: (?:text|label|name|title))?)? (?P<name>.+)$",
    re.IGNORECASE,
)


class DescriptionReading(Struct, frozen=True):
    """One way to read a description. `name`, `within` and `anchor` are normal texts; "" is none.

    `roles`: what kind it is (None: any). `number`: the how-manyth of several, from the top (-1: the last), 0 for none;
    `side` instead: the one most left or right. `relation`: where it is, seen from `anchor`. `container`: the roles of
    what it is in, named `within`. `is_quoted`: the name was given between quotation marks.
    """

    name: str
    roles: frozenset[str] | None = None
    kind: str = ""
    number: int = 0
    side: str = ""
    relation: str = ""
    anchor: str = ""
    within: str = ""
    container: frozenset[str] | None = None
    is_quoted: bool = False


def readings(description: str) -> tuple[DescriptionReading, ...]:
    """Return the readings of `description`, the plainest (it is the name itself) first."""
    text = " ".join(description.split())[:1000].rstrip(".!")
    core = _ARTICLE.sub("", _POLITE.sub("", text))
    whole = [DescriptionReading(normal(core))]
    return tuple(dict.fromkeys([*whole, *_placed(core), *_loosely(core)]))


def _placed(text: str) -> Iterator[DescriptionReading]:
    yield from _kinds(text)
    if found := _RELATION.match(text):
        relation = next(word for index, (_, word) in enumerate(_RELATIONS) if found[f"r{index}"])
        for reading in _kinds(found["what"]):
            yield _changed(reading, relation=relation, anchor=_anchor(found["anchor"]))
    if found := _WITHIN.match(text):
        kind = found["kind"].lower()
        name = normal(_unquoted(found["after"] or found["name"]))
        for reading in _placed(found["what"]):
            if not reading.within:
                yield _changed(reading, within=name, container=CONTAINERS[kind])


def _loosely(text: str) -> Iterator[DescriptionReading]:
    for pattern in (_LOOSELY, _OWNER):
        if found := pattern.match(text):
            name = _anchor(found["name"])
            for reading in _kinds(found["what"]):
                yield _changed(reading, within=name, container=ANYWHERE)


def _changed(reading: DescriptionReading, **changes: object) -> DescriptionReading:
    fields = {name: getattr(reading, name) for name in DescriptionReading.__struct_fields__}
    return DescriptionReading(**{**fields, **changes})


def _unquoted(text: str) -> str:
    return _QUOTED.sub(lambda found: found[1] or found[2], text)


def _anchor(text: str) -> str:
    return normal(_unquoted(_ARTICLE.sub("", text)))


def _kinds(text: str) -> Iterator[DescriptionReading]:
    """Yield readings of a phrase without a place: the kind behind the name, before it, or not told."""
    text = _ARTICLE.sub("", text.strip())
    yield from _numbered(text)
    if found := _QUOTED.search(text):
        rest = normal(text[: found.start()] + " " + text[found.end() :])
        yield from _quoted(normal(found[1] or found[2]), rest)
        return
    for pattern in (_SUFFIX, _PREFIX):
        if found := pattern.match(text):
            kind = found["kind"].lower()
            yield from _numbered(found["name"], kind)


def _quoted(name: str, rest: str) -> Iterator[DescriptionReading]:
    kinds = [word for word in sorted(WORDS, key=len, reverse=True) if re.search(rf"\b{re.escape(word)}\b", rest)]
    number = next((value for word, value in _ORDINALS.items() if word in rest.split()), 0)
    roles = WORDS[kinds[0]] if kinds else None
    yield DescriptionReading(name, roles, kinds[0] if kinds else "", number, is_quoted=True)


def _numbered(name: str, kind: str = "") -> Iterator[DescriptionReading]:
    roles = WORDS[kind] if kind else None
    plain = normal(_ARTICLE.sub("", name))
    if not roles or plain not in _ORDINALS:
        yield DescriptionReading(plain, roles, kind)
    first, _, rest = plain.partition(" ")
    if first in _ORDINALS:
        yield DescriptionReading(rest, roles, kind, number=_ORDINALS[first])
    if first in _SIDES:
        yield DescriptionReading(rest, roles, kind, side=_SIDES[first])
