"""Steps that every request for actions takes on a display: its pixels, its rest, its widgets and text, a picture."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import DisplayDown, Unavailable
from acud.protocol.evaluation import Job
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.questions import PictureAsk, View
from acud.protocol.requests.looks import Picture
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import Lane
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

    async def observe(self, watched: WatchedDisplay, ask: ObserveAsk, crop: Rect | None = None) -> Observed:
        """Return what `ask` wants of `watched` (of `crop` alone, for its text), or why it is not known.

        The windows, the focus and the buses of `ask` are filled in as they are when it is sent.
        """
        source = self.core.sources.by_name.get(watched.name)
        if source is None or not source.live:
            return Observed(unread=f"display {watched.name} has no pixels now")
        lane, fill = Lane.OCR if ask.read_text else Lane.JUDGE, partial(_fill_job, watched, ask)
        try:
            result = await self.core.pool.look(lane, source, fill, View(source.name, crop))
        except Unavailable as lost:
            return Observed(unread=lost.message)
        return result.observed or Observed(unread=result.reason or result.status)

    async def picture(self, watched: WatchedDisplay, ask: PictureAsk) -> Picture:
        """Return the picture of a fresh frame of `watched`. Raises: why there is none."""
        fresh = await self.core.fresh_frames.find(Target(watched.name))
        return await self.core.screenshots.take(fresh.picture, ask)


def _fill_job(watched: WatchedDisplay, ask: ObserveAsk, job: Job) -> Job:
    known = replace(
        ask,
        windows=watched.windows,
        focused=watched.focused,
        bus_address=watched.bus_address,
        a11y_address=watched.a11y_address,
    )
    return replace(job, observe=known)
