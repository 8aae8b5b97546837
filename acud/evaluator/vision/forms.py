"""How each judge is shown a view: its size, its quality, and whether secrets are blacked out of it."""

from __future__ import annotations

from typing import NamedTuple

from acud.evaluator.vision.judge import Judge
from acud.protocol.bootstrap import EvaluatorOptions
from acud.types import JudgeName


class Form(NamedTuple):
    """Judges of one form share one picture. `redacted`: it may leave this machine."""

    max_side_px: int
    jpeg_quality: int
    redacted: bool


def form_for(judge: Judge, options: EvaluatorOptions) -> Form:
    """Return the form of `judge`: its backend's own settings, else those of `[vision]`."""
    own = options.jobs if judge.name == JudgeName.FLEET else options.backends.named().get(judge.name)
    side, quality = (own.max_side_px, own.jpeg_quality) if own is not None else (0, 0)
    vision = options.vision
    return Form(side or vision.frame_max_dim, quality or vision.frame_jpeg_quality, not judge.local)
