"""What icons are called: the meanings of words, accessible names and characters, from `icon_names.txt`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct

from acud.features.grounding.word_likeness import normal

_COLUMNS = 6


class IconTable(Struct, frozen=True):
    """`by_phrase`: meanings by the names of their picture or their use (normal texts). `looks`: the phrases that name
    only a picture. `by_glyph`: meanings by characters. `by_theme`: by names in icon themes. `by_set`: by names in icon
    sets; a name with a prefix (`fa:share`) holds in that set alone.
    """

    by_phrase: Mapping[str, frozenset[str]]
    looks: frozenset[str]
    by_glyph: Mapping[str, frozenset[str]]
    by_theme: Mapping[str, frozenset[str]]
    by_set: Mapping[str, frozenset[str]]
    longest: int


@cache
def icon_table() -> IconTable:
    text = files("acud.features.grounding").joinpath("icon_names.txt").read_text(encoding="utf-8")
    phrases: dict[str, set[str]] = {}
    glyphs: dict[str, set[str]] = {}
    themes: dict[str, set[str]] = {}
    sets: dict[str, set[str]] = {}
    looks: set[str] = set()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", _COLUMNS - 1)]
        meaning, look, use, glyph, theme, drawn = parts + [""] * (_COLUMNS - len(parts))
        pictures = {normal(word) for word in look.split(",")} - {""}
        looks |= pictures
        for phrase in pictures | {normal(word) for word in use.split(",")} - {""}:
            phrases.setdefault(phrase, set()).add(meaning)
        for one in glyph.split():
            glyphs.setdefault(one, set()).add(meaning)
        for names, known in ((theme, themes), (drawn, sets)):
            for one in filter(None, names.split(", ")):
                known.setdefault(one, set()).add(meaning)
    longest = max(len(phrase.split()) for phrase in phrases)
    return IconTable(
        _freeze(phrases), frozenset(looks), _freeze(glyphs), _freeze(themes), _freeze(sets), longest
    )  # fmt: skip


def _freeze(sets: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {key: frozenset(value) for key, value in sets.items()}


def meanings_of_name(name: str) -> frozenset[str]:
    """Return the meanings of an icon by its accessible name, tooltip, theme name or character; empty when unknown.

    The whole name is looked up, then its beginning: "Save the day" saves.
    """
    table = icon_table()
    bare = name.strip().replace("\ufe0f", "").replace("\ufe0e", "")
    if bare in table.by_glyph:
        return table.by_glyph[bare]
    themed = bare.removesuffix("-symbolic").removesuffix("-rtl")
    if themed in table.by_theme:
        return table.by_theme[themed]
    words = normal(name).split()
    found = _find_first_phrase(words)
    while words and words[0] in _BEFORE:
        words = words[1:]
        found |= _find_first_phrase(words)
    return found


_BEFORE = frozenset({"open", "show", "toggle", "view", "display", "go", "to", "a", "an", "the", "your", "this", "hide"})


def meanings_in_set(origin: str, name: str) -> frozenset[str]:
    """Return the meanings of the picture `name` of the icon set `origin`; endings for the style alone (`-outline`,
    `-fill`, `-2`) are ignored.
    """
    table = icon_table().by_set
    while True:
        known = table.get(f"{origin}:{name}") or table.get(name)
        bare = _STYLE.sub("", name)
        if known is not None or bare == name:
            return known or frozenset()
        name = bare


_STYLE = re.compile(
    r"-(outline|outlined|line|fill|filled|thin|light|bold|solid|regular|round|rounded|o|alt|simple|variant|\d+)$"
)


def _find_first_phrase(words: Sequence[str]) -> frozenset[str]:
    table = icon_table()
    for count in range(min(len(words), table.longest), 0, -1):
        found = table.by_phrase.get(" ".join(words[:count]))
        if found is not None:
            return found
    return frozenset()
