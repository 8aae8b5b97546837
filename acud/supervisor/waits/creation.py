"""Makes an armed wait from a request: checks it, finds its display and takes its baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec.structs import replace

from acud.base.errors import AcudError, DisplayDown, InvalidRequest, Refused
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, OnDisplayLost, OnHostLost, Policy, Target, Until, WaitSpec
from acud.waits import baselines
from acud.waits.conditions import is_from_now, needs_display
from acud.waits.rearmable import check_rearmable
from acud.waits.sentences import meaning_notes, with_meanings
from acud.waits.targets import parse_target
from acud.waits.validation import validate

if TYPE_CHECKING:
    from acud.supervisor.core import Core

Thing = TypeVar("Thing")
Done = Callable[[WaitReply | AcudError], None]
Found = Callable[[WaitSpec, WatchedDisplay | None], None]


class Caller(Protocol):
    """The call that a wait is made for."""

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a callback; its faults go to this caller alone."""
        ...


def check_host_lost(core: Core, policy: Policy, until: Until, target: Target, watched: WatchedDisplay | None) -> None:
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
    core.displays.build_recipe(watched.name, core.program_launcher.has_failed)


class WaitCreation:
    """A wait that is being created. `in_opened`: its target is the window that a launch will open. The constructor
    raises for a faulty `request`, before anything is begun.
    """

    def __init__(self, core: Core, request: WaitCreate, caller: Caller, *, in_opened: bool = False) -> None:
        core.wakes.check(request.wake)
        place = core.ports.tasks.place(request.task_id, request.target, request.display)
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
        target = core.waits.targets.with_display(self.spec.target)
        target = replace(target, opened_by=0) if in_opened else target
        self.spec = replace(self.spec, target=target, until=core.host_conditions.pin_to_now(self.spec.until))
        core.waits.check_judged(self.spec.until, self.spec.judge, force=request.force)
        self.read_as = tuple(meaning_notes(request.until, request.judge))
        self._core = core
        self._later = caller.later

    def begin(self, done: Done) -> None:
        """Call `done` with the wait, stored in this turn and armed after its commit, or with the fault.

        A change is measured from a frame that is grabbed before, or from when its target appears. Conditions on files
        and processes without a target need no display, nor do those on a terminal session that no window shows.
        """
        self.find(lambda spec, watched: done(self._create_wait(spec, watched)), done)

    def find(self, found: Found, failed: Callable[[AcudError], None]) -> None:
        """Call `found` with the checked wait, its baseline taken, and its display (None: it needs none), or `failed`
        with the fault.
        """
        self._found, self._failed = found, failed
        self._core.screenshots.check_images(
            self.spec.until, self.spec.target.display, self._later(self._on_images_checked)
        )

    def _on_images_checked(self, fault: InvalidRequest | None) -> None:
        if fault is not None:
            self._failed(fault)
            return
        target = self.spec.target
        is_beside = not target.display and not needs_display(self.spec.until, target)
        if is_beside and target == Target():
            self._arm(self.spec.until, None)
        elif is_beside and target.pty:
            self._core.fresh_frames.check_detached(target.pty, self._later(self._on_detached))
        elif is_from_now(self.spec.until):
            self._core.fresh_frames.resolve_target(self.spec.target, self._later(self._on_target))
        else:
            self._on_no_target()

    def _on_detached(self, is_detached: bool) -> None:
        if is_detached:
            self._arm(self.spec.until, None)
        else:
            self._on_no_target()

    def _on_target(self, outcome: FreshTarget | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._on_no_target()
            return
        picture = outcome.picture
        token = self._core.waits.targets.make_token(picture.source, picture.source.frame, box=picture.crop)
        self._arm(baselines.with_token(self.spec.until, token), outcome.watched)

    def _on_no_target(self) -> None:
        self._core.displays.with_display(self.spec.target.display, self._later(self._on_display))

    def _on_display(self, outcome: WatchedDisplay | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._failed(outcome)
            return

        def on_session(fault: AcudError | None) -> None:
            self._on_session(outcome, fault)

        self._core.fresh_frames.check_session(self.spec.target, outcome, self._later(on_session))

    def _on_session(self, watched: WatchedDisplay, fault: AcudError | None) -> None:
        if fault is not None:
            self._failed(fault)
        elif watched.state is DisplayState.UP:
            # So that the notes name an empty display, and several windows that match.
            armed = self._later(lambda _: self._arm(self.spec.until, watched))
            self._core.window_list_ready.when_known(watched, armed)
        else:
            self._arm(self.spec.until, watched)

    def _arm(self, until: Until, watched: WatchedDisplay | None) -> None:
        try:
            self._found(replace(self.spec, until=until), watched)
        except AcudError as fault:
            self._failed(fault)

    def _create_wait(self, spec: WaitSpec, watched: WatchedDisplay | None) -> WaitReply:
        core = self._core
        fails = spec.policy.on_display_lost is OnDisplayLost.FAIL
        if watched is not None and watched.state is DisplayState.ENDED and fails:
            raise DisplayDown(
                f"display {watched.name} has ended: {watched.reason}",
                hint="acud display create; or name another display",
            )
        check_host_lost(core, spec.policy, spec.until, spec.target, watched)
        if spec.task_id:
            core.ports.tasks.live(spec.task_id)  # it may have ended since the call came
        info, notes = core.waits.create(spec, watched)
        return WaitReply(info, (*self.read_as, *notes), core.wakes.routes_of(spec.wake))
