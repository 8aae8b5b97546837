"""The screens of the grounding set by name, and how each is put on a desktop.

`WORK` is the half to work with: `ALL`, which the first finder was tuned on, and `tests/grounding/work`. `CLOSED` is the
closed half: see `tests/grounding/closed` before you open it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from acud.types import Rect
from tests.grounding import closed, work
from tests.grounding.browser import Page
from tests.grounding.desktop import Desktop, chromium, missing
from tests.grounding.half import Half

GTK_3 = ("save_dialog", "contact_form", "dark_toolbar", "file_list", "open_menu", "two_windows")
QT = {"preferences": "PyQt5", "table": "PyQt5", "wizard": "PyQt6", "login": "PyQt6"}
GTK_4 = ("settings",)
PAGES = ("checkout", "shop", "users", "profile")
ALL = (*GTK_3, *QT, *GTK_4, *PAGES)
WORK = (*ALL, *work.HALF.screens)
CLOSED = tuple(closed.HALF.screens)
HALVES: tuple[Half, ...] = (work.HALF, closed.HALF)


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    for half in HALVES:
        if screen in half.screens:
            return half.lacking(screen)
    if screen in PAGES:
        return "" if chromium() else "no chromium"
    return missing("gtk3") if screen in GTK_3 else missing("gtk4") if screen in GTK_4 else missing(QT[screen])


@contextmanager
def shown(screen: str) -> Iterator[tuple[Desktop, dict[str, Rect]]]:
    """Put `screen` on a desktop of its own, settled; yield both, with where its widgets are by key."""
    for half in HALVES:
        if screen in half.screens:
            with half.screens[screen]() as put:
                yield put
            return
    with Desktop() as desktop:
        if screen in PAGES:
            with Page(desktop, f"{screen}.html") as page:
                yield desktop, page.truth
        elif screen in GTK_3:
            yield desktop, desktop.show("gtk3.py", screen)[1]
        elif screen in GTK_4:
            _, inside = desktop.show("gtk4.py", screen)
            (window,) = desktop.windows()
            yield desktop, {key: box.shift(window.bounds.x, window.bounds.y) for key, box in inside.items()}
        else:
            yield desktop, desktop.show("qt.py", screen, QT[screen])[1]
