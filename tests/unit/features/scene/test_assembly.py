"""Programs of displays: each display's apart, so that who sees one is told nothing of another."""

import os

from acud.features.scene.supervisor.assembly import ShownDisplay, make_apps, select_displays
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect, WindowInfo
from acud.types.scene import Scene, SceneApp
from tests.unit.features.scene.scenes import scene

BOX = Rect(0, 0, 10, 10)


def screen(number: int, *windows: WindowInfo) -> WatchedDisplay:
    made = WatchedDisplay(f":{100 + number}", number, managed=True, auth_file="")
    made.windows = windows
    return made


def assemble(*displays: ShownDisplay) -> Scene:
    found = make_apps(displays, lambda _, window: window.title)
    both = tuple(scene().displays[0].__class__(n, BOX, name=f":{100 + n}") for n in (1, 2))
    return scene(displays=both, apps=found, focused_window=None, ocr=(), ax=(), providers=())


def test_a_part_names_no_program_of_another_display() -> None:
    mine, parent = os.getpid(), os.getppid()
    secret = WindowInfo(5, "salaries.ods", BOX, wm_class="Secret")  # both name no process
    plain = WindowInfo(6, "notes", BOX, wm_class="Editor")
    whole = assemble(ShownDisplay(screen(1, secret), (mine,)), ShownDisplay(screen(2, plain), (parent,)))
    assert {app.display_id for app in whole.apps} == {1, 2}
    part = select_displays(whole, frozenset({2}))
    assert [(app.name, app.pid) for app in part.apps if app.windows] == [("Editor", 0)]
    assert [app.pid for app in part.apps if not app.windows] == [parent]
    assert "Secret" not in str(part)
    assert "salaries" not in str(part)


def test_a_process_on_two_displays_is_told_with_each() -> None:
    pid = os.getpid()
    whole = assemble(ShownDisplay(screen(1, WindowInfo(5, "one", BOX, pid=pid))), ShownDisplay(screen(2), (pid,)))
    assert [(app.pid, len(app.windows), app.display_id) for app in whole.apps] == [(pid, 1, 1), (pid, 0, 2)]
    assert [type(app) for app in select_displays(whole, frozenset({2})).apps] == [SceneApp]
