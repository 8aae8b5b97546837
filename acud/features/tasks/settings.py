"""Settings of tasks."""

from __future__ import annotations

from msgspec import Struct

from acud.types import Positive


class TasksSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tasks]`"""

    stuck_detection: bool = True
    stuck_check_s: Positive = 60
    stuck_after_s: Positive = 300
    stuck_cooldown_s: Positive = 300


SEED_NAMES = {"ACU_STUCK_DETECTION": "stuck_detection"}
"""Environment names that existing installations use, and the key each one means."""
