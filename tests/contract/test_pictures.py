"""The pictures of README and its comparison: the animation is one and is small; no row is missing in compare.md."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
COMPARED = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
MOST_BYTES = 2_000_000
LEAST_FRAMES, LEAST_S = 20, 10.0


def first_cells(page: str) -> set[str]:
    return {row.strip("| ").split("|")[0].strip() for row in re.findall(r"^\| .*$", page, re.MULTILINE)}


def test_the_animation_is_a_run_and_small() -> None:
    path = ROOT / "docs" / "pictures" / "run.png"
    assert path.stat().st_size <= MOST_BYTES
    with Image.open(path) as run:
        frames: int = run.n_frames
        assert frames >= LEAST_FRAMES
        lasted_s, seen = 0.0, set()
        for number in range(frames):
            run.seek(number)
            lasted_s += run.info["duration"] / 1000
            seen.add(run.convert("RGB").tobytes())
    assert lasted_s >= LEAST_S
    assert len(seen) >= LEAST_FRAMES, "it stands still"


def test_every_picture_of_the_page_is_there() -> None:
    shown = re.findall(r"(?:!\[[^\]]*\]\(|src(?:set)?=\")(docs/[^\")]+)", PAGE)
    assert len(shown) >= 4
    assert [one for one in shown if not (ROOT / one).is_file()] == []


def test_what_is_compared_is_backed_by_the_page_of_comparisons() -> None:
    table = PAGE.split("\n## What it does, beside others\n")[1].split("\n## ")[0]
    rows = first_cells(table) - {""}
    assert len(rows) >= 10
    assert rows <= first_cells(COMPARED)
