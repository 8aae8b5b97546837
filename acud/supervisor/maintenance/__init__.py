"""What keeps a running daemon well: an operator drains it, renews its evaluators, reloads its settings; its store is
trimmed by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.supervisor.maintenance.drain import Draining
from acud.supervisor.maintenance.retention import Trimming
from acud.supervisor.maintenance.rolling_restart import Rolling
from acud.supervisor.maintenance.settings_reload import Reloading

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
