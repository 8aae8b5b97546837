"""What may leave of a shot: a copy with black boxes, or nothing and the reason.

This evaluator's own engine reads the text first; without one, nothing is sent. The accessibility bus of the display
names its password fields. The view itself is never changed; the copy keeps its identity (see `ViewPixels`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from acud.accessibility.nodes import Node
from acud.base.errors import Unavailable
from acud.base.extras import install_command
from acud.config import RedactionSettings
from acud.evaluator.expression_time_limit import TookTooLong, limit_cpu_time
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ocr.text_layout import columns_by_ink, rows
from acud.evaluator.ports import RedactedPixels, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.screen_boxes import ReadLine, hide_in, redact_rows
from acud.features.redaction.spans import Rule
from acud.features.redaction.text_rules import find_missing_rules, redact, redact_with_rule, text_rules
from acud.features.redaction.widgets import rules_of_widgets
from acud.pixels.tiles import blackout
from acud.types import HiddenBox, Rect, RedactedText

FIND_LIMIT_S = 1.0
"""CPU seconds for the rules over one screen of text, the user's own expressions included; a full one takes 5 ms."""


if TYPE_CHECKING:
    from acud.features.redaction.secure_fields import SecureFields


class FieldsUnknown(Exception):
    """The password fields of a shot are unknown; the message is the reason."""


def _find_columns(shot: ViewPixels, line: ReadLine) -> list[tuple[int, int]] | None:
    return columns_by_ink(Line(line.text, 1.0, line.box), shot.pixels)


class RedactionRules:
    """The `Redactor` by the rules of `settings`; `text` is None where this evaluator owns no OCR engine."""

    def __init__(
        self, settings: RedactionSettings, text: TextReading | None, fields: SecureFields | None = None
    ) -> None:
        """`fields` finds password fields; the caller closes it."""
        self._settings = settings
        self._fields = fields
        self._rules = text_rules(settings.text_rules, settings.patterns)
        self._text = text

    async def redact_shot(self, shot: ViewPixels, password_boxes: Iterable[Rect] = ()) -> RedactedPixels | Withheld:
        """Return `shot` with each secret hidden, or why it must not leave the machine. `password_boxes`: boxes of
        password fields, in the shot's pixels.

        Call it from the event loop in the main thread. Takes as long as reading takes: seconds for a screen not seen
        before, a tenth for a changed line, nothing for one read already.
        """
        if shot.hide_fault:
            return Withheld(shot.hide_fault)
        missing = find_missing_rules(self._settings.rules)
        if missing:
            return Withheld(f"the rules {', '.join(missing)} need acud[redact]: {install_command('redact')}")
        hidden = [*shot.hide]
        if "secure" in self._settings.rules:
            hidden += (HiddenBox(Rule.SECURE.value, box) for box in password_boxes)
            try:
                hidden += await self._fields.find_hidden(shot, self._rules) if self._fields is not None else ()
            except TookTooLong as fault:
                return Withheld(fault.message)
            except FieldsUnknown as fault:
                return Withheld(str(fault))
        if self._settings.reads:
            found = await self._find_in_text(shot)
            if isinstance(found, Withheld):
                return found
            hidden += found
        pixels = blackout(shot.pixels, [one.box for one in hidden])
        return RedactedPixels(shot._replace(pixels=pixels, lines=None), tuple(hidden))

    async def _find_in_text(self, shot: ViewPixels) -> list[HiddenBox] | Withheld:
        if self._text is None:
            return Withheld("this evaluator owns no OCR engine, so nothing can be hidden from a remote model")
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                lines = await self._text.lines(shot)
            read = [[ReadLine(line.text, line.box) for line in row] for row in rows(lines)]
            bounds = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
            with limit_cpu_time(FIND_LIMIT_S, "searching the screen's text for what is to be hidden"):
                return hide_in(read, self._rules, bounds, partial(_find_columns, shot))
        except Unavailable as fault:
            return Withheld(f"the text could not be read: {fault.message}")
        except TimeoutError:
            return Withheld(f"the text was not read within {self._settings.timeout_s:g} s")
        except TookTooLong as fault:
            return Withheld(fault.message)

    def redact_in_reading_order(self, lines: Sequence[Line]) -> list[tuple[Line, RedactedText]]:
        """Return the lines in reading order, each with its redacted text. Raises: TookTooLong."""
        found = rows(lines)
        read = [[ReadLine(line.text, line.box) for line in row] for row in found]
        with limit_cpu_time(FIND_LIMIT_S, "searching the screen's text for what is to be hidden"):
            texts = redact_rows(read, self._rules)
        return list(zip((line for row in found for line in row), texts, strict=True))

    def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
        """Return for each widget the rule that hides its content ("": none). Raises: TookTooLong."""
        with limit_cpu_time(FIND_LIMIT_S, "searching the widgets for what is to be hidden"):
            return rules_of_widgets(nodes, self._rules)

    def redact_texts(self, texts: Sequence[str]) -> list[RedactedText]:
        """Return each text redacted. Raises: TookTooLong when all of them took too long."""
        with limit_cpu_time(FIND_LIMIT_S, "searching texts for what is to be hidden"):
            return [redact_with_rule(text, self._rules) for text in texts]

    def redact_text(self, text: str) -> str:
        """Return redacted words from a screen. Raises: TookTooLong."""
        with limit_cpu_time(FIND_LIMIT_S, "searching a text for what is to be hidden"):
            return redact(text, self._rules)
