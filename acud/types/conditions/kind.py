"""What every kind of condition declares: its fields, its words, what is checked of it, and its pattern."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct

from acud.base.errors import InvalidRequest

_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing: fillers of Hangul, the empty cell of Braille."""


class SearchPattern(NamedTuple):
    """A regular expression of a condition. `ways`: how it is searched, each as whether case is ignored and whether `^`
    and `$` mean lines. `is_bounded`: the supervisor itself searches it, so that its program has a greatest size.
    """

    text: str
    noun: str
    ways: tuple[tuple[bool, bool], ...]
    is_bounded: bool = True


class Argument(Struct, frozen=True):
    """A way to write a condition: an argument of the MCP tools, an option of `acud wait`, and a row of both helps.

    `make` takes what is given and, by name, the fields in `takes`. `words` and `example`: for agents ("": the tools
    have no such argument); `more`: what only they can write. `help`: of the option ("": there is none), whose name is
    `option` if it is not that of the argument. `gives`: what its option takes, `float` for a time and `bytes` for the
    file of a picture.
    """

    name: str
    make: Callable[..., Any]
    takes: tuple[str, ...] = ()
    words: str = ""
    example: dict[str, Any] = {}
    more: str = ""
    help: str = ""
    option: str = ""
    metavar: str = "T"
    gives: type = str

    @property
    def line(self) -> str:
        """What a person writes for `example` behind `acud wait`."""
        return " ".join(_write_option(*one) for one in self.example.items())


def _write_option(name: str, value: Any) -> str:
    if value is True:
        return f"--{name.replace('_', '-')}"
    if isinstance(value, list):
        return " ".join(_write_option(name, one) for one in value)
    sign = "'" if set('"*') & set(str(value)) else '"' if " " in str(value) else ""
    words = f"{sign}{value}{sign}"
    return words if name == "criteria" else f"--{name.replace('_', '-')} {words}"


class Refinement(Struct, frozen=True):
    """A field of a kind that its arguments take beside what they are given. `words`, `help`, `option`, `metavar`: as of
    an `Argument`.
    """

    field: str
    words: str = ""
    help: str = ""
    option: str = ""
    metavar: str | None = None


class FormField(Struct, frozen=True, omit_defaults=True):
    """A field of a kind in the dashboard's form, with its `label`. `choices`: each with the values that it stands for.
    `value`: at first. `scale`: how many times the value a person writes, 100 for percent. `offers`: `windows` for the
    titles of the display's.
    """

    name: str
    label: str
    placeholder: str = ""
    choices: tuple[tuple[str, dict[str, Any]], ...] = ()
    value: float | None = None
    scale: float = 1.0
    offers: str = ""


class KindForm(Struct, frozen=True):
    """A kind as the dashboard offers it, under a `title` ("": it does not)."""

    title: str
    fields: tuple[FormField, ...] = ()


def make_outcome(there: str, gone: str) -> FormField:
    return FormField("outcome", "Holds when it", choices=((there, {"gone": False}), (gone, {"gone": True})))


class ConditionKind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of condition. `is_of_machine`: it is about the daemon's machine, and needs no display. `needs_act`: its
    verdicts have something else that no screen shows; as of the machine, only tokens that may act arm it. `can_recur`:
    what held at arming can come anew. `extra`: the part of acud that answers it ("": the base). `arguments`, with their
    `refinements`: how clients write it. `form`: how the dashboard offers it.
    """

    is_of_machine: ClassVar[bool] = False
    needs_act: ClassVar[bool] = False
    can_recur: ClassVar[bool] = True
    extra: ClassVar[str] = ""
    arguments: ClassVar[tuple[Argument, ...]] = ()
    refinements: ClassVar[tuple[Refinement, ...]] = ()
    form: ClassVar[KindForm] = KindForm("")

    @property
    def quiet_s(self) -> float:
        """For how many seconds it asks for quiet, 0 for none."""
        return 0.0

    def describe(self) -> str:
        """Return it as a sentence: `the text "Done" is visible`."""
        raise NotImplementedError

    def abbreviate(self, *, detailed: bool) -> str:
        """Return it in brief: `text "Done"`. `detailed`: with patterns between slashes, shares and spans."""
        return self.describe()

    def normalise(self) -> Any:
        """Return the condition with its words stripped. Raises: InvalidRequest, naming the wrong part."""
        return self

    def find_pattern(self) -> SearchPattern | None:
        """Return the condition's regular expression, None without one."""
        return None


def strip_words(text: str, name: str) -> str:
    """Return `text` stripped. Raises: InvalidRequest when nothing of it can be seen."""
    stripped = text.strip()
    if "\0" in stripped or not any(_is_visible(char) for char in stripped):
        raise InvalidRequest(
            f"the {name} is blank, or nothing that can be seen", hint="say in words what must be visible"
        )
    return stripped


def check_zero_byte(text: str, words: str) -> None:
    """Raise InvalidRequest about `words` when `text` holds a zero byte."""
    if "\0" in text:
        raise InvalidRequest(f"{words} holds a zero byte", hint="leave it out")


def quote_words(text: str, *, regex: bool = False) -> str:
    """Return `text` between quotation marks, a pattern between slashes."""
    return f"/{text}/" if regex else f'"{text}"'


def _is_visible(char: str) -> bool:
    kind = unicodedata.category(char)
    return char not in _UNSEEN and (kind == "Co" or kind[0] not in "CMZ")  # icons of fonts are for private use
