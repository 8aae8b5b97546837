"""Each request as a method, sync and async. Written by scripts/client_methods.py from the declarations."""

# ruff: noqa: A002, B008, I001 - names are the protocol's; defaults are frozen; imports fill their lines, as calls do
# fmt: off

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import msgspec

from acud.protocol.push import PushTarget
from acud.protocol.requests import REQUESTS
from acud.protocol.requests.actions import ActionReply, DesktopAction, LaunchStatus, LaunchStatusReply
from acud.protocol.requests.agents import (
    AgentCancel, AgentList, AgentListReply, AgentResult, AgentResultReply, GuiAgent, RunReply,
)
from acud.protocol.requests.commentary import (
    AnalysisConfigReply, AnalysisConfigure, AnalysisContextGet, AnalysisContextReply, AnalysisHistory,
    AnalysisHistoryReply, AnalysisStatus, AnalysisStatusReply, FeedList, FeedListReply, FeedPost, Posted, SenseList,
    SenseListReply, SensePost,
)
from acud.protocol.requests.daemon import (
    DaemonDrain, DaemonDrainReply, DaemonReload, DaemonReloadReply, Doctor, DoctorReply, EvaluatorsRestart,
    EvaluatorsRestartReply, EventsSince, EventsSinceReply, Metrics, MetricsReply, Shutdown, ShutdownReply, Status,
    StatusReply, Usage, UsageReply,
)
from acud.protocol.requests.displays import (
    DisplayAdd, DisplayCreate, DisplayList, DisplayListReply, DisplayRelease, DisplayRemove, DisplayReply, DisplayTake,
    NotificationAnswer, NotificationReply, TakeReply,
)
from acud.protocol.requests.fleet import (
    FleetDrain, FleetDrainReply, FleetHosts, FleetHostsReply, FleetLostWaits, FleetLostWaitsReply, FleetPlace,
    FleetPlaceReply, FleetRearm, FleetRecipe, FleetRecipeReply, LostWait,
)
from acud.protocol.requests.gui import DoReply, FindReply, GuiDo, GuiFind
from acud.protocol.requests.looks import Baseline, BaselineReply, LiveWatch, LiveWatched, Look, Picture
from acud.protocol.requests.notifications import (
    NotifyTest, NotifyTestReply, PushList, PushListReply, PushReply, PushSubscribe, PushUnsubscribe,
)
from acud.protocol.requests.recordings import (
    RecordDelete, RecordList, RecordListReply, RecordReply, RecordShow, RecordStart, RecordStop, RecordTimeline,
    TimelineReply,
)
from acud.protocol.requests.scenes import (
    Annotation, SceneAnnotate, SceneAnnotated, SceneGet, SceneReply, SceneSubscribe, SceneSubscribed,
)
from acud.protocol.requests.tasks import (
    TaskActions, TaskActionsReply, TaskDelete, TaskDeleteReply, TaskDrillDown, TaskDrillDownReply, TaskExportTexts,
    TaskExportTextsReply, TaskItemUpdate, TaskList, TaskListReply, TaskLogAction, TaskLogActionReply, TaskPlanAppend,
    TaskRegister, TaskReply, TaskSummary, TaskSummaryReply, TaskThread, TaskThreadReply, TaskUpdate,
)
from acud.protocol.requests.terminals import (
    Moment, TerminalClose, TerminalClosed, TerminalList, TerminalListReply, TerminalOpen, TerminalRead, TerminalReply,
    TerminalType,
)
from acud.protocol.requests.waits import (
    ChangeReply, EvidenceGet, EvidencePart, EvidenceReply, WaitCancel, WaitCreate, WaitForChange, WaitList,
    WaitListReply, WaitReply, WaitResult, WaitResultReply, WaitShow, WaitShowReply, WaitTry, WaitTryReply, WaitUpdate,
)
from acud.protocol.requests.wakes import (
    WakeCarry, WakeCarryReply, WakeList, WakeListReply, WakeRetry, WakeRetryReply, WakeSeen, WakeSeenReply, WakeTest,
    WakeTestReply,
)
from acud.protocol.requests.web import (
    WebLogin, WebLoginRedeem, WebLoginReply, WebPass, WebPassReply, WebTokenCreate, WebTokenList, WebTokenListReply,
    WebTokenRevoke,
)
from acud.protocol.wakes import SharedWake
from acud.protocol.web import Scope
from acud.types import (
    Budget, JudgeName, Labels, Policy, Rect, RouteName, Until, WaitFilter, WaitSpec, WaitState, WakeAddress, WakeState,
)
from acud.types.actions import Action, Point
from acud.types.agent_runs import RunLimits
from acud.types.commentary import SenseMeta
from acud.types.grounding import GroundingBackend
from acud.types.scene import SceneMode
from acud.types.tasks import ActionStatus, ActionType, Detail, ItemStatus, TaskStatus

Parameters = ParamSpec("Parameters")
Reply = TypeVar("Reply", bound=msgspec.Struct)


class RequestMethods(ABC):
    """The requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def status(self) -> StatusReply:
        """Ask for the daemon's state: version, displays, children, judges, numbers of waits, cost today."""
        return self.ask(Status(), StatusReply)

    def doctor(self) -> DoctorReply:
        """Ask for findings: each part, its version, the fallback in use and why, and the fix for each fault. `acud
        doctor` adds what can only be seen from outside."""
        return self.ask(Doctor(), DoctorReply)

    def metrics(self) -> MetricsReply:
        """Ask for every figure that the daemon measures; docs/metrics.md lists them. `acud metrics` prints them as
        text, which `acud_client.exposition` makes."""
        return self.ask(Metrics(), MetricsReply)

    def usage(self, *, days: int = 7, task_id: str = '') -> UsageReply:
        """Add up what was asked in the last `days` by day (UTC), purpose, judge, model and task. `task_id`: of this
        one."""
        return self.ask(Usage(days, task_id), UsageReply)

    def events_since(self, after: int = 0, *, topic: str = '', limit: int = 200) -> EventsSinceReply:
        """Return stored events with a number above `after`, oldest first, of topics that begin with `topic`."""
        return self.ask(EventsSince(after, topic, limit), EventsSinceReply)

    def daemon_reload(self) -> DaemonReloadReply:
        """Read acud.toml again and take what can change while the daemon runs. A malformed file is refused as a whole.
        The reply lists what was taken and what needs a restart."""
        return self.ask(DaemonReload(), DaemonReloadReply)

    def daemon_drain(
        self, timeout_s: float = 3600.0, *, keep_displays: bool = False, cancel: bool = False,
    ) -> DaemonDrainReply:
        """Refuse new waits, tasks, runs, displays and recordings from now on, and end the daemon as soon as no wait is
        live, no task active and no run at work, at the latest in `timeout_s`: what is live then ends, or stays, as with
        `shutdown`. Asked again it moves the end; `cancel` takes it back. A daemon that is killed meanwhile drains no
        longer when it is started again."""
        return self.ask(DaemonDrain(timeout_s, keep_displays, cancel), DaemonDrainReply)

    def evaluators_restart(self) -> EvaluatorsRestartReply:
        """End each evaluator and start it again, one at a time: it gets no new jobs, finishes what it has in hand for
        ten seconds, and hands over the rest. No job is lost and no wait notices. The reply waits for the last one."""
        return self.ask(EvaluatorsRestart(), EvaluatorsRestartReply)

    def shutdown(self, *, keep_displays: bool = False) -> ShutdownReply:
        """End the daemon: managed displays end too and waits on them fail, unless `keep_displays`; other waits stay
        armed for the next start. Wait for the process `pid` of the reply."""
        return self.ask(Shutdown(keep_displays), ShutdownReply)

    def display_list(self, *, ended: bool = False) -> DisplayListReply:
        """List the displays with their state, frame rate, frame age and windows; ended ones too with `ended`; and which
        of them `screen` means."""
        return self.ask(DisplayList(ended), DisplayListReply)

    def display_add(self, name: str, *, auth_file: str = '', owner: int = -1) -> DisplayReply:
        """Adopt the display `name` (`:0`; at a fleet's endpoint `host/:0`); `auth_file` is its Xauthority ("" tries
        $XAUTHORITY and ~/.Xauthority)."""
        return self.ask(DisplayAdd(name, auth_file, owner), DisplayReply)

    def display_create(
        self, width: int = 0, height: int = 0, *, window_manager: str = '', labels: Labels | None = None,
    ) -> DisplayReply:
        """Start an Xvfb with a window manager and a session bus of its own; 0 means the size in the settings. Programs
        find it by its `name` and `auth_file` (DISPLAY, XAUTHORITY)."""
        return self.ask(DisplayCreate(width, height, window_manager, dict(labels or {})), DisplayReply)

    def display_remove(self, name: str, *, force: bool = False) -> DisplayReply:
        """End the managed display `name`, or forget the adopted one; with `force` also while waits look at it."""
        return self.ask(DisplayRemove(name, force), DisplayReply)

    def notification_answer(self, name: str, notification_id: int, *, action: str = '') -> NotificationReply:
        """Choose the `action` (its key) of an open notification of the managed display `name`, or close it ("")."""
        return self.ask(NotificationAnswer(name, notification_id, action), NotificationReply)

    def display_take(
        self, display: str = '', *, who: str = '', for_s: float = 900.0, note: str = '', lease: str = '',
    ) -> TakeReply:
        """Take `display` ("": the default one) over for `for_s`: actions without the lease are refused at once, what is
        under way is dropped, and every held key and button is released. Waits and looks go on. It ends by itself."""
        return self.ask(DisplayTake(display, who, for_s, note, lease), TakeReply)

    def display_release(self, display: str, *, lease: str = '', force: bool = False, note: str = '') -> DisplayReply:
        """Give `display` back before its lease runs out. `note`: what the agents are to know. It is in the event, in
        the thread of each task that has this display, and in the answer to the first actions on it."""
        return self.ask(DisplayRelease(display, lease, force, note), DisplayReply)

    def look(
        self, target: str = 'screen', *, display: str = '', format: Literal['png', 'jpeg'] = 'png',
        max_side_px: int = 0, quality: int = 90, task_id: str = '', redacted: bool = False,
    ) -> Picture:
        """Take a picture of `target` from a grab made after this call. `max_side_px` 0 keeps the size."""
        return self.ask(Look(target, display, format, max_side_px, quality, task_id, redacted), Picture)

    def live_watch(self, display: str, *, fps: float = 10.0, for_s: float = 10.0, watch: str = '') -> LiveWatched:
        """Grab `display` as it changes, up to `fps` times a second, for `for_s` from now on; asked again with the
        `watch` of the reply it goes on, with `for_s` 0 it ends. Several watches of one display share the fastest. The
        reply names where the frames are."""
        return self.ask(LiveWatch(display, fps, for_s, watch), LiveWatched)

    def baseline(self, target: str = 'screen', *, display: str = '', task_id: str = '') -> BaselineReply:
        """Take a token before an action, so that a change wait armed after it cannot miss what the action did."""
        return self.ask(Baseline(target, display, task_id), BaselineReply)

    def scene(
        self, mode: SceneMode | None = SceneMode.AGENT_TURN, displays: Sequence[str] = (), *,
        form: Literal['json', 'prompt'] = 'json', max_tokens: int = 0, since: int = 0, marks: bool = False,
        task_id: str = '', max_side_px: int = 0, target: str = '', acted: Sequence[Point] | None = None,
        within_s: float = 5.0,
    ) -> SceneReply:
        """Return the scene of `displays` (names; empty: of all that are up)."""
        return self.ask(
            SceneGet(
                mode, tuple(displays), form, max_tokens, since, marks, task_id, max_side_px, target,
                None if acted is None else tuple(acted), within_s,
            ),
            SceneReply,
        )

    def scene_subscribe(
        self, displays: Sequence[str] = (), *, for_s: float = 60.0, subscription: str = '',
    ) -> SceneSubscribed:
        """Look at `displays` (empty: all) as they change, for `for_s` from now on; asked again it goes on. Each scene
        that differs is published as an event `scene.updated` with its id and what made it, never stored; `scene` with
        mode null fetches it (the Python clients' `subscribe_scene` does all of that)."""
        return self.ask(SceneSubscribe(tuple(displays), for_s, subscription), SceneSubscribed)

    def scene_annotate(
        self, display: str = '', vlm_scene: str | None = None, vlm_elements: Sequence[Annotation] | None = None, *,
        scene_id: int = 0, ask: str = '', task_id: str = '',
    ) -> SceneAnnotated:
        """Set `vlm_scene` and `vlm_elements` of `display`; they are carried forward until what they are about changes:
        an element until a pixel tile under it does, the sentence until more than a fifth of the display did."""
        return self.ask(
            SceneAnnotate(
                display, vlm_scene, None if vlm_elements is None else tuple(vlm_elements), scene_id, ask, task_id,
            ),
            SceneAnnotated,
        )

    def desktop_action(
        self, actions: Sequence[Action] | Action, *, target: str = 'screen', display: str = '', view: str = '',
        picture: bool = False, format: Literal['png', 'jpeg'] = 'png', settle_s: float = 0.3,
        settle_timeout_s: float = 5.0, max_side_px: int = 0, quality: int = 90, task_id: str = '', lease: str = '',
        wait: WaitCreate | None = None, block_s: float = 45.0,
    ) -> ActionReply:
        """Do `actions` in order; the first failure ends the list, and its error names how many were done
        (`facts["done"]`)."""
        return self.ask(
            DesktopAction(
                tuple(actions) if isinstance(actions, Sequence) else (actions,), target, display, view, picture, format,
                settle_s, settle_timeout_s, max_side_px, quality, task_id, lease, wait, block_s,
            ),
            ActionReply,
        )

    def launch_status(self, pid: int) -> LaunchStatusReply:
        """Report the state of a program that `launch` started: the newest one with this `pid`. The daemon knows those
        that it launched since its start, and of the ended ones the last 256."""
        return self.ask(LaunchStatus(pid), LaunchStatusReply)

    def terminal_open(
        self, command: Sequence[str] = (), *, name: str = '', cwd: str = '', columns: int = 120, rows: int = 40,
        display: str = '', task_id: str = '', moment: Moment = 'settled', lines: int = 200,
        wait: WaitCreate | None = None, block_s: float = 10.0,
    ) -> TerminalReply:
        """Open a session: start `command` (a list of words; none: the user's shell) in a pseudo-terminal."""
        return self.ask(
            TerminalOpen(tuple(command), name, cwd, columns, rows, display, task_id, moment, lines, wait, block_s),
            TerminalReply,
        )

    def terminal_type(
        self, terminal: str, text: str = '', *, keys: Sequence[str] = (), task_id: str = '', moment: Moment = 'settled',
        lines: int = 200, wait: WaitCreate | None = None, block_s: float = 10.0,
    ) -> TerminalReply:
        """Type `text` literally, then press `keys` one after the other (`ctrl+c`, `Enter`, `Up`, `alt+x`, `q`)."""
        return self.ask(TerminalType(terminal, text, tuple(keys), task_id, moment, lines, wait, block_s), TerminalReply)

    def terminal_read(
        self, terminal: str, *, lines: int = 0, since: str = '', moment: Moment = 'now', block_s: float = 10.0,
    ) -> TerminalReply:
        """Read a session: its screen, or its last `lines` with what was scrolled away, or what it wrote `since` a
        mark."""
        return self.ask(TerminalRead(terminal, lines, since, moment, block_s), TerminalReply)

    def terminal_list(self) -> TerminalListReply:
        """List the open sessions, including those whose program has ended."""
        return self.ask(TerminalList(), TerminalListReply)

    def terminal_close(self, terminal: str) -> TerminalClosed:
        """Close a session: its programs are hung up, and nothing is left of it."""
        return self.ask(TerminalClose(terminal), TerminalClosed)

    def gui_find(
        self, description: str, target: str = 'screen', *, display: str = '', backend: GroundingBackend | None = None,
        max_candidates: int = 8, task_id: str = '',
    ) -> FindReply:
        """Find what `description` describes in `target`, on a grab made after this call; nothing is done there."""
        return self.ask(GuiFind(description, target, display, backend, max_candidates, task_id), FindReply)

    def gui_do(
        self, instruction: str, target: str = 'screen', *, display: str = '', view: str = '',
        backend: GroundingBackend | None = None, expect: Until | None = None, timeout_s: float = 2.0,
        picture: bool = False, max_side_px: int = 0, quality: int = 90, task_id: str = '', lease: str = '',
        judge: str = JudgeName.AUTO, then: Sequence[str] = (), wait: WaitCreate | None = None, block_s: float = 45.0,
    ) -> DoReply:
        """Do one thing described in words ("click the Export button", "type hello into the name field") or with
        coordinates ("click(847, 523)"), and see whether it had an effect. Nothing is done unless one thing alone was
        found."""
        return self.ask(
            GuiDo(
                instruction, target, display, view, backend, expect, timeout_s, picture, max_side_px, quality, task_id,
                lease, judge, tuple(then), wait, block_s,
            ),
            DoReply,
        )

    def wait_create(
        self, until: Until, target: str = 'screen', *, display: str = '', ignore: Sequence[Rect] = (),
        timeout_s: float | None = None, policy: Policy = Policy(), judge: str = JudgeName.AUTO, task_id: str = '',
        label: str = '', wake: WakeAddress = WakeAddress(), budget: Budget = Budget(), force: bool = False,
        note: str = '',
    ) -> WaitReply:
        """Arm a wait and return at once."""
        return self.ask(
            WaitCreate(
                until, target, display, tuple(ignore), timeout_s, policy, judge, task_id, label, wake, budget, force,
                note,
            ),
            WaitReply,
        )

    def wait_list(
        self, *, states: Sequence[WaitState] = (), ended: bool = False, limit: int = 100, tasks: Sequence[str] = (),
        displays: Sequence[str] = (), filter: WaitFilter = WaitFilter(), offset: int = 0, facets: bool = False,
    ) -> WaitListReply:
        """List waits, newest first: the live ones, or those in `states`, or all with `ended`; where `tasks` (whole ids)
        or `displays` are named, those of any of these alone. Of these, those that fit `filter`, from the `offset`th on.
        With `facets`, the reply names what all those have, whatever the filter."""
        return self.ask(
            WaitList(tuple(states), ended, limit, tuple(tasks), tuple(displays), filter, offset, facets),
            WaitListReply,
        )

    def wait_show(self, wait_id: str, *, evaluations: int = 50, before: int = 0) -> WaitShowReply:
        """Show the wait `wait_id` (a unique beginning or ending is enough) with its newest evaluations; with `before`,
        the newest of those before the evaluation with that `number`."""
        return self.ask(WaitShow(wait_id, evaluations, before), WaitShowReply)

    def wait_update(
        self, wait_id: str, *, until: Until | None = None, timeout_s: float | None = None, policy: Policy | None = None,
        budget: Budget | None = None, force: bool = False,
    ) -> WaitReply:
        """Change condition, timeout, policy or budget of a live wait; a timeout restarts its clock. Only what is given
        changes; a budget replaces the one before as a whole, and what was spent stays spent. `force`: as in
        `wait_create`."""
        return self.ask(WaitUpdate(wait_id, until, timeout_s, policy, budget, force), WaitReply)

    def wait_cancel(self, wait_id: str, *, reason: str = '') -> WaitReply:
        """End the live wait `wait_id` without a verdict."""
        return self.ask(WaitCancel(wait_id, reason), WaitReply)

    def wait_result(
        self, wait_id: str, *, block_s: float = 0.0, peek: bool = False, again_s: float = 0.0,
    ) -> WaitResultReply:
        """Return when `wait_id` has ended, or after `block_s` with its state so far. Giving up never cancels the
        wait."""
        return self.ask(WaitResult(wait_id, block_s, peek, again_s), WaitResultReply)

    def wait_try(
        self, until: Until, target: str = 'screen', *, display: str = '', ignore: Sequence[Rect] = (),
        judge: str = JudgeName.AUTO, task_id: str = '', force: bool = False, block_s: float = 60.0,
    ) -> WaitTryReply:
        """Return whether `until` holds now: one look at the target, by the judge that a wait would have. No wait is
        made: it is in no list, count or event, and wakes no agent; the cost of judging is in the usage. Try the stages
        of a `then` one by one. Without an answer within `block_s` the verdict is `unknown`. The rest is as for
        `wait_create`."""
        return self.ask(WaitTry(until, target, display, tuple(ignore), judge, task_id, force, block_s), WaitTryReply)

    def wait_for_change(
        self, target: str = 'screen', *, display: str = '', ignore: Sequence[Rect] = (), timeout_s: float = 10.0,
        settle_s: float = 0.0, share: float = 0.0, baseline: str = '', format: Literal['png', 'jpeg'] = 'png',
        max_side_px: int = 0, quality: int = 90, task_id: str = '',
    ) -> ChangeReply:
        """Block until `target` changed since `baseline` ("" is now) or `timeout_s` passed; one picture either way."""
        return self.ask(
            WaitForChange(
                target, display, tuple(ignore), timeout_s, settle_s, share, baseline, format, max_side_px, quality,
                task_id,
            ),
            ChangeReply,
        )

    def evidence(self, wait_id: str, *, part: EvidencePart = 'after', stage: int = 0, number: int = 0) -> EvidenceReply:
        """Return a picture of `wait_id`: the view as it resolved the wait (`after`), as it was when the condition was
        last seen not to hold (`before`), or what differs between the two, in red over a dimmed view (`diff`); or the
        image that the condition looks for, the first of several (`sought`); or what the evaluation with this `number`
        looked at, small (`verdict`). `stage`: of this stage of a sequence, counted from 1, that was reached before the
        end (0: of the end)."""
        return self.ask(EvidenceGet(wait_id, part, stage, number), EvidenceReply)

    def wake_list(
        self, *, states: Sequence[WakeState] = (), seen: bool = False, wait_id: str = '', limit: int = 100,
        offset: int = 0,
    ) -> WakeListReply:
        """List wakes, newest first: those not seen yet, or those in `states`, or all with `seen`; of one wait with
        `wait_id`. From the `offset`th on."""
        return self.ask(WakeList(tuple(states), seen, wait_id, limit, offset), WakeListReply)

    def wake_retry(self, wake_ids: Sequence[str] = (), *, undelivered: bool = False) -> WakeRetryReply:
        """Try the wakes `wake_ids` (unique beginnings or endings are enough) again now, or every undelivered one with
        `undelivered`."""
        return self.ask(WakeRetry(tuple(wake_ids), undelivered), WakeRetryReply)

    def wake_test(self, routes: Sequence[RouteName] = (), *, address: WakeAddress = WakeAddress()) -> WakeTestReply:
        """Send a test over each of `routes` (empty: those in the settings), once, whatever the others return; it is not
        kept."""
        return self.ask(WakeTest(tuple(routes), address), WakeTestReply)

    def wake_seen(self, wake_ids: Sequence[str]) -> WakeSeenReply:
        """Note that the agents of these wakes (whole ids) took them: they are `seen`, and no reminder follows."""
        return self.ask(WakeSeen(tuple(wake_ids)), WakeSeenReply)

    def wake_carry(self, wake: SharedWake) -> WakeCarryReply:
        """Try the routes in the settings but `fleet`, in order, until one takes `wake`; nothing of it is kept here."""
        return self.ask(WakeCarry(wake), WakeCarryReply)

    def notify_test(self) -> NotifyTestReply:
        """Show a notification on the administrator's desktop now, without the rate limit."""
        return self.ask(NotifyTest(), NotifyTestReply)

    def push_list(self, pass_id: str = '') -> PushListReply:
        """Return the browsers that take notifications; `pass_id`: those of one access token alone."""
        return self.ask(PushList(pass_id), PushListReply)

    def push_subscribe(self, pass_id: str, target: PushTarget) -> PushReply:
        """Send what the access token may see to this browser from now on; the same endpoint again takes the place of
        the former."""
        return self.ask(PushSubscribe(pass_id, target), PushReply)

    def push_unsubscribe(self, push_id: str, pass_id: str = '') -> PushReply:
        """End a subscription, and return it; `pass_id`: only when it is of this access token."""
        return self.ask(PushUnsubscribe(push_id, pass_id), PushReply)

    def task_register(
        self, name: str, plan: Sequence[str] = (), *, metadata: Mapping[str, Any] | None = None, agent_id: str = '',
        isolated_display: bool = True, display_width: int = 0, display_height: int = 0, budget: Budget = Budget(),
        labels: Labels | None = None,
    ) -> TaskReply:
        """Begin a task with its plan, on a managed display of its own unless `isolated_display` is false."""
        return self.ask(
            TaskRegister(
                name, tuple(plan), dict(metadata or {}), agent_id, isolated_display, display_width, display_height,
                budget, dict(labels or {}),
            ),
            TaskReply,
        )

    def task_update(
        self, task_id: str, *, message: str = '', query: str = '', status: TaskStatus | None = None,
        budget: Budget | None = None,
    ) -> TaskReply:
        """Add `message` to the thread, ask where the task stands (`query`; answered from the store, by no model), and
        set its `status`. Pausing stops judging, deadlines run on; an end cancels the task's waits and ends its
        display."""
        return self.ask(TaskUpdate(task_id, message, query, status, budget), TaskReply)

    def task_item_update(self, task_id: str, item: int, status: ItemStatus, *, note: str = '') -> TaskReply:
        """Set the status of the plan item `item`, which counts from 1; `note` goes into the thread."""
        return self.ask(TaskItemUpdate(task_id, item, status, note), TaskReply)

    def task_plan_append(self, task_id: str, items: Sequence[str], *, note: str = '') -> TaskReply:
        """Add `items` at the end of the plan; `note` (the reason) goes into the thread."""
        return self.ask(TaskPlanAppend(task_id, tuple(items), note), TaskReply)

    def task_log_action(
        self, task_id: str, action_type: ActionType, summary: str, *, input_data: Any = None, output_data: Any = None,
        status: ActionStatus = ActionStatus.COMPLETED, item: int | None = None, duration_ms: float | None = None,
    ) -> TaskLogActionReply:
        """Log an action under the plan item `item`, from 1 (None: the item that is active). `input_data` and
        `output_data`: any JSON."""
        return self.ask(
            TaskLogAction(task_id, action_type, summary, input_data, output_data, status, item, duration_ms),
            TaskLogActionReply,
        )

    def task_summary(
        self, task_id: str, *, detail_level: Detail = Detail.ITEMS, max_tokens: int = 1500, as_data: bool = False,
    ) -> TaskSummaryReply:
        """Return a task as text of at most `max_tokens` (estimated as UTF-8 bytes / 3): its plan (`items`), with
        `actions`, in `full`, or `focused` on the active item, its logs, the waits and the last messages; the reply
        counts what was left out. With `as_data` the plan comes as a `view` too, which no budget bounds."""
        return self.ask(TaskSummary(task_id, detail_level, max_tokens, as_data), TaskSummaryReply)

    def task_drill_down(self, task_id: str, item: int, *, limit: int = 50) -> TaskDrillDownReply:
        """Show the plan item `item`, from 1, with its newest actions and their logs."""
        return self.ask(TaskDrillDown(task_id, item, limit), TaskDrillDownReply)

    def task_thread(self, task_id: str, *, limit: int = 50) -> TaskThreadReply:
        """Return messages and events of a task: the newest `limit` of its thread, oldest first."""
        return self.ask(TaskThread(task_id, limit), TaskThreadReply)

    def task_actions(self, task_id: str, *, limit: int = 50) -> TaskActionsReply:
        """Return the newest actions of a task with their logs, oldest first, under whichever plan item they are."""
        return self.ask(TaskActions(task_id, limit), TaskActionsReply)

    def task_export_texts(self, task_id: str, *, texts: Sequence[str] = ()) -> TaskExportTextsReply:
        """Return a task's texts as they may stand in an export of it; without `texts`, only what is hidden from
        exports."""
        return self.ask(TaskExportTexts(task_id, tuple(texts)), TaskExportTextsReply)

    def task_list(
        self, *, statuses: Sequence[TaskStatus] = (), ended: bool = False, limit: int = 20, tasks: Sequence[str] = (),
        displays: Sequence[str] = (), offset: int = 0,
    ) -> TaskListReply:
        """List tasks, newest first: the active and paused ones, or those in `statuses`, or all with `ended`; where
        `tasks` (whole ids) or `displays` are named, those of any of these alone. From the `offset`th on."""
        return self.ask(TaskList(tuple(statuses), ended, limit, tuple(tasks), tuple(displays), offset), TaskListReply)

    def task_delete(self, task_id: str) -> TaskDeleteReply:
        """Forget a task with its plan, actions, thread, waits, evaluations, pictures, runs, wakes and recordings, and
        the text of events about them; its live waits are cancelled and its display ends."""
        return self.ask(TaskDelete(task_id), TaskDeleteReply)

    def gui_agent(
        self, instruction: str, target: str = 'screen', *, display: str = '', expect: Until | None = None,
        backend: str = '', model: str = '', judge: str = JudgeName.AUTO, limits: RunLimits | None = None,
        task_id: str = '', wake: WakeAddress = WakeAddress(),
    ) -> RunReply:
        """Carry out `instruction` step by step: plan with a chat model, find, act, verify. Returns at once; its end
        wakes the agent that `wake` names, and `agent_result` returns it."""
        return self.ask(
            GuiAgent(instruction, target, display, expect, backend, model, judge, limits, task_id, wake),
            RunReply,
        )

    def agent_result(self, run_id: str, *, block_s: float = 0.0, peek: bool = False) -> AgentResultReply:
        """Return when `run_id` (or its unambiguous beginning) has ended, or after `block_s` with its state so far."""
        return self.ask(AgentResult(run_id, block_s, peek), AgentResultReply)

    def agent_list(self, *, task_id: str = '', limit: int = 50, offset: int = 0) -> AgentListReply:
        """List runs, newest first, from the `offset`th on; of one task with `task_id`. Steps are left out."""
        return self.ask(AgentList(task_id, limit, offset), AgentListReply)

    def agent_cancel(self, run_id: str, *, reason: str = '') -> RunReply:
        """End a run now; what is under way is dropped."""
        return self.ask(AgentCancel(run_id, reason), RunReply)

    def record_start(
        self, display: str = '', *, task_id: str = '', fps: float = 0.0, target: str = 'screen',
    ) -> RecordReply:
        """Record `display` ("": the one of `task_id`, else the default) until `record_stop`, or until the task or the
        display ends. `fps`: at most so many frames a second, 0: as in the settings; only frames that changed are kept.
        `target`: a window (also where it is covered; until it is closed), region or monitor alone. The reply comes with
        the first frame; if there is none in time, it has the `reason`, and the recording goes on."""
        return self.ask(RecordStart(display, task_id, fps, target), RecordReply)

    def record_stop(self, recording_id: str) -> RecordReply:
        """End a recording with what its display shows now; the reply waits until its files are closed."""
        return self.ask(RecordStop(recording_id), RecordReply)

    def record_list(
        self, *, task_id: str = '', limit: int = 50, tasks: Sequence[str] = (), displays: Sequence[str] = (),
        offset: int = 0,
    ) -> RecordListReply:
        """Return the newest recordings, newest first, of `task_id` alone where it is given, or of any of `tasks` (whole
        ids) and `displays`. From the `offset`th on."""
        return self.ask(RecordList(task_id, limit, tuple(tasks), tuple(displays), offset), RecordListReply)

    def record_show(self, recording_id: str) -> RecordReply:
        """Return a recording as it is now."""
        return self.ask(RecordShow(recording_id), RecordReply)

    def record_timeline(self, recording_id: str, *, after_ms: int = 0, limit: int = 1000) -> TimelineReply:
        """Return what happened (verdicts, waits, actions, messages, tasks) on the display of a recording, and in its
        task, between its first frame and its end: the first `limit` marks later than `after_ms` (UTC milliseconds), or
        all of the first millisecond where those are more. With `after_ms` 0 also which waits ran meanwhile."""
        return self.ask(RecordTimeline(recording_id, after_ms, limit), TimelineReply)

    def record_delete(self, recording_id: str) -> RecordReply:
        """Forget a recording and remove its files."""
        return self.ask(RecordDelete(recording_id), RecordReply)

    def feed_post(self, text: str, *, priority: str = 'normal', source: str = '') -> Posted:
        """Add a message (a transcript, a note for readers) to the feed, and return its number; the newest 100 are
        kept."""
        return self.ask(FeedPost(text, priority, source), Posted)

    def feed_list(self, after: int = 0) -> FeedListReply:
        """List the kept messages with an id above `after`, oldest first."""
        return self.ask(FeedList(after), FeedListReply)

    def sense_post(
        self, kind: Literal['text', 'visual', 'context'], ts: int, ocr: str = '', *, meta: SenseMeta = SenseMeta(),
        roi: dict[str, Any] | None = None, diff: dict[str, Any] | None = None,
        observation: dict[str, Any] | None = None,
    ) -> Posted:
        """Add a sense event from outside, and return its number; the newest 30 are kept. `ts`: milliseconds since the
        epoch. Pictures ride in `roi.data` and `diff.data` (base64) as they came; a message is at most 1 MiB, and its
        objects at most 32 deep."""
        return self.ask(SensePost(kind, ts, ocr, meta, roi, diff, observation), Posted)

    def sense_list(self, after: int = 0, *, meta_only: bool = False) -> SenseListReply:
        """List the kept sense events with an id above `after`, oldest first; with `meta_only` without their
        pictures."""
        return self.ask(SenseList(after, meta_only), SenseListReply)

    def analysis_status(self) -> AnalysisStatusReply:
        """Return the state of the commentary's loop and its rings."""
        return self.ask(AnalysisStatus(), AnalysisStatusReply)

    def analysis_history(self, limit: int = 10) -> AnalysisHistoryReply:
        """List the newest results, newest first; with `limit` 1 the last one."""
        return self.ask(AnalysisHistory(limit), AnalysisHistoryReply)

    def analysis_context(self) -> AnalysisContextReply:
        """Return the context window as of now: what an analysis would be made from."""
        return self.ask(AnalysisContextGet(), AnalysisContextReply)

    def analysis_config(
        self, *, enabled: bool | None = None, interval_ms: int | None = None, model: str | None = None,
        backend: str | None = None, max_age_ms: int | None = None, max_tokens: int | None = None,
        temperature: float | None = None, push_to_feed: bool | None = None, log_verbose: bool | None = None,
        cadence: Literal['interval', 'event'] | None = None,
    ) -> AnalysisConfigReply:
        """Change what is given (None: as it is), and return the whole; without anything given nothing changes."""
        return self.ask(
            AnalysisConfigure(
                enabled, interval_ms, model, backend, max_age_ms, max_tokens, temperature, push_to_feed, log_verbose,
                cadence,
            ),
            AnalysisConfigReply,
        )

    def web_login(
        self, digest: str, scope: Scope = Scope.ADMIN, *, name: str = '', displays: Sequence[str] = (),
        tasks: Sequence[str] = (),
    ) -> WebLoginReply:
        """Let the code with this digest open one session, within two minutes (`new_secret` and `digest_of` of
        `acud.protocol.web` make both). The code itself stays with its maker."""
        return self.ask(WebLogin(digest, scope, name, tuple(displays), tuple(tasks)), WebLoginReply)

    def web_login_redeem(self, code: str, session: str) -> WebPassReply:
        """Spend the code with the digest `code`, and let the secret with the digest `session` in from now on."""
        return self.ask(WebLoginRedeem(code, session), WebPassReply)

    def web_token_create(
        self, digest: str, scope: Scope = Scope.READ, *, name: str = '', displays: Sequence[str] = (),
        tasks: Sequence[str] = (), for_s: float = 0.0,
    ) -> WebPassReply:
        """Let the token with this digest in from now on, for `for_s` (0: until it is revoked); `new_secret` and
        `digest_of` of `acud.protocol.web` make both. The token itself stays with its maker."""
        return self.ask(WebTokenCreate(digest, scope, name, tuple(displays), tuple(tasks), for_s), WebPassReply)

    def web_token_list(self) -> WebTokenListReply:
        """Return every valid access token and session."""
        return self.ask(WebTokenList(), WebTokenListReply)

    def web_token_revoke(
        self, pass_id: str = '', *, every: Literal['', 'token', 'session', 'pass'] = '',
    ) -> WebTokenListReply:
        """Revoke one token or session (a unique beginning or ending of `pass_id` is enough), or `every` one of a
        kind."""
        return self.ask(WebTokenRevoke(pass_id, every), WebTokenListReply)

    def web_pass(self, digest: str) -> WebPassReply:
        """Return the access token of the token or session with this digest."""
        return self.ask(WebPass(digest), WebPassReply)

    def fleet_hosts(self) -> FleetHostsReply:
        """List every host that ever joined the fleet, with its last report. Asked of a fleet's endpoint (`acud fleet
        serve`), not of a daemon."""
        return self.ask(FleetHosts(), FleetHostsReply)

    def fleet_place(self, name: str = '', *, labels: Labels | None = None) -> FleetPlaceReply:
        """Return the host on which `name` (the id of a task, wait, run or recording) lives; without one, on which host
        a display with these `labels` would be started now. Asked of a fleet's endpoint, not of a daemon."""
        return self.ask(FleetPlace(name, dict(labels or {})), FleetPlaceReply)

    def fleet_drain(self, host: str, action: Literal['drain', 'resume', 'forget'] = 'drain') -> FleetDrainReply:
        """`drain` a host: nothing new is placed there, what is there goes on. `resume` takes that back. `forget` a host
        that will not come back, with what is known of its tasks; its live waits end as `failed`, but for those that can
        be armed again elsewhere (`on_host_lost` = `rearm`). Asked of a fleet's endpoint, not of a daemon."""
        return self.ask(FleetDrain(host, action), FleetDrainReply)

    def fleet_lost_waits(self, *, waits: Sequence[LostWait] = (), more: bool = False) -> FleetLostWaitsReply:
        """Give a daemon the waits that the fleet ended while the host was lost: the daemon ends them so too. Waits from
        before the daemon's start are held until the first such list: the others go on now, unless `more` follow. Asked
        by the daemon's own fleet process."""
        return self.ask(FleetLostWaits(tuple(waits), more), FleetLostWaitsReply)

    def fleet_recipe(self, display: str) -> FleetRecipeReply:
        """Ask a daemon what makes its managed display `display` again, for the fleet to keep. Asked by the daemon's own
        fleet process."""
        return self.ask(FleetRecipe(display), FleetRecipeReply)

    def fleet_rearm(
        self, wait_id: str, display: str, spec: WaitSpec, created_utc_s: float, deadline_utc_s: float, host: str,
        lost: Sequence[str],
    ) -> WaitReply:
        """Arm the wait `wait_id` of a lost host on the managed `display` of this one, `host`: under its id, with its
        times, and once, however often it is asked. `lost`: the hosts that it was on before, the newest last. Asked by
        an endpoint."""
        return self.ask(FleetRearm(wait_id, display, spec, created_utc_s, deadline_utc_s, host, tuple(lost)), WaitReply)


for _command in REQUESTS:
    _raises = f"\n\n    Raises: {_command.errors}." if _command.errors else ""
    getattr(RequestMethods, _command.name).__doc__ = f"{_command.request.__doc__}{_raises}"


def _make_async(
    method: Callable[Concatenate[RequestMethods, Parameters], Reply],
) -> Callable[Concatenate[AsyncRequestMethods, Parameters], Coroutine[Any, Any, Reply]]:
    """Return `method`, which returns what its client's `ask` does, for a client whose `ask` is awaited."""

    @wraps(method)
    async def call(client: AsyncRequestMethods, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Reply:
        reply: Reply = await cast("Any", method)(client, *args, **kwargs)
        return reply

    return call


class AsyncRequestMethods(ABC):
    """The requests of a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    status = _make_async(RequestMethods.status)
    doctor = _make_async(RequestMethods.doctor)
    metrics = _make_async(RequestMethods.metrics)
    usage = _make_async(RequestMethods.usage)
    events_since = _make_async(RequestMethods.events_since)
    daemon_reload = _make_async(RequestMethods.daemon_reload)
    daemon_drain = _make_async(RequestMethods.daemon_drain)
    evaluators_restart = _make_async(RequestMethods.evaluators_restart)
    shutdown = _make_async(RequestMethods.shutdown)
    display_list = _make_async(RequestMethods.display_list)
    display_add = _make_async(RequestMethods.display_add)
    display_create = _make_async(RequestMethods.display_create)
    display_remove = _make_async(RequestMethods.display_remove)
    notification_answer = _make_async(RequestMethods.notification_answer)
    display_take = _make_async(RequestMethods.display_take)
    display_release = _make_async(RequestMethods.display_release)
    look = _make_async(RequestMethods.look)
    live_watch = _make_async(RequestMethods.live_watch)
    baseline = _make_async(RequestMethods.baseline)
    scene = _make_async(RequestMethods.scene)
    scene_subscribe = _make_async(RequestMethods.scene_subscribe)
    scene_annotate = _make_async(RequestMethods.scene_annotate)
    desktop_action = _make_async(RequestMethods.desktop_action)
    launch_status = _make_async(RequestMethods.launch_status)
    terminal_open = _make_async(RequestMethods.terminal_open)
    terminal_type = _make_async(RequestMethods.terminal_type)
    terminal_read = _make_async(RequestMethods.terminal_read)
    terminal_list = _make_async(RequestMethods.terminal_list)
    terminal_close = _make_async(RequestMethods.terminal_close)
    gui_find = _make_async(RequestMethods.gui_find)
    gui_do = _make_async(RequestMethods.gui_do)
    wait_create = _make_async(RequestMethods.wait_create)
    wait_list = _make_async(RequestMethods.wait_list)
    wait_show = _make_async(RequestMethods.wait_show)
    wait_update = _make_async(RequestMethods.wait_update)
    wait_cancel = _make_async(RequestMethods.wait_cancel)
    wait_result = _make_async(RequestMethods.wait_result)
    wait_try = _make_async(RequestMethods.wait_try)
    wait_for_change = _make_async(RequestMethods.wait_for_change)
    evidence = _make_async(RequestMethods.evidence)
    wake_list = _make_async(RequestMethods.wake_list)
    wake_retry = _make_async(RequestMethods.wake_retry)
    wake_test = _make_async(RequestMethods.wake_test)
    wake_seen = _make_async(RequestMethods.wake_seen)
    wake_carry = _make_async(RequestMethods.wake_carry)
    notify_test = _make_async(RequestMethods.notify_test)
    push_list = _make_async(RequestMethods.push_list)
    push_subscribe = _make_async(RequestMethods.push_subscribe)
    push_unsubscribe = _make_async(RequestMethods.push_unsubscribe)
    task_register = _make_async(RequestMethods.task_register)
    task_update = _make_async(RequestMethods.task_update)
    task_item_update = _make_async(RequestMethods.task_item_update)
    task_plan_append = _make_async(RequestMethods.task_plan_append)
    task_log_action = _make_async(RequestMethods.task_log_action)
    task_summary = _make_async(RequestMethods.task_summary)
    task_drill_down = _make_async(RequestMethods.task_drill_down)
    task_thread = _make_async(RequestMethods.task_thread)
    task_actions = _make_async(RequestMethods.task_actions)
    task_export_texts = _make_async(RequestMethods.task_export_texts)
    task_list = _make_async(RequestMethods.task_list)
    task_delete = _make_async(RequestMethods.task_delete)
    gui_agent = _make_async(RequestMethods.gui_agent)
    agent_result = _make_async(RequestMethods.agent_result)
    agent_list = _make_async(RequestMethods.agent_list)
    agent_cancel = _make_async(RequestMethods.agent_cancel)
    record_start = _make_async(RequestMethods.record_start)
    record_stop = _make_async(RequestMethods.record_stop)
    record_list = _make_async(RequestMethods.record_list)
    record_show = _make_async(RequestMethods.record_show)
    record_timeline = _make_async(RequestMethods.record_timeline)
    record_delete = _make_async(RequestMethods.record_delete)
    feed_post = _make_async(RequestMethods.feed_post)
    feed_list = _make_async(RequestMethods.feed_list)
    sense_post = _make_async(RequestMethods.sense_post)
    sense_list = _make_async(RequestMethods.sense_list)
    analysis_status = _make_async(RequestMethods.analysis_status)
    analysis_history = _make_async(RequestMethods.analysis_history)
    analysis_context = _make_async(RequestMethods.analysis_context)
    analysis_config = _make_async(RequestMethods.analysis_config)
    web_login = _make_async(RequestMethods.web_login)
    web_login_redeem = _make_async(RequestMethods.web_login_redeem)
    web_token_create = _make_async(RequestMethods.web_token_create)
    web_token_list = _make_async(RequestMethods.web_token_list)
    web_token_revoke = _make_async(RequestMethods.web_token_revoke)
    web_pass = _make_async(RequestMethods.web_pass)
    fleet_hosts = _make_async(RequestMethods.fleet_hosts)
    fleet_place = _make_async(RequestMethods.fleet_place)
    fleet_drain = _make_async(RequestMethods.fleet_drain)
    fleet_lost_waits = _make_async(RequestMethods.fleet_lost_waits)
    fleet_recipe = _make_async(RequestMethods.fleet_recipe)
    fleet_rearm = _make_async(RequestMethods.fleet_rearm)
