"""Settings of the agent's runs."""

from __future__ import annotations

from msgspec import Struct

from acud.types import Positive


class GuiAgentSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[gui_agent]`"""

    backend: str = ""
    model: str = ""
    check_timeout_s: Positive = 20
    effect_timeout_s: Positive = 3


SEED_NAMES = {"ACU_GUI_AGENT_CHAT_BACKEND": "backend"}
"""`ACU_GUI_AGENT_BACKEND` has meant `[grounding] backend` for longer."""

NAMING_BACKENDS = ("backend",)
"""Keys that hold the name of a backend."""
