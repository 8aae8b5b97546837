"""`<private>` … `</private>`: what people mark as private themselves.

A region that is never closed goes to the end, one whose beginning is not in the text (it has scrolled away) begins with
the text: in doubt more is hidden. Regions do not nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.redaction.spans import Rule, Span

_TAG = re.compile(r"<(?P<close>/?)private>", re.IGNORECASE)
_READ_TAG = re.compile(
    r"(?:[<‹«＜(\[{][ ]?(?P<close>[/1Il|\\]?)[ ]?pr[il1|!]va[tl]e[ ]?[>›»＞)\]}]?"
    r"|(?P<bare>[/\\]?)pr[il1|!]va[tl]e[>›»＞])",
    re.IGNORECASE,
)
"""As an engine reads it: one bracket may be lost, and the slash may stand for a letter that looks like it."""


def find_private(text: str, *, read: bool = False) -> Iterator[Span]:
    """Yield the private regions of `text`, their tags included."""
    start: int | None = None
    end = 0
    for tag in (_READ_TAG if read else _TAG).finditer(text):
        closes = bool(tag["close"] or (read and tag["bare"]))
        if not closes:
            start = tag.start() if start is None else start
            continue
        if start is not None:
            yield Span(start, tag.end(), Rule.PRIVATE)
        else:
            yield Span(end, tag.end(), Rule.PRIVATE)
        start, end = None, tag.end()
    if start is not None:
        yield Span(start, len(text), Rule.PRIVATE)
