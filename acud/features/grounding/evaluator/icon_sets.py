"""Pictures of icons with what they mean: from icon sets that are installed with acud, from the icon themes of this
machine, and from the characters that programs draw as icons.

Names in sets, in themes and of characters have meanings by `icon_names.txt`; what it does not name is left out.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from acud.features.grounding.icon_words import icon_table, meanings_in_set

DRAWN_PX = 32
"""How large pictures without a size of their own are drawn."""

_FONT_SETS = {
    "fa": ("fontawesome6-solid-webfont", "fontawesome6-regular-webfont"),
    "mdi": ("materialdesignicons6-webfont",),
    "ph": ("phosphor",),
    "remix": ("remixicon",),
    "ei": ("elusiveicons-webfont",),
}
"""Font Awesome, Material Design Icons, Phosphor, Remix Icon and Elusive Icons, by the names of their files in the
package `qtawesome`: filled and outlined, thin to bold.
"""
_PICTURE_SETS = ("lucide", "heroicons")
"""Packages with a zip file of SVG pictures, under their own name."""
_SIZES = ("24x24", "16x16", "scalable", "symbolic")
_LIGHT = 0.96
_SOLID = 0.45
"""From this mean ink on, a picture with colours of its own is not a silhouette but a plate with something on it."""
_UNASSIGNED = "\uf8ff"
"""A character that fonts draw as an empty box."""

Ink = NDArray[np.float32]


class IconDrawing(NamedTuple):
    """One picture. `origin`: the set, theme or font it comes from. `ink`: height x width, 0 (ground) to 1."""

    origin: str
    name: str
    meanings: frozenset[str]
    ink: Ink


def drawings(px: int = DRAWN_PX) -> Iterator[IconDrawing]:
    """Yield each picture that has a meaning; pictures without a size of their own are `px` large."""
    yield from _draw_font_icons(px)
    yield from _draw_package_icons(px)
    yield from _draw_theme_icons(px)
    yield from _draw_characters(px)


def _draw_font_icons(px: int) -> Iterator[IconDrawing]:
    folder = _find_package("qtawesome") / "fonts"
    for origin, stems in _FONT_SETS.items():
        for stem in stems:
            charmap = next(folder.glob(f"{stem}-charmap-*.json"))
            version = charmap.stem.rpartition("-")[2]
            font = ImageFont.truetype(str(folder / f"{stem}-{version}.ttf"), px)
            seen: set[str] = set()
            for name, code in json.loads(charmap.read_text(encoding="utf-8")).items():
                meanings = meanings_in_set(origin, name)
                if meanings and code not in seen:
                    seen.add(code)
                    yield IconDrawing(origin, name, meanings, _glyph_ink(font, chr(int(code, 16)), px))


def _draw_package_icons(px: int) -> Iterator[IconDrawing]:
    for origin in _PICTURE_SETS:
        with zipfile.ZipFile(_find_package(origin) / f"{origin}.zip") as pictures:
            for file in sorted(pictures.namelist()):
                meanings = meanings_in_set(origin, PurePath(file).stem) if file.endswith(".svg") else frozenset()
                if meanings:
                    svg = pictures.read(file).decode("utf-8")
                    yield IconDrawing(origin, PurePath(file).stem, meanings, _svg_ink(svg, px, plain=True))


def _find_package(name: str) -> Path:
    """Return the folder of an installed package, which is not imported: `qtawesome` would want Qt."""
    found = find_spec(name)
    assert found is not None
    assert found.origin is not None, f"{name} is one of acud's dependencies"
    return Path(found.origin).parent


def _svg_ink(svg: str, px: int, *, plain: bool) -> Ink:
    """Return the ink of an SVG picture; `plain`: it has one colour, so its ink is what it covers."""
    import resvg_py  # loaded only where icons are looked for

    picture = resvg_py.svg_to_bytes(svg_string=svg, width=px, height=px, skip_system_fonts=True)
    return _picture_ink(BytesIO(picture), plain=plain)


def _draw_theme_icons(px: int) -> Iterator[IconDrawing]:
    """Yield the pictures of installed themes: SVG files, and PNG files of the usual icon sizes."""
    themes = icon_table().by_theme
    for file in _theme_files():
        name = file.name.removesuffix(".svg").removesuffix(".png").removesuffix(".symbolic").removesuffix("-symbolic")
        if name not in themes:
            continue
        plain = "symbolic" in file.name
        try:
            ink = (
                _svg_ink(file.read_text("utf-8"), px, plain=plain)
                if file.suffix == ".svg"
                else _picture_ink(file, plain=plain)
            )
        except (OSError, ValueError):  # a dead link, or not a picture of that type
            continue
        if plain or ink.mean() < _SOLID:
            yield IconDrawing(f"theme {file.parents[2].name}", name, themes[name], ink)


def _theme_files() -> Iterator[Path]:
    for folder in data_folders():
        for size in _SIZES:
            for suffix in ("png", "svg"):
                yield from sorted((folder / "icons").glob(f"*/{size}/*/*.{suffix}"))


def _draw_characters(px: int) -> Iterator[IconDrawing]:
    """Yield the characters that programs draw as icons, from this machine's fonts that have them."""
    fonts = [ImageFont.truetype(str(file), px) for file in _find_fonts()]
    for font in fonts:
        missing = _glyph_ink(font, _UNASSIGNED, px)
        for glyph, meanings in icon_table().by_glyph.items():
            ink = _glyph_ink(font, glyph, px)
            if ink.any() and not np.array_equal(ink, missing):
                yield IconDrawing("characters", glyph, meanings, ink)


def _find_fonts() -> list[Path]:
    return [file for place in data_folders() for file in sorted((place / "fonts").rglob("DejaVuSans.ttf"))]


@cache
def data_folders() -> Sequence[Path]:
    """Return where this machine's themes and fonts are."""
    places = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [Path(place) for place in places.split(":") if Path(place).is_dir()]


def _glyph_ink(font: ImageFont.FreeTypeFont, glyph: str, px: int) -> Ink:
    image = Image.new("L", (3 * px, 2 * px))
    ImageDraw.Draw(image).text((px // 2, px // 4), glyph, fill=255, font=font)
    return (np.asarray(image, np.float32) / 255).astype(np.float32)


def _picture_ink(source: Path | BytesIO, *, plain: bool) -> Ink:
    """Return what a picture covers; of one with colours of its own, as it is on a light ground."""
    with Image.open(source) as image:
        bands = (np.asarray(image.convert("RGBA"), np.float32) / 255).astype(np.float32)
    if plain:
        return bands[:, :, 3]
    ink: Ink = np.abs(_LIGHT - bands[:, :, :3]).max(axis=2) * bands[:, :, 3]
    return (ink / max(float(ink.max()), 1e-3)).astype(np.float32)
