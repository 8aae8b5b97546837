"""Programs of the system as screens: LibreOffice, terminals and dialogs, whose boxes were measured on a picture.

A measured box holds for the version that it was measured on: `differs` names another one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from acud.types import Rect
from tests.grounding.browser import Page
from tests.grounding.desktop import Desktop

Shown = tuple[Desktop, dict[str, Rect]]
Screen = Callable[[], AbstractContextManager[Shown]]

QUIET_S = 1.5
_PATIENCE_S = 60.0
_SETTING = (
    '<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)  # fmt: skip
_SETTINGS = (
    ("/org.openoffice.Office.Common/Misc", "ShowTipOfTheDay", "false"),
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Setup/Product", "ooSetupLastVersion", "{version}"),
    ("/org.openoffice.Setup/Product", "LastTimeDonateShown", "4000000000"),
    ("/org.openoffice.Setup/Product", "LastTimeGetInvolvedShown", "4000000000"),
)


def version(package: str) -> str:
    """Return the version of an installed `package` without epoch and revision ("" when it isn't there)."""
    asked = ("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package)
    said = subprocess.run(asked, capture_output=True, text=True, check=False) if shutil.which(asked[0]) else None
    found = re.fullmatch(r"installed (?:\d+:)?([\d.]+).*", said.stdout) if said else None
    return found[1] if found else ""


def differs(package: str, measured: str) -> str:
    """Return why boxes that were measured on version `measured` of `package` don't hold here ("" when they do)."""
    here = version(package)
    if not here:
        return f"no {package}"
    is_same = here == measured or here.startswith(f"{measured}.")
    return "" if is_same else f"{package} is {here}, its boxes are measured on {measured}"


def show_document(desktop: Desktop, document: Path) -> None:
    """Open `document` in LibreOffice with settings of its own, maximised, and return once the picture rests."""
    profile = desktop.folder / "office"
    (profile / "user").mkdir(parents=True)
    items = "".join(_SETTING.format(path=path, name=name, value=value) for path, name, value in _SETTINGS)
    (profile / "user" / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        + items.format(version=".".join(version("libreoffice-core").split(".")[:2]))
        + "</oor:items>"
    )
    desktop.spawn(
        "soffice", f"-env:UserInstallation=file://{profile}", "--norestore", "--nologo", str(document),
        SAL_USE_VCLPLUGIN="gtk3",
    )  # fmt: skip
    wait_for_window(desktop, document.name)
    rest(desktop)


def wait_for_window(desktop: Desktop, title: str) -> None:
    desktop.wait_for(lambda: any(title in window.title for window in desktop.windows()), f"a window {title!r}")


def rest(desktop: Desktop) -> None:
    """Wait until the picture has not changed for `QUIET_S`, but for a blinking cursor."""
    until, since, before = time.monotonic() + _PATIENCE_S, time.monotonic(), b""
    while time.monotonic() - since < QUIET_S:
        now = pixels(desktop)
        if _differ(before, now):
            since, before = time.monotonic(), now
        if time.monotonic() > until:
            raise RuntimeError("the picture never rested")
        time.sleep(0.1)


def pixels(desktop: Desktop) -> bytes:
    area = desktop.screen
    return bytes(desktop.x.root.get_image(0, 0, area.w, area.h, 2, 0xFFFFFFFF).data)


def _differ(before: bytes, now: bytes) -> bool:
    if len(before) != len(now):
        return True
    line = len(now) // 800
    changed = sum(before[at : at + line] != now[at : at + line] for at in range(0, len(now), line))
    return changed > 40


@contextmanager
def quiet_desktop() -> Iterator[Desktop]:
    """Put up a desktop whose pointer rests at the left edge, where it opens no tooltip."""
    with Desktop() as desktop:
        desktop.x.root.warp_pointer(0, 500)
        desktop.x.sync()
        yield desktop


@contextmanager
def page_screen(kind: type[Page], page: Path, measured: dict[str, Rect]) -> Iterator[Shown]:
    """Show `page` in a browser; the truth is what it posts, and what was `measured` of the browser itself."""
    with quiet_desktop() as desktop, kind(desktop, page.name, folder=page.parent) as told:
        rest(desktop)
        yield desktop, told.truth | measured


@contextmanager
def office_screen(source: Path, name: str, measured: dict[str, Rect]) -> Iterator[Shown]:
    """Show a copy of the document `source`, called `name`, in LibreOffice."""
    with quiet_desktop() as desktop:
        document = desktop.folder / name
        shutil.copyfile(source, document)
        show_document(desktop, document)
        yield desktop, measured


@contextmanager
def terminal_screen(source: Path, title: str, cell: Rect, words: dict[str, str], *options: str) -> Iterator[Shown]:
    """Show the text `source` in an xterm with `options`; the truth is where the texts `words` stand, by key."""
    with quiet_desktop() as desktop:
        desktop.spawn(
            "xterm", "-T", title, "-fa", "DejaVu Sans Mono", *options,
            "-e", "sh", "-c", f"tput civis; cat {source}; exec sleep 9999",
        )  # fmt: skip
        wait_for_window(desktop, title)
        rest(desktop)
        yield desktop, words_at(source.read_text().splitlines(), cell, words)


@contextmanager
def file_dialog_screen(folder: str, entries: dict[str, int], spec: dict[str, Any]) -> Iterator[Shown]:
    """Show GTK's dialog for files as `spec` has it (see `programs/file_dialog.py`) in a `folder` of these `entries` and
    sizes in bytes; a name that ends in `/` is a folder.
    """
    with quiet_desktop() as desktop:
        place = desktop.folder / folder
        place.mkdir()
        for name, size in entries.items():
            if name.endswith("/"):
                (place / name).mkdir()
            else:
                (place / name).write_bytes(b"x" * size)
        _, truth = desktop.show("file_dialog.py", json.dumps(spec | {"folder": str(place)}))
        rest(desktop)
        yield desktop, truth


def around(y: int, half: int, at: dict[str, int]) -> dict[str, Rect]:
    return {key: Rect(x - half, y - half, 2 * half, 2 * half) for key, x in at.items()}


def words_at(lines: list[str], cell: Rect, keys: dict[str, str]) -> dict[str, Rect]:
    """Return the boxes of the texts `keys` (by key) in a terminal that shows `lines`. `cell`: its first character's.

    A text that stands in none or in several places is an error.
    """
    boxes = {}
    for key, text in keys.items():
        places = [(row, at.start()) for row, line in enumerate(lines) for at in re.finditer(re.escape(text), line)]
        ((row, column),) = places
        boxes[key] = Rect(cell.x + column * cell.w, cell.y + row * cell.h, len(text) * cell.w, cell.h)
    return boxes


FIREFOX_VERSION = "153"
FIREFOX_TOOLBAR = {
    "ff-tab": Rect(47, 24, 192, 34), "ff-address": Rect(256, 68, 770, 30),
    **around(41, 11, {"ff-view": 20, "ff-close-tab": 252, "ff-new-tab": 289, "ff-all-tabs": 1260}),
    **around(83, 13, {
        "ff-back": 24, "ff-forward": 60, "ff-reload": 96, "ff-shield": 239, "ff-bookmark": 1041, "ff-account": 1184,
        "ff-extensions": 1220, "ff-menu": 1256,
    }),
    **around(10, 7, {"minimize": 1238, "maximize": 1254, "close": 1270}),
}  # fmt: skip
"""Firefox's own widgets on a display of 1280 x 800, maximised, with one tab; and its window's buttons."""
