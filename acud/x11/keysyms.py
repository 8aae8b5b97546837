"""Keysyms: numbers by name (`Return`, `F5`, `é`, `U20AC`) and by character.

Names are python-xlib's tables (X11/keysymdef.h); characters follow the X11 protocol, appendix A: Latin-1 is itself,
anything else is 0x01000000 plus its code point.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re

from Xlib import keysymdef

from acud.errors import InvalidRequest

UNICODE = 0x01000000
_LATIN_1 = ((0x20, 0x7E), (0xA0, 0xFF))
_CONTROL = {"\n": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B}  # Return, Tab, BackSpace, Escape
_CYRILLIC = range(0x6A1, 0x700)
_CODE_POINT = re.compile(r"^[Uu]\+?([0-9A-Fa-f]{4,6})$")
_PREFIX = "XK_"
_XF86 = "XF86_"
_NEAR = 4


@functools.cache
def _names() -> dict[str, int]:
    found: dict[str, int] = {}
    for module in pkgutil.iter_modules(keysymdef.__path__):
        table = vars(importlib.import_module(f"{keysymdef.__name__}.{module.name}"))
        found |= {name.removeprefix(_PREFIX): number for name, number in table.items() if name.startswith(_PREFIX)}
    # keysymdef writes XF86_AudioMute where everybody says XF86AudioMute.
    return found | {"XF86" + n.removeprefix(_XF86): k for n, k in found.items() if n.startswith(_XF86)}


@functools.cache
def _folded() -> dict[str, int]:
    """Names without regard to case, where that names one key only."""
    numbers: dict[str, set[int]] = {}
    for name, number in _names().items():
        numbers.setdefault(name.lower(), set()).add(number)
    return {name: min(of) for name, of in numbers.items() if len(of) == 1}


def of_name(name: str) -> int:
    """Return the keysym called `name`; a single character means itself. Raises: InvalidRequest."""
    if len(name) == 1:
        return of_character(name)
    number = _names().get(name) or _folded().get(name.lower())
    if number is not None:
        return number
    point = _CODE_POINT.match(name)
    if point is not None and int(point[1], 16) <= 0x10FFFF:
        return of_character(chr(int(point[1], 16)))
    near = difflib.get_close_matches(name, _names(), _NEAR, 0.6)
    hint = f"near: {', '.join(near)}" if near else "use X keysym names, such as Return, Page_Down, F5, plus"
    raise InvalidRequest(f"no key is called {name!r}", hint=hint)


def of_character(character: str) -> int:
    """Return the keysym that types `character`. Raises: InvalidRequest for one that no key types."""
    known = _CONTROL.get(character)
    if known is not None:
        return known
    point = ord(character)
    if any(low <= point <= high for low, high in _LATIN_1):
        return point
    if point < 0x100 or 0xD800 <= point <= 0xDFFF:
        raise InvalidRequest(f"the character U+{point:04X} can't be typed", hint="leave control characters out")
    return UNICODE + point


def plain(keysym: int) -> int:
    """Return the Unicode keysym in place of an old Cyrillic one, which Cyrillic layouts hold (KOI8-U order)."""
    if keysym not in _CYRILLIC:
        return keysym
    character = bytes([keysym & 0xFF]).decode("koi8-u")
    return UNICODE + ord(character) if character.isalpha() else keysym
