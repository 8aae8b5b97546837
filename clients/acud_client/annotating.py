"""What vision models say of displays, as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from acud.protocol.requests.scenes import Annotation, SceneAnnotate, SceneAnnotated

Reply = TypeVar("Reply", bound=msgspec.Struct)


class AnnotateCalls(ABC):
    """The annotation requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def scene_annotate(
        self,
        display: str = "",
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        scene_id: int = 0,
        ask: str = "",
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`, or with `ask` have the vision backend of that name ("auto": the configured
        one) say it; it is in the display's scenes until the pixels that it is about change. None leaves what was said
        before. `scene_id`: the scene it is about (0: the display as it is now).

        Raises: InvalidRequest for a box outside the display; NotFound for a scene that is forgotten and an unknown
        backend; Unavailable when that gives no answer that can be used."""
        elements = None if vlm_elements is None else tuple(vlm_elements)
        request = SceneAnnotate(display, vlm_scene, elements, scene_id, ask, task_id)
        return self.ask(request, SceneAnnotated)

    def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`; see `scene_annotate`."""
        return self.scene_annotate(display, vlm_scene, vlm_elements, scene_id=scene_id, task_id=task_id)

    def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend say what is on `display`; it may cost money, which the reply tells."""
        return self.scene_annotate(display, ask=backend, task_id=task_id)


class AsyncAnnotateCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def scene_annotate(
        self,
        display: str = "",
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        scene_id: int = 0,
        ask: str = "",
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`, or with `ask` have the vision backend of that name ("auto": the configured
        one) say it; it is in the display's scenes until the pixels that it is about change. None leaves what was said
        before. `scene_id`: the scene it is about (0: the display as it is now).

        Raises: InvalidRequest for a box outside the display; NotFound for a scene that is forgotten and an unknown
        backend; Unavailable when that gives no answer that can be used."""
        elements = None if vlm_elements is None else tuple(vlm_elements)
        request = SceneAnnotate(display, vlm_scene, elements, scene_id, ask, task_id)
        return await self.ask(request, SceneAnnotated)

    async def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`; see `scene_annotate`."""
        return await self.scene_annotate(display, vlm_scene, vlm_elements, scene_id=scene_id, task_id=task_id)

    async def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend say what is on `display`; it may cost money, which the reply tells."""
        return await self.scene_annotate(display, ask=backend, task_id=task_id)
