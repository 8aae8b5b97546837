"""Waits: policies, requests and results."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from acud.types.budgets import Budget, Spent
from acud.types.condition_text import condition_text
from acud.types.conditions import Until
from acud.types.displays import Rect
from acud.types.targets import Target
from acud.types.verdicts import Verdict
from acud.types.wakes import WakeAddress


class Cadence(StrEnum):
    """When a wait's view is judged."""

    EVENT = "event"
    FIXED = "fixed"
    ADAPTIVE = "adaptive"


class GateKind(StrEnum):
    """What lets a changed frame through to the judge; only `none` and `exact` never miss a change."""

    NONE = "none"
    EXACT = "exact"
    RATIO = "ratio"
    TILE_MAX = "tile_max"
    DHASH = "dhash"
    BLOCKS = "blocks"
    SSIM = "ssim"


class Priority(StrEnum):
    """Which waits are judged first when evaluators cannot judge all at once."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class OnDisplayLost(StrEnum):
    """What becomes of a wait when its managed display ended for good or was removed."""

    FAIL = "fail"
    """It fails at once, with the reason."""
    WAIT = "wait"
    """It goes on to its deadline, for a display that is added under that name."""


class OnHostLost(StrEnum):
    """What becomes of a wait when a fleet has lost its host."""

    FAIL = "fail"
    """It ends unwatched at its deadline, unless its host is back before."""
    REARM = "rearm"
    """It is armed again on another host, on a new display with the programs that acud had launched."""


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """How often to judge, and on which frames. See docs/waiting.md for each default's reason."""

    cadence: Cadence = Cadence.EVENT
    interval_s: Annotated[float, Meta(ge=0.05, le=3600)] = 1.0
    min_interval_s: Annotated[float, Meta(ge=0, le=3600)] = 2.0
    force_after_s: Annotated[float, Meta(ge=0.5, le=86_400)] = 30.0
    gate: GateKind | None = None
    """None: `exact` for `event` and `adaptive`, `none` for `fixed`."""
    gate_threshold: Annotated[float, Meta(ge=0)] | None = None
    confirm: Annotated[int, Meta(ge=1, le=20)] = 1
    hold_s: Annotated[float, Meta(ge=0, le=3600)] = 0.7
    """What is gone must stay gone for this long, so that flicker does not count; 0: not at all."""
    fresh: bool = False
    """What holds at arming does not count: it must come anew, one more of it or after it was away."""
    priority: Priority = Priority.NORMAL
    """Orders what waits for a judge; time is still shared evenly between displays. See docs/scaling.md."""
    on_display_lost: OnDisplayLost = OnDisplayLost.FAIL
    on_host_lost: OnHostLost = OnHostLost.FAIL
    """`rearm` needs a fleet, and a wait that another host can take over. See docs/scaling.md."""
    help: ClassVar[dict[str, str]] = {
        "cadence": "event: when pixels changed (default); fixed: every --interval; adaptive: rarer while all is still.",
        "interval_s": "Tick of `fixed`, and of `event` at the latest (default {:g} s).",
        "min_interval_s": "Shortest time between two judgements (default {:g} s).",
        "force_after_s": "Judge at the latest after this long (default {:g} s).",
        "gate": "What lets a changed frame through; only none and exact never miss a change.",
        "gate_threshold": "Threshold of a lossy gate.",
        "confirm": "Yeses needed, each on another picture (default 1).",
        "hold_s": "What is gone must stay gone so long (default {:g} s).",
        "fresh": "What holds already does not count: it must come anew.",
        "priority": "Whose judgements go first when there are more than can be made (default normal).",
        "on_display_lost": "If its managed display ends or is removed: fail at once (default) or wait to the deadline.",
        "on_host_lost": "When the fleet has lost its host: fail at the deadline (default), or rearm on another host.",
    }
    """The help of each field as an option; {} is its default."""


class WaitState(StrEnum):
    """The life of a wait; the transition table is in `acud.waits.lifecycle`."""

    WATCHING = "watching"
    RESOLVED = "resolved"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    FAILED = "failed"


JUDGE_NAME = r"^[a-z][a-z0-9-]{0,31}$"
JudgeChoice = Annotated[str, Meta(pattern=JUDGE_NAME, description="the name of a judge, such as ocr or claude")]
"""The judge of `criteria`: a `JudgeName`, or a backend by its name in the settings."""


class JudgeName(StrEnum):
    """The judges that every acud has; `auto` is the one that `[vision]` names, else ollama if it has the model, else
    ocr.
    """

    AUTO = "auto"
    OCR = "ocr"
    OLLAMA = "ollama"
    VLLM = "vllm"
    OPENROUTER = "openrouter"
    CLAUDE = "claude"
    FLEET = "fleet"
    """Workers on other machines."""
    SCRIPTED = "scripted"
    PASSTHROUGH = "passthrough"


WaitNote = Annotated[str, Meta(max_length=500)]
"""An agent's words to itself: why it waits, and what comes next. They stand first in the wake."""


class WaitSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What a client asks for, validated and normalised; stored as JSON beside the wait."""

    until: Until
    target: Target
    timeout_s: float
    policy: Policy = Policy()
    judge: JudgeChoice = JudgeName.AUTO
    task_id: str = ""
    label: str = ""
    wake: WakeAddress = WakeAddress()
    budget: Budget = Budget()
    note: WaitNote = ""


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """The kept picture of a view: which frame it was, where its file is, and the hash that proves it.

    `name` is the file's name under the evidence directory ("" when no picture could be kept, for the `reason`).
    `identity` names the masked pixels: see `acud.pixels.tiles`. `before` is the file with the view when the condition
    was last seen not to hold, `before_frame` its frame; `before_reason`: why there is none.
    """

    name: str = ""
    identity: str = ""
    display: str = ""
    epoch: int = 0
    frame: int = 0
    crop: Rect | None = None
    width: int = 0
    height: int = 0
    reason: str = ""
    before: str = ""
    before_frame: int = 0
    before_identity: str = ""
    before_reason: str = ""


class Stage(Struct, frozen=True, forbid_unknown_fields=True):
    """A stage of a `then` that was reached: when, and the verdict and the picture of that moment."""

    utc_s: float
    verdict: Verdict
    evidence: Evidence


class Rearmed(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait was armed again after its host was lost: when, on which `host`, and its former hosts (`lost`), the newest
    last. The programs were started anew there, on a display of their own.
    """

    utc_s: float
    host: str
    lost: tuple[str, ...]


class WaitInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A wait as clients see it."""

    wait_id: str
    state: WaitState
    spec: WaitSpec
    display: str
    created_utc_s: float
    deadline_utc_s: float
    remaining_s: float
    verdict: Verdict
    """The newest verdict on the whole condition, of a `then` on its present stage; `unknown(not_judged)` before the
    first."""
    judged: int = 0
    """Evaluations so far (jobs that carried this wait)."""
    judge_calls: int = 0
    """Answers that a judge really worked for (neither remembered nor local)."""
    frames_seen: int = 0
    cost_usd: float | None = None
    spent: Spent = Spent()
    """What counts against its budget and its task's: all work of vision judges, even without a decision."""
    note: str = ""
    """A warning that the client should show, such as a missing target."""
    asking: str = ""
    """What is under way at a judge now; "" for nothing."""
    behind_s: float = 0.0
    """Age of the oldest pixels that wait for the judge's answer on older ones, or for a free judge; 0 for none."""
    ended_utc_s: float = 0.0
    message: str = ""
    """Once the wait ended: the wake's text, without its next step."""
    evidence: Evidence | None = None
    changed_to_resolved_ms: float | None = None
    """From the notice of the deciding frame's change to the committed verdict."""
    stages: tuple[Stage, ...] = ()
    """The stages of a `then` before the present one, in order. The last stage is in the wait's end."""
    rearmed: Rearmed | None = None
    """None on the host where it was first armed."""


class WaitFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """Which waits are wanted; an empty or 0 field matches all.

    `text` matches beginnings of words, in any order: of the label, the condition, the display, the task's name, the
    judge, the verdict and the id. `since_utc_s`: ended since then or, if live, armed since then.
    """

    text: Annotated[str, Meta(max_length=200)] = ""
    display: Annotated[str, Meta(max_length=100)] = ""
    task_id: Annotated[str, Meta(max_length=64)] = ""
    judge: Annotated[str, Meta(max_length=32)] = ""
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0


_BETWEEN_WORDS = re.compile(r"[\W_]+")


def fold_search_words(*texts: str) -> str:
    """Return `texts` in the form for a search: lower case, a space before each word."""
    words = _BETWEEN_WORDS.sub(" ", " ".join(texts).lower()).strip()
    return f" {words}" if words else ""


def words_of_wait(wait_id: str, spec: WaitSpec, display: str, verdict: Verdict) -> str:
    """Return the searched words of a wait, without the name of its task."""
    words = condition_text(spec.until)
    return fold_search_words(spec.label, words, display, spec.judge, verdict.answer, verdict.detail, wait_id)
