"""The nouns of acud as frozen values: rectangles, targets, conditions, policies, verdicts, waits, displays.

They are the shapes of the wire, of the store's JSON columns and of the pure rules alike. Validation of single values
happens here (`msgspec.Meta`); what needs two values or the world is checked by `acud.waits.validation`.

This is the vocabulary that everybody shares, clients too: import it from here, not from the files it lies in.
"""

from acud.types.conditions import AllOf, AnyOf, Change, Criteria, Leaf, NotOf, Stable, Text, Until, WindowTitle
from acud.types.displays import DisplayInfo, DisplayState, MonitorInfo, WindowInfo, display_name, x_number
from acud.types.policy import Cadence, GateKind, OnDisplayLost, Policy, Priority
from acud.types.targets import Target
from acud.types.values import (
    MAX_NUMBER,
    MAX_SIDE_PX,
    MAX_TEXT,
    TILE_PX,
    HiddenBox,
    Number,
    Pixel,
    PixelFormat,
    PositiveSeconds,
    Rect,
    Seconds,
    Share,
    ShortText,
    XId,
)
from acud.types.verdicts import Answer, Verdict, no, unknown, yes
from acud.types.waits import Budget, Evidence, JudgeName, OnBudget, Spent, WaitInfo, WaitSpec, WaitState
from acud.types.wakes import RouteName, RouteTry, WakeAddress, WakeInfo, WakeKind, WakeState

__all__ = [
    "MAX_NUMBER",
    "MAX_SIDE_PX",
    "MAX_TEXT",
    "TILE_PX",
    "AllOf",
    "Answer",
    "AnyOf",
    "Budget",
    "Cadence",
    "Change",
    "Criteria",
    "DisplayInfo",
    "DisplayState",
    "Evidence",
    "GateKind",
    "HiddenBox",
    "JudgeName",
    "Leaf",
    "MonitorInfo",
    "NotOf",
    "Number",
    "OnBudget",
    "OnDisplayLost",
    "Pixel",
    "PixelFormat",
    "Policy",
    "PositiveSeconds",
    "Priority",
    "Rect",
    "RouteName",
    "RouteTry",
    "Seconds",
    "Share",
    "ShortText",
    "Spent",
    "Stable",
    "Target",
    "Text",
    "Until",
    "Verdict",
    "WaitInfo",
    "WaitSpec",
    "WaitState",
    "WakeAddress",
    "WakeInfo",
    "WakeKind",
    "WakeState",
    "WindowInfo",
    "WindowTitle",
    "XId",
    "display_name",
    "no",
    "unknown",
    "x_number",
    "yes",
]
