"""Settings of the redaction of data that leaves this machine."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.base.patterns import MAX_PATTERN, PatternFault, compile_pattern
from acud.types import Positive


class HiddenWindow(Struct, frozen=True, forbid_unknown_fields=True):
    """One of `[redaction] windows`: regular expressions for title and class, either of which may be left out."""

    title: str = ""
    wm_class: str = ""

    def __post_init__(self) -> None:
        """Refuse a rule that would hide every window by mistake."""
        if not self.title and not self.wm_class:
            raise ValueError("a window to hide needs a title or a wm_class")


class HiddenRegion(Struct, frozen=True, forbid_unknown_fields=True):
    """One of `[redaction] regions`: x, y, width, height on a display; display "" means every one."""

    box: tuple[int, int, Annotated[int, Meta(ge=1)], Annotated[int, Meta(ge=1)]]
    display: str = ""


RuleName = Literal[
    "private", "pattern", "key", "card", "seed", "iban", "id", "code", "password", "email", "phone", "secure"
]
"""`email` and `phone` search only where they are named."""


class RedactionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[redaction]`"""

    rules: tuple[RuleName, ...] = (
        "private",
        "pattern",
        "key",
        "card",
        "seed",
        "iban",
        "id",
        "code",
        "password",
        "secure",
    )
    patterns: tuple[str, ...] = ()
    windows: tuple[HiddenWindow, ...] = ()
    regions: tuple[HiddenRegion, ...] = ()
    ocr: bool = True
    timeout_s: Positive = 30
    evidence: Literal["full", "redacted"] = "full"
    redact_wakes: bool = True
    recordings: bool = False

    def __post_init__(self) -> None:
        """Refuse expressions that cannot be searched with."""
        for pattern in (*self.patterns, *(w.title for w in self.windows), *(w.wm_class for w in self.windows)):
            if len(pattern) > MAX_PATTERN:
                raise ValueError(f"the regular expression {pattern[:80]!r}… is longer than {MAX_PATTERN} characters")
            try:
                compile_pattern(pattern)
            except PatternFault as fault:
                raise ValueError(f"the regular expression {pattern[:80]!r} {fault}") from fault

    @property
    def text_rules(self) -> tuple[str, ...]:
        return tuple(rule for rule in self.rules if rule != "secure")

    @property
    def reads(self) -> bool:
        """Whether a picture's text must be known before the picture may leave."""
        return self.ocr and bool(self.text_rules)
