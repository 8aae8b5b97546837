"""Finds the pixel to click for an element's id: by a look made now, never by an earlier place."""

from __future__ import annotations

from acud.base.errors import DisplayDown, InvalidRequest, NotFound, Unavailable
from acud.features.scene.elements import NamedElement, find_element, find_middle, make_gone_error, visible_part
from acud.features.scene.supervisor.service import Scenes
from acud.supervisor.ports import LocatedElement
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types.actions import Point
from acud.types.scene import ElementHandle, ProviderState, Scene, SceneMode, handle_of


class ElementLocator:
    """Finds elements by id."""

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
