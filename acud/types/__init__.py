"""The nouns of acud as frozen values: rectangles, targets, conditions, policies, verdicts, waits, displays.

They are the shapes of the wire, of the store's JSON columns and of the pure rules alike. Validation of single values
happens here (`msgspec.Meta`); what needs two values or the world is checked by `acud.waits.validation`.

All rooms and the clients share this vocabulary: import it from here, not from the modules.
"""

from acud.language.numbers import NumberSeen, numbers_in
from acud.types.budgets import Budget, OnBudget, Spent
from acud.types.condition_text import ConditionWords, condition_text
from acud.types.conditions import *  # noqa: F403  # its list is the list of kinds
from acud.types.conditions import __all__ as _conditions
from acud.types.displays import (
    MAX_NUMBER,
    MAX_SIDE_PX,
    MAX_TEXT,
    TILE_PX,
    Count,
    DisplayInfo,
    DisplayNotification,
    DisplayState,
    HiddenBox,
    MonitorInfo,
    Number,
    Pixel,
    PixelFormat,
    Positive,
    PositiveSeconds,
    Rect,
    RedactedText,
    Seconds,
    Share,
    ShortText,
    Urgency,
    WindowInfo,
    XId,
    display_name,
    redaction_mark,
    screen_cover,
    window_at,
    x_number,
)
from acud.types.targets import Target, target_argument, target_text
from acud.types.verdicts import MOST_BOXES, Answer, Echo, Verdict, no, unknown, yes
from acud.types.waits import (
    JUDGE_NAME,
    Cadence,
    Evidence,
    GateKind,
    JudgeChoice,
    JudgeName,
    OnDisplayLost,
    OnHostLost,
    Policy,
    Priority,
    Rearmed,
    Stage,
    WaitFilter,
    WaitInfo,
    WaitNote,
    WaitSpec,
    WaitState,
)
from acud.types.wakes import RouteName, RouteTry, WakeAddress, WakeInfo, WakeKind, WakeState
from acud.types.window_relations import behind_modal, family_of, modal_over

__all__ = [
    "JUDGE_NAME", "MAX_NUMBER", "MAX_SIDE_PX", "MAX_TEXT", "MOST_BOXES", "TILE_PX", "Answer", "Budget", "Cadence",
    "ConditionWords", "Count", "DisplayInfo", "DisplayNotification", "DisplayState", "Echo", "Evidence", "GateKind",
    "HiddenBox", "JudgeChoice", "JudgeName", "MonitorInfo", "Number", "NumberSeen", "OnBudget", "OnDisplayLost",
    "OnHostLost", "Pixel", "PixelFormat", "Policy", "Positive", "PositiveSeconds", "Priority", "Rearmed", "Rect",
    "RedactedText", "RouteName", "RouteTry", "Seconds", "Share", "ShortText", "Spent", "Stage", "Target", "Urgency",
    "Verdict", "WaitFilter", "WaitInfo", "WaitNote", "WaitSpec", "WaitState", "WakeAddress", "WakeInfo", "WakeKind",
    "WakeState", "WindowInfo", "XId", "behind_modal", "condition_text", "display_name", "family_of", "modal_over", "no",
    "numbers_in", "redaction_mark", "screen_cover", "target_argument", "target_text", "unknown", "window_at",
    "x_number", "yes",
]  # fmt: skip
__all__ += _conditions

Labels = dict[str, str]
"""Labels of a host or a task: plain words and their values."""
NO_LABELS: Labels = {}
