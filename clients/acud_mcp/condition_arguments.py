"""The arguments that say what to wait for: one table, which the list of tools and the tool `help` are made from.

A new condition is a field of `wait_tools.Condition` and a row here; a test pairs the two, and tries each example.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ConditionRow(Struct, frozen=True):
    """`kind`: the tag of the condition that the argument makes. `words`: what it is, as a model reads it."""

    argument: str
    kind: str
    words: str
    example: dict[str, Any]


_PICTURE = "path of a PNG, PATH#x,y,w,h for a part of it, or VIEW#x,y,w,h for what is now in that part of a look"
CONDITIONS = (
    ConditionRow("criteria", "criteria", "sentence that must hold", {"criteria": "the download has finished"}),
    ConditionRow("text", "text", "visible text (no model needed)", {"text": "Build succeeded"}),
    ConditionRow("gone", "text", "text no longer visible", {"gone": "Loading"}),
    ConditionRow("number", "number", 'number on screen, e.g. "Progress >= 90 %"', {"number": "Errors = 0"}),
    ConditionRow("image", "image", f"picture that shows: {_PICTURE}", {"image": "/home/me/look.png#9,9,48,20"}),
    ConditionRow(
        "image_gone", "image", "picture that shows no longer, as image", {"image_gone": "/home/me/spinner.png"}
    ),
    ConditionRow("window", "window", "title of a window that appears", {"window": "Save As"}),
    ConditionRow(
        "widget",
        "widget",
        'a program\'s widget: role, "name", states, `gone` or value: check box "Agree" checked, progress bar >= 90',
        {"widget": 'button "Submit" enabled'},
    ),
    ConditionRow("change", "change", "any pixel changes", {"change": True, "target": "window:Terminal"}),
    ConditionRow("stable", "stable", "seconds without change", {"stable": 3}),
    ConditionRow("file", "file", "file that is complete, or a new one of a pattern", {"file": "~/Downloads/*.pdf"}),
    ConditionRow("process", "process", "pid of a process that ends", {"process": "4711"}),
    ConditionRow("appears_then_goes", "then", "text that was seen, then is gone", {"appears_then_goes": "Loading"}),
    ConditionRow("then", "then", "texts after all that, in turn", {"text": "Building", "then": ["Tests passed"]}),
)

OPTIONS = {
    "any": "one condition is enough",
    "regex": "text, gone and window are regular expressions",
    "whole_words": "text and gone are whole words: no Saved in Unsaved",
    "count": "text is there at least so often",
    "similarity": "how alike an image must be: 0.5 to 1, 0.9 unless told",
    "ignore_blinking": "stable but for what only blinks, such as a caret",
    "baseline": "change since this token of desktop_look",
    "poll_interval": "judge after so many seconds at the latest, changed or not",
    "priority": "whose judgements go first: high, normal, low",
}
"""Arguments that say more of a condition."""

WORDS = {row.argument: row.words for row in CONDITIONS} | OPTIONS
