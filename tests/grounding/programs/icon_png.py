"""Icons of the Adwaita theme as PNG, for toolkits that don't read SVG themselves."""

from __future__ import annotations

import re
from pathlib import Path

import gi

gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf  # noqa: E402

THEME = Path("/usr/share/icons/Adwaita")


def png(name: str, px: int = 24, colour: str = "#2e3436") -> bytes:
    """Return the symbolic icon `name` (without `-symbolic`), `px` wide, in `colour`.

    Raises: FileNotFoundError when the theme has none of this name.
    """
    found = sorted(THEME.rglob(f"{name}-symbolic.svg"))
    if not found:
        raise FileNotFoundError(f"{THEME} has no {name}-symbolic.svg")
    drawing = re.sub(r"#[0-9a-fA-F]{6}\b", colour, found[0].read_text(encoding="utf-8"))
    loader = GdkPixbuf.PixbufLoader()
    loader.set_size(px, px)
    loader.write(drawing.encode())
    loader.close()
    _, made = loader.get_pixbuf().save_to_bufferv("png", [], [])
    return bytes(made)
