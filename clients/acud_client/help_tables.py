"""What to wait for, where to look and how long, for people and agents: one table each, which the MCP tools, their tool
`help`, and `acud help` are made from.

Conditions are declared in `acud.types.conditions`; tests try each example.
"""

from __future__ import annotations

from msgspec import Struct

from acud.types.conditions.arguments import ARGUMENTS, SEQUENCES, list_refinements

CONDITIONS = (*(one for one in ARGUMENTS if one.words), *SEQUENCES)
OPTIONS = {
    "any": "one condition is enough",
    **{one.field: one.words for one, _ in list_refinements() if one.words},
    "fresh": "only what comes anew",
    "hold_s": "gone must stay gone so long: 0.7 s unless told",
    "poll_interval": "judge after so many seconds at the latest, changed or not",
    "priority": "whose judgements go first: high, normal, low",
    "on_host_lost": "in a fleet: rearm arms it on another host, with the programs that launch started; fail",
}
"""Arguments that refine a condition."""

WORDS = {one.name: one.words + one.more for one in CONDITIONS} | OPTIONS


class TargetRow(Struct, frozen=True):
    """`form`: how a target is written. `begun`: what is written of it before anything is known of the screen."""

    form: str
    begun: str
    words: str
    example: str


TARGETS = (
    TargetRow("screen", "screen", "the task's display, else the default display", "screen"),
    TargetRow("display:NAME", "display:", "a display of `acud display list`", "display::100"),
    TargetRow(
        "window:TITLE",
        "window:",
        "the topmost window whose title contains TITLE; window:ID: that window",
        "window:Firefox",
    ),
    TargetRow(
        "region:x,y,w,h", "region:", "a rectangle in pixels of the display, from its top left", "region:0,0,640,480"
    ),
    TargetRow("monitor:NAME", "monitor:", "one monitor of a display, or its number as xrandr counts", "monitor:HDMI-1"),
    TargetRow("pty:SESSION", "pty:", "a terminal session that acud reads", "pty:work"),
)
"""The parts of a screen that can be looked at."""

DURATIONS = (
    ("300", "seconds"),
    ("0.5s", "half a second"),
    ("250ms", "milliseconds"),
    ("90s", "seconds"),
    ("5m", "minutes"),
    ("1h30m", "units one after the other, the greatest first"),
    ("2d", "days"),
)
"""How long something takes, as it is written, and what that is."""
