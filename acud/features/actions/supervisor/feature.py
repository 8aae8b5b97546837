"""Actions in the supervisor: started with the core, and what they provide to others."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, Unavailable
from acud.features.actions.supervisor import handlers as handlers  # registers them
from acud.features.actions.supervisor import terminals as terminals
from acud.features.actions.supervisor.instruction import RunningInstruction
from acud.features.actions.supervisor.instruction_run import InstructionContext
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.questions import PictureAsk, View
from acud.protocol.requests.gui import GuiDo
from acud.protocol.requests.looks import Picture
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.frame_sources import Source
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.job_queues import FrameWork, Lane
from acud.supervisor.ports import InstructionCaller
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Rect, Stable, Target, WaitSpec, WaitState


class ActionsFeature(RunningFeature):
    """Input to displays, in exact steps and in words."""

    def __init__(self, core: Core) -> None:
        self.core = core
        core.ports.provide(instructions=self)

    def check(self) -> None:
        """Instructions are carried out."""

    def begin(self, request: GuiDo, caller: InstructionCaller) -> Callable[[str], None]:
        """Begin an instruction; see `acud.supervisor.ports.Instructions`."""
        instruction = RunningInstruction(self, request, caller, InstructionContext())
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

    def idle(
        self,
        watched: WatchedDisplay,
        stable_s: float,
        timeout_s: float,
        done: Callable[[bool], None],
        target: Target | None = None,
    ) -> None:
        """Call `done` when nothing of `target` (None: of all of it) changed for `stable_s`, or after `timeout_s`; with
        which of the two.
        """

        def ended(active: ActiveWait) -> None:
            done(active.state is WaitState.RESOLVED)

        spec = WaitSpec(Stable(stable_s), target or Target(watched.name), timeout_s)
        self.core.waits.run_transient(spec, watched, ended)

    def observe(
        self, watched: WatchedDisplay, ask: ObserveAsk, done: Callable[[Observed], None], crop: Rect | None = None
    ) -> None:
        """Call `done` with what `ask` wants of `watched` (of `crop` alone, for its text), or why it is not known.

        The windows, the focus and the buses of `ask` are filled in as they are when it is sent.
        """
        source = self.core.sources.by_name.get(watched.name)
        if source is None or not source.live:
            done(Observed(unread=f"display {watched.name} has no pixels now"))
            return

        def fill(job: Job) -> Job:
            known = replace(
                ask,
                windows=watched.windows,
                focused=watched.focused,
                bus_address=watched.bus_address,
                a11y_address=watched.a11y_address,
            )
            return replace(job, observe=known)

        def observed(outcome: JobResult | Unavailable) -> None:
            if isinstance(outcome, Unavailable):
                done(Observed(unread=outcome.message))
            elif outcome.observed is None:
                done(Observed(unread=outcome.reason or outcome.status))
            else:
                done(outcome.observed)

        submit, lane = self.core.pool.submit, Lane.OCR if ask.read_text else Lane.JUDGE
        submit(FrameWork(submit, lane, source, fill, observed, view=View(source.name, crop)))

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
