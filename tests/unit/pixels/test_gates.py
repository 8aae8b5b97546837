"""Golden vectors of the seeds' arithmetic, and what each gate misses; docs/waiting.md shows the same table."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from acud.pixels.gates import DEFAULTS, Compared, compare, dhash, passes, ratio, shrink, ssim, tile_max
from acud.pixels.tiles import TileCompare, identity
from acud.types import GateKind

Frame = NDArray[np.uint8]
DOCS = Path(__file__).parents[3] / "docs" / "waiting.md"


def flat(value: int, width: int = 1024, height: int = 768) -> Frame:
    return np.full((height, width, 4), value, np.uint8)


def desktop() -> Frame:
    """Return a text desktop: rows of glyphs on a light ground, a dark bar on top."""
    frame = flat(240)
    chance = np.random.default_rng(7)
    for row in range(60, 700, 18):
        ink = chance.random((9, 6 * 120)) < 0.3
        frame[row : row + 9, 40 : 40 + 720][ink] = 30
    frame[:28] = 50
    return frame


def with_box(frame: Frame, x: int, y: int, w: int, h: int, value: int) -> Frame:
    after = frame.copy()
    after[y : y + h, x : x + w] = value
    return after


@cache
def changes() -> dict[str, tuple[Frame, Frame]]:
    """Return the pairs of frames by name (the reference's table: 1024x768)."""
    text, dark = desktop(), flat(0)
    glyphs = text.copy()
    ink = np.random.default_rng(9).random((9, 6 * 22)) < 0.3
    glyphs[710:719, 40 : 40 + 132][ink] = 30
    dimmed = np.clip(text.astype(np.int16) - 10, 0, 255).astype(np.uint8)
    return {
        "caret, 2x14": (text, with_box(text, 500, 730, 2, 14, 0)),
        "typed line on black, 154x14": (dark, with_box(dark, 100, 101, 154, 14, 255)),
        "22 glyphs on a text desktop": (text, glyphs),
        "status dot, 16x16": (text, with_box(text, 980, 740, 16, 16, 90)),
        "clock, 40x12": (text, with_box(text, 970, 8, 40, 12, 200)),
        "toast, 200x80": (text, with_box(text, 800, 640, 200, 80, 255)),
        "modal dialog, 400x250": (text, with_box(text, 310, 250, 400, 250, 255)),
        "whole screen 10 levels darker": (text, dimmed),
        "scrolled by 5 px": (text, np.roll(text, 5, axis=0)),
    }


@cache
def scores() -> dict[str, dict[GateKind, Compared]]:
    return {name: {kind: compare(kind, *pair) for kind in DEFAULTS} for name, pair in changes().items()}


def misses() -> str:
    """Return the table of what each gate lets through, at its default threshold."""
    kinds = list(DEFAULTS)
    lines = ["| change (1024x768) | exact | " + " | ".join(str(kind) for kind in kinds) + " |"]
    lines.append("|---" * (len(kinds) + 2) + "|")
    for name, found in scores().items():
        lines.append(f"| {name} | seen | " + " | ".join(_cell(found[kind]) for kind in kinds) + " |")
    return "\n".join(lines)


def _cell(found: Compared) -> str:
    return f"{'seen' if found.changed else '**missed**'} ({found.score:.4g})"


def test_the_docs_show_what_each_gate_misses() -> None:
    assert misses() in DOCS.read_text(encoding="utf-8")


def test_exact_misses_nothing() -> None:
    tiles = TileCompare(1024, 768)
    for before, after in changes().values():
        assert tiles.find_changes(before, after).any()
        assert identity(before) != identity(after)


def test_gates_see_a_dialog_and_no_gate_but_tile_max_sees_a_typed_line() -> None:
    assert all(found.changed for found in scores()["modal dialog, 400x250"].values())
    line = {kind: found.changed for kind, found in scores()["typed line on black, 154x14"].items()}
    assert line == {kind: kind is GateKind.TILE_MAX for kind in DEFAULTS}


@pytest.mark.parametrize("kind", list(DEFAULTS))
def test_equal_views_never_pass_and_another_shape_always(kind: GateKind) -> None:
    frame = desktop()[:200, :200]
    undefined = frame.copy()
    undefined[:, :, 3] = 255 - frame[:, :, 3]
    assert not passes(kind, frame, undefined, None, 320)
    assert not passes(kind, frame, frame, 0.0 if kind is not GateKind.SSIM else None, 0)
    assert passes(kind, frame, frame[:100], None, 320)


def test_a_gate_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="exact is not a lossy gate"):
        compare(GateKind.EXACT, flat(0, 8, 8), flat(1, 8, 8))


# ---- golden vectors ------------------------------------------------------------------------------------------------


def test_dhash_vectors() -> None:
    half = flat(0, 32, 32)
    half[:, :16] = 255
    assert dhash(flat(128, 32, 32)) == 0
    assert f"{dhash(half):016x}" == "0808080808080808"
    assert (0b1011 ^ 0b1110).bit_count() == 2


def test_dhash_truncates_its_luma_as_its_source_does() -> None:
    greys = [np.trunc(np.float64(v) * 0.299 + np.float64(v) * 0.587 + np.float64(v) * 0.114) for v in range(256)]
    assert sum(grey == v - 1 for v, grey in enumerate(greys)) == 65
    loser = next(v for v, grey in enumerate(greys) if grey == v - 1)
    pair = flat(loser, 9, 8)
    pair[:, 1::2] = loser - 1
    expected = 0 if greys[loser - 1] == greys[loser] else 0b10101010
    assert dhash(pair) >> 56 == expected


def test_ratio_is_the_share_of_pixels_and_bound_to_the_resolution() -> None:
    for width, height, share in ((1024, 768, 0.00274), (1280, 720, 0.00234), (1920, 1080, 0.00104)):
        before = flat(0, width, height)
        assert ratio(before, with_box(before, 100, 101, 154, 14, 255), 0) == pytest.approx(share, abs=5e-6)
    black, white = flat(0, 64, 64), flat(255, 64, 64)
    assert (ratio(black, black, 0), ratio(black, white, 0), ratio(black, white, 32)) == (0.0, 1.0, 1.0)


def test_shrunk_averages_whole_and_partial_squares() -> None:
    frame = np.zeros((3, 5, 4), np.uint8)
    frame[:, :, 0] = [[0, 4, 8, 8, 9], [4, 8, 8, 8, 9], [1, 3, 7, 7, 5]]
    assert shrink(frame, 2)[:, :, 0].tolist() == [[4, 8, 9], [2, 7, 5]]


def test_tile_max_is_the_worst_tile() -> None:
    before = flat(0, 40, 40)
    assert tile_max(before, with_box(before, 0, 0, 1, 13, 1)) == 13 / 256
    assert tile_max(before, with_box(before, 8, 8, 16, 16, 1)) == 0.25


def test_ssim_is_one_for_equal_views_and_follows_its_formula() -> None:
    frame = desktop()[:64, :64]
    assert ssim(frame, frame) == pytest.approx(1.0)
    assert ssim(flat(0, 64, 64), flat(255, 64, 64)) == pytest.approx(6.5025 / (255**2 + 6.5025), rel=1e-6)
    assert ssim(flat(0, 8, 8), flat(0, 8, 8)) == 1.0
    assert ssim(flat(0, 8, 8), flat(1, 8, 8)) == 0.0
