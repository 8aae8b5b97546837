"""The structured condition that probably says what a sentence says, for a caller whose sentence no judge can answer."""

from __future__ import annotations

import shlex

from acud.types import Criteria
from acud.waits.absence import asks_absence
from acud.waits.sentence_clauses import read_amount, read_span
from acud.waits.sentence_grammar import grammar
from acud.waits.sentence_phrase import Phrase


def suggest_call(sentence: str) -> str:
    """Return the calls of the CLI and of smart_wait that probably wait for the same, with gaps in capitals. Never one
    for the opposite: an agent that obeys would be woken at once. In doubt all is a gap.
    """
    option, value = _suggest_call(sentence)
    cli = " ".join(["acud wait", f"--{option}", *([shlex.quote(value)] if value else [])])
    if option in ("window-gone", "file-gone"):
        said = f'the {option.removesuffix("-gone")} "{value}" is gone'
        return f"{cli}, or smart_wait criteria={said!r}"
    return f"{cli}, or smart_wait {option}={value if option in _PLAIN else repr(value) if value else 'true'}"


_UNKNOWN = ("text", "WORDS THAT THE SCREEN SHOWS THEN")
_PLAIN = ("stable", "process")  # options with a number


def _suggest_call(sentence: str) -> tuple[str, str]:
    phrase, words = Phrase.from_sentence(sentence) or Phrase(sentence, ()), grammar()
    opening = words.opening.match(phrase.text)
    text = f"when {phrase.text[opening.end() :]}" if opening is not None else phrase.text
    text = text.lower() if text.isupper() else text
    role = words.role.search(text)
    kind = words.roles[role[0].casefold()] if role is not None else ""
    named = [phrase.quote(one) or one for one in words.hints["named"].findall(text)]
    name, predicate = named[0] if named else "", _strip_known(text, is_control=bool(kind))
    is_gone = asks_absence(Criteria(predicate))
    if words.doubt.search(text) or words.hints["not"].search(words.hints["absent"].sub("", predicate)):
        return _UNKNOWN
    if (path := words.hints["path"].search(text)) is not None:
        return "file-gone" if is_gone else "file", path[0]
    if (pid := words.hints["pid"].search(text)) is not None:
        return ("process", pid[1]) if words.hints["ended"].search(text) is not None else _UNKNOWN
    amount = _find_amount(phrase.with_text(text), rises=kind == "progress bar")
    if amount is None and words.compared_number.search(text) is not None:
        return _UNKNOWN
    if role is not None:
        control = kind if kind == "progress bar" and not name else f'{kind} "{name or "NAME"}"'
        return "widget", f"{control} {amount[1] if amount else _find_state(text[role.end() :], is_gone)}".strip()
    if amount is not None:
        return "number", f"{amount[0] or 'LABEL'} {amount[1]}"
    if words.hints["window"].search(text) is not None:
        return "window-gone" if is_gone else "window", name or "TITLE"
    if not name and words.hints["unchanged"].search(text) is not None:
        span = words.span.search(text)
        return "stable", f"{read_span(span.groupdict()):g}" if span is not None else "5"
    if not name and not is_gone and words.hints["changed"].search(text) is not None:
        return "change", ""
    return ("gone" if is_gone else "text", name) if name else _UNKNOWN


def _strip_known(text: str, *, is_control: bool) -> str:
    """Return a sentence without its names and what is said of states, numbers and quiet: the rest may say `gone`."""
    words = grammar()
    quiet = [] if words.hints["named"].search(text) else [words.hints["unchanged"]]
    state = [words.any_state] if is_control else []
    for known in (words.hints["named"], *state, words.compared_number, *quiet):
        text = known.sub(" ", text)
    return text


def _find_amount(phrase: Phrase, *, rises: bool) -> tuple[str, str] | None:
    """Return the name or word before a comparison with a number, and the comparison as `--number` takes it."""
    text = phrase.text
    if (found := grammar().compared_number.search(text)) is None:
        return None
    groups = {group: words or "" for group, words in found.groupdict().items()}
    amount = read_amount(groups, rises=rises) or read_amount(groups | {"unit": ""}, rises=rises)
    before = text[: found.start()].rstrip(" :")
    named = [one for one in grammar().hints["named"].findall(before) if before.endswith(one) or phrase.quote(one)]
    label = phrase.quote(named[-1]) or named[-1] if named else "".join(before.split()[-1:])
    return (label, " ".join(filter(None, amount))) if amount is not None else None


def _find_state(text: str, is_gone: bool) -> str:
    """Return the first state of a control in `text` in the words of `--widget`; "" where it need only be there."""
    if is_gone:
        return "gone"
    for found in grammar().any_state.finditer(text):
        if found[0].casefold() not in ("on", "off"):  # the left, rather than switched so
            return next(group for group, words in found.groupdict().items() if words).replace("not_", "not ")
    return "" if not text.strip() or grammar().hints["shown"].search(text) is not None else "STATE"
