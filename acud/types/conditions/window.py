"""The condition that a window is on the display."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.types.conditions.kind import (
    Argument,
    ConditionKind,
    FormField,
    KindForm,
    SearchPattern,
    make_outcome,
    quote_words,
    strip_words,
)
from acud.types.displays import ShortText


class WindowTitle(ConditionKind, frozen=True, tag="window", forbid_unknown_fields=True):
    """A window with `title` in its title (or matching it, with `regex`) is on the display, or none is when `gone`."""

    title: ShortText
    regex: bool = False
    gone: bool = False

    def describe(self) -> str:
        return f'a window titled "{self.title}" is {"gone" if self.gone else "there"}'

    def abbreviate(self, *, detailed: bool) -> str:
        return f"window {quote_words(self.title, regex=self.regex and detailed)}{' gone' if self.gone else ''}"

    def normalise(self) -> WindowTitle:
        words = strip_words(self.title, "window title")
        return self if self.regex else replace(self, title=words)

    def find_pattern(self) -> SearchPattern | None:
        return SearchPattern(self.title, "window title", ((False, False),)) if self.regex else None


WindowTitle.arguments = (
    Argument(
        "window", WindowTitle, ("regex",), "title that appears", {"window": "Save As"},
        help="A window whose title contains TITLE is there.", metavar="TITLE",
    ),
    Argument("window_gone", partial(WindowTitle, gone=True), help="No window's title contains TITLE.", metavar="TITLE"),
)  # fmt: skip
WindowTitle.form = KindForm(
    "A window", (FormField("title", "Words of its title", offers="windows"), make_outcome("is there", "is gone"))
)
