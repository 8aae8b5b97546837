"""Pictures in files: whole, cut out, and what is none."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from acud.base import png
from acud.base.errors import InvalidRequest
from acud_client.image_files import part_of, png_of

LOOK = np.random.default_rng(1).integers(0, 255, (60, 80, 4), np.uint8)


def pixels(data: bytes) -> list[object]:
    with Image.open(io.BytesIO(data)) as image:
        return [image.format, np.asarray(image.convert("RGB")).tolist()]


@pytest.fixture
def look(tmp_path: Path) -> Path:
    path = tmp_path / "look #1.png"
    path.write_bytes(png.encode(LOOK))
    return path


def test_a_file_and_a_part_of_it(look: Path) -> None:
    assert png_of(str(look)) == look.read_bytes()
    assert pixels(png_of(f"{look}#10,20,30,12")) == ["PNG", LOOK[20:32, 10:40, 2::-1].tolist()]
    assert part_of(str(look)) == (str(look), None)


def test_a_jpeg_becomes_a_png(tmp_path: Path) -> None:
    path = tmp_path / "look.jpg"
    Image.fromarray(np.ascontiguousarray(LOOK[:, :, :3])).save(path, quality=95)
    assert pixels(png_of(str(path)))[0] == "PNG"


@pytest.mark.parametrize(("name", "why"), [
    ("none.png", "can't be read: No such file"), (".", "can't be read: it is no regular file"),
    ("look #1.png#70,0,11,5", "is not in"), ("look #1.png#0,0,0,5", "is not in"),
    ("words.png#0,0,9,9", "no picture"), ("words.png", "no picture"),
])  # fmt: skip
def test_what_is_no_picture_says_why(look: Path, name: str, why: str) -> None:
    (look.parent / "words.png").write_text("not a picture")
    with pytest.raises(InvalidRequest, match=why) as refused:
        png_of(str(look.parent / name))
    assert "FILE#x,y,w,h" in refused.value.hint
