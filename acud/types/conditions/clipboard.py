"""The condition that a display's clipboard holds a text, or that something was copied."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types.conditions.kind import (
    Argument,
    ConditionKind,
    FormField,
    KindForm,
    SearchPattern,
    quote_words,
    strip_words,
)


class ClipboardText(ConditionKind, frozen=True, tag="clipboard", forbid_unknown_fields=True):
    """The display's clipboard holds `text` (white space folded, case ignored) or, with `regex`, what matches it.

    `changed`: only what was copied after the wait was armed (`since_utc_s`; 0: found out at arming) counts, and with no
    `text` anything does, also a picture.
    """

    text: Annotated[str, Meta(max_length=4000)] = ""
    regex: bool = False
    changed: bool = False
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0

    needs_act: ClassVar[bool] = True

    def describe(self) -> str:
        verb = "was copied" if self.changed else "is in the clipboard"
        return f'"{self.text}" {verb}' if self.text else "something was copied"

    def abbreviate(self, *, detailed: bool) -> str:
        words = quote_words(self.text, regex=self.regex and detailed) if self.text else ""
        return " ".join(filter(None, ("clipboard", words, "changed" if self.changed else "")))

    def normalise(self) -> ClipboardText:
        if not self.text and (self.regex or not self.changed):
            raise InvalidRequest("the condition names no text of the clipboard", hint="give text, or changed")
        return replace(self, text=strip_words(self.text, "text")) if self.text and not self.regex else self

    def find_pattern(self) -> SearchPattern | None:
        return SearchPattern(self.text, "clipboard", ((True, True),)) if self.regex else None


ClipboardText.arguments = (
    Argument(
        "clipboard", ClipboardText, ("regex",),
        "text in the display's clipboard", {"clipboard": "INV-2041"},
        help="The display's clipboard holds the text T.",
    ),
    Argument(
        "clipboard_regex", partial(ClipboardText, regex=True),
        help="It holds what matches the regular expression R.", metavar="R",
    ),
    Argument(
        "clipboard_changed", lambda changed: ClipboardText(changed=changed), (),
        "something is copied from now on", {"clipboard_changed": True},
        help="Something was copied since the wait began.", gives=bool,
    ),
)  # fmt: skip
ClipboardText.form = KindForm(
    "The clipboard",
    (
        FormField("text", "Text that it holds"),
        FormField("regex", "regular expression"),
        FormField("changed", "copied from now on"),
    ),
)
