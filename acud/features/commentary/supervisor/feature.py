"""The commentary in the supervisor: started with the core; findings for doctor; answers to requests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.features.commentary.prompt import user_prompt
from acud.features.commentary.supervisor.senses import SceneEvents, SenseOutput, WindowEvents
from acud.features.commentary.supervisor.service import Commentary, ModelAsker
from acud.protocol.requests.commentary import (
    AnalysisConfigReply,
    AnalysisConfigure,
    AnalysisContextGet,
    AnalysisContextReply,
    AnalysisHistory,
    AnalysisHistoryReply,
    AnalysisStatus,
    AnalysisStatusReply,
    FeedList,
    FeedListReply,
    FeedPost,
    Posted,
    SenseList,
    SenseListReply,
    SensePost,
)
from acud.protocol.requests.daemon import Finding
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order
from acud.types.commentary import AnalysisConfig, SenseEvent


class CommentaryFeature(RunningFeature):
    """The feed, the senses and the analyses."""

    def __init__(self, core: Core) -> None:
        self.settings = core.settings
        self.keys = core.keys
        self.journal = core.journal
        self.commentary = Commentary(core, ModelAsker(core.pool, core.settings, core.redaction))
        senses = SenseOutput(
            core.loop,
            core.clock,
            lambda: self.commentary.sensing,
            lambda watched, window: core.redaction.title(watched, window)[0],
            self.commentary.keep_sensed,
        )
        self.commentary.attended.add(WindowEvents(core.watched_displays, senses).look, Order.FEATURES)
        scenes = SceneEvents(core.watched_displays, senses)
        core.ports.elements.shown.add(scenes.on_scene, Order.FEATURES)
        core.watched_displays.removed.add(scenes.forget, Order.FEATURES)

    def start(self) -> None:
        """Analyse inputs that a former supervisor left unanalysed."""
        self.commentary.start()

    def backends(self) -> Iterator[str]:
        yield self.commentary.config.backend

    def findings(self) -> Iterator[Finding]:
        """Yield the model in use, or the fault."""
        status = self.commentary.status()
        backend = status.config.backend
        if status.fault:
            yield Finding("commentary", "warning", status.fault, "acud analysis config; docs/commentary.md")
        elif backend and status.config.enabled:
            text = f"{status.model} of {backend}"
            leaves = "; speech and screen text are sent to it" if not self.settings.backends[backend].is_local else ""
            yield Finding("commentary", "ok", text + leaves)


start = CommentaryFeature


@handles(FeedPost)
def feed_post(feature: CommentaryFeature, request: FeedPost, call: Call) -> Posted:
    feature.commentary.note_listener()
    return Posted(feature.commentary.add_message(request.text, request.priority, request.source))


@handles(FeedList)
def feed_list(feature: CommentaryFeature, request: FeedList, call: Call) -> FeedListReply:
    """Return the messages after a number."""
    feature.commentary.note_listener()
    return FeedListReply(feature.commentary.feed.above(request.after))


_DEPTH = 32
"""SQLite's JSON gives up at 1,000: one event must not make the whole ring unreadable."""


@handles(SensePost)
def sense_post(feature: CommentaryFeature, request: SensePost, call: Call) -> Posted:
    """Store an event of another sensor."""
    pictures = (request.roi, request.diff, request.observation)
    if any(_deeper_than(_DEPTH, picture) for picture in pictures):
        raise InvalidRequest(f"roi, diff or observation is nested deeper than {_DEPTH}", hint="send it flatter")
    feature.commentary.note_listener()
    return Posted(
        feature.commentary.add_event(SenseEvent(0, request.kind, request.ts, 0, request.ocr, request.meta, *pictures))
    )


def _deeper_than(depth: int, value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < 0 or any(_deeper_than(depth - 1, one) for one in inside)


@handles(SenseList)
def sense_list(feature: CommentaryFeature, request: SenseList, call: Call) -> SenseListReply:
    """Return the events after a number."""
    feature.commentary.note_listener()
    return SenseListReply(feature.commentary.sense.above(request.after, pictures=not request.meta_only))


@handles(AnalysisStatus)
def analysis_status(feature: CommentaryFeature, request: AnalysisStatus, call: Call) -> AnalysisStatusReply:
    """Return the state of the loop; this request does not count as listening."""
    return feature.commentary.status()


@handles(AnalysisHistory)
def analysis_history(feature: CommentaryFeature, request: AnalysisHistory, call: Call) -> AnalysisHistoryReply:
    feature.commentary.note_listener()
    return AnalysisHistoryReply(feature.commentary.analyses.newest(request.limit))


@handles(AnalysisContextGet)
def analysis_context(feature: CommentaryFeature, request: AnalysisContextGet, call: Call) -> AnalysisContextReply:
    feature.commentary.note_listener()
    window = feature.commentary.window()
    return AnalysisContextReply(window, user_prompt(window))


_LEAST = {"interval_ms": 5000, "max_age_ms": 10_000}


@handles(AnalysisConfigure)
def analysis_config(feature: CommentaryFeature, request: AnalysisConfigure, call: Call) -> AnalysisConfigReply:
    """Change the given settings, or none of them if one is invalid."""
    given = {name: value for name, value in msgspec.structs.asdict(request).items() if value is not None}
    config = feature.commentary.config
    if given:
        config = _apply_changes(config, given)
        if config.backend and config.backend not in feature.settings.backends:
            there = ", ".join(feature.settings.backends)
            raise InvalidRequest(f"there is no backend {config.backend!r}", hint=f"there are {there}", field="backend")
        feature.journal.after_commit(lambda: feature.commentary.configure(config))
    key = feature.keys.get(config.backend)
    return AnalysisConfigReply(config, has_key=key is not None and bool(key.value or key.headers))


def _apply_changes(config: AnalysisConfig, changes: dict[str, Any]) -> AnalysisConfig:
    for name, least in _LEAST.items():
        if name in changes:
            changes[name] = max(least, changes[name])
    if not math.isfinite(changes.get("temperature", 0.0)):
        raise InvalidRequest("temperature must be between 0 and 2", field="temperature")
    try:
        return convert(msgspec.structs.asdict(config) | changes, AnalysisConfig)
    except msgspec.ValidationError as fault:
        found = value_fault(fault, AnalysisConfig)
        raise InvalidRequest(found.of("analysis"), hint="docs/commentary.md", field=found.field) from fault
