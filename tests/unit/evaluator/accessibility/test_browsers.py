"""Which browsers tell nothing of their pages, and what makes them tell."""

import os

import pytest

from acud.accessibility.nodes import AccessibleApp, Node
from acud.evaluator.accessibility.browsers import silent_browsers, tab_title
from acud.types import Rect, WindowInfo

NOBODY = 2**22 + 1
"""A process that cannot be: above the largest number (proc_sys_kernel(5))."""
CHROMIUM = AccessibleApp("Chromium", NOBODY, "Chromium", "1.0")
FIREFOX = AccessibleApp("Firefox", NOBODY, "Gecko", "153.7.0")
SPEAK = "--force-renderer-accessibility"


def window(wm_class: str, pid: int = NOBODY, **more: object) -> WindowInfo:
    return WindowInfo(1, "Page", Rect(0, 0, 800, 600), pid=pid, wm_class=wm_class, **more)  # type: ignore[arg-type]


def page(*roles: str) -> list[Node]:
    """Return a frame, and below it widgets of `roles`, each in the one before."""
    return [Node(f"/{at}", 0, at - 1, at, role, "", 0, None) for at, role in enumerate(("frame", *roles))]


@pytest.mark.parametrize("app", [CHROMIUM, FIREFOX], ids=lambda app: app.name)
def test_a_page_with_widgets_is_told(app: AccessibleApp) -> None:
    assert silent_browsers([app], page("panel", "document web", "heading"), [window("any")]) == ()


@pytest.mark.parametrize(
    "roles", [(), ("panel",), ("panel", "document web")], ids=["nothing", "a bar", "an empty page"]
)
@pytest.mark.parametrize(
    ("app", "switch"), [(CHROMIUM, SPEAK), (FIREFOX, "GNOME_ACCESSIBILITY=1")], ids=["Chromium", "Firefox"]
)
def test_a_browser_on_the_bus_without_a_page(app: AccessibleApp, switch: str, roles: tuple[str, ...]) -> None:
    (silent,) = silent_browsers([app], page(*roles), [window("any"), window("any")])
    assert (silent.name, silent.pid) == (app.name, app.pid)
    assert silent.reason.startswith(f"it tells nothing of its page; if that stays so, start it with {switch}")


@pytest.mark.parametrize(("wm_class", "switch"), [
    ("firefox-esr", "accessibility.force_disabled"), ("Chromium", SPEAK), ("Google-chrome", SPEAK),
    ("chromium-browser", SPEAK), ("Electron", SPEAK),
])  # fmt: skip
def test_a_browser_that_is_not_on_the_bus_is_known_by_its_window(wm_class: str, switch: str) -> None:
    (silent,) = silent_browsers([], [], [window(wm_class)])
    assert silent.name == wm_class
    assert "not on the accessibility bus" in silent.reason
    assert switch in silent.reason


def test_other_programs_are_no_browsers() -> None:
    gtk = AccessibleApp("gedit", NOBODY, "gtk", "3.24.38")
    assert silent_browsers([gtk], page(), [window("Gedit")]) == ()
    assert silent_browsers([], [], [window("XTerm"), window("XTerm", os.getpid()), window("Fireplace")]) == ()
    assert silent_browsers([], [], [window("Chromium", 0), window("Chromium", kind="popup")]) == ()


@pytest.mark.parametrize(("told", "title"), [
    ("Inbox - Memory usage - 22.8 MB", "Inbox"),
    ("Setup - download - 87 MB - High memory usage - 1.2 GB", "Setup - download - 87 MB"),
    ("Posteingang - Arbeitsspeichernutzung - 87,4 MB", "Posteingang"), ("メール - メモリ使用量 - 87 MB", "メール"),
    ("Inbox - 87 MB freed up", "Inbox - 87 MB freed up"), ("Budget - Inactive tab", "Budget - Inactive tab"),
    ("Flight - LH 400 - 12 May", "Flight - LH 400 - 12 May"),
])  # fmt: skip
def test_the_memory_of_a_tab_is_no_part_of_its_title(told: str, title: str) -> None:
    assert tab_title(told) == title
