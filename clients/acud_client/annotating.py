"""What vision models say of displays, as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from acud.protocol.requests.scene_annotate import Annotation, SceneAnnotate, SceneAnnotated

Reply = TypeVar("Reply", bound=msgspec.Struct)


class AnnotateCalls(ABC):
    """The annotation requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`; it is in its scenes until the pixels that it is about change. None leaves
        what was said before. `scene_id`: the scene it is about (0: the display as it is now).

        Raises: InvalidRequest for a box outside the display; NotFound for a scene that is forgotten.
        """
        elements = None if vlm_elements is None else tuple(vlm_elements)
        return self.ask(SceneAnnotate(display, vlm_scene, elements, scene_id, task_id=task_id), SceneAnnotated)

    def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend say what is on `display`; it may cost money, which the reply tells.

        Raises: NotFound for an unknown backend; Unavailable when it gives no answer that can be used.
        """
        return self.ask(SceneAnnotate(display, ask=backend, task_id=task_id), SceneAnnotated)


class AsyncAnnotateCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Say what a model saw of `display`; see `AnnotateCalls.set_vlm_annotations`."""
        elements = None if vlm_elements is None else tuple(vlm_elements)
        return await self.ask(SceneAnnotate(display, vlm_scene, elements, scene_id, task_id=task_id), SceneAnnotated)

    async def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend say what is on `display`; see `AnnotateCalls.annotate_scene`."""
        return await self.ask(SceneAnnotate(display, ask=backend, task_id=task_id), SceneAnnotated)
