"""Messages between an evaluator and the supervisor: jobs, results, and the health of judges."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.children import Fault, Heartbeat, MonoNs, Stop
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.questions import Ask, DescribeAsk, DiffAsk, FindAsk, Hide, PictureAsk, ThinkAsk, View
from acud.protocol.scene_parts import SceneAsk, SceneParts
from acud.protocol.widgets import WidgetAnswer, WidgetMessage
from acud.types import Evidence, HiddenBox, Number, Verdict
from acud.types.chat import ChatCall
from acud.types.grounding import Found
from acud.types.scene import Remark

MOST_READINGS_HELD = 8
"""Pictures that one evaluator holds while its engine reads them in turn (30 MB at 720p)."""


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A model's description, boxes in the source's pixels. `code` "": an answer; else why there is none, as of a chat.

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


class Job(Struct, frozen=True, tag="job", forbid_unknown_fields=True):
    """Work on one view of the newest frame of a ring; the evaluator picks the frame and reports which it was.

    `path`, `epoch`: the ring. `min_frame`: an older frame than this is "frame gone", and so is a newer one than
    `max_frame` (None: any will do). Without questions, the answer is the view's identity alone. `hide`: what redaction
    rules hide; None where no rule names a place. `remember`: waits that begin with this view, unless one is known of
    them. With `diff` or `check_images` (PNGs that waits are to look for) no frame is looked at.
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
    observe: ObserveAsk | None = None
    max_frame: int | None = None
    check_images: tuple[bytes, ...] = ()


FEATURE_ASKS = {"find": "found", "describe": "described", "scene": "scene", "observe": "observed"}
"""The fields of `Job` that features answer, in this order, and those of `JobResult` with their answers."""


class WaitsOver(Struct, frozen=True, tag="waits_over", forbid_unknown_fields=True):
    """These waits have ended: nothing is to be kept for them. Jobs about them that are under way still answer."""

    wait_ids: tuple[str, ...]


ToEvaluator = Job | WaitsOver | WidgetMessage | Stop


class MissingReader(Struct, frozen=True, forbid_unknown_fields=True):
    """A script that was met on a screen and that nothing installed reads, and the system's packages that do."""

    script: str
    packages: tuple[str, ...]


class JudgeHealth(Struct, frozen=True, forbid_unknown_fields=True):
    """`state`: `ready`, `idle` (loads when first needed), `down`. `reason`: why it is down, or what a ready one does
    not do now. `version`: what answers. `local`: pictures shown to it stay on this machine. `missing`: scripts that the
    OCR met and can't read.
    """

    name: str
    state: Literal["ready", "idle", "down"]
    reason: str = ""
    version: str = ""
    local: bool = True
    missing: tuple[MissingReader, ...] = ()


class EvaluatorHello(Struct, frozen=True, tag="evaluator_hello", forbid_unknown_fields=True):
    """An evaluator is ready for jobs. `ocr`: whether it owns an OCR engine."""

    pid: int
    ocr: bool


class Judges(Struct, frozen=True, tag="judges", forbid_unknown_fields=True):
    """The health of every judge as this evaluator sees it; sent after hello and on each change."""

    judges: tuple[JudgeHealth, ...]


class LeafAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """One leaf's answer. `source`: `judge`, `memo` (same pixels as an earlier no) or `cache` (shared within the
    job). `retry_after_s`: when an unknown is worth asking again (0: not known).
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


class SmallPicture(Struct, frozen=True, forbid_unknown_fields=True):
    """A view as a small JPEG; `width` and `height` are those of the view."""

    jpeg: bytes
    width: int
    height: int


class Answered(Struct, frozen=True, forbid_unknown_fields=True):
    """One wait's share of a result. `gated`: the lossy gate held the frame back, and nothing was judged.

    `whole` is the verdict on the whole condition over this one frame; `evidence` is set when it was kept. `later`: by
    stage to come, the verdicts on its leaves from the text. `picture`: of the view, where it is another.
    """

    wait_id: str
    answers: tuple[LeafAnswer, ...]
    whole: Verdict
    gated: bool = False
    evidence: Evidence | None = None
    later: dict[int, dict[int, Verdict]] = {}
    picture: SmallPicture | None = None


class Thought(Struct, frozen=True, forbid_unknown_fields=True):
    """A chat model's reply. `code` "": it answered; else why it did not, in the codes of an unknown verdict
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
    """With `rate_limited`: after how long the server wants the next request; 0: not known."""


class JobResult(Struct, frozen=True, tag="job_result", forbid_unknown_fields=True):
    """`status`: `done`; `part` (some waits' answers, more follow: a slow judge holds no other wait up); `frame_gone`
    (overwritten or no longer there: take the newest); `dropped` (all its waits ended while it was read); `failed` (why:
    `reason`).

    `identity`: XXH3-64 hex of the view's masked pixels. `picture`: the file name in the spool. `hidden`: what is black
    in a redacted picture, in the source's pixels.
    """

    job_id: str
    status: Literal["done", "part", "frame_gone", "dropped", "failed"]
    reason: str = ""
    epoch: Number = 0
    frame: Number = 0
    frame_mono_ns: MonoNs = 0
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
    observed: Observed | None = None


FromEvaluator = Heartbeat | Fault | EvaluatorHello | Judges | JobResult | WidgetAnswer
