"""When what is known of a display or a child is too old to be called well, whatever its process looks like."""

from __future__ import annotations


def stale_frame(age_s: float | None, wanted_for_s: float | None, floor_s: float, late_s: float) -> str:
    """Return why a frame is stale, "" when it is not.

    `age_s`: since a grab was last known to show what the screen shows (None: there was none). `wanted_for_s`: since
    when consumers want frames (None: nobody does; then no age is too great). While they do, a grab is made at least
    every `floor_s`, and told with the next heartbeat.
    """
    limit_s = floor_s + late_s
    if wanted_for_s is None:
        return ""
    if age_s is None:
        return f"no frame came for {wanted_for_s:.0f} s" if wanted_for_s > late_s else ""
    # A frame may be old because nobody wanted newer ones: the grab that a new demand causes gets the same time.
    if age_s > limit_s and wanted_for_s > late_s:
        return f"its newest frame was last compared with the screen {age_s:.0f} s ago"
    return ""


def late_beat(silent_s: float, late_s: float) -> str:
    """Return why a child that runs counts as not well, "" when it does; `silent_s`: since its last message."""
    return f"it has said nothing for {silent_s:.0f} s" if silent_s > late_s else ""
