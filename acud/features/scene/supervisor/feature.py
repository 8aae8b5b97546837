"""Scenes in the supervisor: started with the core; answers to requests."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, InvalidRequest, NotFound, Unavailable
from acud.features.scene.elements import (
    NamedElement,
    choose_marks,
    find_element,
    find_middle,
    make_gone_error,
    visible_part,
)
from acud.features.scene.prompt import acted_text, difference_text, prompt_text
from acud.features.scene.selection import narrow_scene
from acud.features.scene.supervisor.annotations import SceneAnnotations
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
from acud.supervisor.frame_sources import Source
from acud.supervisor.observers import Order
from acud.supervisor.ports import LocatedElement
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import Target
from acud.types.actions import Point
from acud.types.scene import ElementHandle, ProviderState, Remark, Scene, SceneMode, diff, handle_of
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
        self.annotations = SceneAnnotations(core, numbers)
        standing = StandingElements(core.journal, SceneNumbers(core.journal.store), core.loop)
        self.scenes = Scenes(core, numbers, standing, self.annotations)
        self.scenes.shown.add(core.daemon_events.scene_made, Order.CORE)
        self.subscriptions = SceneSubscriptions(core, self.scenes)
        core.watched_displays.removed.add(self.annotations.forget, Order.FEATURES)
        core.ports.provide(elements=ElementLocator(self.scenes, core.watched_displays))


start = SceneFeature


@handles(SceneGet)
async def answer_scene(feature: SceneFeature, request: SceneGet, call: Call) -> SceneReply:
    """Look if requested, and return the newest scene."""
    place = feature.tasks.find_place(request.task_id, "screen", request.displays[0] if request.displays else "")
    names = request.displays or ((place.display,) if request.task_id and place.display else ())
    log = feature.tasks.begin_action(place.task_id, ActionType.VISION, "scene")
    watched_displays = feature.watched_displays
    displays = [watched_displays.get(name) for name in dict.fromkeys(names)] or list(watched_displays.by_name.values())
    try:
        if not displays:
            displays = [await feature.displays.find_display("")]
        if request.mode is not None:
            _check_target(feature, request, displays)
            await feature.scenes.look(displays, request.mode, request.within_s)
        if names:
            _check_displays(feature, displays)
        scene = narrow_scene(feature.scenes.newest(displays), request.target)
        reply = _make_reply(feature, request, displays, scene)
        if request.marks and displays:
            marked = await draw_marked(feature, displays[0], scene, request.max_side_px)
            image, frame, left_out = marked.picture.image, marked.picture.frame, marked.left_out
            reply = replace(reply, marks=image, marks_frame=frame, marks_left_out=left_out)
    except AcudError as fault:
        log(fault, None)
        raise
    log(None, {"scene": feature.scenes.scene_id})
    return reply


def _check_target(feature: SceneFeature, request: SceneGet, displays: list[WatchedDisplay]) -> None:
    """Check a target that is the name of a window or program, which needs no look. Raises: NotFound."""
    is_name = request.target and handle_of(request.target) is None
    if is_name and all(one.windows_known for one in displays):
        narrow_scene(feature.scenes.newest(displays), request.target)


def _check_displays(feature: SceneFeature, displays: list[WatchedDisplay]) -> None:
    """Raises: an error for the first display that no scene can show (it was removed, or is still being added)."""
    for watched in displays:
        if feature.watched_displays.by_name.get(watched.name) is not watched:
            raise DisplayDown(f"display {watched.name} was removed while it was looked at", hint="acud display list")
        if not watched.number:
            raise Unavailable(f"display {watched.name} is still being added", hint="ask again in a moment")


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


@handles(SceneAnnotate)
async def scene_annotate(feature: SceneFeature, request: SceneAnnotate, call: Call) -> SceneAnnotated:
    """Annotate a frame grabbed after this call, or the scene that the client names."""
    if not request.ask and request.vlm_scene is None and request.vlm_elements is None:
        raise InvalidRequest("neither an annotation nor a model is given", hint="give vlm_scene, vlm_elements or ask")
    backend = feature.annotations.choose_backend(request.ask) if request.ask else ""
    place = feature.tasks.find_place(request.task_id, "screen", request.display)
    log = feature.tasks.begin_action(place.task_id, ActionType.VISION, f"describe with {backend or 'own words'}")
    target = Target(place.display)
    try:
        fresh = await feature.fresh_frames.find(target)
        watched, source = fresh.watched, fresh.picture.source
        if backend:
            made = await feature.annotations.ask(source, backend, feature.scenes.secure(watched), place.task_id)
            described = made.described
            # Annotations of pixels that changed meanwhile are dropped at once.
            feature.annotations.record(watched.number, source, made.frame, described.scene, described.remarks)
        else:
            described, frame = Described(cost_usd=0.0), _find_frame(feature, request, watched, source)
            given = request.vlm_elements
            remarks = None if given is None else [Remark(one.kind, one.desc, one.bbox) for one in given]
            feature.annotations.record(watched.number, source, frame, request.vlm_scene, remarks)
    except AcudError as fault:
        log(fault, None)
        raise
    scene = feature.scenes.newest([watched])
    log(None, {"elements": len(scene.vlm_elements or ()), "cost_usd": described.cost_usd})
    return SceneAnnotated(
        scene_id=scene.scene_id,
        vlm_scene=scene.vlm_scene,
        vlm_elements=scene.vlm_elements,
        model=described.model,
        cost_usd=described.cost_usd,
        left_out=described.left_out,
    )


def _find_frame(feature: SceneFeature, request: SceneAnnotate, watched: WatchedDisplay, source: Source) -> int:
    """Return the frame that the client describes. Raises: NotFound for a forgotten scene."""
    if not request.scene_id:
        return source.frame
    scene = feature.scenes.former(request.scene_id, [watched])
    shown = next(iter(scene.displays), None) if scene is not None else None
    if shown is None or shown.epoch != source.epoch:
        raise NotFound(f"scene {request.scene_id} of {watched.name} is forgotten", hint="take a new one (acud scene)")
    return shown.frame


class MarkedPicture(Struct, frozen=True):
    """The picture, and how many elements got no mark for want of room."""

    picture: Picture
    left_out: int


async def draw_marked(feature: SceneFeature, watched: WatchedDisplay, scene: Scene, max_side_px: int) -> MarkedPicture:
    """Draw the marks of `scene` on a picture of `watched`, redacted as the scene is. Raises: AcudError."""
    source = feature.sources.by_name.get(watched.name)
    shown = next((one for one in scene.displays if one.id == watched.number), None)
    if source is None or shown is None or not shown.frame:
        reason = watched.reason or "nobody has looked at it yet"
        raise DisplayDown(f"no picture of {watched.name}: {reason}", hint="ask with a mode that looks")
    marks = choose_marks(scene, watched.number)
    ask = PictureAsk(
        "png",
        max_side_px,
        redacted=True,
        marks=marks.marks,
        secure=feature.scenes.secure(watched),
        of_scene=(shown.epoch, shown.frame),
    )
    target = ScreenshotTarget(source, None, screen=(source.width, source.height))
    return MarkedPicture(await feature.screenshots.take(target, ask), marks.left_out)


class ElementLocator:
    """Finds the pixel to click for an element's id: by a look made now, never by an earlier place."""

    def __init__(self, scenes: Scenes, watched_displays: WatchedDisplays) -> None:
        self._scenes = scenes
        self._watched_displays = watched_displays
        self.shown = scenes.shown

    def display_of(self, *places: str) -> str:
        """Return the name of the display of the ids among `places`; "" when none of them is an id.

        Raises: InvalidRequest for ids of several displays; NotFound for a display that is not watched.
        """
        found = {handle.display_id: handle for place in places if (handle := handle_of(place)) is not None}
        if len(found) > 1:
            ids = ", ".join(handle.id for handle in found.values())
            raise InvalidRequest(f"these ids are of several displays: {ids}", hint="one request acts on one display")
        return "".join(self._get_display(handle).name for handle in found.values())

    def _get_display(self, handle: ElementHandle) -> WatchedDisplay:
        watched = self._watched_displays.find_by_number(handle.display_id)
        if watched is None:
            raise NotFound(
                f"{handle.id} is of display number {handle.display_id}, which is not watched",
                hint="take a new scene (acud scene)",
            )
        return watched

    async def locate(self, watched: WatchedDisplay, handle: ElementHandle) -> LocatedElement:
        """Look at `watched`, and return the element.

        Raises: NotFound with candidates for a gone element, Conflict for an invisible one, Unavailable when its
        provider could not read, InvalidRequest for an id of another display.
        """
        if handle.display_id != watched.number:
            raise InvalidRequest(
                f"{handle.id} is not of {watched.name}, which is display number {watched.number}",
                hint="leave the display out: the id says which",
            )
        was = self._find_former(handle)
        # Follow no window's own pixels, but the list of windows, by which widgets are placed, before each frame.
        self._watched_displays.follow(watched, "handles", (0,))
        await self._scenes.look((watched,), SceneMode.ACTIVE)
        return _locate_element(handle, was, self._scenes.newest((watched,)), watched)

    def _find_former(self, handle: ElementHandle) -> NamedElement | None:
        former = (find_element(scene, handle) for scene in self._scenes.list_kept())
        return next((one for one in former if one is not None), None)


def _locate_element(
    handle: ElementHandle, was: NamedElement | None, scene: Scene, watched: WatchedDisplay
) -> LocatedElement:
    shown = next((one for one in scene.displays if one.id == handle.display_id), None)
    if shown is None or shown.state != "up":
        reason = shown.reason if shown is not None else "it is in no scene"
        raise DisplayDown(f"display {watched.name} cannot be looked at: {reason}", hint="acud display list")
    now, reader = find_element(scene, handle), _find_provider(scene, handle)
    # An element in an incomplete reading is present; one that is missing from it may be in the gap.
    sure = ("ready",) if now is None else ("ready", "incomplete")
    if reader is not None and reader.state not in sure:
        raise Unavailable(
            f"{handle.id} cannot be found for now: {reader.name} is {reader.state}: {reader.reason}",
            hint="describe it in words, or give coordinates",
        )
    if now is None:
        raise make_gone_error(handle, was, scene)
    part = visible_part(now, shown.bounds.w, shown.bounds.h, watched.windows)
    return LocatedElement(now.id, now.words, now.role, part, Point(*find_middle(part)))


def _find_provider(scene: Scene, handle: ElementHandle) -> ProviderState | None:
    """Return the provider that reads the handle's kind; None for annotations of a model, which are not read again."""
    providers = next((one for one in scene.providers if one.display_id == handle.display_id), None)
    if providers is None or handle.id.startswith("v"):
        return None
    return providers.ocr if handle.id.startswith("t") else providers.ax
