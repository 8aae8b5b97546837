"""Redaction as the core asks for it: a policy that the feature of that name makes, or one that hides nothing."""

from __future__ import annotations

from typing import Protocol

from acud.protocol.questions import Hide
from acud.supervisor.frame_sources import Source
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo


class Redaction(Protocol):
    """What of a display is hidden, and from whom."""

    def of(self, source: Source, *, leaves: bool = False) -> Hide | None:
        """Return what is hidden of `source` in its newest frame; None where no rule names a place.

        `leaves`: a picture of it may go elsewhere, so password fields are to be found too.
        """
        ...

    def reads(self, *, local: bool, keeps_evidence: bool) -> bool:
        """Tell whether a job needs an evaluator that reads: its picture leaves, or is kept redacted."""
        ...

    def redact(self, text: str) -> str:
        """Return words from a screen as they are kept, or sent elsewhere."""
        ...

    def redact_for_wake(self, text: str) -> str:
        """Return words from a screen as a wake may carry them."""
        ...

    def title(self, watched: WatchedDisplay, window: WindowInfo) -> tuple[str, str]:
        """Return a window's title as a scene may hold it, and the rule that took something out of it ("": none)."""
        ...

    def told(self) -> str:
        """Return the active rules in a line, for `acud doctor`."""
        ...


class NoRedaction:
    """Stands in for the feature redaction: nothing is hidden."""

    def of(self, source: Source, *, leaves: bool = False) -> Hide | None:
        """Return None: no rule names a place."""
        return None

    def reads(self, *, local: bool, keeps_evidence: bool) -> bool:
        """Return False: no picture is read before it leaves."""
        return False

    def redact(self, text: str) -> str:
        """Return the words as they are."""
        return text

    def redact_for_wake(self, text: str) -> str:
        """Return the words as they are."""
        return text

    def title(self, watched: WatchedDisplay, window: WindowInfo) -> tuple[str, str]:
        """Return the title as it is."""
        return window.title, ""

    def told(self) -> str:
        """Return that nothing is hidden."""
        return "the feature redaction is switched off: nothing is hidden"
