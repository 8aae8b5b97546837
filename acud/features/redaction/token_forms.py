"""Tokens and secret addresses by the form that their issuer gives them (`token_forms.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from acud.base.typed_values import convert
from acud.features.redaction.rule_data import rule_data
from acud.features.redaction.spans import RedactedSpan, Rule


class TokenForm(Struct, frozen=True, forbid_unknown_fields=True):
    """A form: see the head of `token_forms.toml`."""

    name: str
    needle: str
    pattern: str
    source: str
    seen: str


@cache
def token_forms() -> tuple[TokenForm, ...]:
    """Return every form, as written in the file."""
    return convert(rule_data("token_forms")["form"], tuple[TokenForm, ...])


def find_tokens(text: str) -> Iterator[RedactedSpan]:
    """Yield the tokens of a known form in `text`. A form is compiled when a text has its needle."""
    for form in token_forms():
        if form.needle in text:
            pattern = _compile_form(form)
            group = "secret" if "secret" in pattern.groupindex else 0
            yield from (RedactedSpan(*match.span(group), Rule.KEY) for match in pattern.finditer(text))


@cache
def _compile_form(form: TokenForm) -> re.Pattern[str]:
    """Return the pattern, anchored so that no letter or digit precedes it.

    If it begins with its needle, it looks back behind that: a search then jumps from one needle to the next.
    """
    needle = re.escape(form.needle)
    if form.needle and form.pattern.startswith(needle):
        return re.compile(f"{needle}(?<![A-Za-z0-9]{needle}){form.pattern.removeprefix(needle)}")
    return re.compile(f"(?<![A-Za-z0-9]){form.pattern}" if form.pattern[0] not in "/\\" else form.pattern)
