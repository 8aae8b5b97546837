"""Calls that brought no answer: their codes, whether another try could help, what they cost; and words without keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

from msgspec import Struct

from acud.base.errors import AcudError

MAX_REASON = 300
"""Characters of a reason; it ends in events, records and the wake's text."""
CONTINUES = frozenset({"judge_down", "unavailable", "rate_limited", "no_key", "budget", "rejected"})
"""Codes for a call without an answer: another model may be asked instead. The others are answers of a kind."""
_HIDDEN = "***"
_PART = 8  # so many characters of a key in a row are as bad as the key
_MARKS = re.compile(r"(?i)\b(bearer\s+|sk-)[\w.~+/=-]{6,}")


class TokenUsage(Struct, frozen=True):
    """What an answer took. `cost_usd` None: computed from the tokens and a price, else unknown.

    `billed_in` is the input in tokens of full price, where parts of it (a cache) are charged at another rate.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    billed_in: float | None = None


FREE = TokenUsage(cost_usd=0.0)
"""No work was begun that a vendor charges for."""


def sum_usage(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    """Return the sum: an unknown cost makes the whole cost unknown, unknown tokens count as none."""
    known = one.cost_usd is not None and other.cost_usd is not None
    cost = (one.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
    return TokenUsage(_sum_counts(one.tokens_in, other.tokens_in), _sum_counts(one.tokens_out, other.tokens_out), cost)


def _sum_counts(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


class CallFailed(AcudError):
    """A call without an answer. `code` as in a reply; `retry`: another try may help, not before `after_s` seconds.

    `status`: the HTTP status of the refusal, 0 for none.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        retry: bool = False,
        after_s: float | None = None,
        usage: TokenUsage = FREE,
        status: int = 0,
    ) -> None:
        super().__init__(reason)
        self.reply_code = code
        self.retry, self.after_s, self.usage, self.status = retry, after_s, usage, status


class KeyFilter:
    """Makes one line of any text, without the `secrets` and what looks like a key."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
        self._forms = sorted(forms, key=len, reverse=True)
        parts = {form[at : at + _PART] for form in forms for at in range(len(form) - _PART + 1)}
        self._parts = re.compile(f"(?={'|'.join(map(re.escape, sorted(parts)))})") if parts else None

    def without_keys(self, text: str) -> str:
        """Return `text` with our keys blotted out, parts of them too: some servers show the beginning, some the end."""
        for form in self._forms:
            text = text.replace(form, _HIDDEN)
        # `text` without any run that `parts`, a look ahead at `_PART` characters, finds.
        parts = self._parts
        if parts is None:
            return text
        pieces, end = [], 0
        for found in parts.finditer(text):
            if found.start() >= end:
                pieces += [text[end : found.start()], _HIDDEN]
            end = found.start() + _PART
        return "".join([*pieces, text[end:]])

    def line(self, text: str) -> str:
        """Return `text` as a reason: printable, one line, bounded. Keys go first, so that no cut leaves half a one.

        Text that only looks like a key goes too: an error may quote another party's. (In a model's words it may be
        evidence.)
        """
        hidden = _MARKS.sub(rf"\g<1>{_HIDDEN}", self.without_keys(text))
        printable = "".join(c if c.isprintable() else " " for c in hidden)
        return " ".join(printable.split())[:MAX_REASON]

    def clean(self, body: bytes) -> bytes:
        """Return an answer's body without the secrets."""
        for form in self._forms:
            body = body.replace(form.encode(), _HIDDEN.encode())
        return body
