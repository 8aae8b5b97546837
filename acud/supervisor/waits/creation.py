"""Makes an armed wait from a request: checks it, finds its display and takes its baseline."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, Refused
from acud.base.extras import can_read, not_installed, require
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.supervisor.coroutines import Callback
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, OnDisplayLost, OnHostLost, Policy, Target, TextLeaf, Until, WaitSpec
from acud.waits import baselines
from acud.waits.condition_tree import is_from_now, leaves, needs_display
from acud.waits.rearmable import check_rearmable
from acud.waits.sentences import meaning_notes, with_meanings
from acud.waits.targets import parse_target
from acud.waits.validation import validate

if TYPE_CHECKING:
    from acud.supervisor.core import Core


def check_extras(until: Until, target: Target) -> None:
    """Raise NotInstalled for a condition that needs an extra which is missing."""
    for leaf in leaves(until):
        if leaf.extra:
            require(leaf.extra, f"a wait until {leaf.describe()}")
        elif isinstance(leaf, TextLeaf) and not target.pty and not can_read():
            raise not_installed("ocr", "reading text where there is no tesseract")


def check_rearm_wish(core: Core, policy: Policy, until: Until, target: Target, watched: WatchedDisplay | None) -> None:
    """Raise InvalidRequest or Refused for a wait with `on_host_lost` = rearm that no other host could arm again.
    `watched`: the display that it looks at, None for none.
    """
    if policy.on_host_lost is not OnHostLost.REARM:
        return
    check_rearmable(until, target)
    settings = core.settings
    if not (settings.features.fleet and settings.fleet.urls):
        raise Refused("on_host_lost = rearm: this host is in no fleet", hint="set [fleet] url; docs/scaling.md")
    if not settings.fleet.rearm:
        raise Refused(
            "on_host_lost = rearm: no wait leaves this host, or comes to it",
            hint="set [fleet] rearm = true on hosts that may act on each other; docs/scaling.md",
        )
    if watched is None or not watched.managed:
        name = watched.name if watched is not None else "none"
        raise Refused(
            f"on_host_lost = rearm: no other host can make this display ({name}) again, as acud did not make it",
            hint="acud display create, or a task's display; start programs there with acud do launch",
        )
    core.displays.build_recipe(watched.name, core.program_launcher)


async def measure_from_now(core: Core, until: Until, target: Target) -> tuple[Until, WatchedDisplay] | None:
    """Return `until` with changes measured from a frame that is grabbed now, and the display; None if `target` has no
    pixels now.
    """
    try:
        fresh = await core.fresh_frames.find(target)
    except AcudError:
        return None
    picture = fresh.picture
    token = core.waits.targets.make_token(picture.source, picture.source.frame, box=picture.crop)
    return baselines.with_token(until, token), fresh.watched


class WaitCreation:
    """A wait that is being created. `in_opened`: its target is the window that a launch will open. The constructor
    raises for a faulty `request`, before anything is begun.
    """

    def __init__(self, core: Core, request: WaitCreate, *, in_opened: bool = False) -> None:
        core.wakes.check(request.wake)
        place = core.ports.tasks.find_place(request.task_id, request.target, request.display)
        self.spec = validate(
            with_meanings(request.until, request.judge),
            parse_target(request.target, place.display, request.ignore),
            timeout_s=request.timeout_s,
            default_timeout_s=core.settings.wait.timeout_s,
            max_timeout_s=core.settings.wait.max_timeout_s,
            policy=request.policy,
            judge=request.judge,
            task_id=place.task_id,
            label=request.label,
            wake=request.wake,
            budget=request.budget,
            note=request.note,
        )
        target = core.waits.targets.notes.with_display(self.spec.target)
        target = replace(target, opened_by=0) if in_opened else target
        self.spec = replace(self.spec, target=target, until=core.host_conditions.pin_to_now(self.spec.until))
        check_extras(self.spec.until, target)
        core.waits.check_judged(self.spec.until, self.spec.judge, force=request.force)
        self.read_as = tuple(meaning_notes(request.until, request.judge))
        self._core = core

    async def create(self) -> WaitReply:
        """Return the wait, stored in this turn and armed after its commit.

        A change is measured from a frame that is grabbed before, or from when its target appears. Conditions on files
        and processes without a target need no display, nor do those on a terminal session that no window shows.
        """
        return self._create_wait(*await self.find())

    async def find(self) -> tuple[WaitSpec, WatchedDisplay | None]:
        """Return the checked wait, its baseline taken, and its display (None: it needs none)."""
        core, spec, target = self._core, self.spec, self.spec.target
        await core.screenshots.check_images(spec.until, target.display)
        is_beside = not target.display and not needs_display(spec.until, target)
        if is_beside and (target == Target() or (target.pty and await core.fresh_frames.is_detached(target.pty))):
            return spec, None
        if is_from_now(spec.until) and not (is_beside and target.pty):
            measured = await measure_from_now(core, spec.until, target)
            if measured is not None:
                return replace(spec, until=measured[0]), measured[1]
        watched = await core.displays.find_display(target.display)
        await core.fresh_frames.check_session(target, watched)
        if watched.state is DisplayState.UP:
            # So that the notes name an empty display, and several windows that match.
            with suppress(AcudError):
                await Callback[None](partial(core.window_list_ready.when_known, watched))
        return spec, watched

    def _create_wait(self, spec: WaitSpec, watched: WatchedDisplay | None) -> WaitReply:
        core = self._core
        fails = spec.policy.on_display_lost is OnDisplayLost.FAIL
        if watched is not None and watched.state is DisplayState.ENDED and fails:
            raise DisplayDown(
                f"display {watched.name} has ended: {watched.reason}",
                hint="acud display create; or name another display",
            )
        check_rearm_wish(core, spec.policy, spec.until, spec.target, watched)
        if spec.task_id:
            core.ports.tasks.find_live(spec.task_id)  # it may have ended since the call came
        info, notes = core.waits.create(spec, watched)
        return WaitReply(info, (*self.read_as, *notes), core.wakes.routes_of(spec.wake))
