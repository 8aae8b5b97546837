"""Answer requests: input to a display, in exact steps and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.base.errors import AcudError
from acud.features.actions.action_words import actions_text
from acud.features.actions.supervisor.action_sequence import ActionSequence
from acud.features.actions.supervisor.action_wait import FollowedWait, beside
from acud.features.actions.supervisor.instruction_list import InstructionList
from acud.features.actions.supervisor.places import element_ids, named_window, spot_of, to_display_pixels
from acud.features.actions.window_effects import focus_now, window_changes
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.actions import ActionReply, DesktopAction, LaunchStatus, LaunchStatusReply
from acud.protocol.requests.gui import GuiDo
from acud.protocol.requests.looks import Picture
from acud.supervisor.control import Call, handles
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import picture_views
from acud.types.action_effects import ActionEffects
from acud.types.actions import Launch
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature


_PICTURE_S = 2.0
"""A picture of a display at rest takes no longer, as a rule."""


class _Acted:
    """One request on its way: its display, its wait, its actions, then its picture."""

    def __init__(self, feature: ActionsFeature, request: DesktopAction, call: Call) -> None:
        self.feature = feature
        self.request = request
        self.call = call
        self.view = picture_views.parse(request.view) if request.view else None
        named = request.display or ("" if request.task_id else self._display())
        self.place = feature.core.ports.tasks.place(request.task_id, request.target, named)
        self.target = parse_target(request.target, self.place.display)
        self.wait = self._followed()
        self.log = feature.core.ports.tasks.begin_action(
            self.place.task_id, ActionType.GUI, actions_text(request.actions)
        )
        self.settled: bool | None = None

    def _followed(self) -> FollowedWait | None:
        request = self.request
        if request.wait is None:
            return None
        wait = beside(request.wait, self.target, self.place.task_id)
        launches = any(isinstance(action, Launch) for action in request.actions)
        in_opened = launches and wait.target.strip().lower() == "screen" and wait.display == self.target.display
        return FollowedWait(self.feature.core, wait, self.call, request.block_s, in_opened=in_opened)

    def _display(self) -> str:
        """Return the display that a view or an element's id names; "" for none."""
        if self.view is not None:
            return self.view.display
        ids = (element_id for action in self.request.actions for element_id in element_ids(action))
        return self.feature.core.ports.elements.display_of(*ids)

    def fail(self, fault: AcudError) -> None:
        self.log(fault, None)
        self.call.fail(fault)

    def begin(self) -> None:
        """Its start is on disk: find the display."""
        self.feature.core.displays.with_display(self.target.display, self.call.then(self.on_display, self.fail))

    def on_display(self, watched: WatchedDisplay) -> None:
        """Find what the points are pixels of."""
        self.watched = watched
        if self.target.window or (self.view and self.view.window):
            self.feature.core.window_list_ready.when_known(watched, self.call.later(self.on_place))
        else:
            self.on_place(None)

    def on_place(self, fault: AcudError | None) -> None:
        """Check every point, then do the actions."""
        if fault is not None:
            self.fail(fault)
            return
        watched = self.watched
        try:
            self.feature.core.takeovers.check(watched, self.request.lease)
            source = self.feature.pixels(watched)
            spot = spot_of(self.target, self.view, watched, source.width, source.height)
            actions = tuple(to_display_pixels(one, spot, source.width, source.height) for one in self.request.actions)
        except AcudError as refusal:
            self.fail(refusal)
            return
        self.before = watched.windows, watched.focused
        on_done = self.call.later(self.on_done)
        window = named_window(watched, self.target.window).window_id if self.target.window else 0
        self.sequence = ActionSequence(
            self.feature, watched, actions, self.request.lease, self.call.touch, on_done, window, self.wait
        )
        if self.wait is None:
            self.sequence.begin()
        else:
            self.wait.arm(self.sequence.begin, self.fail)

    def on_done(self, fault: AcudError | None) -> None:
        """They are done, or one failed: then there is no picture, and nothing to wait for."""
        if fault is not None:
            self.fail(self._without_wait(fault))
        elif self.wait is not None:
            self.wait.when_over(self.show, self._showing_s())
        else:
            self.show()

    def _without_wait(self, fault: AcudError) -> AcudError:
        became = self.wait.cancel(fault.message) if self.wait is not None else ""
        return type(fault)(f"{fault.message}; {became}", hint=fault.hint, **fault.facts) if became else fault

    def _showing_s(self) -> float:
        return self.request.settle_timeout_s + _PICTURE_S if self.request.picture else 0.0

    def show(self) -> None:
        """Take the picture that was asked for, or answer."""
        if not self.request.picture:
            self.answer(None)
        elif self.request.settle_s:
            timeout_s = max(self.request.settle_timeout_s, 0.001)
            self.feature.idle(self.watched, self.request.settle_s, timeout_s, self.call.later(self.on_idle))
        else:
            self.on_idle(None)

    def on_idle(self, settled: bool | None) -> None:
        """It settled, or did not in time: the picture shows it as it is."""
        self.settled = settled
        ask = PictureAsk(self.request.format, self.request.max_side_px, self.request.quality)
        self.feature.picture(self.watched, ask, self.call, self.on_picture)

    def on_picture(self, outcome: Picture | AcudError) -> None:
        """Answer; the actions are done, whatever became of the picture."""
        if isinstance(outcome, AcudError):
            self.answer(None, f"no picture: {outcome}")
        else:
            self.answer(outcome)

    def _effects(self) -> ActionEffects:
        windows, focused = self.before
        now = self.watched
        changes = window_changes(windows, now.windows)
        return ActionEffects(changes, focus=focus_now(now.windows, now.focused, focused))

    def answer(self, picture: Picture | None, note: str = "") -> None:
        """Reply; neither a picture nor what the clipboard held is stored for a repeat."""
        done = self.sequence.progress
        said = "" if self.request.lease else self.feature.core.takeovers.take_note(self.watched)
        note = "; ".join(part for part in (said, note) if part)
        reply = ActionReply(
            display=self.watched.name,
            done=done.done,
            baseline=done.baseline,
            cursor=done.cursor,
            text=done.text,
            clipboard_picture=done.png,
            windows=done.windows,
            pid=done.pid,
            idle=done.idle,
            settled=self.settled,
            picture=picture,
            note=note,
            effects=self._effects(),
            wait=self.wait.told() if self.wait is not None else None,
        )
        points = {"points": done.pressed} if done.pressed else {}
        self.log(None, {"display": reply.display, "done": reply.done, **points})
        kept = replace(reply, picture=None, text="", clipboard_picture=b"", note=note or _left_out(reply), effects=None)
        self.call.reply(reply, self.wait.seen if self.wait is not None else None, kept)


def _left_out(reply: ActionReply) -> str:
    parts = ("its picture", reply.picture), ("the clipboard's content", reply.text or reply.clipboard_picture)
    left = [name for name, given in parts if given]
    return f"an answer given again: without {' and '.join(left)}" if left else ""


@handles(DesktopAction)
def desktop_action(feature: ActionsFeature, request: DesktopAction, call: Call) -> None:
    """Do the actions once the start of the request is on disk: no repeat will do them again."""
    acted = _Acted(feature, request, call)
    call.when_started(acted.begin)


@handles(GuiDo)
def gui_do(feature: ActionsFeature, request: GuiDo, call: Call) -> None:
    """Do it once the start of the request is on disk: no repeat will do it again."""
    feature.core.settings.check_judge(request.judge)
    call.when_started(InstructionList(feature, request, call).begin)


_STATUS_LINES = 20


@handles(LaunchStatus)
def launch_status(feature: ActionsFeature, request: LaunchStatus, call: Call) -> LaunchStatusReply:
    """Return how a launched program fares."""
    found = feature.core.program_launcher.find(request.pid)
    return LaunchStatusReply(
        pid=found.pid,
        program=found.name,
        display=found.display,
        running=not found.reason,
        end=found.reason,
        exit_code=found.exit_code,
        last_lines=found.last_lines(_STATUS_LINES),
    )
