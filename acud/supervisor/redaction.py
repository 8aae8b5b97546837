"""The core's interface to redaction: a policy made by the feature of that name, or one that hides nothing."""

from __future__ import annotations

from typing import Protocol

from acud.protocol.questions import Hide
from acud.supervisor.frame_sources import Source
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo


class Redaction(Protocol):
    """Decides which parts and texts of displays are hidden, and where."""

    def find_hidden(self, source: Source, *, leaves: bool = False) -> Hide | None:
        """Return what is hidden in the newest frame of `source`; None if no rule names a place. `leaves`: the picture
        may leave this machine, so password fields are hidden too.
        """

    def needs_reader(self, *, local: bool, keeps_evidence: bool) -> bool:
        """Return whether a job needs an evaluator that reads text: its picture leaves, or is kept redacted."""

    def redact(self, text: str) -> str:
        """Return screen text, redacted so that it may be stored or sent elsewhere."""

    def redact_for_wake(self, text: str) -> str:
        """Return screen text, redacted so that a wake may carry it."""

    def title(self, watched: WatchedDisplay, window: WindowInfo) -> tuple[str, str]:
        """Return a window's title as a scene may hold it, and the rule that changed it ("": none)."""

    def describe_rules(self) -> str:
        """Return the active rules in a line, for `acud doctor`."""

    def find_missing_rules(self) -> list[str]:
        """Return the rules that hide nothing, because acud[redact] is missing."""


class NoRedaction:
    """Stands in for the feature redaction: nothing is hidden."""

    def find_hidden(self, source: Source, *, leaves: bool = False) -> Hide | None:
        return None

    def needs_reader(self, *, local: bool, keeps_evidence: bool) -> bool:
        return False

    def redact(self, text: str) -> str:
        return text

    def redact_for_wake(self, text: str) -> str:
        return text

    def title(self, watched: WatchedDisplay, window: WindowInfo) -> tuple[str, str]:
        return window.title, ""

    def describe_rules(self) -> str:
        return "the feature redaction is switched off: nothing is hidden"

    def find_missing_rules(self) -> list[str]:
        return []
