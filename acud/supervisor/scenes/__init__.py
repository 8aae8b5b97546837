"""The scene of every display: looked at when somebody asks, or as it changes while somebody subscribes."""

from __future__ import annotations

from acud.supervisor.scenes.service import Scenes

__all__ = ["Scenes"]
