"""What goes with the question to a model about a display."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from acud.config import Settings
from acud.features.scene.supervisor.annotations import SceneAnnotations
from acud.protocol.evaluation import Job
from acud.protocol.questions import Hide, View, WidgetSources
from acud.supervisor.coroutines import Callback, StepTask, directly
from acud.supervisor.redaction import NoRedaction


class _Policy(NoRedaction):
    """Tells where widgets are asked for when a picture leaves, as the feature's own policy does."""

    def find_hidden(self, source: Any, *, leaves: bool = False) -> Hide | None:
        return Hide(told=WidgetSources("unix:path=/bus", "", ())) if leaves else None


@pytest.mark.parametrize(("backend", "is_local"), [("ollama", True), ("claude", False)])
def test_password_fields_are_looked_for_when_the_model_is_elsewhere(backend: str, is_local: bool) -> None:
    """The boxes of an earlier scene are not enough: a field may have come or moved since."""
    fills: list[Any] = []
    pool = SimpleNamespace(look=lambda lane, source, fill: Callback[Any](lambda resume: fills.append(fill)))
    source = SimpleNamespace(name=":5", display=":5", epoch=1, frame=7)
    settings = Settings()
    assert settings.backends[backend].is_local is is_local
    core = MagicMock(pool=pool, redaction=_Policy(), settings=settings)
    asked = SceneAnnotations(core, MagicMock())
    StepTask(asked.ask(cast(Any, source), backend, ()), directly, lambda outcome: None).begin()
    (fill,) = fills
    job = fill(Job("j", View(":5"), "/ring", 1, 7))
    assert (job.hide is not None and job.hide.told is not None) is not is_local
