"""Titles as strangers write them: is a window found by its own name?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from acud.types import WindowTitle
from tests.bench.foreign.case import Case, Outcome, compare
from tests.fixtures.daemon import Daemon


def _case(shown: str, wanted: str, *command: str) -> Callable[[Daemon], Outcome]:
    """Return a check whether a window that `command` titles `shown` is found as `wanted`."""

    def check(daemon: Daemon) -> Outcome:
        display = daemon.client.display_create().display
        env = {**os.environ, "DISPLAY": display.name, "XAUTHORITY": display.auth_file, "LC_ALL": "C.UTF-8"}
        with subprocess.Popen([one.replace("TITLE", shown) for one in command], env=env) as program:
            try:
                armed = daemon.client.wait_create(WindowTitle(wanted), display=display.name, timeout_s=20.0)
                ended = daemon.client.wait_result(armed.wait.wait_id, block_s=40.0).wait
                return compare(str(ended.state), "resolved", f"{ended.state}: {ended.message}")
            finally:
                program.terminate()
                daemon.client.display_remove(display.name, force=True)

    return check


_XT = ("xmessage", "-xrm", "*international: true", "-title", "TITLE", "text")
_XTERM = ("xterm", "-T", "TITLE", "-e", "sleep 100")

CASES = (
    Case("xt-cyrillic", _case("Отчёт готов", "отчёт", *_XT)),
    Case("xt-latin-1", _case("Größe", "größe", *_XT)),
    Case("xt-chinese", _case("完成 3", "完成 3", *_XT), held_out=True),
    Case("xterm-utf-8", _case("Übersicht → alles", "übersicht → alles", *_XTERM), held_out=True),
)
