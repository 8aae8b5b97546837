"""Settings read again while the daemon runs: what is safe is taken, the rest is named and waits for a restart."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from acud import config, log
from acud.config import Settings
from acud.errors import AcudError
from acud.protocol.requests.daemon import DaemonReloadReply

if TYPE_CHECKING:
    from acud.supervisor.app import App

_LOG = log.logger("upkeep")

LIVE = frozenset(
    {
        "daemon.log_max_mb",
        "daemon.log_files",
        "store.keep_days",
        "store.keep_evaluations_days",
        "store.keep_evaluations",
        "store.keep_actions",
        "store.keep_events",
        "store.evidence_max_mb",
        "wait.timeout_s",
    }
).union(config.LIVE_OF_FEATURES)
"""Limits that are looked up each time they are used, by one part each: taking them changes nothing under way."""


class SettingsReload:
    """Reads the settings file of `app` again."""

    def __init__(self, app: App) -> None:
        self._app = app

    def reload(self) -> DaemonReloadReply:
        """Take what can be taken; return that, and what needs a restart. Raises: ConfigError; nothing is taken then."""
        app = self._app
        found = config.load(app.paths.config, os.environ)
        differing = list(_differing(app.settings, found))
        if app.settings.daemon.debug:  # perhaps asked for on the command line of this start, and so not in the file
            differing = [name for name in differing if name != "daemon.debug"]
        taken = tuple(name for name in differing if name in LIVE)
        self._take(found, taken)
        restart = tuple(name for name in differing if name not in LIVE)
        _LOG.info("settings.reloaded", taken=list(taken), restart=list(restart))
        app.journal.event("daemon.reloaded", "daemon", taken=taken, restart=restart)
        return DaemonReloadReply(taken, restart)

    def _take(self, found: Settings, names: tuple[str, ...]) -> None:
        settings = self._app.settings
        for name in names:
            section, key = name.split(".")
            group = msgspec.structs.replace(getattr(settings, section), **{key: getattr(getattr(found, section), key)})
            settings = msgspec.structs.replace(settings, **{section: group})
        self._app.settings = settings
        for running in self._app.features.values():
            running.reload(settings)

    def on_signal(self) -> None:
        """The same for SIGHUP, whose sender hears of a fault in the log alone."""

        def reload() -> None:
            try:
                self.reload()
            except AcudError as fault:
                _LOG.error("settings.refused", fault=str(fault))

        self._app.journal.keep(reload, droppable=True)


def _differing(old: Settings, new: Settings) -> Iterator[str]:
    """Yield the names (`section.key`, and `prices`) of what differs; never a value, as some are secrets."""
    for section in config.SECTIONS:
        before, after = getattr(old, section.name), getattr(new, section.name)
        for key in before.__struct_fields__:
            if getattr(before, key) != getattr(after, key):
                yield f"{section.name}.{key}"
    if old.prices != new.prices:
        yield "prices"
