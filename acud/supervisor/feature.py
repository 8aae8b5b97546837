"""The supervisor's interface to features: it starts them with the core, and asks for their status and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from acud.protocol.requests import REQUESTS
from acud.protocol.requests.daemon import Finding
from acud.supervisor.control import HANDLERS
from acud.supervisor.ports import not_enabled
from acud.types.metrics import Sample

if TYPE_CHECKING:
    from acud.config import Settings
    from acud.supervisor.core import Core

Handler = Callable[[Any, Any], Any]
"""Answers a request: takes it and its call."""


class RunningFeature:
    """One feature in a running supervisor. A feature overrides the methods it needs.

    Handlers of its requests, registered with `@handles` when its module is imported, get it as their first argument.
    """

    def resume_first(self) -> None:
        """Resume what must exist before the waits of a former supervisor are armed again."""

    def start(self) -> None:
        """Resume what a former supervisor left, and begin; the waits are armed already."""

    def reload(self, settings: Settings) -> None:
        """Apply the settings that can change while the daemon runs."""

    def status(self) -> dict[str, str]:
        """Return its lines for `acud status`."""
        return {}

    def at_work(self) -> int:
        """Return how many of its activities a draining daemon waits for."""
        return 0

    def reasons(self) -> Iterator[str]:
        """Yield why the daemon is degraded."""
        yield from ()

    def findings(self) -> Iterator[Finding]:
        """Yield its findings for `acud doctor`."""
        yield from ()

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield its figures, each with the name of its family."""
        yield from ()

    def backends(self) -> Iterator[str]:
        """Yield the model backends that it uses with these settings."""
        yield from ()


class Feature(NamedTuple):
    """One feature by name. `module` is imported when the feature is on; its `start(core)` returns it running."""

    name: str
    module: str

    def start(self, core: Core) -> RunningFeature:
        return cast(_Module, import_module(self.module)).start(core)


class _Module(Protocol):
    def start(self, core: Core) -> RunningFeature: ...


def handlers_of(feature: str, running: RunningFeature | None) -> Mapping[str, Handler]:
    """Return the handlers of the requests of `feature` (running None: it is off, and they are refused)."""
    names = [command.name for command in REQUESTS if command.feature == feature]
    if running is None:
        return dict.fromkeys(names, partial(_refuse_request, feature))
    return {name: partial(HANDLERS[name], running) for name in names}


def _refuse_request(feature: str, request: object, call: object) -> None:
    raise not_enabled(feature)
