"""Identities of baselines, read from the rings of a killed supervisor."""

from __future__ import annotations

from acud.base.clock import Clock
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import View, display_of
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import Lane
from acud.supervisor.orphaned_rings import OrphanedRing, OrphanedRings, find_same_frame
from acud.supervisor.waits.active_waits import ActiveWait, Step
from acud.types import Rect
from acud.waits import baselines
from acud.waits import events as happened
from acud.waits.baselines import BaselineToken
from acud.waits.schedule import IDENTITY_PRIORITY
from acud.waits.targets import TargetLocation
from acud.waits.tiles import Grid, masks


class BaselineRecovery:
    """Has evaluators identify what targets looked like; each look that is begun ends in a `BaselineIdentified`."""

    def __init__(self, pool: EvaluatorPool, orphaned_rings: OrphanedRings, clock: Clock, step: Step) -> None:
        self._pool, self._orphaned_rings = pool, orphaned_rings
        self._now = clock.monotonic_s
        self._step = step
        self._held: dict[str, list[str]] = {}
        self._under_way: set[tuple[str, str, View]] = set()
        """Looks by wait, token and view: a target is located again with each window list, but looked at once."""

    def begin_recovery(self, active: ActiveWait, location: TargetLocation, source: Source) -> frozenset[str]:
        """Look at the baselines that tiles alone may not decide; return the tokens that will be identified."""
        if self._orphaned_rings.is_empty:
            return frozenset()
        begun = frozenset(
            token for token in _find_unread(active) if self._begin_comparison(active, token, location, source)
        )
        self.let_go(active)
        return begun

    def hold_rings(self, active: ActiveWait) -> None:
        """Keep the rings that hold a wait's baselines until its target is in view."""
        if self._orphaned_rings.is_empty or active.wait_id in self._held:
            return
        self._held[active.wait_id] = [baselines.parse_token(token).source for token in _find_unread(active)]
        for source in self._held[active.wait_id]:
            self._orphaned_rings.hold_ring(source)

    def let_go(self, active: ActiveWait) -> None:
        """Release the rings kept for a wait, except those being read."""
        for source in self._held.pop(active.wait_id, ()):
            self._orphaned_rings.release_ring(source)

    def _begin_comparison(self, active: ActiveWait, token: str, location: TargetLocation, source: Source) -> bool:
        base = baselines.parse_token(token)
        past = self._orphaned_rings.find(base.source)
        if past is None or not _is_same_screen(past, base) or not _is_doubtful(base, location, source):
            return False
        view = View(base.source, _find_target_box(base, location), location.ignore)
        if (active.wait_id, token, view) in self._under_way:
            return True
        frame = find_same_frame(past, base.frame, _find_touching_tiles(base, view))
        if frame is None:
            return False
        self._orphaned_rings.hold_ring(base.source)
        self._under_way.add((active.wait_id, token, view))
        self._pool.submit(_IdentityJob(self, active, token, past, view, frame))
        return True

    def on_identified(self, active: ActiveWait, token: str, view: View, identity: str) -> None:
        """Pass the identity to the wait, and release the ring."""
        self._under_way.discard((active.wait_id, token, view))
        self._step(active, happened.BaselineIdentified(self._now(), token, identity))
        self._orphaned_rings.release_ring(view.source)


def _find_unread(active: ActiveWait) -> set[str]:
    kept = {one.token: one.identity for one in active.baselines.values()}
    return {token for token in baselines.collect_tokens(active.spec.until) | set(kept) if not kept.get(token)}


def _is_same_screen(past: OrphanedRing, base: BaselineToken) -> bool:
    """Return whether ring and baseline have the same server and geometry, so that frame numbers mean the same."""
    return (past.server, past.layout.width, past.layout.height) == (base.server, base.width, base.height)


def _is_doubtful(base: BaselineToken, location: TargetLocation, source: Source) -> bool:
    """Return whether tiles cannot decide what changed: some lie in the target in part, or the target moved."""
    grid = Grid(source.width, source.height)
    now = BaselineToken(source.name, source.server, source.width, source.height, 0, box=location.crop)
    tiles = masks(grid, location.crop or Rect(0, 0, grid.width, grid.height), location.ignore)
    return tiles.touching != tiles.whole or bool(baselines.explain_mismatch(base, now))


def _find_target_box(base: BaselineToken, location: TargetLocation) -> Rect | None:
    """Return where on the baseline's source the target was; its present place if the baseline has none."""
    return base.box or (location.crop if base.source == location.source else None)


def _find_touching_tiles(base: BaselineToken, view: View) -> int:
    """Return the tiles of the baseline's source that touch the target."""
    box = view.crop or Rect(0, 0, base.width, base.height)
    return masks(Grid(base.width, base.height), box, view.ignore).touching


class _IdentityJob:
    """A job for the identity of `view` in `frame`, which looks there as in the baseline."""

    lane = Lane.JUDGE
    priority = IDENTITY_PRIORITY

    def __init__(
        self, recovery: BaselineRecovery, active: ActiveWait, token: str, past: OrphanedRing, view: View, frame: int
    ) -> None:
        self._recovery, self._live, self._token, self._past, self._view = recovery, active, token, past, view
        self.display = display_of(view.source)
        self._frame = frame

    def build(self, job_id: str) -> Job | None:
        """Return the job; it also ends well if the ring is gone by then."""
        past = self._past
        return Job(job_id, self._view, str(past.path), past.epoch, self._frame, max_frame=self._frame)

    def on_part(self, result: JobResult) -> None:
        """Do nothing: an identity has no parts."""

    def on_result(self, result: JobResult) -> None:
        self._pass_identity(result.identity if result.status == "done" else "")

    def on_lost(self, reason: str) -> None:
        self._pass_identity("")

    def _pass_identity(self, identity: str) -> None:
        self._recovery.on_identified(self._live, self._token, self._view, identity)
