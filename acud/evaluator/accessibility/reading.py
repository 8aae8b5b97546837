"""Reading one application, with a patience of its own: what it says until it ends, hangs or is done."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from acud.accessibility.nodes import App, Limits
from acud.errors import Unavailable
from acud.evaluator.accessibility.bus import Connection, NoAnswer
from acud.evaluator.accessibility.memory import Memory
from acud.evaluator.accessibility.walk import AppWalk, Budget
from acud.evaluator.accessibility.widget import Asker, Ref
from acud.types import WindowInfo


class AppReading:
    """One application's part of a reading: what it said, and why there is no more of it (`failure`, "" for nothing).

    `known`: what it said of itself in an earlier reading; it isn't asked for that again then.
    """

    def __init__(self, root: Ref, pid: int, known: App | None = None) -> None:
        self.root = root
        self.app = known or App(_command(pid), pid)
        self.walk: AppWalk | None = None
        self.failure = ""
        self.is_hung = False
        self.is_gone = False
        self.is_cut_short = False
        self._is_known = known is not None

    async def run(
        self,
        connection: Connection,
        windows: Sequence[WindowInfo],
        limits: Limits,
        budget: Budget,
        until: float,
        memory: Memory | None = None,
    ) -> None:
        """Read it until `until` (monotonic seconds), however it ends; only a dead bus raises (Unavailable).

        Widgets that `memory` holds are not asked again.
        """
        work = asyncio.ensure_future(self._walked(connection, windows, limits, budget, memory))
        try:
            await self._patiently(work, limits.answer_s, until)
            self.is_cut_short = not work.done() and not self.failure
            if self.is_cut_short:
                budget.cut = budget.cut or "time"
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, NoAnswer, Unavailable):
                await work

    async def _walked(
        self,
        connection: Connection,
        windows: Sequence[WindowInfo],
        limits: Limits,
        budget: Budget,
        memory: Memory | None,
    ) -> None:
        try:
            if not self._is_known:
                await self._introduced(Asker(connection))
            asker = Asker(connection, is_gtk_4=self.app.is_gtk_4)
            self.walk = AppWalk(asker, self.root, self.app, windows, limits, budget, memory)
            await self.walk.run()
        except NoAnswer as fault:
            self.is_gone = fault.is_gone
            self.failure = "it ended while it was read" if fault.is_gone else f"it refuses to be read: {fault}"

    async def _introduced(self, asker: Asker) -> None:
        name, (toolkit, version) = await asyncio.gather(asker.name(self.root), asker.toolkit(self.root))
        self.app = App(name or self.app.name, self.app.pid, toolkit, version)

    async def _patiently(self, work: asyncio.Future[None], answer_s: float, until: float) -> None:
        """Wait for `work` as long as the application goes on answering, and not past `until`."""
        heard = -1
        while not work.done():
            answers = self.walk.answers if self.walk is not None else 0
            if answers == heard:
                self.failure = f"it did not answer for {answer_s:g} s"
                self.is_hung = True
                return
            heard = answers
            patience = min(answer_s, until - time.monotonic())
            if patience <= 0:
                return
            await asyncio.wait({work}, timeout=patience)
        work.result()


def _command(pid: int) -> str:
    """Return what the kernel calls a process: the name of an application that does not tell its own."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
