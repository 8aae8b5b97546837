"""What to wait for, where to look and how long, for people and agents: one table each, which the MCP tools, their tool
`help`, and `acud help` are made from.

A new condition is a field of `acud_mcp.wait_tools.Condition`, an option of `acud wait` and a row here; tests pair them,
and try each example.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ConditionRow(Struct, frozen=True):
    """`kind`: the tag of the condition that the argument makes. `words`: what it is. `example`: as an agent writes it;
    `line`: the same behind `acud wait`. `more`: what only an agent can write.
    """

    argument: str
    kind: str
    words: str
    example: dict[str, Any]
    line: str
    more: str = ""


_PICTURE = "path of a PNG, or PATH#x,y,w,h for a part of it"
_VIEW = ", or VIEW#x,y,w,h for what is now in that part of a look"
CONDITIONS = (
    ConditionRow(
        "criteria",
        "criteria",
        "sentence that must hold",
        {"criteria": "the download has finished"},
        '"the download has finished"',
    ),
    ConditionRow(
        "text", "text", "visible text (no model needed)", {"text": "Build succeeded"}, '--text "Build succeeded"'
    ),
    ConditionRow("gone", "text", "text no longer visible", {"gone": "Loading"}, "--gone Loading"),
    ConditionRow(
        "number", "number", 'number, e.g. "Progress >= 90 %"', {"number": "Errors = 0"}, '--number "Errors = 0"'
    ),
    ConditionRow(
        "image",
        "image",
        f"picture that shows: {_PICTURE}",
        {"image": "/home/me/look.png#9,9,48,20"},
        "--image /home/me/look.png#9,9,48,20",
        _VIEW,
    ),
    ConditionRow(
        "image_gone",
        "image",
        "picture that shows no longer, as image",
        {"image_gone": "/home/me/spinner.png"},
        "--image-gone /home/me/spinner.png",
    ),
    ConditionRow("window", "window", "title that appears", {"window": "Save As"}, '--window "Save As"'),
    ConditionRow(
        "widget",
        "widget",
        'a program\'s widget: role, "name", states, `gone` or value: check box "Agree" checked, progress bar >= 90',
        {"widget": 'button "Submit" enabled'},
        "--widget 'button \"Submit\" enabled'",
    ),
    ConditionRow(
        "change",
        "change",
        "any pixel changes",
        {"change": True, "target": "window:Terminal"},
        "--change --target window:Terminal",
    ),
    ConditionRow("stable", "stable", "seconds without change", {"stable": 3}, "--stable 3"),
    ConditionRow(
        "file",
        "file",
        "file that is complete, or a new one of a pattern",
        {"file": "~/Downloads/*.pdf"},
        "--file '~/Downloads/*.pdf'",
    ),
    ConditionRow(
        "notification",
        "notification",
        "text of a desktop notification on a managed display",
        {"notification": "Export finished"},
        "--notification 'Export finished'",
    ),
    ConditionRow("process", "process", "pid of a process that ends", {"process": "4711"}, "--process 4711"),
    ConditionRow(
        "appears_then_goes",
        "then",
        "text that was seen, then is gone",
        {"appears_then_goes": "Loading"},
        "--appears-then-goes Loading",
    ),
    ConditionRow(
        "then",
        "then",
        "texts after all that, in turn",
        {"text": "Building", "then": ["Tests passed"]},
        '--text Building --then "Tests passed"',
    ),
)

OPTIONS = {
    "any": "one condition is enough",
    "regex": "text, gone and window are regular expressions",
    "whole_words": "text and gone are whole words: no Saved in Unsaved",
    "count": "text is there at least so often",
    "similarity": "how alike an image must be: 0.5 to 1, 0.9 unless told",
    "ignore_blinking": "stable but for what only blinks, such as a caret",
    "baseline": "change since this token of desktop_look",
    "fresh": "only what comes anew",
    "hold_s": "gone must stay gone so long: 0.7 s unless told",
    "poll_interval": "judge after so many seconds at the latest, changed or not",
    "priority": "whose judgements go first: high, normal, low",
    "on_host_lost": "in a fleet: rearm arms it on another host, with the programs that launch started; fail",
}
"""Arguments that refine a condition."""

WORDS = {row.argument: row.words + row.more for row in CONDITIONS} | OPTIONS


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
