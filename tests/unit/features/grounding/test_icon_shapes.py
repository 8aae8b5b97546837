"""Icons by their shape: pictures of this machine's theme and drawn characters, on other grounds and in other sizes."""

from collections.abc import Iterator
from itertools import dropwhile, takewhile
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from acud.features.grounding.evaluator import icon_sets, icon_shapes
from acud.features.grounding.evaluator.icon_sets import IconDrawing, drawings
from acud.features.grounding.evaluator.icon_shapes import SURE, inks, outline_of, shape_meanings, templates_of
from acud.features.grounding.icon_words import icon_table, meanings_in_set, meanings_of_name
from acud.types import Rect

THEME = Path("/usr/share/icons/Adwaita")
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def on_ground(ink: np.ndarray, ground: int, colour: int) -> np.ndarray:
    """Return a picture (height x width x 4 uint8 BGRX) of `ink` (0 to 1) in the middle of a plain ground."""
    height, width = ink.shape
    picture = np.full((height + 20, width + 20, 4), ground, np.float32)
    part = picture[10 : 10 + height, 10 : 10 + width]
    part += (colour - ground) * ink[:, :, None]
    return picture.astype(np.uint8)


def find_meanings(ink: np.ndarray, ground: int = 240, colour: int = 40) -> dict[str, float]:
    picture = on_ground(ink, ground, colour)
    return dict(shape_meanings(picture, Rect(0, 0, picture.shape[1], picture.shape[0])))


def load_themed(name: str, size: str = "48x48", side: int = 18) -> np.ndarray:
    file = next(THEME.glob(f"{size}/*/{name}-symbolic.symbolic.png"), None)
    if file is None:
        pytest.skip(f"no {name} in {THEME}")
    ink = np.asarray(Image.open(file).convert("RGBA"), np.float32)[:, :, 3] / 255
    return cv2.resize(ink, (side, side), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("user-trash", "delete"), ("edit-find", "search"), ("document-print", "print"), ("emblem-system", "settings")],
)
@pytest.mark.parametrize(("ground", "colour"), [(240, 40), (30, 220)])
def test_an_icon_of_the_theme_is_known_in_another_size_and_colour(
    name: str, meaning: str, ground: int, colour: int
) -> None:
    likes = find_meanings(load_themed(name), ground, colour)
    assert max(likes, key=lambda one: likes[one]) == meaning


def test_a_character_drawn_as_an_icon_is_known_without_a_theme() -> None:
    image = Image.new("L", (60, 60))
    ImageDraw.Draw(image).text((14, 8), "★", fill=255, font=ImageFont.truetype(str(FONT), 28))
    assert "star" in find_meanings(np.asarray(image, np.float32) / 255)


def test_an_empty_button_and_a_frame_mean_nothing() -> None:
    assert find_meanings(np.zeros((24, 24), np.float32)) == {}
    frame = np.full((44, 90, 4), 240, np.uint8)
    frame[4:40, 4:86] = 90
    frame[5:39, 5:85] = 240
    assert shape_meanings(frame, Rect(4, 4, 82, 36)) == {}


@pytest.mark.parametrize(("name", "meaning"), [
    ("Move to bin", "delete"), ("user-trash-symbolic", "delete"), ("⚙", "settings"), ("+", "add"),
    ("Open application menu", "menu"), ("Save the day", "save"), ("✕", "close"), ("Open a new tab", "add"),
])  # fmt: skip
def test_names_tips_theme_names_and_characters_have_meanings(name: str, meaning: str) -> None:
    assert meaning in meanings_of_name(name)


def test_every_phrase_of_the_table_can_be_compared() -> None:
    table = icon_table()
    assert len(table.by_phrase) > 500
    assert {"magnifier", "floppy", "trash can", "gear"} <= table.looks
    assert meanings_of_name("Customers") == frozenset()


@pytest.fixture(scope="module")
def all_drawings(tmp_path_factory: pytest.TempPathFactory) -> list[IconDrawing]:
    """What this machine has, read once for all tests, with a theme of SVG files alone."""
    shared = tmp_path_factory.mktemp("shared")
    folder = shared / "icons" / "Thin" / "scalable" / "actions"
    folder.mkdir(parents=True)
    (folder / "edit-cut-symbolic.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><path d="M2 2h12v3H2z" fill="#222"/></svg>'
    )
    (folder / "edit-copy-symbolic.svg").write_text("no picture at all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_DIRS", f"/usr/local/share:/usr/share:{shared}")
        icon_sets.data_folders.cache_clear()
        read = list(drawings())
    icon_sets.data_folders.cache_clear()
    return read


@pytest.fixture(scope="module", autouse=True)
def pictures(all_drawings: list[IconDrawing]) -> Iterator[list[IconDrawing]]:
    """What this machine has. Its templates are kept for the process, so none is of the theme above."""
    own = [one for one in all_drawings if one.origin != "theme Thin"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(icon_shapes, "drawings", lambda: own)
        yield own


@pytest.fixture(scope="module")
def without_lucide(pictures: list[IconDrawing]):
    """Templates of a machine that has never seen the set Lucide, and the set's own pictures as they look at 18 px."""
    lucide = takewhile(is_lucide, dropwhile(lambda one: not is_lucide(one), drawings(18)))
    return templates_of(one for one in pictures if not is_lucide(one)), {one.name: one.ink for one in lucide}


def is_lucide(one: IconDrawing) -> bool:
    return one.origin == "lucide"


@pytest.mark.parametrize(("name", "meaning"), [
    ("trash-2", "delete"), ("house", "home"), ("bell", "notifications"), ("printer", "print"), ("mail", "mail"),
    ("scissors", "cut"), ("funnel", "filter"), ("paperclip", "attach"), ("shopping-cart", "cart"),
])  # fmt: skip
@pytest.mark.parametrize(("ground", "colour"), [(240, 40), (30, 220)])
def test_an_icon_in_the_style_of_a_set_that_is_not_there_is_known(
    without_lucide, name: str, meaning: str, ground: int, colour: int
) -> None:
    templates, pictures = without_lucide
    picture = on_ground(pictures[name], ground, colour)
    seen_inks = inks(picture, Rect(0, 0, picture.shape[1], picture.shape[0]))
    likes = templates.likenesses([outline_of(ink) for ink in seen_inks]).max(axis=0)
    assert templates.meanings[int(likes.argmax())] == meaning
    assert likes.max() >= SURE


def test_a_white_icon_on_a_coloured_plate_is_known_as_a_dark_one_on_a_light_ground(without_lucide) -> None:
    _, pictures = without_lucide
    plate = np.full((60, 60, 4), 245, np.uint8)
    cv2.circle(plate, (30, 30), 22, (200, 90, 20, 0), -1, cv2.LINE_AA)
    ink = pictures["bell"][:, :, None]
    part = plate[21:39, 21:39]
    part[:] = (part * (1 - ink) + 255 * ink).astype(np.uint8)
    likes = dict(shape_meanings(plate, Rect(4, 4, 52, 52)))
    assert max(likes, key=lambda one: likes[one]) == "notifications"


def test_a_theme_of_svg_files_alone_gives_templates(all_drawings: list[IconDrawing]) -> None:
    own = [one for one in all_drawings if one.origin == "theme Thin"]
    assert [(one.name, one.meanings) for one in own] == [("edit-cut", frozenset({"cut"}))]
    assert own[0].ink[8, 16] == pytest.approx(1, abs=0.1)


def test_names_in_sets_have_meanings_by_what_they_show_whatever_the_style() -> None:
    assert meanings_in_set("mdi", "trash-can-outline") == {"delete"}
    assert meanings_in_set("remix", "delete-bin-2-fill") == {"delete"}
    assert meanings_in_set("fa", "share") == {"forward mail"}
    assert meanings_in_set("lucide", "share") == {"share"}
    assert meanings_in_set("mdi", "church") == frozenset()


def test_every_name_in_a_set_is_a_picture_of_one(pictures: list[IconDrawing]) -> None:
    """A name that no set has was misspelt, or went with a new version."""
    drawn = {meaning for one in pictures for meaning in one.meanings}
    assert {meaning for known in icon_table().by_set.values() for meaning in known} <= drawn
