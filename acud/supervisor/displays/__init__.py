"""Managed displays: an Xvfb, a session bus and a window manager each, that outlive a crash of the supervisor."""

from __future__ import annotations

from acud.supervisor.displays.managed_display import ManagedDisplay
from acud.supervisor.displays.managed_displays import NO_WINDOW_MANAGER, Adoption, DisplayWatcher, ManagedDisplays

__all__ = ["NO_WINDOW_MANAGER", "Adoption", "DisplayWatcher", "ManagedDisplay", "ManagedDisplays"]
