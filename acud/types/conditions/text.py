"""Conditions on what is written: a sentence that a model judges, and a visible text."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types.conditions.kind import (
    Argument,
    ConditionKind,
    FormField,
    KindForm,
    Refinement,
    SearchPattern,
    make_outcome,
    quote_words,
    strip_words,
)
from acud.types.displays import ShortText


class Criteria(ConditionKind, frozen=True, tag="criteria", forbid_unknown_fields=True):
    """A condition in natural language, answered by a judge."""

    criteria: ShortText

    def describe(self) -> str:
        return self.criteria

    def normalise(self) -> Criteria:
        return Criteria(strip_words(self.criteria, "criteria"))


class Text(ConditionKind, frozen=True, tag="text", forbid_unknown_fields=True):
    """Visible text (white space folded, case ignored without `match_case`), or its absence when `gone`.

    `whole_words`: no letter or digit stands right before or after it, so that "Saved" is not in "Unsaved changes".
    `count`: it is there at least this often, in places that do not overlap.
    """

    text: ShortText
    regex: bool = False
    gone: bool = False
    match_case: bool = False
    whole_words: bool = False
    count: Annotated[int, Meta(ge=1, le=1000)] = 1

    def describe(self) -> str:
        seen = "gone" if self.gone else f"visible at least {self.count} times" if self.count > 1 else "visible"
        noun, verb = ("words", "are") if self.whole_words else ("text", "is")
        return f'the {noun} "{self.text}" {verb} {seen}'

    def abbreviate(self, *, detailed: bool) -> str:
        times = " gone" if self.gone else f" at least {self.count} times" if self.count > 1 else ""
        noun = "words" if self.whole_words else "text"
        return f"{noun} {quote_words(self.text, regex=self.regex and detailed)}{times}"

    def normalise(self) -> Text:
        words = strip_words(self.text, "text")
        if self.gone and self.count > 1:
            raise InvalidRequest(
                "a text that is gone is there no times", hint="leave count out, or put the text in a `not`"
            )
        if self.regex and self.whole_words:
            raise InvalidRequest("a pattern says itself where words end", hint="leave whole_words out and write \\b")
        return self if self.regex else replace(self, text=words)

    def find_pattern(self) -> SearchPattern | None:
        ways = tuple((not self.match_case, lines) for lines in (False, True))
        return SearchPattern(self.text, "text", ways, is_bounded=False) if self.regex else None


Criteria.arguments = (
    Argument("criteria", Criteria, words="sentence that must hold", example={"criteria": "the download has finished"}),
)
Text.arguments = (
    Argument(
        "text", Text, ("regex", "match_case", "whole_words", "count"),
        "visible text (no model needed)", {"text": "Build succeeded"},
        help="The text T is visible (white space and case folded).",
    ),
    Argument(
        "pattern", partial(Text, regex=True), ("match_case", "count"),
        help="Visible text matches the regular expression R.", option="regex", metavar="R",
    ),
    Argument(
        "gone", partial(Text, gone=True), ("regex", "match_case", "whole_words"),
        "text no longer visible", {"gone": "Loading"}, help="The text T is no longer visible.",
    ),
)  # fmt: skip
Text.refinements = (
    Refinement("regex", "text, gone and window are regular expressions"),
    Refinement("match_case", help="Tell upper from lower case in --text, --regex and --gone."),
    Refinement(
        "whole_words", "text and gone are whole words: no Saved in Unsaved",
        "Whole words only in --text and --gone: no Saved in Unsaved.",
    ),
    Refinement("count", "text is there at least so often", "--text or --regex is there at least N times."),
)  # fmt: skip
Criteria.form = KindForm(
    "A sentence",
    (
        FormField("criteria", "What is to be true", "the upload has finished"),
        FormField("outcome", "Holds when it", choices=(("is true", {}), ("is not true", {"not": True}))),
    ),
)
Text.form = KindForm(
    "Text",
    (
        FormField("text", "Text"),
        make_outcome("is shown", "is gone"),
        FormField("whole_words", "whole words"),
        FormField("match_case", "same case"),
        FormField("regex", "regular expression"),
    ),
)
