"""Names as people write them: full names beside words of one meaning, beginnings, fields with values, boxes to tick."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acud.types import DisplayInfo
from acud.types.actions import Launch, WindowList
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PROGRAMS = Path(__file__).with_name("programs")
_PATIENCE_S = 60.0
_QUIET = ("NO_AT_BRIDGE=1", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", "AT_SPI_BUS_ADDRESS=")
"""In a program's environment: it tells nobody of its widgets."""


@contextmanager
def shown_form(
    daemon: Daemon, toolkit: str, layout: str, rows: Sequence[str], env: Sequence[str] = ()
) -> Iterator[tuple[DisplayInfo, Path]]:
    """Show the form of `programs/form.py` (`swing`: of `Form.java`), and yield its display and the file of its state.

    `toolkit` may end in `-quiet`: the program tells of no widgets.
    """
    name = toolkit.removesuffix("-quiet")
    program = (
        ("java", f"{_PROGRAMS}/Form.java") if name == "swing" else ("/usr/bin/python3", f"{_PROGRAMS}/form.py", name)
    )
    quiet = _QUIET if toolkit.endswith("-quiet") else ()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state.json")
        display = daemon.client.display_create(800, 640).display
        try:
            command = ("env", *quiet, *env, *program, layout, str(state), *rows)
            daemon.client.desktop_action(Launch(command), display=display.name)
            _await_form(daemon, display, rows[-1].partition(":")[2])
            yield display, state
        finally:
            daemon.client.display_remove(display.name, force=True)


def _await_form(daemon: Daemon, display: DisplayInfo, last: str) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s:
        windows = daemon.client.desktop_action(WindowList("Form"), display=display.name).windows
        is_shown = bool(windows) and windows[0].visibility != "unmapped"
        if is_shown and daemon.client.gui_find(last, display=display.name).found.candidates:
            return
        time.sleep(0.1)
    raise TimeoutError("the form did not come")


def form_case(
    toolkit: str, layout: str, rows: Sequence[str], instructions: Sequence[str], expected: dict[str, Any],
    env: Sequence[str] = (),
) -> Callable[[Daemon], Outcome]:  # fmt: skip
    """Return a check that follows `instructions`: wrong where the form's state is not as `expected` and acud said
    "verified", or did another thing; unknown where acud left undone what it could have done.
    """

    def check(daemon: Daemon) -> Outcome:
        with shown_form(daemon, toolkit, layout, rows, env) as (display, path):
            first = json.loads(path.read_text(encoding="utf-8"))
            replies = [daemon.client.gui_do(one, display=display.name, timeout_s=5) for one in instructions]
            until_s = time.monotonic() + 2
            while (state := json.loads(path.read_text(encoding="utf-8"))) != {**first, **expected}:
                if time.monotonic() > until_s:
                    break
                time.sleep(0.05)
            printed = "; ".join(f"{one.status}: {one.message}" for one in replies)
            if state == {**first, **expected}:
                return Outcome(Answer.RIGHT, printed)
            is_honest = all(state[key] in (first[key], expected.get(key, first[key])) for key in first)
            is_honest = is_honest and any(one.status != "verified" for one in replies)
            return Outcome(Answer.UNKNOWN if is_honest else Answer.WRONG, f"{state}; {printed}")

    return check


_ROWS = ("short:Postcode", "entry:City of birth", "combo:Country of residence=Austria|Chile", "check:Express",
         "check:Gift wrap=1", "button:Save", "button:Store", "button:Export")  # fmt: skip
_TWICE = ("set Postcode to 'SW1A 1AA'", "set Postcode to '8001 ZH'", "set City to 'Bern'")
_TICKS = ("tick the Express check box", "tick Express", "uncheck the Gift wrap checkbox")
_TICKED = {"Express": True, "Gift wrap": False}
_CHOICE = ("select Chile in Country", "click the Export button", "click the Store button")

CASES = (
    Case("synonyms: GTK 3", form_case("gtk3", "beside", _ROWS, _CHOICE, {
        "Country of residence": "Chile", "Export": 1, "Store": 1})),
    Case("values: Tk", form_case("tk", "above", _ROWS, _TWICE, {"Postcode": "8001 ZH", "City of birth": "Bern"})),
    Case("ticks: Qt 5 without widgets", form_case("qt5-quiet", "beside", _ROWS, _TICKS, _TICKED)),
    Case("ticks: Tk", form_case("tk", "beside", _ROWS, _TICKS, _TICKED)),
    Case("ticks: Qt 6", form_case("qt6", "beside", ("check:Cancel", "check:Abort", "check:Close=1", "button:Quit"),
        ("switch on Cancel", "turn off Close"), {"Cancel": True, "Close": False}), held_out=True),
    Case("values: Qt 6 without widgets", form_case("qt6-quiet", "beside", _ROWS, _TWICE, {
        "Postcode": "8001 ZH", "City of birth": "Bern"}), held_out=True),
    Case("beginnings: GTK 3 without widgets", form_case("gtk3-quiet", "beside",
        ("combo:Delivery method=Post|Courier", "entry:Remarks for us", "button:Delete", "button:Remove"),
        ("select Courier in Delivery", "type 'ring twice' into Remarks", "click the Remove button"),
        {"Delivery method": "Courier", "Remarks for us": "ring twice", "Remove": 1}), held_out=True),
    Case("ticks: Swing", form_case("swing", "above", ("entry:Title", "check:Public", "check:Pinned=1", "button:Post"),
        ("check the Public box", "untick Pinned"), {"Public": True, "Pinned": False}), held_out=True),
)  # fmt: skip
