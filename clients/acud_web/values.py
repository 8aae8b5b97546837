"""Values that clients give in queries and bodies, taken as they are meant or refused by name."""

from __future__ import annotations

import math
from typing import Any

from starlette.requests import Request

from acud_web.answers import fault

_MOST = 2**53
"""Whole numbers that every JSON reader keeps exact."""


def query_number(request: Request, name: str, default: int) -> int:
    """Return the whole number `name` of the query. Raises: Fault 400 when it is none."""
    text = request.query_params.get(name, "")
    return whole(name, text) if text else default


def whole(name: str, value: Any) -> int:
    """Return `value`, a number or its text, without its fraction. Raises: Fault 400."""
    return int(number(name, value))


def number(name: str, value: Any) -> float | int:
    """Return `value`, a number or its text. Raises: Fault 400."""
    found = _read(value)
    # Size first: an int may be too large for isfinite.
    if found is None or abs(found) > _MOST or not math.isfinite(found):
        raise fault(400, f"{name} is not a number" if found is None else f"{name} is out of range")
    return found


def _read(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        return None


def text(name: str, value: Any) -> str:
    """Return `value`, a text. Raises: Fault 400."""
    if not isinstance(value, str):
        raise fault(400, f"{name} is not a text")
    return value


def switch(name: str, value: Any) -> bool:
    """Return `value`, true or false. Raises: Fault 400: in JavaScript "false" would be true."""
    if not isinstance(value, bool):
        raise fault(400, f"{name} is not true or false")
    return value
