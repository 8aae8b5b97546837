"""A description between its marks, so that words it quotes from a screen cannot end it."""

from __future__ import annotations

import re

_MARK = re.compile(r"<(?=\s*/?\s*(?:description|list)\b)", re.IGNORECASE)


def described(description: str) -> str:
    """Return the fenced `description`; what looks like one of our marks in it is made harmless."""
    return f"<description>\n{_MARK.sub('‹', description.strip())}\n</description>"
