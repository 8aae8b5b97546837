"""The truth of the redaction set: where a program says that a letter is, there is ink."""

from __future__ import annotations

import asyncio

import pytest

from tests.redaction_set import closed, marked
from tests.redaction_set.screens import has_ink, lacking, shown

WANTED = ("ci-log", "password-table", "checkout")
"""A terminal with lines that wrap, a GTK table, and a page with fields."""


def test_every_letter_has_ink_in_its_box() -> None:
    half = marked.read(*closed.WORK)
    screens = tuple(screen for screen in half.screens if screen.name in WANTED)
    if missing := [reason for screen in screens if (reason := lacking(screen))]:
        pytest.skip(", ".join(missing))
    seen = asyncio.run(_inked(half._replace(screens=screens)))
    assert sorted(seen) == sorted(WANTED)


async def _inked(half: marked.Half) -> list[str]:
    seen = []
    async for one in shown(half):
        seen.append(one.screen.name)
        assert all(has_ink(one.pixels, letter.box) for letter in one.letters), one.screen.name
        assert {letter.secret for letter in one.letters} >= {-1, 0, 1}
    return seen
