"""The closed half of the OCR set: 61 screens that nobody tunes a reader on.

`closed.toml` holds what they show. Its author, who also worked on the reader, wrote it from what programs show, drew
the screens, looked at them, and committed them before any reader had seen one. Open it (`scripts/bench ocr --closed`)
when work on a reader is done and committed, and write into `OPENED` when that was. A change of the reader that its
figures led to makes it a second half to work with: later figures of it are no longer blind.

The categories are those of the half to work with, and `greek`, `french` and `polish` besides.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any

from tests.ocr_set.screens import LIGHT, Screen

SOURCE = Path(__file__).with_name("closed.toml")
SHA256 = "4aa26239eeb2c14e3fa66b2b7d5f99f6076f97efad5317e1fe5513047da3a9dc"
"""Of `SOURCE`: a change of what the screens show makes another set, which earlier figures say nothing about."""
OPENED = (
    "2026-11-25, the reader of the commit `ocr: release an engine's scratch memory after five seconds at rest`",
    "2026-11-25, again, the reader of the commit `ocr: read by tesseract what the engine's dictionary lacks`",
)
"""When it was opened: the date, and the commit of the reader that read it."""
_FIRST_SEED = 5000


def read(source: Path = SOURCE) -> tuple[Screen, ...]:
    found = tomllib.loads(source.read_text(encoding="utf-8"))["screen"]
    return tuple(_screen(_FIRST_SEED + place, told) for place, told in enumerate(found))


def sha256() -> str:
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def _screen(seed: int, told: dict[str, Any]) -> Screen:
    form = told.get("form", "lines")
    text = told["text"].strip("\n").replace("␛", "\033")
    return Screen(
        told["category"], told["toolkit"], seed, told.get("px", 0), tuple(told.get("look", LIGHT)), form,
        font=told.get("font", ""), size=tuple(told.get("size", (1280, 720))), title=told["title"],
        family=told.get("family", "DejaVu Sans"), rows=_rows(text, form, told["toolkit"]),
    )  # fmt: skip


def _rows(text: str, form: str, toolkit: str) -> tuple[tuple[str, ...], ...]:
    if form == "html":
        return ((text,),)
    lines = text.split("\n")
    return tuple((line,) if toolkit == "xterm" else tuple(_cells(line)) for line in lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r" \|(?= )", f" {line} ")]
