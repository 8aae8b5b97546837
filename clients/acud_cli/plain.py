"""Text from screens, windows and models, made harmless for a terminal.

A window title or a recognised line may hold escape sequences that move the cursor, rewrite lines above, set the
terminal's title or reverse the reading order. Shown as visible escapes, they are only text.
"""

from __future__ import annotations

import re

# C0 and C1 controls and DEL (ECMA-48), line and paragraph separators, the bidirectional controls (Unicode UAX 9),
# invisible tags, and lone surrogates, which no terminal encoding can carry.
_DANGEROUS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """Return `text` on one line with every control character as a visible escape (`\\x1b`)."""
    return _DANGEROUS.sub(_visible, text)


def shortened(text: str, width: int) -> str:
    """Return `text` made plain and cut to `width` characters, the cut marked by an ellipsis."""
    clean = plain(text)
    return clean if len(clean) <= width else clean[: max(0, width - 1)] + "…"


def plain_json(text: str) -> str:
    """Return JSON `text` (which escapes C0 itself) with the other dangerous characters as `\\uXXXX`."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
