"""The worked example of docs/waiting-example.md is what the machine does."""

from __future__ import annotations

from pathlib import Path

from acud.waits.example import rows, table

DOCS = (Path(__file__).parents[3] / "docs" / "waiting-example.md").read_text(encoding="utf-8")


def test_the_page_shows_what_the_machine_does() -> None:
    assert f"<!-- generated: example -->\n\n{table()}\n\n<!-- end -->" in DOCS


def test_it_has_six_frames_and_ends_with_the_picture_of_the_last() -> None:
    found = list(rows())
    assert [row.happened[:11] for row in found if row.happened.startswith("**")] == [
        f"**frame {n}**" for n in range(1, 7)
    ]
    assert found[-1].after.startswith("resolved, yes")
    assert found[-1].asked == "a record: yes; its end, with the picture of frame 6"


def test_a_job_leaves_only_when_the_wait_asked_for_it() -> None:
    asked = [row.asked for row in rows()]
    jobs = sum("a judge job" in words for words in asked)
    assert jobs == sum(row.happened.endswith("leaves for an evaluator") for row in rows()) == 4
    assert all("under way" in row.after for row in rows() if row.happened.endswith("leaves for an evaluator"))
