"""What an operator does to a running daemon: drain it, renew its evaluators, reload its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.supervisor.upkeep.draining import Draining
from acud.supervisor.upkeep.reloading import Reloading
from acud.supervisor.upkeep.rolling import Rolling

if TYPE_CHECKING:
    from acud.supervisor.app import App


class Upkeep:
    """The three, of one supervisor."""

    def __init__(self, app: App) -> None:
        self.draining = Draining(app)
        self.rolling = Rolling(app.pool, app.keeper, app.loop)
        self.reloading = Reloading(app)
        app.control.admit = self.draining.admit
