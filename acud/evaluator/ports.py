"""What the evaluator's core asks of features: what of a view may leave this machine, and answers that are theirs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acud.accessibility.nodes import Node
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.text_layout import rows
from acud.evaluator.view_pixels import ViewPixels
from acud.types import HiddenBox, Rect, RedactedText

if TYPE_CHECKING:
    from acud.evaluator.context import EvaluatorContext

JobAnswerer = Callable[[Any, ViewPixels, "EvaluatorContext"], Awaitable[object]]
"""Returns a feature's answer to what a job asks of it about a view; see `FEATURE_ASKS`. It raises for no fault that it
can tell of in its answer.
"""


class RedactedPixels(NamedTuple):
    """A copy of a shot that may leave, and what was blacked out in it, in its pixels."""

    shot: ViewPixels
    hidden: tuple[HiddenBox, ...]


class Withheld(NamedTuple):
    """Nothing may leave, and why."""

    reason: str


class Redactor(Protocol):
    """Decides what may leave this machine."""

    async def outgoing(self, shot: ViewPixels, secure: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        """Return what may leave of `shot`. `secure`: boxes of password fields, in the shot's pixels.

        Call it from the event loop in the main thread. Takes as long as reading takes: seconds for a screen not seen
        before, a tenth for a changed line, nothing for one read already.
        """
        ...

    def masked(self, lines: Sequence[Line]) -> list[tuple[Line, RedactedText]]:
        """Return the lines in reading order, each with its text as it may leave. Raises: TookTooLong; see `quoted`."""
        ...

    def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
        """Return of each widget the rule that hides what it shows ("": none). Raises: TookTooLong."""
        ...

    def all_quoted(self, texts: Sequence[str]) -> list[RedactedText]:
        """Return each text as it may leave. Raises: TookTooLong when all of them took too long."""
        ...

    def quoted(self, text: str) -> str:
        """Return words that were read off a screen as they may leave. Raises: TookTooLong when that took too long."""
        ...


class PassthroughRedactor:
    """The `Redactor` where that feature is off: everything may leave."""

    async def outgoing(self, shot: ViewPixels, secure: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        """Return the shot itself."""
        return RedactedPixels(shot, ())

    def masked(self, lines: Sequence[Line]) -> list[tuple[Line, RedactedText]]:
        """Return the lines in reading order, with their texts."""
        return [(line, RedactedText(line.text)) for row in rows(lines) for line in row]

    def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
        """Return that no rule hides any."""
        return [""] * len(nodes)

    def all_quoted(self, texts: Sequence[str]) -> list[RedactedText]:
        """Return the texts."""
        return [RedactedText(text) for text in texts]

    def quoted(self, text: str) -> str:
        """Return the text."""
        return text
