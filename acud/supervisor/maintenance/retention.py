"""Forgets what is older than the settings keep, a step's worth at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.store.retention import STEP_ROWS, TrimResult, trim

if TYPE_CHECKING:
    from acud.supervisor.app import App

_TRIM_S = 600.0
_TRIM_MORE_S = 0.1


class RetentionCycle:
    """The periodic trim of the store of `app`, whose settings may be read again in between."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self) -> None:
        """Forget a step's worth, and go on: soon while there is more, else later."""
        app = self._app
        done: list[TrimResult] = []

        def step() -> None:
            done[:] = [trim(app.store, app.settings.store, app.clock.instant().utc_s, STEP_ROWS)]

        def after() -> None:
            app.loop.call_later(_TRIM_MORE_S if done and done[0].more else _TRIM_S, self.run)
            app.store.evidence.remove_files(done[0].files if done else ())

        app.journal.keep(step, after)
