"""The grounding set by accessibility alone: a part of it always, more of it with the long tests."""

from __future__ import annotations

import asyncio

import pytest

from tests.grounding import screens
from tests.grounding.run import NONE, SEVERAL, Answer, ByAccessibility, descriptions, judged, score, table

pytestmark = pytest.mark.timeout(600)


async def _by_accessibility(names: tuple[str, ...]) -> list[Answer]:
    method = ByAccessibility()
    try:
        return await judged(method.find, names)
    finally:
        await method.close()


def test_the_set_is_as_large_as_it_says() -> None:
    assert len(descriptions()) >= 150
    assert {one.screen for one in descriptions()} == set(screens.WORK)
    assert len(screens.ALL) >= 12


@pytest.mark.parametrize("screen", ["save_dialog", "login"])
def test_a_screen(screen: str) -> None:
    if why := screens.lacking(screen):
        pytest.skip(why)
    answers = asyncio.run(_by_accessibility((screen,)))
    told = score(answers)
    assert (told.precision, told.answered >= 0.8) == (1.0, True), table(answers)


@pytest.mark.long
def test_the_screens_that_it_was_tuned_on() -> None:
    answers = asyncio.run(_by_accessibility(screens.ALL))
    told = score(answers)
    assert told.precision >= 0.97, table(answers)
    assert told.answered >= 0.8, table(answers)


@pytest.mark.long
@pytest.mark.parametrize("screen", [*screens.WORK[len(screens.ALL) :], *screens.CLOSED])
def test_what_is_meant_is_on_the_display(screen: str) -> None:
    if why := screens.lacking(screen):
        pytest.skip(why)
    with screens.shown(screen) as (desktop, truth):
        for about in descriptions([screen]):
            if about.want not in (SEVERAL, NONE):
                assert desktop.screen.contains(truth[about.want]), about
