"""A recorder launched through acud, and its log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.types import Rect
from acud.types.actions import Action, Launch
from acud_client import Client
from tests.e2e.desktop import titled, until

_PROGRAM = Path(__file__).with_name("recorder.py")


def act(client: Client, *actions: Action, request_id: str = "", **given: Any) -> ActionReply:
    """Do `actions`; `request_id` repeats an earlier call."""
    return client.ask(DesktopAction(actions, **given), ActionReply, request_id=request_id)


class Recording:
    """A window titled `title` on `display` that records. Its window is there when this returns."""

    def __init__(
        self,
        client: Client,
        display: str,
        folder: Path,
        title: str = "Recorder",
        box: Rect = Rect(0, 0, 640, 480),  # noqa: B008 - frozen
        repaints: int = 1,
    ) -> None:
        self.path = folder / f"{title}.log"
        place = map(str, (box.x, box.y, box.w, box.h))
        command = (sys.executable, str(_PROGRAM), str(self.path), title, *place, str(repaints))
        self.reply: ActionReply = act(client, Launch(command), display=display)
        self.pid = self.reply.pid
        self.until(lambda lines: "shown" in lines, "its window")
        self.window = titled(client, display, title)

    def lines(self, kind: str = "") -> list[str]:
        """Return what it wrote so far, of one kind."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # what is being written may show in part
        return [line for line in whole.splitlines() if line.startswith(kind)]

    def until(self, holds: Callable[[list[str]], object], what: str) -> None:
        """Return once its lines are as they should be."""
        until(lambda: holds(self.lines()), what)

    def presses(self, count: int) -> list[tuple[int, ...]]:
        """Return the first `count` presses (button, x, y, state), once they are there."""
        self.until(lambda _: len(self.lines("press")) >= count, f"{count} presses")
        return [tuple(map(int, line.split()[1:])) for line in self.lines("press")]
