"""What the supervisor tells a redacted recording's recorder to hide."""

from typing import Any, cast

from acud.features.recording.supervisor.service import hidden_of
from acud.protocol.questions import Hide
from acud.supervisor.frame_sources import Source


class Policy:
    """Says of every source what it was made with."""

    def __init__(self, hide: Hide | None) -> None:
        self._hide = hide

    def find_hidden(self, source: Source, *, leaves: bool = False) -> Hide | None:
        assert leaves
        return self._hide


def test_of_a_display_that_ended_nothing_is_known() -> None:
    assert hidden_of(cast(Any, Policy(None)), None).fault


def test_of_one_that_is_there_the_policy_says_it() -> None:
    source = cast(Source, object())
    known = Hide(frame=7)
    assert hidden_of(cast(Any, Policy(known)), source) is known
    assert hidden_of(cast(Any, Policy(None)), source) == Hide()
