"""What a heartbeat tells of the grabs since the last one."""

from __future__ import annotations


class Counters:
    """Totals since the start, and means of the interval that `take` ends. Milliseconds where the name says so."""

    def __init__(self, now_s: float) -> None:
        self.grabs = 0
        self.damage_events = 0
        self.skipped = 0
        self._since_s = now_s
        self._clear()

    def _clear(self) -> None:
        self._grabs = 0
        self._published = 0
        self._grab_ms = 0.0
        self._compare_ms = 0.0

    def grabbed(self, grab_ms: float, compare_ms: float, *, published: bool) -> None:
        """Count one grab; one that found nothing new is `skipped`."""
        self.grabs += 1
        self._grabs += 1
        self._grab_ms += grab_ms
        self._compare_ms += compare_ms
        self._published += published
        self.skipped += not published

    def take(self, now_s: float) -> dict[str, float]:
        """Return everything by name, and begin a new interval. `fps`: frames published a second."""
        interval_s = max(now_s - self._since_s, 1e-3)
        figures = {
            "fps": self._published / interval_s,
            "grabs": float(self.grabs),
            "damage_events": float(self.damage_events),
            "skipped": float(self.skipped),
            "grab_ms": self._grab_ms / max(self._grabs, 1),
            "compare_ms": self._compare_ms / max(self._grabs, 1),
        }
        self._since_s = now_s
        self._clear()
        return figures
