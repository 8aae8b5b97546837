"""Conditions and targets in words, for every surface."""

from __future__ import annotations

import re
from enum import StrEnum

from acud.base.errors import InvalidRequest
from acud.types.conditions import (
    AllOf,
    AnyOf,
    Change,
    Comparison,
    Criteria,
    FileState,
    Leaf,
    NotificationText,
    NotOf,
    ProcessExit,
    ScreenImage,
    ScreenNumber,
    Stable,
    Target,
    Text,
    Then,
    Until,
    Widget,
    WindowTitle,
    appears_then_goes,
)
from acud.types.number_text import numbers_in
from acud.types.widget_text import widget_phrase, widget_sentence


class ConditionWords(StrEnum):
    """The form of a condition in words."""

    SENTENCE = "sentence"
    """In wakes, events and task logs: `the text "Done" is visible`."""
    BRIEF = "brief"
    """In replies to models: `text "Done"`."""
    DETAILED = "detailed"
    """On a terminal: brief, with patterns between slashes, shares, and brackets around nested parts."""


def condition_text(until: Until, wording: ConditionWords = ConditionWords.SENTENCE) -> str:
    """Return the condition in words."""
    match until:
        case AllOf():
            return " and ".join(_write_part(part, wording) for part in until.parts)
        case AnyOf():
            return " or ".join(_write_part(part, wording) for part in until.parts)
        case NotOf():
            if wording is ConditionWords.SENTENCE:
                return f"not {_write_part(until.part, wording)}"
            return f"not ({condition_text(until.part, wording)})"
        case Then():
            if until == appears_then_goes(until.parts[0]):
                return f"{_write_part(until.parts[0], wording)}, then no longer"
            return ", then ".join(_write_part(part, wording) for part in until.parts)
    return (
        _write_sentence(until)
        if wording is ConditionWords.SENTENCE
        else _write_phrase(until, detailed=wording is ConditionWords.DETAILED)
    )


def _write_part(until: Until, wording: ConditionWords) -> str:
    text = condition_text(until, wording)
    if not isinstance(until, AllOf | AnyOf) or wording is ConditionWords.BRIEF:
        return text
    bare = wording is ConditionWords.SENTENCE and len(until.parts) == 1
    return text if bare else f"({text})"


def _write_sentence(leaf: Leaf) -> str:
    match leaf:
        case Criteria(criteria=criteria):
            return criteria
        case Text(text=text, gone=gone):
            noun = "words" if leaf.whole_words else "text"
            return f'the {noun} "{text}" {"are" if leaf.whole_words else "is"} {_visibility_text(leaf)}'
        case ScreenNumber(label=label):
            after = f' after "{label}"' if label else ""
            return f"the number{after} is {_COMPARED[leaf.compare]} {_value_text(leaf)}"
        case ScreenImage(gone=gone):
            return f"the image ({_image_size_text(leaf)}) is {'gone' if gone else 'visible'}"
        case WindowTitle(title=title, gone=gone):
            return f'a window titled "{title}" is {"gone" if gone else "there"}'
        case Widget():
            return widget_sentence(leaf)
        case Change(settle_s=settle_s):
            return "the target changed" + (f" and settled for {settle_s:g} s{_blinking_text(leaf)}" if settle_s else "")
        case Stable(stable_s=stable_s):
            return f"the target is unchanged for {stable_s:g} s{_blinking_text(leaf)}"
        case FileState(path=path, gone=gone):
            new = "new " if leaf.newer and not gone else ""
            return f'the {new}file "{path}" is {"gone" if gone else "there and complete"}'
        case ProcessExit(pid=pid):
            return f"the process {pid} has ended"
        case NotificationText(text=text):
            return f'a notification with "{text}" was given'


def _write_phrase(leaf: Leaf, *, detailed: bool) -> str:
    match leaf:
        case Criteria(criteria=criteria):
            return criteria
        case Text(text=text, regex=regex):
            noun = "words" if leaf.whole_words else "text"
            return f"{noun} {_quote(text, regex=regex and detailed)}{_times_text(leaf)}"
        case ScreenNumber(label=label):
            return f"number{f' {_quote(label, regex=False)}' if label else ''} {leaf.compare} {_value_text(leaf)}"
        case ScreenImage(gone=gone, similarity=similarity):
            alike = f" at {similarity:g}" if detailed and similarity != ScreenImage().similarity else ""
            return f"image {_image_size_text(leaf)}{alike}{' gone' if gone else ''}"
        case WindowTitle(title=title, regex=regex, gone=gone):
            return f"window {_quote(title, regex=regex and detailed)}{' gone' if gone else ''}"
        case Widget():
            return widget_phrase(leaf)
        case Change(share=share, settle_s=settle_s):
            part = f" of {share:.0%}" if share and detailed else ""
            return f"a change{part}" + (f", then {settle_s:g} s without one" if settle_s and detailed else "")
        case Stable(stable_s=stable_s):
            return f"no change for {stable_s:g} s{_blinking_text(leaf)}"
        case FileState(path=path, gone=gone):
            new = "new " if leaf.newer and not gone else ""
            still = f", unchanged for {leaf.still_s:g} s" if detailed and leaf.still_s and not gone else ""
            return f"{new}file {_quote(path, regex=False)}{' gone' if gone else still}"
        case ProcessExit(pid=pid):
            return f"end of process {pid}"
        case NotificationText(text=text, regex=regex):
            return f"notification {_quote(text, regex=regex and detailed)}"


def _blinking_text(leaf: Change | Stable) -> str:
    return " but for blinking" if leaf.ignore_blinking else ""


_COMPARED = {
    Comparison.AT_LEAST: "at least", Comparison.MORE: "more than", Comparison.EQUAL: "equal to",
    Comparison.NOT_EQUAL: "other than", Comparison.LESS: "less than", Comparison.AT_MOST: "at most",
}  # fmt: skip


def _visibility_text(leaf: Text) -> str:
    return "gone" if leaf.gone else f"visible at least {leaf.count} times" if leaf.count > 1 else "visible"


def _times_text(leaf: Text) -> str:
    return " gone" if leaf.gone else f" at least {leaf.count} times" if leaf.count > 1 else ""


def _value_text(leaf: ScreenNumber) -> str:
    return f"{leaf.value:.12g}{f' {leaf.unit}' if leaf.unit else ''}"


def _image_size_text(leaf: ScreenImage) -> str:
    return f"{leaf.width}x{leaf.height}" if leaf.width else "of unknown size"


_NUMBER = re.compile(r"(?P<label>.*?)\s*(?P<compare>>=|<=|!=|==?|>|<|≥|≤|≠)\s*(?P<amount>.+)")
_OTHER_UNIT = re.compile(
    r"(?P<before>[^\d\s.+-]{1,3}\s*)?(?P<value>-?(?:\d+(?:\.\d+)?|\.\d+))\s*(?P<after>[^\d\s][^\d]{0,19})?"
)
"""A number with a unit that no table has ("open files")."""
_SIGNS = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}


def number_condition(text: str) -> ScreenNumber:
    """Return the condition that `text` spells: `[LABEL] COMPARISON NUMBER [UNIT]`, as in `Progress >= 90 %`.

    Raises: InvalidRequest.
    """
    found = _NUMBER.fullmatch(text.strip())
    amount = found["amount"].strip() if found is not None else ""
    if "+" in amount:
        raise InvalidRequest(
            f"a comparison has no sign +: {amount!r} may mean a number or a change by it",
            hint=f'write the number that is to be reached without it: ">= {amount.replace("+", "").strip()}"',
        )
    value, unit = _parse_amount(amount)
    if found is None or value is None:
        raise InvalidRequest(
            f"{text!r} is no comparison of a number",
            hint='write a label, one of >= > = != < <=, and a number: "Progress >= 90 %", "Price > $200", "= 0 errors"',
        )
    compare = Comparison(_SIGNS.get(found["compare"], found["compare"]))
    label = found["label"].strip().strip("\"'").rstrip(":").strip()
    return ScreenNumber(compare, value, label[:200], unit[:20])


def _parse_amount(text: str) -> tuple[float | None, str]:
    """Return the number and the unit in a comparison; its decimal sign is a point."""
    plain = _OTHER_UNIT.fullmatch(text)
    seen = next(numbers_in(text), None)
    if seen is not None and seen.text == text:
        if seen.scale and seen.bare:  # "5 M" and "512 B" are units, unless it is written "5M"
            written_as_unit = seen.scale in "mB" or text[-1 - len(seen.scale) :][:1].isspace()
            return (seen.bare[0], seen.scale) if written_as_unit else (seen.values[0], seen.unit)
        return seen.values[0], seen.unit
    return (float(plain["value"]), (plain["after"] or plain["before"] or "").strip()) if plain else (None, "")


def _quote(text: str, *, regex: bool) -> str:
    return f"/{text}/" if regex else f'"{text}"'


def target_text(target: Target, display: str) -> str:
    """Return a wait's target in plain words; `display`: where the wait looks ("": not known)."""
    place = display or target.display or "the default display"
    if target.window:
        return f'window "{target.window}" on {place}'
    if target.opened_by is not None:
        return f"the window that the launch opens on {place}"
    if target.region:
        box = target.region
        return f"{box.w}x{box.h}+{box.x}+{box.y} of {place}"
    if target.pty:
        return f"terminal {target.pty}" + (f" on {display or target.display}" if display or target.display else "")
    return f"monitor {target.monitor} of {place}" if target.monitor else place


def target_argument(target: Target, display: str) -> str:
    """Return a target as a caller writes it in a request."""
    if target.window:
        return f"window:{target.window}"
    if target.region:
        box = target.region
        return f"region:{box.x},{box.y},{box.w},{box.h}"
    if target.pty or target.monitor:
        return f"pty:{target.pty}" if target.pty else f"monitor:{target.monitor}"
    return f"display:{display or target.display}" if display or target.display else "screen"
