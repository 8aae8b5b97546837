"""Values: what a secret of each kind looks like behind its label, in a setting and in a sentence."""

from __future__ import annotations

from itertools import pairwise

from acud.features.redaction.labels import Label, LabelKind, label_words, words_of
from acud.features.redaction.rule_data import forms, has_form
from acud.features.redaction.spans import is_mixed, looks_random

_QUOTES, _ENDS = "\"'`", ".,;:()!?"
_IN_PASSWORDS = frozenset("#&!%$^*@")
"""Signs that a password may also begin or end with."""
_WITHIN_PASSWORDS = _IN_PASSWORDS | frozenset("+~?=_.(){}|<>")
_SHORT_KEY, _SHORTEST, _SHORT_SECRET, _HEX_TOKEN = 6, 3, 8, 32


def looks_chosen(word: str) -> bool:
    """Return whether a word of prose is more likely a password than a word: it mixes what words do not."""
    bare = word.strip("\"'`.,;:()[]{}<>!?")
    if not 4 <= len(bare) <= 200 or ("@" in bare[1:-1] and "." in bare):
        return False
    if has_form(bare, "ordinary") or has_form(bare, "version or contraction"):
        return False
    has_digit = any(c.isdigit() for c in bare)
    if not any(c.isalpha() for c in bare):
        return has_digit and len(bare) >= 6 and _has_sign(bare)
    parts = bare.split("-")
    return has_digit or _has_sign(bare) or (sum(part[:1].isupper() for part in parts) > 1 and all(parts))


def _has_sign(word: str) -> bool:
    """Return whether a sign of passwords stands at a letter or digit, or most others between two."""
    for before, c, after in zip(f" {word}", word, f"{word[1:]} ", strict=False):
        beside = (before.isalnum() or before == "_") + (after.isalnum() or after == "_")
        if beside and c in (_WITHIN_PASSWORDS if beside > 1 else _IN_PASSWORDS):
            return True
    return False


def is_reference(value: str) -> bool:
    """Return whether `value` stands for a secret in a command: a variable, a command or a placeholder."""
    if has_form(value, "example") or value.startswith(("<(", "$(", "…", "...")):
        return True
    mixed = any((a.islower() and b.isdigit()) or (a.isdigit() and b.islower()) for a, b in pairwise(value))
    return value.startswith(("$", "{{", "<", "%(", "-")) and not mixed and "!" not in value and "#" not in value


def _stands_for_value(value: str, *, quoted: bool) -> bool:
    """Return whether `value` begins like a variable or a placeholder, or, if it is not in quotes, like a call."""
    return forms()["placeholder" if quoted else "reference"].match(value) is not None


def accepts(label: Label, value: str, *, quoted: bool = False) -> bool:
    """Return whether `value`, right after the label (`:`, `=`, the next cell), may be of its kind.

    `quoted`: it stood in quotes, so it is not a name or a call.
    """
    bare = value.strip().strip("\"'`,;")
    if not bare or has_form(bare, "mask") or has_form(bare, "example") or _stands_for_value(bare, quoted=quoted):
        return False
    if (of_term := forms().get(f"term {label.term}")) is not None:
        return of_term.match(bare) is not None
    if label.is_bare and label.kind is LabelKind.PASSWORD and (" " in bare or not looks_chosen(bare)):
        return False  # tests pass
    if quoted and label.kind in (LabelKind.PASSWORD, LabelKind.PHRASE):
        return bare.casefold() not in label_words("no_values")
    match label.kind:
        case LabelKind.PASSWORD | LabelKind.PHRASE:
            first = bare.strip(f"{_QUOTES}{_ENDS}[]{{}}<>").split(maxsplit=1)
            return (
                len(bare) >= _SHORTEST
                and bool(first)
                and first[0].casefold().rstrip(f"{_QUOTES}{_ENDS}") not in label_words("no_values")
                and not bare.startswith(("-", "["))
                and not has_form(bare, "location")
                and not (label.term.endswith("pwd") and has_form(bare, "directory"))  # PWD=/srv
            )
        case LabelKind.KEY:
            return _is_key(label, bare)
        case LabelKind.SEED:
            words = [word for word in words_of(bare) if word.isalpha()]
            return len(words) >= 3 and all(len(word) >= 3 and word not in label_words("no_seeds") for word in words)
        case LabelKind.ID if has_form(bare, "decimal"):
            return False
    return forms()[label.kind].match(bare) is not None


def _is_key(label: Label, value: str) -> bool:
    groups = value.split(" ")
    grouped = len(groups) >= 3 and all(3 <= len(group) <= 8 and group.isalnum() for group in groups)
    packed = ("".join(groups) if grouped else groups[0]).strip(f"{_QUOTES},;)").partition('"')[0].partition("'")[0]
    if packed.casefold() in label_words("algorithms") or "://" in packed or packed.startswith("arn:"):
        return False
    if looks_random(packed):
        return True
    if label.is_setting and has_form(value, "words") and len(value) >= _SHORT_SECRET:
        return value.casefold() not in label_words("no_values")
    plain = label.is_bare or "(" in packed or has_form(packed, "ordinary")
    return is_mixed(packed) and len(packed) >= _SHORT_KEY and not plain


def accepts_in_prose(label: Label, value: str) -> bool:
    """Return whether a word in a sentence after the label is its value: stricter, because most words are not."""
    bare = value.strip(_QUOTES + _ENDS)
    match label.kind:
        case LabelKind.PASSWORD | LabelKind.PHRASE:
            if has_form(bare, "another setting"):
                return False
            chosen = looks_chosen(value) and not _stands_for_value(value, quoted=False)
            return chosen or has_form(bare, "digits")
        case LabelKind.CODE:
            return has_form(bare, "code in prose")
        case LabelKind.KEY if label.is_bare and has_form(value.rstrip(".,;:)").removeprefix("0x"), "hex"):
            # The key of a public one, a commit. A token is neither.
            return label.term in ("token", "secret") and len(value) >= _HEX_TOKEN
    return accepts(label, value)


def find_end(label: Label, text: str, start: int, limit: int) -> int:
    """Return the end of the value that begins at `start`: some kinds have blanks in their values."""
    pattern = forms().get("groups" if label.kind is LabelKind.PASSWORD else label.kind)
    match = pattern.match(text, start, limit) if pattern is not None else None
    return match.end() if match is not None else start
