"""What keeps a running daemon well: an operator drains it, renews its evaluators, reloads its settings; its store is
trimmed by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.supervisor.upkeep.draining import Draining
from acud.supervisor.upkeep.reloading import Reloading
from acud.supervisor.upkeep.rolling import Rolling
from acud.supervisor.upkeep.trimming import Trimming

if TYPE_CHECKING:
    from acud.supervisor.app import App


class Upkeep:
    """The four, of one supervisor."""

    def __init__(self, app: App) -> None:
        self.draining = Draining(app)
        self.rolling = Rolling(app.pool, app.keeper, app.loop)
        self.reloading = Reloading(app)
        self.trimming = Trimming(app)
        app.control.admit = self.draining.admit
