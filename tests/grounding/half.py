"""A half of the grounding set: a folder with modules of screens, each with its descriptions beside it.

A module has `SCREENS`, which tells by the name of a screen what puts it on a desktop of its own and yields that with
the boxes of its widgets (`{key: Rect}`, display pixels), and `lacking(screen)`, which tells why this machine can't.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from acud.types import Rect
from tests.grounding.desktop import Desktop

MODULES = ("toolkits", "desktops", "webapps", "programs")

Shown = AbstractContextManager[tuple[Desktop, dict[str, Rect]]]


class Description(NamedTuple):
    """`want`: the key of the widget that is meant, `several` or `none`. `tag`: `icon` where it shows only an icon."""

    screen: str
    words: str
    want: str
    tag: str = ""


class Half:
    """The half in the folder of `package`: what its modules of screens say, merged."""

    def __init__(self, package: str) -> None:
        self.folder = Path(__file__).parent / package.rpartition(".")[2]
        self._modules: dict[str, Any] = {}
        self.screens: dict[str, Callable[[], Shown]] = {}
        for name in MODULES:
            if not (self.folder / f"{name}.py").exists():
                continue
            module = importlib.import_module(f"{package}.{name}")
            self._modules |= dict.fromkeys(module.SCREENS, module)
            self.screens |= module.SCREENS

    def lacking(self, screen: str) -> str:
        """Return why this machine can't show `screen` ("" when it can)."""
        return str(self._modules[screen].lacking(screen))

    def descriptions(self) -> list[Description]:
        found = [self.folder / f"{name}.txt" for name in MODULES]
        return [one for file in found if file.exists() for one in read(file)]

    def sha256(self) -> str:
        """Return the hash of every file of the folder but `__init__.py`, with its name."""
        made = hashlib.sha256()
        for file in sorted(self.folder.rglob("*")):
            if file.is_file() and file.name != "__init__.py" and "__pycache__" not in file.parts:
                made.update(f"{file.relative_to(self.folder)}\0".encode() + file.read_bytes() + b"\0")
        return made.hexdigest()


def read(file: Path) -> list[Description]:
    """Return the descriptions in `file`: lines `screen | words | want [| tag]`, and comments after `#`."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [Description(*(part.strip() for part in line.split("|"))) for line in lines]


def is_measured(asked_for: bool, opened: Sequence[str]) -> bool:
    """Tell whether the closed half is measured: when it is asked for, and always once it has been opened."""
    return asked_for or bool(opened)
