"""The closed half of the grounding set: screens and descriptions that nobody tunes a finder on.

Their authors had seen neither a finder nor the descriptions that it was tuned on: they looked at the pictures. Open it
(`scripts/bench ground --closed`) when work on finding is done and committed, and write into `OPENED` when that was.
From then on every run of the benchmark measures it. A change that its figures led to makes it a second half to work
with: later figures of it are no longer blind.
"""

from __future__ import annotations

from tests.grounding.half import Half

HALF = Half(__name__)
SHA256 = "04e2405bb27959426d8cfdbb1273a09d87fd47abc2d42bb5782684034ca76582"
"""Of the folder (`Half.sha256`): a change of what is shown or asked makes another set, of which earlier figures say
nothing.
"""
OPENED: tuple[str, ...] = ("2026-11-25, grounding: be sure of a control by what it does",)
"""When it was opened: the date, and the commit of the finder that was asked."""
