"""Ports through which the core and features use other features, and stand-ins for features that are switched off.

A feature provides its port when it starts (`FeaturePorts.provide`). Features know ports and the core, never each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from acud.base.errors import AcudError, NotEnabled, NotInstalled
from acud.base.extras import OF_FEATURES, is_feature_installed, not_installed
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.frame_sources import Source
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.observers import Observers
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect
from acud.types.actions import Point
from acud.types.grounding import Found, GroundingBackend
from acud.types.scene import ElementHandle, Scene
from acud.types.tasks import Action, ActionLog, ActionType, Task

Thing = TypeVar("Thing")


def not_enabled(feature: str) -> NotEnabled | NotInstalled:
    """Return the error for a request that needs a feature which is switched off, or whose extra is missing."""
    if not is_feature_installed(feature):
        return not_installed(OF_FEATURES[feature], f"the feature {feature}")
    return NotEnabled(
        f"the feature {feature} is switched off here",
        hint=f"set {feature} = true in [features], then acud daemon restart",
    )


# ---- tasks -----------------------------------------------------------------------------------------------------------


class TaskPlace(Struct, frozen=True):
    """The full id of a request's task ("": none) and the display to use."""

    task_id: str
    display: str


LogEnd = Callable[[AcudError | None, Any], None]
"""Called once with the fault (or None) and the output (JSON) of an action."""


class TaskObservers:
    """Called when tasks begin and end."""

    def __init__(self) -> None:
        self.begun = Observers[Callable[[Task, WatchedDisplay], None]]()
        """A new task got a display of its own; called in the savepoint of its request."""
        self.stopped = Observers[Callable[[str, str], None]]()
        """A task (its id) is paused, has ended or is gone, with the reason; work for it must stop."""
        self.ended = Observers[Callable[[Task], None]]()  # A task's end is committed; its display still exists
        self.deleted = Observers[Callable[[str], None]]()
        """A task (its id) is deleted; called in the savepoint of that request."""


class TaskMemory(Protocol):
    """The tasks of this supervisor, for the core and other features."""

    def find(self, task_id: str) -> Task:
        """Return the task with this id or unique beginning of an id. Raises: NotFound, InvalidRequest."""

    def find_live(self, task_id: str) -> Task:
        """Return the task if it has not ended. Raises: NotFound; Conflict with how it ended."""

    def state_of(self, task_id: str) -> Literal["live", "ended", "gone"]:
        """Return the state of the task with this full id."""

    def find_place(self, task_id: str, target: str, display: str) -> TaskPlace:
        """Return the task and display of a request: the display named, else the task's, else the default. Raises:
        NotFound for an unknown task, Conflict for an ended one, DisplayDown when its display is gone.
        """

    def begin_action(self, task_id: str, kind: ActionType, summary: str) -> LogEnd:
        """Log an action of the task that begins now ("" for no task: log nothing)."""

    def log_action(self, task_id: str, action: Action, lines: Iterable[ActionLog] = ()) -> None:
        """Log an action that has ended, under the task's active item, in the present transaction. Log nothing for a
        task that is gone.
        """

    @property
    def observers(self) -> TaskObservers:
        """The observers of tasks."""


class NoTasks:
    """Stands in for the feature tasks: only requests that name no task work."""

    def __init__(self) -> None:
        self._observers = TaskObservers()

    def find(self, task_id: str) -> Task:
        raise not_enabled("tasks")

    def find_live(self, task_id: str) -> Task:
        raise not_enabled("tasks")

    def state_of(self, task_id: str) -> Literal["live", "ended", "gone"]:
        """Return "ended", so that work begun for a task does not go on, but is kept."""
        return "ended"

    def find_place(self, task_id: str, target: str, display: str) -> TaskPlace:
        """Return the display that the request names. Raises: NotEnabled when it names a task."""
        if task_id:
            raise not_enabled("tasks")
        return TaskPlace("", display)

    def begin_action(self, task_id: str, kind: ActionType, summary: str) -> LogEnd:
        return lambda fault, output: None

    def log_action(self, task_id: str, action: Action, lines: Iterable[ActionLog] = ()) -> None:
        """Log nothing."""

    @property
    def observers(self) -> TaskObservers:
        return self._observers


# ---- scene -----------------------------------------------------------------------------------------------------------


class LocatedElement(Struct, frozen=True):
    """An element's present place. `box`: its visible part, `point`: the middle of that, in pixels of its display."""

    id: str
    words: str
    role: str
    box: Rect
    point: Point


SceneObservers = Observers[Callable[[Scene], None]]


class ElementPlaces(Protocol):
    """Locates the elements that ids of scenes name."""

    def display_of(self, *places: str) -> str:
        """Return the display of the element ids among `places`; "" when none of them is an id. Raises: InvalidRequest
        for ids of several displays; NotFound for a display that is not watched.
        """

    async def locate(self, watched: WatchedDisplay, handle: ElementHandle) -> LocatedElement:
        """Look at `watched`, and return the element.

        Raises: NotFound naming candidates for one that is gone, Conflict for an invisible one, Unavailable when
        elements of its kind could not be searched, InvalidRequest for one of another display.
        """

    @property
    def shown(self) -> SceneObservers:
        """Called with each scene that differs from the one before, in the turn that made it."""


class NoElements:
    """Stands in for the feature scene: ids of elements mean nothing."""

    def display_of(self, *places: str) -> str:
        return ""

    async def locate(self, watched: WatchedDisplay, handle: ElementHandle) -> LocatedElement:
        raise not_enabled("scene")

    @property
    def shown(self) -> SceneObservers:
        """Return observers that are never called, as this daemon makes no scenes."""
        return Observers()


# ---- grounding -------------------------------------------------------------------------------------------------------


class SearchRequest(Struct, frozen=True):
    """What to search for. `verb`: see `FindAsk`. `task_id`: the task to charge. `backend` None: the settings' one."""

    description: str
    backend: GroundingBackend | None
    verb: str = ""
    max_candidates: int = 8
    task_id: str = ""


class SearchOutcome(Struct, frozen=True):
    """What was found, and on which frame of which source."""

    found: Found
    source: Source
    epoch: int
    frame: int


Mapped = Callable[[float, float], Point | None]
"""Maps coordinates in a description to a point of the display; None when they lie outside the target."""


class ElementFinder(Protocol):
    """Finds elements by their description."""

    async def find(
        self, fresh_target: FreshTarget, request: SearchRequest, mapped: Mapped | None = None
    ) -> SearchOutcome:
        """Return what was found on `fresh_target`, a fresh frame of a target. Raises: AcudError. `mapped` maps
        coordinates in the description (None: they are pixels of the target).
        """


class NoFinder:
    """Stands in for the feature grounding."""

    async def find(
        self, fresh_target: FreshTarget, request: SearchRequest, mapped: Mapped | None = None
    ) -> SearchOutcome:
        raise not_enabled("grounding")


# ---- actions ---------------------------------------------------------------------------------------------------------


class InstructionCaller(Protocol):
    """The call that gets the outcome of an instruction."""

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a callback; its faults go to this caller alone."""

    def touch(self) -> None:
        """Note that the instruction is about to change something outside the store."""

    def reply(self, body: DoReply, *, stored_body: DoReply) -> None:
        """Handle the answer; `stored_body`: the version that may be stored."""

    def fail(self, fault: AcudError) -> None:
        """Handle the fault."""


class Instructions(Protocol):
    """Carries out instructions in words on a display."""

    def check(self) -> None:
        """Raise NotEnabled when no instruction can be carried out here."""

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        """Begin `request`; return a function that gives it up with a reason, unless `caller` has an outcome. Raises:
        InvalidRequest for an invalid instruction, view or target; NotFound for its task.
        """


class NoInstructions:
    """Stands in for the feature actions."""

    def check(self) -> None:
        raise not_enabled("actions")

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        raise not_enabled("actions")


# ---- all -------------------------------------------------------------------------------------------------------------


class FeaturePorts:
    """The port of each feature that has one; a stand-in until the feature provides it."""

    def __init__(self) -> None:
        self.tasks: TaskMemory = NoTasks()
        self.elements: ElementPlaces = NoElements()
        self.finder: ElementFinder = NoFinder()
        self.instructions: Instructions = NoInstructions()

    def provide(
        self,
        *,
        tasks: TaskMemory | None = None,
        elements: ElementPlaces | None = None,
        finder: ElementFinder | None = None,
        instructions: Instructions | None = None,
    ) -> None:
        """Set the given ports: each feature calls this as it starts, before the features that use it."""
        self.tasks = tasks or self.tasks
        self.elements = elements or self.elements
        self.finder = finder or self.finder
        self.instructions = instructions or self.instructions
