"""The closed half of the redaction set: screens and texts that nobody tunes rules on.

`closed.toml` holds what they show. Its author, who had not read the rules and did not work on them, drew the screens,
looked at them, and committed them before any rule had seen one. Open it (`scripts/bench redaction --closed`) when work
on the rules is done and committed, and write into `OPENED` when that was; from then on it is measured each time. A
change of the rules that its figures led to makes it a part of the half to work with: later figures are no longer blind.
A new closed half, by an author who has not read the rules either, then takes its place.
"""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).with_name("closed.toml")
WORK = tuple(Path(__file__).with_name(f"{name}.toml") for name in ("work", "opened", "later", "second"))
"""The half to work with: `work.toml`, the first and second closed halves (values are drawn anew under a new name), and
a later group, which was scored once before anybody who worked on the rules read it.
"""
FORMER = {
    "opened": "2026-11-25",
    "rules": "scene: hide the name of a cell that repeats its hidden text",
    "hidden": 0.9383,
    "overhidden": 0.0646,
}
"""What the first closed half scored when it was opened, by the rules as of this commit, which had not seen it."""
LATER = {
    "scored": "2026-11-25",
    "rules": "redaction: search for login pairs from their needles",
    "hidden": 0.7722,
    "overhidden": 0.0286,
}
"""What the later group scored by the rules as of this commit, which had not seen it: 158 secrets."""
SECOND = {
    "opened": "2026-11-25",
    "rules": "grounding: be sure of a control by what it does",
    "hidden": 0.9045,
    "overhidden": 0.0486,
}
"""What the second closed half scored when it was opened, by the rules as of this commit, which had not seen it."""
SHA256 = "45f4ac6afa269920818849a9d6cf36768721a087376d60c1c660c24ea4437d29"
"""Of what `SOURCE` shows and marks (`Half.sha256`): another hash is another set, and no figure goes for both."""
OPENED: tuple[str, ...] = ("2026-11-25, redaction: hide more kinds of everyday secrets, and less beside them",)
"""When it was opened: the date, and the commit of the rules that it measured."""
