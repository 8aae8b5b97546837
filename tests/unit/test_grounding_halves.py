"""The closed half of the grounding set is what was committed, and both halves are of one kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from acud.types.grounding import Found
from tests.grounding import closed, half, run, screens, work

HALVES = pytest.mark.parametrize("part", [work.HALF, closed.HALF], ids=["work", "closed"])


def test_what_the_closed_half_shows_and_asks_is_pinned() -> None:
    assert closed.HALF.sha256() == closed.SHA256


@HALVES
def test_a_half_is_large_enough(part: half.Half) -> None:
    asked = part.descriptions()
    assert len(part.screens) >= 8
    assert len(asked) >= 90
    assert {one.screen for one in asked} == set(part.screens)
    assert sum(one.tag == "icon" for one in asked) >= 28
    assert sum(one.want == "none" for one in asked) >= len(asked) // 12
    assert sum(one.want == "several" for one in asked) >= len(asked) // 25
    assert {one.tag for one in asked} == {"", "icon"}


def test_the_halves_share_no_screen_and_no_question() -> None:
    assert not set(work.HALF.screens) & set(closed.HALF.screens)
    assert not (set(work.HALF.screens) | set(closed.HALF.screens)) & set(screens.ALL)
    asked = [{(one.words, one.want) for one in part.descriptions()} for part in (work.HALF, closed.HALF)]
    assert not {want for want in asked[0] & asked[1] if want[1] not in ("none", "several")}
    assert all(len({(one.screen, one.words) for one in part.descriptions()}) == len(part.descriptions())
               for part in (work.HALF, closed.HALF))  # fmt: skip


def test_the_hash_of_a_half_changes_with_any_file_but_the_one_that_holds_it(tmp_path: Path) -> None:
    part = half.Half("tests.grounding.work")
    part.folder = tmp_path
    (tmp_path / "a.txt").write_text("shown")
    first = part.sha256()
    (tmp_path / "__init__.py").write_text("SHA256 = ''")
    assert part.sha256() == first
    (tmp_path / "a.txt").write_text("shown otherwise")
    second = part.sha256()
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    assert len({first, second, part.sha256()}) == 3


def test_a_line_of_descriptions_may_have_a_tag(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text(
        "# screen | words | want | tag\ndesk | the bin | bin | icon\ndesk | lamp | none |\n"
    )
    assert half.read(tmp_path / "d.txt") == [
        half.Description("desk", "the bin", "bin", "icon"),
        half.Description("desk", "lamp", "none", ""),
    ]


def _answer(want: str, tag: str, status: str, is_right: bool) -> run.Answer:
    return run.Answer(half.Description("desk", want, want, tag), Found(status, (), ()), is_right, 1.0)


def test_icons_count_as_answered_when_they_are_right_and_wrong_places_are_counted() -> None:
    answers = [
        _answer("bin", "icon", "found", True),
        _answer("gear", "icon", "found", False),
        _answer("plus", "icon", "not_found", False),
        _answer("star", "icon", "found", True),
        _answer("OK", "", "not_found", False),
        _answer("none", "icon", "found", False),
        _answer("several", "", "ambiguous", True),
    ]
    assert run.figures(answers) == {
        "n": 7, "screens": 1, "precision": 0.5, "answered": 0.6, "icons_answered": 0.5, "declined": 0.5, "wrong": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("asked_for", "opened", "is_measured"), [
    (False, (), False), (True, (), True), (False, ("2026-12-01, a finder",), True),
])  # fmt: skip
def test_a_closed_half_that_has_been_opened_is_always_measured(
    asked_for: bool, opened: tuple[str, ...], is_measured: bool
) -> None:
    assert half.is_measured(asked_for, opened) is is_measured


def test_the_half_to_work_with_is_asked_unless_told_otherwise() -> None:
    assert {one.screen for one in run.descriptions()} == set(screens.WORK)
    assert not set(screens.WORK) & set(screens.CLOSED)
    assert {one.screen for one in run.descriptions(screens.CLOSED)} == set(screens.CLOSED)
