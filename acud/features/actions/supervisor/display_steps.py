"""Steps that every request for actions takes on a display: its pixels, its rest, its widgets and text, a picture."""

from __future__ import annotations

from msgspec.structs import replace

from acud.base.errors import DisplayDown, Unavailable
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.questions import PictureAsk, View
from acud.protocol.requests.looks import Picture
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import FrameWork, Lane
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Rect, Stable, Target, WaitSpec, WaitState


class DisplaySteps:
    """The steps, over the supervisor's core."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def pixels(self, watched: WatchedDisplay) -> Source:
        """Return the source of `watched`. Raises: DisplayDown when it has no pixels now."""
        source = self.core.sources.by_name.get(watched.name)
        if source is None or watched.state is not DisplayState.UP:
            reason = watched.reason or "it is still starting"
            raise DisplayDown(f"display {watched.name} is {watched.state}: {reason}", hint="acud display list")
        return source

    def idle(
        self, watched: WatchedDisplay, stable_s: float, timeout_s: float, target: Target | None = None
    ) -> Callback[bool]:
        """Await that nothing of `target` (None: of all of it) changed for `stable_s`; False after `timeout_s`."""
        spec = WaitSpec(Stable(stable_s), target or Target(watched.name), timeout_s)
        waits = self.core.waits
        return Callback(
            lambda resume: waits.run_transient(spec, watched, lambda end: resume(end.state is WaitState.RESOLVED))
        )

    def observe(self, watched: WatchedDisplay, ask: ObserveAsk, crop: Rect | None = None) -> Callback[Observed]:
        """Await what `ask` wants of `watched` (of `crop` alone, for its text), or why it is not known.

        The windows, the focus and the buses of `ask` are filled in as they are when it is sent.
        """

        def fill(job: Job) -> Job:
            known = replace(
                ask,
                windows=watched.windows,
                focused=watched.focused,
                bus_address=watched.bus_address,
                a11y_address=watched.a11y_address,
            )
            return replace(job, observe=known)

        def begin(resume: Resume[Observed]) -> None:
            source = self.core.sources.by_name.get(watched.name)
            if source is None or not source.live:
                resume(Observed(unread=f"display {watched.name} has no pixels now"))
                return
            submit, lane = self.core.pool.submit, Lane.OCR if ask.read_text else Lane.JUDGE
            view = View(source.name, crop)
            submit(FrameWork(submit, lane, source, fill, lambda outcome: resume(_read_outcome(outcome)), view=view))

        return Callback(begin)

    async def picture(self, watched: WatchedDisplay, ask: PictureAsk) -> Picture:
        """Return the picture of a fresh frame of `watched`. Raises: why there is none."""
        fresh = await self.core.fresh_frames.find(Target(watched.name))
        return await self.core.screenshots.take(fresh.picture, ask)


def _read_outcome(outcome: JobResult | Unavailable) -> Observed:
    if isinstance(outcome, Unavailable):
        return Observed(unread=outcome.message)
    return outcome.observed or Observed(unread=outcome.reason or outcome.status)
