"""The structured condition that probably says what a sentence says, for a caller whose sentence no judge can answer."""

from __future__ import annotations

import shlex

from acud.types import Criteria
from acud.waits.absence import asks_absence
from acud.waits.sentence_clauses import read_amount, read_span
from acud.waits.sentence_grammar import grammar
from acud.waits.sentence_phrase import Phrase


def suggest_call(sentence: str) -> str:
    """Return the calls of the CLI and of smart_wait that probably wait for the same, with gaps in capitals."""
    option, value = _suggest(sentence)
    cli = " ".join(["acud wait", f"--{option}", *([shlex.quote(value)] if value else [])])
    if option in ("window-gone", "file-gone"):
        said = f'the {option.removesuffix("-gone")} "{value}" is gone'
        return f"{cli}, or smart_wait criteria={said!r}"
    return f"{cli}, or smart_wait {option}={value if option in _PLAIN else repr(value) if value else 'true'}"


_PLAIN = ("stable", "process")
"""Options with a number."""


def _suggest(sentence: str) -> tuple[str, str]:
    phrase = Phrase.from_sentence(sentence) or Phrase(sentence, ())
    text, words = phrase.text, grammar()
    named = [phrase.quote(one) or one for one in words.hints["named"].findall(text)]
    name, is_gone = named[0] if named else "", asks_absence(Criteria(text))
    if (path := words.hints["path"].search(text)) is not None:
        return "file-gone" if is_gone else "file", path[0]
    if (pid := words.hints["pid"].search(text)) is not None:
        return "process", pid[1]
    amount = _find_amount(text)
    if (role := words.role.search(text)) is not None:
        kind = words.roles[role[0].casefold()]
        control = kind if kind == "progress bar" and not name else f'{kind} "{name or "NAME"}"'
        return "widget", f"{control} {amount[1] if amount else _find_state(text[role.end() :], is_gone)}".strip()
    if amount is not None:
        return "number", f"{name or amount[0] or 'LABEL'} {amount[1]}"
    if words.hints["window"].search(text) is not None:
        return "window-gone" if is_gone else "window", name or "TITLE"
    if not name and words.hints["unchanged"].search(text) is not None:
        span = words.span.search(text)
        return "stable", f"{read_span(span.groupdict()):g}" if span is not None else "5"
    if not name and words.hints["changed"].search(text) is not None:
        return "change", ""
    return "gone" if is_gone else "text", name or "WORDS THAT THE SCREEN SHOWS THEN"


def _find_amount(text: str) -> tuple[str, str] | None:
    """Return the word before a comparison with a number, and the comparison as `--number` takes it."""
    if (found := grammar().compared_number.search(text)) is None:
        return None
    groups = {group: words or "" for group, words in found.groupdict().items()}
    amount = read_amount(groups) or read_amount(groups | {"unit": ""})
    before = text[: found.start()].rstrip(" :").split()[-1:]
    return ("".join(before), " ".join(filter(None, amount))) if amount is not None else None


def _find_state(text: str, is_gone: bool) -> str:
    """Return the first state of a control in `text` in the words of `--widget`."""
    found = grammar().any_state.search(text)
    said = next(group for group, words in found.groupdict().items() if words) if found is not None else ""
    return said.replace("not_", "not ") or ("gone" if is_gone else "")
