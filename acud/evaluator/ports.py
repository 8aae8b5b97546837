"""What the evaluator's core asks of features: what of a view may leave this machine, and answers that are theirs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from acud.accessibility.nodes import Node
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.text_layout import rows
from acud.evaluator.view_pixels import ViewPixels
from acud.types import HiddenBox, Rect, RedactedText

JobAnswerer = Callable[[Any, ViewPixels, Any], Awaitable[object]]
"""Returns a feature's answer to what a job asks of it about a view, with the `EvaluatorContext`; see `FEATURE_ASKS`. A
fault that the answer can describe is not raised.
"""


class RedactedPixels(NamedTuple):
    """A copy of a shot that may leave, and what was blacked out in it, in its pixels."""

    shot: ViewPixels
    hidden: tuple[HiddenBox, ...]


class Withheld(NamedTuple):
    """Nothing may leave; the reason."""

    reason: str


class Redactor(Protocol):
    """Decides what may leave this machine."""

    async def redact_shot(self, shot: ViewPixels, password_boxes: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        """Return `shot` with each secret hidden, or why it must not leave the machine. `password_boxes`: boxes of
        password fields, in the shot's pixels.

        Call it from the event loop in the main thread. Takes as long as reading takes: seconds for a screen not seen
        before, a tenth for a changed line, nothing for one read already.
        """

    def redact_in_reading_order(self, lines: Sequence[Line]) -> list[tuple[Line, RedactedText]]:
        """Return the lines in reading order, each with its redacted text. Raises: TookTooLong."""

    def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
        """Return for each widget the rule that hides its content ("": none). Raises: TookTooLong."""

    def redact_texts(self, texts: Sequence[str]) -> list[RedactedText]:
        """Return each text redacted. Raises: TookTooLong when all of them took too long."""

    def redact_text(self, text: str) -> str:
        """Return redacted words from a screen. Raises: TookTooLong."""


class PassthroughRedactor:
    """The `Redactor` where that feature is off: everything may leave."""

    async def redact_shot(self, shot: ViewPixels, password_boxes: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        return RedactedPixels(shot, ())

    def redact_in_reading_order(self, lines: Sequence[Line]) -> list[tuple[Line, RedactedText]]:
        return [(line, RedactedText(line.text)) for row in rows(lines) for line in row]

    def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
        return [""] * len(nodes)

    def redact_texts(self, texts: Sequence[str]) -> list[RedactedText]:
        return [RedactedText(text) for text in texts]

    def redact_text(self, text: str) -> str:
        return text
