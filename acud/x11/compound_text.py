"""Decode X11's COMPOUND_TEXT (X Consortium, "Compound Text Encoding", 1.1), the encoding of Xt programs' titles."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\x1b(?:(?P<single>[-(),])(?P<of>[\x30-\x7e])|\$(?P<wide>[()])(?P<wide_of>[\x30-\x7e])|%(?P<utf8>[G@])"
    rb"|%/[0-4](?P<high>[\x80-\xff])(?P<low>[\x80-\xff]))|\x9b[12]?\]"
)
_RIGHT = {
    b"A": "iso8859_1", b"B": "iso8859_2", b"C": "iso8859_3", b"D": "iso8859_4", b"F": "iso8859_7", b"G": "iso8859_6",
    b"H": "iso8859_8", b"L": "iso8859_5", b"M": "iso8859_9", b"V": "iso8859_10", b"T": "iso8859_11", b"Y": "iso8859_13",
    b"_": "iso8859_14", b"b": "iso8859_15", b"f": "iso8859_16",
}  # fmt: skip
_WIDE = {b"A": "gb2312", b"B": "euc_jp", b"C": "euc_kr"}


def decode_compound_text(data: bytes) -> str:
    """Return the text; characters of unknown sets are U+FFFD. Directions are left out."""
    text, at = "", 0
    left, right, is_utf8 = "ascii", "iso8859_1", False
    while at < len(data):
        found = _ESCAPE.search(data, at)
        end = found.start() if found is not None else len(data)
        text += _decode_part(data[at:end], left, "utf_8" if is_utf8 else right)
        if found is None:
            break
        at = found.end()
        if found["utf8"]:
            is_utf8 = found["utf8"] == b"G"
        elif found["wide"] == b"(":
            left = _WIDE.get(found["wide_of"], "ascii")
        elif found["wide"]:
            right = _WIDE.get(found["wide_of"], "ascii")
        elif found["single"] == b"(":
            left = "ascii"
        elif found["single"]:
            right = "shift_jis" if found["of"] == b"I" else _RIGHT.get(found["of"], "ascii")
        elif found["high"]:
            length = (found["high"][0] - 128) * 128 + found["low"][0] - 128
            name, _, part = data[at : at + length].partition(b"\x02")
            text += _decode_named(part, name.decode("ascii", "replace"))
            at += length
    return text


def _decode_part(part: bytes, left: str, right: str) -> str:
    if left != "ascii":  # seven bits of a set of two bytes a character
        part = bytes(byte | 0x80 if byte > 0x20 else byte for byte in part)
        return part.decode(left, "replace")
    return part.decode(right, "replace")


def _decode_named(part: bytes, name: str) -> str:
    try:
        return part.decode(name.lower().replace("iso8859-", "iso8859_"), "replace")
    except LookupError:
        return "\ufffd"
