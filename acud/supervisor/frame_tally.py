"""What is counted of a display's frames."""

from __future__ import annotations

from acud.metrics.catalogue import QUICK_S
from acud.metrics.tallies import Histogram
from acud.protocol.capture import Notice


class FrameTally:
    """What was counted of a display's frames, those of its covered windows included."""

    def __init__(self) -> None:
        self.frames = 0
        self.missed = 0
        self.damage_to_frame_s = Histogram(QUICK_S)
        self.frame_to_notice_s = Histogram(QUICK_S)

    def noticed(self, notice: Notice, missed: int, now_s: float) -> None:
        """Count a new frame, and the `missed` ones before it."""
        self.frames += 1 + missed
        self.missed += missed
        self.frame_to_notice_s.observe(now_s - notice.mono_ns / 1e9)
        if notice.damage_ns:
            self.damage_to_frame_s.observe((notice.mono_ns - notice.damage_ns) / 1e9)
