"""Scenes in the supervisor: started with the core; answers to requests."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, InvalidRequest, NotFound, Unavailable
from acud.features.scene.elements import choose_marks
from acud.features.scene.prompt import acted_text, difference_text, prompt_text
from acud.features.scene.selection import narrow_scene
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.annotations import Description, SceneAnnotations
from acud.features.scene.supervisor.element_locator import ElementLocator
from acud.features.scene.supervisor.service import Scenes, SceneSubscriptions
from acud.features.scene.tables import ReservedNumbers, SceneNumbers, StandingElements
from acud.protocol.evaluation import Described
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Picture
from acud.protocol.requests.scenes import (
    SceneAnnotate,
    SceneAnnotated,
    SceneGet,
    SceneReply,
    SceneSubscribe,
    SceneSubscribed,
)
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.observers import Order
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Target
from acud.types.scene import Remark, Scene, diff, handle_of
from acud.types.tasks import ActionType


class SceneFeature(RunningFeature):
    """The scenes of the displays."""

    def __init__(self, core: Core) -> None:
        self.displays = core.displays
        self.watched_displays = core.watched_displays
        self.sources = core.sources
        self.screenshots = core.screenshots
        self.fresh_frames = core.fresh_frames
        self.tasks = core.ports.tasks
        numbers = ReservedNumbers.from_journal(core.journal)
        self.annotations = SceneAnnotations(
            core.waits.targets, numbers, core.pool, core.redaction, core.settings, core.usage_log
        )
        self.scenes = Scenes(
            core.pool,
            core.watched_displays,
            core.sources,
            core.frame_requests,
            core.displays,
            core.redaction,
            core.journal,
            core.clock,
            core.loop,
            core.settings.of(SceneSettings),
            core.display_pids,
            numbers,
            StandingElements(core.journal, SceneNumbers(core.journal.store), core.loop),
            self.annotations,
            core.waits.targets,
        )
        self.scenes.shown.add(core.daemon_events.scene_made, Order.CORE)
        self.subscriptions = SceneSubscriptions(
            self.scenes,
            core.watched_displays,
            core.sources,
            core.notifications,
            core.loop,
            core.settings.of(SceneSettings),
            core.clock.monotonic_s,
        )
        core.watched_displays.removed.add(self.annotations.forget, Order.FEATURES)
        core.ports.provide(
            elements=ElementLocator(self.scenes, core.watched_displays.find_by_number, self._follow_windows)
        )

    def _follow_windows(self, watched: WatchedDisplay) -> None:
        self.watched_displays.follow(
            watched, "handles", (0,)
        )  # no window's own pixels, but its place before each frame


def start(core: Core) -> SceneFeature:
    """Start the feature."""
    return SceneFeature(core)


@handles(SceneGet)
def answer_scene(feature: SceneFeature, request: SceneGet, call: Call) -> None:
    """Look if requested, and answer with the newest scene."""
    place = feature.tasks.place(request.task_id, "screen", request.displays[0] if request.displays else "")
    names = request.displays or ((place.display,) if request.task_id and place.display else ())
    log = feature.tasks.begin_action(place.task_id, ActionType.VISION, "scene")

    def fail(fault: AcudError) -> None:
        log(fault, None)
        call.fail(fault)

    def look(displays: list[WatchedDisplay]) -> None:
        if request.mode is None:
            answer(displays)
        elif (unknown_name := _find_unknown_name(feature, request, displays)) is not None:
            fail(unknown_name)
        else:
            feature.scenes.look(displays, request.mode, lambda: later(displays), request.within_s)

    def answer(displays: list[WatchedDisplay]) -> None:
        fault = _find_display_error(feature, displays) if names else None
        if fault is not None:
            fail(fault)
            return
        try:
            scene = narrow_scene(feature.scenes.newest(displays), request.target)
        except NotFound as missing:
            fail(missing)
            return
        reply = _make_reply(feature, request, displays, scene)
        if request.marks and displays:
            drawn: Callable[[MarkedPicture | AcudError], None] = call.later(lambda outcome: on_marked(reply, outcome))
            draw_marked(feature, displays[0], scene, request.max_side_px, drawn)
        else:
            finish(reply)

    def on_marked(reply: SceneReply, outcome: MarkedPicture | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
            return
        picture, left_out = outcome.picture, outcome.left_out
        finish(replace(reply, marks=picture.image, marks_frame=picture.frame, marks_left_out=left_out))

    def finish(reply: SceneReply) -> None:
        log(None, {"scene": feature.scenes.scene_id})
        call.reply(reply)

    later = call.later(answer)

    def on_display(outcome: WatchedDisplay | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
        else:
            look([outcome])

    if names:
        look([feature.watched_displays.get(name) for name in dict.fromkeys(names)])
    elif feature.watched_displays.by_name:
        look(list(feature.watched_displays.by_name.values()))
    else:
        feature.displays.with_display("", call.later(on_display))


def _find_unknown_name(feature: SceneFeature, request: SceneGet, displays: list[WatchedDisplay]) -> NotFound | None:
    """Return the error if the target of `request` is a name that no window or program has; this needs no look."""
    is_name = request.target and handle_of(request.target) is None
    if not is_name or not all(one.windows_known for one in displays):
        return None
    try:
        narrow_scene(feature.scenes.newest(displays), request.target)
    except NotFound as missing:
        return missing
    return None


def _find_display_error(feature: SceneFeature, displays: list[WatchedDisplay]) -> AcudError | None:
    """Return an error for the first display that no scene can show (it was removed, or is still being added)."""
    for watched in displays:
        if feature.watched_displays.by_name.get(watched.name) is not watched:
            return DisplayDown(f"display {watched.name} was removed while it was looked at", hint="acud display list")
        if not watched.number:
            return Unavailable(f"display {watched.name} is still being added", hint="ask again in a moment")
    return None


def _make_reply(feature: SceneFeature, request: SceneGet, displays: list[WatchedDisplay], scene: Scene) -> SceneReply:
    before = _find_former(feature, request, displays)
    if request.form == "json":
        changed = diff(before, scene) if before is not None else None
        return SceneReply(scene=scene, diff=changed, scene_id=scene.scene_id)
    if before is not None and request.acted is not None:
        made = acted_text(before, scene, request.acted, request.max_tokens)
    elif before is not None:
        made = difference_text(before, scene, request.max_tokens)
    else:
        forgotten = f"whole: scene {request.since} is no longer kept" if request.since else ""
        made = prompt_text(scene, request.max_tokens, forgotten)
    return SceneReply(text=made.text, left_out=made.left_out, scene_id=scene.scene_id)


def _find_former(feature: SceneFeature, request: SceneGet, displays: list[WatchedDisplay]) -> Scene | None:
    """Return the earlier scene's part for the target; None when it is forgotten, or has no such target."""
    before = feature.scenes.former(request.since, displays) if request.since else None
    try:
        return narrow_scene(before, request.target) if before is not None else None
    except NotFound:
        return None


@handles(SceneSubscribe)
def scene_subscribe(feature: SceneFeature, request: SceneSubscribe, call: Call) -> SceneSubscribed:
    """Begin, prolong or end a subscription."""
    names = frozenset(feature.watched_displays.get(name).name for name in request.displays)
    subscription = feature.subscriptions.subscribe(names, request.for_s, request.subscription)
    return SceneSubscribed(subscription, feature.scenes.scene_id)


class _Annotation:
    """One `SceneAnnotate` request under way."""

    def __init__(self, feature: SceneFeature, request: SceneAnnotate, call: Call) -> None:
        self.feature = feature
        self.request = request
        self.call = call
        self.backend = feature.annotations.choose_backend(request.ask) if request.ask else ""
        place = feature.tasks.place(request.task_id, "screen", request.display)
        self.target = Target(place.display)
        self.task_id = place.task_id
        self.log = feature.tasks.begin_action(
            place.task_id, ActionType.VISION, f"describe with {self.backend or 'own words'}"
        )

    def fail(self, fault: AcudError) -> None:
        """Answer the request with the fault."""
        self.log(fault, None)
        self.call.fail(fault)

    def on_target(self, outcome: FreshTarget | AcudError) -> None:
        """Ask the model about the fresh frame, or record the client's words."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        self.watched, self.source = outcome.watched, outcome.picture.source
        if self.backend:
            secure = self.feature.scenes.secure(self.watched)
            described = self.call.later(self.on_described)
            self.feature.annotations.ask(self.source, self.backend, secure, described, self.task_id)
        else:
            self.record_words(self.find_frame())

    def find_frame(self) -> int:
        """Return the frame that the client describes. Raises: NotFound for a forgotten scene."""
        if not self.request.scene_id:
            return self.source.frame
        scene = self.feature.scenes.former(self.request.scene_id, [self.watched])
        shown = next(iter(scene.displays), None) if scene is not None else None
        if shown is None or shown.epoch != self.source.epoch:
            raise NotFound(
                f"scene {self.request.scene_id} of {self.watched.name} is forgotten", hint="take a new one (acud scene)"
            )
        return shown.frame

    def record_words(self, frame: int) -> None:
        """Record the client's words about a frame, and answer."""
        given = self.request.vlm_elements
        remarks = None if given is None else [Remark(one.kind, one.desc, one.bbox) for one in given]
        self.feature.annotations.record(self.watched.number, self.source, frame, self.request.vlm_scene, remarks)
        self.answer(Described(cost_usd=0.0))

    def on_described(self, outcome: Description | AcudError) -> None:
        """Record the model's description; annotations of pixels that changed meanwhile are dropped at once."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        described, number = outcome.described, self.watched.number
        self.feature.annotations.record(number, self.source, outcome.frame, described.scene, described.remarks)
        self.answer(described)

    def answer(self, described: Described) -> None:
        """Reply with the valid annotations."""
        scene = self.feature.scenes.newest([self.watched])
        reply = SceneAnnotated(
            scene_id=scene.scene_id,
            vlm_scene=scene.vlm_scene,
            vlm_elements=scene.vlm_elements,
            model=described.model,
            cost_usd=described.cost_usd,
            left_out=described.left_out,
        )
        self.log(None, {"elements": len(scene.vlm_elements or ()), "cost_usd": described.cost_usd})
        self.call.reply(reply)


@handles(SceneAnnotate)
def scene_annotate(feature: SceneFeature, request: SceneAnnotate, call: Call) -> None:
    """Annotate a frame grabbed after this call, or the scene that the client names."""
    if not request.ask and request.vlm_scene is None and request.vlm_elements is None:
        raise InvalidRequest("neither an annotation nor a model is given", hint="give vlm_scene, vlm_elements or ask")
    annotated = _Annotation(feature, request, call)
    feature.fresh_frames.resolve_target(annotated.target, call.later(annotated.on_target))


class MarkedPicture(Struct, frozen=True):
    """The picture, and how many elements got no mark for want of room."""

    picture: Picture
    left_out: int


def draw_marked(
    feature: SceneFeature,
    watched: WatchedDisplay,
    scene: Scene,
    max_side_px: int,
    done: Callable[[MarkedPicture | AcudError], None],
) -> None:
    """Draw the marks of `scene` on a picture of `watched`, redacted as the scene is; `done` gets it, or the fault."""
    source = feature.sources.by_name.get(watched.name)
    shown = next((one for one in scene.displays if one.id == watched.number), None)
    if source is None or shown is None or not shown.frame:
        reason = watched.reason or "nobody has looked at it yet"
        done(DisplayDown(f"no picture of {watched.name}: {reason}", hint="ask with a mode that looks"))
        return
    marks = choose_marks(scene, watched.number)
    ask = PictureAsk(
        "png",
        max_side_px,
        redacted=True,
        marks=marks.marks,
        secure=feature.scenes.secure(watched),
        of_scene=(shown.epoch, shown.frame),
    )

    def on_picture(outcome: Picture | AcudError) -> None:
        done(outcome if isinstance(outcome, AcudError) else MarkedPicture(outcome, marks.left_out))

    feature.screenshots.take(ScreenshotTarget(source, None, screen=(source.width, source.height)), ask, on_picture)
