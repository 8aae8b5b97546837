"""Answer requests: input to a display, in exact steps and in words."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import AcudError
from acud.features.actions.action_words import actions_text
from acud.features.actions.supervisor.action_sequence import ActionSequence
from acud.features.actions.supervisor.action_wait import FollowedWait, beside
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.instruction_list import InstructionList
from acud.features.actions.supervisor.places import element_ids, named_window, spot_of, to_display_pixels
from acud.features.actions.window_effects import focus_now, window_changes
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.actions import ActionReply, DesktopAction, LaunchStatus, LaunchStatusReply
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.control import Call, handles
from acud.supervisor.coroutines import Callback, StepTask
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import WindowInfo, picture_views
from acud.types.action_effects import ActionEffects
from acud.types.actions import Launch
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target

_PICTURE_S = 2.0
"""A picture of a display at rest takes no longer, as a rule."""


class _ActionCall:
    """One request on its way: its display, its wait, its actions, then its picture."""

    def __init__(self, steps: DisplaySteps, request: DesktopAction, call: Call) -> None:
        self._steps, self._core = steps, steps.core
        self._request = request
        self._call = call
        self._view = picture_views.parse(request.view) if request.view else None
        named = request.display or ("" if request.task_id else self._find_display())
        self._place = self._core.ports.tasks.find_place(request.task_id, request.target, named)
        self._target = parse_target(request.target, self._place.display)
        self._wait = self._create_wait()
        self._log = self._core.ports.tasks.begin_action(
            self._place.task_id, ActionType.GUI, actions_text(request.actions)
        )

    def _create_wait(self) -> FollowedWait | None:
        request = self._request
        if request.wait is None:
            return None
        wait = beside(request.wait, self._target, self._place.task_id)
        launches = any(isinstance(action, Launch) for action in request.actions)
        in_opened = launches and wait.target.strip().lower() == "screen" and wait.display == self._target.display
        return FollowedWait(self._core, wait, self._call, request.block_s, in_opened=in_opened)

    def _find_display(self) -> str:
        """Return the display that a view or an element's id names; "" for none."""
        if self._view is not None:
            return self._view.display
        ids = (element_id for action in self._request.actions for element_id in element_ids(action))
        return self._core.ports.elements.display_of(*ids)

    def begin(self) -> None:
        """Begin, once the start of the request is on disk."""
        StepTask(self._carry_out(), self._call.later, self._send_reply).begin()

    def _send_reply(self, outcome: ActionReply | AcudError) -> None:
        """Reply; neither a picture nor what the clipboard held is stored for a repeat."""
        if isinstance(outcome, AcudError):
            self._log(outcome, None)
            self._call.fail(outcome)
            return
        kept = replace(
            outcome, picture=None, text="", clipboard_picture=b"", note=outcome.note or _left_out(outcome), effects=None
        )
        self._call.reply(outcome, self._wait.mark_seen if self._wait is not None else None, kept)

    async def _carry_out(self) -> ActionReply:
        """Do the actions, and return the answer. Raises: AcudError."""
        request = self._request
        watched = await self._core.displays.find_display(self._target.display)
        sequence = await self._prepare_actions(watched)
        before = watched.windows, watched.focused
        if (wait := self._wait) is not None:
            await wait.arm()
        try:
            done = await sequence.run()
        except AcudError as fault:
            outcome = wait.cancel(fault.message) if wait is not None else ""
            raise type(fault)(
                f"{fault.message}; {outcome}" if outcome else fault.message, hint=fault.hint, **fault.facts
            ) from fault
        if wait is not None:
            shows_s = request.settle_timeout_s + _PICTURE_S if request.picture else 0.0
            await wait.await_end_or_dialog(shows_s)
        settled = picture = None
        note = "" if request.lease else self._core.takeovers.take_note(watched)
        if request.picture:
            if request.settle_s:
                settled = await self._steps.idle(watched, request.settle_s, max(request.settle_timeout_s, 0.001))
            try:
                ask = PictureAsk(request.format, request.max_side_px, request.quality)
                picture = await self._steps.picture(watched, ask)
            except AcudError as fault:
                note = "; ".join(part for part in (note, f"no picture: {fault}") if part)
        reply = ActionReply(
            display=watched.name,
            done=done.done,
            baseline=done.baseline,
            cursor=done.cursor,
            text=done.text,
            clipboard_picture=done.png,
            windows=done.windows,
            pid=done.pid,
            idle=done.idle,
            settled=settled,
            picture=picture,
            note=note,
            effects=_describe_effects(watched, *before),
            wait=wait.describe() if wait is not None else None,
        )
        points = {"points": done.pressed} if done.pressed else {}
        self._log(None, {"display": reply.display, "done": reply.done, **points})
        return reply

    async def _prepare_actions(self, watched: WatchedDisplay) -> ActionSequence:
        """Find the picture that the points are pixels of, and check every point."""
        if self._target.window or (self._view and self._view.window):
            await Callback[None](partial(self._core.window_list_ready.when_known, watched))
        self._core.takeovers.check(watched, self._request.lease)
        source = self._steps.pixels(watched)
        spot = spot_of(self._target, self._view, watched, source.width, source.height)
        actions = tuple(to_display_pixels(one, spot, source.width, source.height) for one in self._request.actions)
        window = named_window(watched, self._target.window).window_id if self._target.window else 0
        return ActionSequence(self._steps, watched, actions, self._request.lease, self._call, window, self._wait)


def _describe_effects(watched: WatchedDisplay, windows: tuple[WindowInfo, ...], focused: int) -> ActionEffects:
    changes = window_changes(windows, watched.windows)
    return ActionEffects(changes, focus=focus_now(watched.windows, watched.focused, focused))


def _left_out(reply: ActionReply) -> str:
    parts = ("its picture", reply.picture), ("the clipboard's content", reply.text or reply.clipboard_picture)
    left = [name for name, given in parts if given]
    return f"an answer given again: without {' and '.join(left)}" if left else ""


@handles(DesktopAction)
def desktop_action(steps: DisplaySteps, request: DesktopAction, call: Call) -> None:
    """Do the actions once the start of the request is on disk: no repeat will do them again."""
    call.when_started(_ActionCall(steps, request, call).begin)


@handles(GuiDo)
def gui_do(steps: DisplaySteps, request: GuiDo, call: Call) -> None:
    """Do it once the start of the request is on disk: no repeat will do it again."""
    steps.core.settings.check_judge(request.judge)
    call.when_started(InstructionList(steps, request, call).begin)


_STATUS_LINES = 20


@handles(LaunchStatus)
def launch_status(steps: DisplaySteps, request: LaunchStatus, call: Call) -> LaunchStatusReply:
    found = steps.core.program_launcher.find(request.pid)
    return LaunchStatusReply(
        pid=found.pid,
        program=found.name,
        display=found.display,
        running=not found.reason,
        end=found.reason,
        exit_code=found.exit_code,
        last_lines=found.last_lines(_STATUS_LINES),
    )
