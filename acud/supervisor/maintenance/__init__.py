"""What keeps a running daemon well: an operator renews its evaluators and reloads its settings; its store is
trimmed by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.supervisor.maintenance.retention import RetentionCycle
from acud.supervisor.maintenance.rolling_restart import RollingRestart
from acud.supervisor.maintenance.settings_reload import SettingsReload

if TYPE_CHECKING:
    from acud.supervisor.app import App


class Upkeep:
    """The three, of one supervisor."""

    def __init__(self, app: App) -> None:
        self.rolling_restart = RollingRestart(app.pool, app.keeper, app.loop)
        self.settings_reload = SettingsReload(app)
        self.retention = RetentionCycle(app)
