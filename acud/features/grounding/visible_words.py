"""What a description names that can be found without widgets: coordinates, visible words, kind of control, window."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from acud.language.quotation_marks import CLOSING, MARKS, QUOTED, quoted_words

_NUMBER = r"[+-]?\d{1,6}(?:\.\d{1,3})?"
_COORDINATES = re.compile(
    r"(?:(?:the\s+)?(?:point|position|pixel|coordinates?)\s+|at\s+)?[\[(]?\s*"
    rf"(?P<named>x\s*[=:]?\s*)?(?P<x>{_NUMBER})\s*[,;\s]\s*(?(named)y\s*[=:]?\s*)(?P<y>{_NUMBER})\s*[\])]?"
)


def coordinates(description: str) -> tuple[float, float] | None:
    """Return the coordinates if `description` is nothing else, or None."""
    text = description.strip().lower().removesuffix(".")
    found = _COORDINATES.fullmatch(text)
    return (float(found["x"]), float(found["y"])) if found is not None else None


class Sort(StrEnum):
    """How a control shows its name."""

    OWN = "own"
    """The name is written on it: a button, a link, a tab."""
    BESIDE = "beside"
    """The name is a label beside it: a text field, a combo box."""
    WORDS = "words"
    """The words themselves are meant, wherever they stand: a link in a sentence, a heading, a row."""
    ANY = "any"
    """The description gives no hint."""


class ShownWords(Struct, frozen=True):
    """`name`: the words to look for ("" when the description names none). `quoted`: they stood in quotation marks.
    `role`: the role's word, singular ("" for none). `window`: a part of a window's title ("" for any). `whole`: all the
    words, for things with a name like "New folder".
    """

    name: str
    quoted: bool = False
    role: str = ""
    sort: Sort = Sort.ANY
    window: str = ""
    whole: str = ""


_ROLES = {
    Sort.OWN: (
        "push button", "radio button", "toggle button", "check box", "checkbox", "button", "radio", "switch", "toggle",
        "tab", "menu item", "menu entry", "menu", "icon", "option", "tool button", "key", "chip",
    ),
    Sort.BESIDE: (
        "text field", "text box", "textbox", "text entry", "text area", "textarea", "input field", "input box",
        "search field", "search box", "search bar", "password field", "combo box", "combobox", "drop-down list",
        "drop-down", "dropdown list", "dropdown menu", "dropdown", "spin button", "spin box", "spinbox", "spinner",
        "field", "entry", "input", "slider", "edit box", "list box", "list", "selector",
    ),
    Sort.WORDS: (
        "hyperlink", "link", "text", "label", "heading", "title", "word", "words", "item", "list item", "row", "line",
        "cell", "paragraph", "entry in the list", "file", "folder", "section",
    ),
}  # fmt: skip
_SORT_OF = {role: sort for sort, roles in _ROLES.items() for role in roles}
_ROLE = "|".join(re.escape(role) for role in sorted(_SORT_OF, key=len, reverse=True))
_PLACE = re.compile(
    r"\s+(?:in|of|on|inside|within)\s+(?:the\s+)?(?P<place>.+?)\s+(?:window|dialogue|dialog|application|app|page)$",
    re.IGNORECASE,
)
_LABELLED = (
    r"(?:(?:that\s+)?(?:labelled|labeled|named|called|titled|marked|saying|says|reading|reads|showing|shows)"
    r"|with\s+(?:the\s+)?(?:text|label|name|title|caption|words?)|for(?:\s+the)?)"
)
_ROLE_FIRST_LABELLED = re.compile(rf"(?P<role>{_ROLE})\s+{_LABELLED}\s+(?P<name>.+)", re.IGNORECASE)
_ROLE_LAST = re.compile(rf"(?P<name>.+?)\s+(?P<role>{_ROLE})", re.IGNORECASE)
_TELLING = ("search", "password")
"""First words of roles that are themselves the name of such a field."""
_ARTICLE = re.compile(r"\A(?:the|a|an|that|this)\s+", re.IGNORECASE)
_VERB = re.compile(
    r"(?:please\s+)?(?:(?:double|right|left|middle)[\s-]?click|click|press|push|tap|select|choose|open|find|locate)"
    r"(?:\s+on)?\s+(?=(?:the|a|an)\s)",
    re.IGNORECASE,
)
_NAMED_BY = re.compile(rf"{_LABELLED}\s+", re.IGNORECASE)


def shown_words(description: str, verb: str = "") -> ShownWords:
    """Return what `description` names. `verb` `type`: a bare name is a labelled field, `tick`: the box before it."""
    text = _strip_lead_in(description)
    window = ""
    place = _PLACE.search(text)
    if place is not None:
        text, window = text[: place.start()], place["place"].strip().strip(f"{MARKS}'").strip()
    found = _read_quoted(text) or _read_plain(text)
    sort = _SORT_OF.get(found.role, Sort.ANY)
    if verb == "type" and sort is Sort.ANY:
        sort = Sort.BESIDE
    role = "check box" if verb == "tick" else found.role
    return ShownWords(found.name, found.quoted, role, sort, window, found.name if found.quoted else text)


def _strip_lead_in(description: str) -> str:
    text = " ".join(description.split()).rstrip(" .")
    return _ARTICLE.sub("", _VERB.sub("", text, count=1), count=1) if text[:1] not in CLOSING else text


def _read_quoted(text: str) -> ShownWords | None:
    found = QUOTED.search(text)
    if found is None:
        return None
    name = quoted_words(found)
    roles = re.findall(rf"\b(?:{_ROLE})\b", f"{text[: found.start()]} | {text[found.end() :]}".lower())
    return ShownWords(name.strip(), True, roles[0] if roles else "")


def _read_plain(text: str) -> ShownWords:
    if (role := text.lower()) in _SORT_OF:
        first, _, rest = text.partition(" ")
        return ShownWords(first if rest and first.lower() in _TELLING else "", role=role)
    for form in (_ROLE_FIRST_LABELLED, _ROLE_LAST):
        found = form.fullmatch(text)
        if found is not None:
            return ShownWords(_ARTICLE.sub("", found["name"].strip(), count=1), role=found["role"].lower())
    return ShownWords(_NAMED_BY.sub("", text, count=1) if _NAMED_BY.match(text) else text)
