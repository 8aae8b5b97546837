"""What children and the supervisor say to each other on the `children` socket. Pixels never ride here."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.agent.chat import ChatCall as ChatCall
from acud.agent.chat import ChatMessage as ChatMessage
from acud.agent.chat import ChatTool as ChatTool
from acud.desktop.actions import InputAction, Point
from acud.desktop.found import Found, GroundingMethod
from acud.protocol.push import PushTarget
from acud.protocol.scene_parts import SceneAsk, SceneParts
from acud.scene.annotations import Remark
from acud.scene.marks import Mark
from acud.types import Evidence, HiddenBox, MonitorInfo, Rect, RouteName, Until, Verdict, WakeKind, WindowInfo

# ---- any child -> supervisor ---------------------------------------------------------------------------------------


class Heartbeat(Struct, frozen=True, tag="heartbeat", forbid_unknown_fields=True):
    """At most one a second. `newest`: per source the (epoch, frame) last published; `compared`: CLOCK_MONOTONIC (ns) of
    the newest grab that was compared with that frame, which need not have found anything new. `jobs`: ids still being
    worked on.
    """

    newest: dict[str, tuple[int, int]] = {}
    jobs: tuple[str, ...] = ()
    rss_mb: float = 0.0
    counters: dict[str, float] = {}
    compared: dict[str, int] = {}


class Fault(Struct, frozen=True, tag="fault", forbid_unknown_fields=True):
    """The child cannot go on, and says why before it exits; `code` as in `acud.errors`."""

    code: str
    message: str
    hint: str = ""


# ---- capture -> supervisor -----------------------------------------------------------------------------------------


class SourceHello(Struct, frozen=True, tag="source_hello", forbid_unknown_fields=True):
    """A source of frames wants a ring: the display itself (`:100`) or a covered window (`:100.w4194307`).

    `method`: `attachfd`, `sysv` or `getimage`; `reason` says why it is not the first of these. `x_server` names this
    run of the X server (it changes when the server was restarted).
    """

    source: str
    display: str
    width: int
    height: int
    depth: int
    method: str
    reason: str = ""
    x_server: str = ""
    window_id: int = 0


class SourceGone(Struct, frozen=True, tag="source_gone", forbid_unknown_fields=True):
    """A window source ended: the window closed, was unmapped, or is wholly visible again."""

    source: str
    reason: str


class Notice(Struct, frozen=True, tag="notice", forbid_unknown_fields=True):
    """A frame was published, or a demanded grab found nothing new.

    `tiles`: bitmap of changed 16x16 tiles, little-endian bytes, bit `row * columns + column`; empty when none changed
    (then `frame` is the unchanged newest frame). `box`: the changed tiles' bounding box. `mono_ns`: CLOCK_MONOTONIC at
    the start of the grab. `damage_ns`: CLOCK_MONOTONIC when the damage behind it was first read (0: no damage, a
    floor or demanded grab). `grab`: highest demanded-grab number that this grab satisfies. `fresh`: the first
    frame of an epoch whose
    predecessor could not be compared, so everything counts as changed.
    """

    source: str
    epoch: int
    frame: int
    mono_ns: int
    tiles: bytes = b""
    box: Rect | None = None
    damage_ns: int = 0
    grab: int = 0
    fresh: bool = False


class Windows(Struct, frozen=True, tag="windows", forbid_unknown_fields=True):
    """The display's windows, topmost first, the focused one (0: none), and its monitors in the X server's order.

    `a11y_address`: the accessibility bus that the root window's property AT_SPI_BUS names ("": none yet).
    """

    display: str
    windows: tuple[WindowInfo, ...]
    focused: int = 0
    a11y_address: str = ""
    monitors: tuple[MonitorInfo, ...] = ()


class Acted(Struct, frozen=True, tag="acted", forbid_unknown_fields=True):
    """An `Act` ended. `code` "": it was done; else it failed with that code of `acud.errors`, `message` and `hint`.

    `epoch`, `frame`: the newest frame before the first event went out, with all that was painted until then; its
    notice precedes this message, and so does whatever was grabbed since. `cursor`: where the pointer is now.
    `text`: what `clipboard_get` read. `window_id`: the window that a `window` action meant.
    """

    act_id: str
    code: str = ""
    message: str = ""
    hint: str = ""
    epoch: int = 0
    frame: int = 0
    cursor: Point | None = None
    text: str = ""
    window_id: int = 0


FromCapture = Heartbeat | Fault | SourceHello | SourceGone | Notice | Windows | Acted

# ---- supervisor -> capture -----------------------------------------------------------------------------------------


class Attach(Struct, frozen=True, tag="attach", forbid_unknown_fields=True):
    """The ring made for a source. `previous`: path of the ring before it ("" for none); its last frame is compared."""

    source: str
    path: str
    epoch: int
    first_frame: int
    previous: str = ""


class Demand(Struct, frozen=True, tag="demand", forbid_unknown_fields=True):
    """What consumers want of a source now. `fps` 0: nothing is grabbed. A new `grab` number asks for one frame
    at once.
    """

    source: str
    fps: float
    grab: int = 0


class Follow(Struct, frozen=True, tag="follow", forbid_unknown_fields=True):
    """The windows somebody waits on; a covered one among them becomes a source of its own."""

    windows: tuple[int, ...]


class Stop(Struct, frozen=True, tag="stop", forbid_unknown_fields=True):
    """End in good order."""


class Act(Struct, frozen=True, tag="act", forbid_unknown_fields=True):
    """Do `action` on the display, after those asked for before it. Points are in display pixels.

    A window is named by its X id. What takes long (typing, dragging) goes on between frames.
    """

    act_id: str
    action: InputAction


class DropActs(Struct, frozen=True, tag="drop_acts", forbid_unknown_fields=True):
    """Stop acting: what is under way or queued ends with the error `refused` and this `reason`, and every key and
    button that acud holds is released. Acts that come later are done.
    """

    reason: str


ToCapture = Attach | Demand | Follow | Act | DropActs | Stop

# ---- supervisor -> evaluator ---------------------------------------------------------------------------------------


class View(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a source's frames. `ignore` boxes are relative to `crop` and are painted black before anything
    looks.
    """

    source: str
    crop: Rect | None = None
    ignore: tuple[Rect, ...] = ()


def display_of(source: str) -> str:
    """Return the display that a source shows: `:100` for `:100` and `:100.w4194307`, `:7.1` for `:7.1.w9`."""
    display, _, window = source.rpartition(".")
    return display if window.startswith("w") else source


class ToldBy(Struct, frozen=True, forbid_unknown_fields=True):
    """Who tells of a display's widgets: its session bus, its accessibility bus, and its windows (topmost first).

    (`x`, `y`): where the source's top left pixel is on the display.
    """

    bus_address: str
    a11y_address: str
    windows: tuple[WindowInfo, ...]
    x: int = 0
    y: int = 0


class Hide(Struct, frozen=True, forbid_unknown_fields=True):
    """What rules hide of a source's frames, up to `frame`: on a later one a window may stand elsewhere.

    `fault` says why that is not known; then no picture of it may leave. `told`: set where password fields are to be
    found too, before a picture leaves.
    """

    boxes: tuple[HiddenBox, ...] = ()
    frame: int | None = None
    fault: str = ""
    told: ToldBy | None = None


class LeafAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """One leaf to answer. `index`: its place in the wait's leaf order. `memo`: identities it already answered no to."""

    index: int
    memo: tuple[str, ...] = ()


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """One wait's share of a job: its condition, the leaves still open, and the answers already known on this frame.

    `known` holds verdicts of local leaves by index. `gate`/`gate_threshold`: the lossy gate to apply against the view
    last judged for this wait ("" or `exact`/`none`: judge). `force` overrides gate and memo.
    `party`: whose condition it is, for who may share a model call with whom ("": nobody but this wait itself).
    """

    wait_id: str
    until: Until
    asks: tuple[LeafAsk, ...]
    known: dict[int, Verdict] = {}
    judge: str = "auto"
    elapsed_s: float = 0.0
    timeout_s: float = 0.0
    gate: str = ""
    gate_threshold: float | None = None
    force: bool = False
    keep_evidence: bool = False
    """Keep the picture when the whole condition is yes on this frame (or always, when no leaf is asked)."""
    party: str = ""


class PictureAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """A picture of the view for a person or an agent, written to the spool as `<job_id>.<format>`.

    `redacted`: as it may leave the machine; the job fails where that cannot be told. `marks`: elements drawn on it,
    boxes in the view's pixels. `secure`: password fields known of. `of_scene`: epoch and frame of the scene that it
    belongs to; it shows that frame where the evaluator still has it, else the newest.
    """

    format: Literal["png", "jpeg"] = "png"
    max_side_px: int = 0
    quality: int = 90
    redacted: bool = False
    marks: tuple[Mark, ...] = ()
    secure: tuple[Rect, ...] = ()
    of_scene: tuple[int, int] | None = None


class FindAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """Where is what `description` describes? `methods` are asked in this order, until one settles it; `before` is what
    methods of earlier jobs found.

    `origin`: where the source's top left pixel is on its display. `windows` (topmost first) and `focused` are the
    display's, in display pixels. `bus_address`: its session bus; `a11y_address`: its accessibility bus where the
    display itself names one. `verb`: what is going to be done there (`type` looks for what takes text, `select` for an
    option); "" for anything.
    """

    description: str
    methods: tuple[GroundingMethod, ...]
    before: Found = Found("not_found")
    origin: Point = Point(0, 0)
    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    bus_address: str = ""
    a11y_address: str = ""
    verb: str = ""
    max_candidates: int = 8


class DescribeAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """What is on the view, in a model's words? `backend`: its name. `secure`: password fields, in the view's pixels."""

    backend: str
    secure: tuple[Rect, ...] = ()


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model said, boxes in the source's pixels. `code` "": an answer; else why there is none, as of a chat.

    `left_out`: elements outside the picture. Tokens and cost are None where they are not known.
    """

    scene: str = ""
    remarks: tuple[Remark, ...] = ()
    left_out: int = 0
    code: str = ""
    reason: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class ThinkAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of a chat model over a conversation; with `picture` the view goes along with the last user message.

    `backend`: a vision backend's name; `model` "" is that backend's own. Without `picture` no frame is taken, and the
    job names no source. `temperature` None leaves the vendor's default.
    """

    backend: str
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...] = ()
    model: str = ""
    picture: bool = True
    max_tokens: int = 1024
    temperature: float | None = 0.0


class DiffAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """The difference of two evidence files, by name, as a picture in the spool: `<job_id>.png`."""

    before: str
    after: str


class Job(Struct, frozen=True, tag="job", forbid_unknown_fields=True):
    """Work on one view of the newest frame of a ring; the evaluator picks the frame and says which it was.

    `path`, `epoch`: the ring. `min_frame`: an older frame than this is "frame gone". With nothing asked for, the
    view's identity alone is told. `hide`: what redaction rules hide; None where no rule names a place. `remember`:
    waits that begin with this view, unless one is known of them. With `diff` no frame is looked at.
    """

    job_id: str
    view: View
    path: str
    epoch: int
    min_frame: int
    asks: tuple[Ask, ...] = ()
    picture: PictureAsk | None = None
    find: FindAsk | None = None
    think: ThinkAsk | None = None
    describe: DescribeAsk | None = None
    hide: Hide | None = None
    scene: SceneAsk | None = None
    remember: tuple[str, ...] = ()
    diff: DiffAsk | None = None


class CancelJob(Struct, frozen=True, tag="cancel_job", forbid_unknown_fields=True):
    """Nobody wants the result any more."""

    job_id: str


class WaitsOver(Struct, frozen=True, tag="waits_over", forbid_unknown_fields=True):
    """These waits have ended: nothing is to be kept for them. Jobs about them that are under way still answer."""

    wait_ids: tuple[str, ...]


ToEvaluator = Job | CancelJob | WaitsOver | Stop

# ---- evaluator -> supervisor ---------------------------------------------------------------------------------------


class JudgeHealth(Struct, frozen=True, forbid_unknown_fields=True):
    """`state`: `ready`, `idle` (loads when first needed), `down`. `reason` says why it is down, `version` what
    answers. `local`: what it is shown stays on this machine.
    """

    name: str
    state: Literal["ready", "idle", "down"]
    reason: str = ""
    version: str = ""
    local: bool = True


class EvaluatorHello(Struct, frozen=True, tag="evaluator_hello", forbid_unknown_fields=True):
    """An evaluator is ready for jobs. `ocr`: whether it owns an OCR engine."""

    pid: int
    ocr: bool


class Judges(Struct, frozen=True, tag="judges", forbid_unknown_fields=True):
    """The health of every judge as this evaluator sees it; sent after hello and on each change."""

    judges: tuple[JudgeHealth, ...]


class LeafAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """One leaf's answer. `source`: `judge`, `memo` (same pixels as an earlier no) or `cache` (shared within the
    job). `retry_after_s`: when an unknown is worth asking again (0: nobody said).
    """

    index: int
    verdict: Verdict
    judge: str
    source: Literal["judge", "memo", "cache"] = "judge"
    latency_ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    retry_after_s: float = 0.0


class Answered(Struct, frozen=True, forbid_unknown_fields=True):
    """One wait's share of a result. `gated`: the lossy gate held the frame back, and nothing was judged.

    `whole` is the verdict on the whole condition over this one frame; `evidence` is set when it was kept.
    """

    wait_id: str
    answers: tuple[LeafAnswer, ...]
    whole: Verdict
    gated: bool = False
    evidence: Evidence | None = None


class Thought(Struct, frozen=True, forbid_unknown_fields=True):
    """What a chat model said. `code` "": it answered; else why it did not, in the codes of an unknown verdict
    (`judge_down`, `unparsable`, `refusal` …), with `reason`.
    """

    text: str = ""
    calls: tuple[ChatCall, ...] = ()
    code: str = ""
    reason: str = ""
    model: str = ""
    latency_ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    retry_after_s: float = 0.0
    """With `rate_limited`: how long the server wants to be left alone; 0: it did not say."""


class JobResult(Struct, frozen=True, tag="job_result", forbid_unknown_fields=True):
    """`status`: `done`; `part` (some waits' answers, more follow: a slow judge holds nobody else up); `frame_gone`
    (overwritten or no longer there: take the newest); `failed` (`reason` says why).

    `identity`: XXH3-64 hex of the view's masked pixels. `picture`: the file name in the spool. `hidden`: what is black
    in a redacted picture, in the source's pixels.
    """

    job_id: str
    status: Literal["done", "part", "frame_gone", "failed"]
    reason: str = ""
    epoch: int = 0
    frame: int = 0
    frame_mono_ns: int = 0
    identity: str = ""
    answered: tuple[Answered, ...] = ()
    picture: str = ""
    width: int = 0
    height: int = 0
    encode_ms: float = 0.0
    found: Found | None = None
    thought: Thought | None = None
    described: Described | None = None
    hidden: tuple[HiddenBox, ...] = ()
    scene: SceneParts | None = None


FromEvaluator = Heartbeat | Fault | EvaluatorHello | Judges | JobResult

# ---- supervisor -> relay -------------------------------------------------------------------------------------------


class Deliver(Struct, frozen=True, tag="deliver", forbid_unknown_fields=True):
    """Bring a wake over one route, once. (`wake_id`, `attempt`) names the delivery; `wake_id` is the same each time.

    `reminder`: which reminder it is, 0 for none.
    """

    wake_id: str
    attempt: int
    route: RouteName
    kind: WakeKind
    text: str
    created_utc_s: float
    wait_id: str = ""
    task_id: str = ""
    session_key: str = ""
    agent_id: str = ""
    reminder: int = 0
    run_id: str = ""


class Notify(Struct, frozen=True, tag="notify", forbid_unknown_fields=True):
    """Show a notification on the administrator's desktop. `number` names it in the answer."""

    number: int
    title: str
    body: str
    urgent: bool = False


class Push(Struct, frozen=True, tag="push", forbid_unknown_fields=True):
    """Send a notification to a browser, once. `number` names it in the answer; `body`: the JSON for its worker."""

    number: int
    target: PushTarget
    body: str
    urgent: bool = False


ToRelay = Deliver | Notify | Push | Stop

# ---- relay -> supervisor -------------------------------------------------------------------------------------------


class RelayHello(Struct, frozen=True, tag="relay_hello", forbid_unknown_fields=True):
    """The relay takes deliveries."""

    pid: int


class Delivered(Struct, frozen=True, tag="delivered", forbid_unknown_fields=True):
    """How a delivery ended: `sent` (the receiver took it), `retry` (it may later; not before `retry_after_s`) or
    `refused` (it will not, as it is). `reason`: one line without secrets. `ms`: how long it took.
    """

    wake_id: str
    attempt: int
    route: RouteName
    result: Literal["sent", "retry", "refused"]
    reason: str = ""
    retry_after_s: float = 0.0
    ms: float = 0.0


class Notified(Struct, frozen=True, tag="notified", forbid_unknown_fields=True):
    """How a notification fared: `server` took it, or (`fault` set) nobody did."""

    number: int
    server: str = ""
    fault: str = ""
    hint: str = ""


class Pushed(Struct, frozen=True, tag="pushed", forbid_unknown_fields=True):
    """How a push ended: as with wakes, or `gone` (the push service knows that browser no longer)."""

    number: int
    result: Literal["sent", "retry", "refused", "gone"]
    reason: str = ""
    retry_after_s: float = 0.0


FromRelay = Heartbeat | Fault | RelayHello | Delivered | Notified | Pushed

# ---- supervisor -> web ---------------------------------------------------------------------------------------------

ToWeb = Stop

# ---- web -> supervisor ---------------------------------------------------------------------------------------------


class WebHello(Struct, frozen=True, tag="web_hello", forbid_unknown_fields=True):
    """The web process serves the relay endpoints at `url` and the gateway at `gateway_url` ("": not served).

    `token_file`: where the relay's token lies ("": it is in the settings, or none is asked for). `fault`: why one of
    the two is not served though it should be; it is tried again, and told of by another hello.
    """

    pid: int
    url: str = ""
    port: int = 0
    token_file: str = ""
    gateway_url: str = ""
    gateway_port: int = 0
    fault: str = ""
    fix: str = ""


FromWeb = Heartbeat | Fault | WebHello
