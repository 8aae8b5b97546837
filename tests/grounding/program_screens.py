"""Screens of the grounding set's halves that one program of a toolkit shows, each on a desktop of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from acud.types import Rect
from tests.grounding.desktop import PROGRAMS, Desktop, missing

_THEME = Path("/usr/share/icons/Adwaita")


class Program(NamedTuple):
    """`file`: the program, run with the screen's name. `needs`: `gtk3`, `gtk4`, `PyQt5`, `PyQt6` or `tkinter`.
    `is_silent`: it tells accessibility nothing.
    """

    file: Path
    needs: str
    is_silent: bool = False

    def lacking(self) -> str:
        """Return why this machine can't show it ("" when it can)."""
        if not _THEME.is_dir():
            return f"no {_THEME}"
        return missing("gtk3", self.needs) if self.needs != "gtk4" else missing("gtk4")

    def shown(self, screen: str) -> AbstractContextManager[tuple[Desktop, dict[str, Rect]]]:
        """Put `screen` on a desktop of its own, settled; yield both, with where its widgets are by key."""
        return _shown(self, screen)


@contextmanager
def _shown(program: Program, screen: str) -> Iterator[tuple[Desktop, dict[str, Rect]]]:
    binding = [program.needs] if program.needs.startswith("PyQt") else []
    more = {"NO_AT_BRIDGE": "1"} if program.is_silent else {}
    with Desktop() as desktop:
        _, told = desktop.show(str(program.file), screen, *binding, PYTHONPATH=str(PROGRAMS), **more)
        if program.needs == "gtk4":
            (window,) = desktop.windows()
            told = {key: box.shift(window.bounds.x, window.bounds.y) for key, box in told.items()}
        yield desktop, told
