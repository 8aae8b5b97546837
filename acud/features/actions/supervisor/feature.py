"""Actions in the supervisor: started with the core, and what they provide to others."""

from __future__ import annotations

from collections.abc import Callable

from acud.errors import AcudError, DisplayDown
from acud.features.actions.supervisor import handlers as handlers  # registers them
from acud.features.actions.supervisor.instruction import RunningInstruction
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.gui import GuiDo
from acud.protocol.requests.looks import Picture
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.frame_sources import Source
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.ports import InstructionCaller
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Stable, Target, WaitSpec, WaitState


class ActionsFeature(RunningFeature):
    """Input to displays, in exact steps and in words."""

    def __init__(self, core: Core) -> None:
        self.core = core
        core.ports.provide(instructions=self)

    def check(self) -> None:
        """Instructions are carried out."""

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        """Begin an instruction; see `acud.supervisor.ports.Instructions`."""
        instruction = RunningInstruction(self, request, caller)
        instruction.begin()
        return instruction.drop

    # ---- steps of every request --------------------------------------------------------------------------------------

    def pixels(self, watched: WatchedDisplay) -> Source:
        """Return the source of `watched`. Raises: DisplayDown when it has no pixels now."""
        source = self.core.sources.by_name.get(watched.name)
        if source is None or watched.state is not DisplayState.UP:
            reason = watched.reason or "it is still starting"
            raise DisplayDown(f"display {watched.name} is {watched.state}: {reason}", hint="acud display list")
        return source

    def idle(self, watched: WatchedDisplay, stable_s: float, timeout_s: float, done: Callable[[bool], None]) -> None:
        """Call `done` when nothing on `watched` changed for `stable_s`, or after `timeout_s`; with which of the two."""

        def ended(active: ActiveWait) -> None:
            done(active.state is WaitState.RESOLVED)

        self.core.waits.run_transient(WaitSpec(Stable(stable_s), Target(watched.name), timeout_s), watched, ended)

    def picture(
        self,
        watched: WatchedDisplay,
        ask: PictureAsk,
        caller: InstructionCaller,
        done: Callable[[Picture | AcudError], None],
    ) -> None:
        """Call `done` with the picture of a fresh frame of `watched`, or why there is none."""

        def fetched(outcome: FreshTarget | AcudError) -> None:
            if isinstance(outcome, AcudError):
                done(outcome)
            else:
                self.core.screenshots.take(outcome.picture, ask, caller.later(done))

        self.core.fresh_frames.at(Target(watched.name), caller.later(fetched))


start = ActionsFeature
