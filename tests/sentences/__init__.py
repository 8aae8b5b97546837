"""Sentences of authors who saw no code, each with what it means: `work` to work with, `closed` to measure.

A line of `work.jsonl` or `closed.jsonl` is `{"sentence": …, "means": …}`: a condition in the notation that the authors
were given, or "model" where nothing local says exactly what it says. A half that was opened joins the half to work
with. The reader takes quoted, labelled and plainly named conditions, about a third of a set. None may be read wrongly:
neither here nor of `hostile.txt`, neighbours of what is read that all need a model.

The authors of the two sets of 260 could write a program by its name (`{"process": "make"}`) and a file without a folder
(`{"file": "report.pdf"}`). acud waits for a process by its number, and for a bare name only where it is downloaded: the
others of these, an eighteenth of the sentences, stay a model's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from acud.accessibility.roles import roles_of
from acud.language.numbers import unit_factor
from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Comparison,
    FileState,
    ProcessExit,
    ScreenNumber,
    Stable,
    Text,
    Then,
    Until,
    ValueComparison,
    Widget,
    WidgetState,
    WindowTitle,
    number_condition,
)
from acud.waits.sentences import read_sentence

FOLDER = Path(__file__).parent


class Sentence(NamedTuple):
    """A sentence and what its author means by it, None for what needs a model."""

    words: str
    means: Until | None


def sentences(half: str) -> list[Sentence]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Sentence(one["sentence"], _until(one["means"])) for one in map(json.loads, lines)]


def _until(means: Any) -> Until | None:
    if means == "model":
        return None
    (kind,) = means.keys() & _READERS.keys()
    return _READERS[kind](means)


def _parts(of: list[Any]) -> tuple[Until, ...]:
    return tuple(part for part in map(_until, of) if part is not None)


def _widget(means: dict[str, Any]) -> Widget:
    told = means["widget"]
    states = tuple(WidgetState(state) for state in told.get("states", ()))
    value, compare = told.get("value"), ValueComparison.EQUAL
    if value is not None and value.split()[0] in set(ValueComparison):
        compare, value = ValueComparison(value.split()[0]), value.split(maxsplit=1)[1]
    gone = bool(told.get("gone") or means.get("gone"))
    return Widget(told.get("role", ""), told.get("name", ""), states=states, value=value, compare=compare, gone=gone)


_READERS: dict[str, Any] = {
    "text": lambda means: Text(means["text"]),
    "gone": lambda means: Text(means["gone"], gone=True) if isinstance(means["gone"], str) else _widget(means),
    "number": lambda means: number_condition(means["number"]),
    "window": lambda means: WindowTitle(means["window"]),
    "window_gone": lambda means: WindowTitle(means["window_gone"], gone=True),
    "widget": _widget,
    "file": lambda means: FileState(
        means["file"], 1.0 if means["how"] == "complete" else 0.0, gone=means["how"] == "gone"
    ),
    "process": lambda means: ProcessExit(means["process"]),
    "stable": lambda means: Stable(means["stable"]),
    "change": lambda means: Change(),
    "all": lambda means: AllOf(_parts(means["all"])),
    "any": lambda means: AnyOf(_parts(means["any"])),
    "then": lambda means: Then(_parts(means["then"])),
}


def is_same(one: Until | None, other: Until | None) -> bool:
    """Tell whether two conditions hold in the same cases: case, roles by another word and the order of parts aside."""
    return _plain(one) == _plain(other)


_SIGNS = ("%", "$", "€", "£")


def _plain(until: Until | None) -> Any:
    match until:
        case Text() | WindowTitle():
            field = "text" if isinstance(until, Text) else "title"
            return replace(until, **{field: getattr(until, field).casefold()})
        case ScreenNumber():
            return replace(until, label=until.label.casefold(), unit=_unit(until.unit), compare=_comparison(until))
        case Widget():
            value = until.value.rstrip(" %").casefold() if until.value is not None else None
            is_held = until.compare is ValueComparison.CONTAINS
            compare = ValueComparison.EQUAL if is_held else until.compare
            named = replace(until, role="", name=until.name.casefold(), value=value, compare=compare, percent=False)
            return named, roles_of(until.role)
        case FileState():
            bare = until.path.removeprefix("~/Downloads/")
            path = bare if "/" not in bare else until.path
            return replace(until, path=path, still_s=0.0 if until.gone else until.still_s)
        case AllOf() | AnyOf():
            return type(until), sorted(map(_plain, until.parts), key=repr)
        case Then():
            return Then, [_plain(part) for part in _stages(until)]
    return until


def _unit(unit: str) -> str:
    """Return a unit by its sign: `$` for `USD`."""
    return next((sign for sign in _SIGNS if unit_factor(unit, sign) == 1.0), unit.casefold())


def _comparison(number: ScreenNumber) -> Comparison:
    """Return how a number is compared; no progress is more than 100 %."""
    is_most = number.value == 100 and number.unit == "%" and "progress" in number.label.casefold()
    return Comparison.EQUAL if is_most and number.compare is Comparison.AT_LEAST else number.compare


def _stages(until: Then) -> list[Until]:
    """Return the stages of a sequence, those of a sequence in it among them."""
    return [stage for part in until.parts for stage in (_stages(part) if isinstance(part, Then) else [part])]


class Reading(NamedTuple):
    """How a sentence is read. `is_wrong`: as another condition than its author means."""

    sentence: Sentence
    read: Until | None

    @property
    def is_wrong(self) -> bool:
        return self.read is not None and not is_same(self.read, self.sentence.means)


def readings(half: str) -> list[Reading]:
    """Return how each sentence of a half is read."""
    return [Reading(one, read_sentence(one.words)) for one in sentences(half)]
