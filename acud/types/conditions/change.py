"""Conditions on pixels alone: something changed, or nothing did."""

from __future__ import annotations

from typing import Any, ClassVar

from acud.base.errors import InvalidRequest
from acud.types.conditions.kind import Argument, ConditionKind, FormField, KindForm, Refinement
from acud.types.displays import PositiveSeconds, Seconds, Share


class Change(ConditionKind, frozen=True, tag="change", forbid_unknown_fields=True):
    """A tile of the target changed since the baseline.

    `share` asks that changed tiles cover at least that part of the target. `settle_s` asks that nothing changed for
    that long after the first change (0: the first changed frame), with `ignore_blinking` as in `stable`. `baseline` is
    a token, or "" for the moment of arming.
    """

    share: Share = 0.0
    settle_s: Seconds = 0.0
    baseline: str = ""
    ignore_blinking: bool = False

    can_recur: ClassVar[bool] = False

    @property
    def quiet_s(self) -> float:
        return self.settle_s

    def describe(self) -> str:
        settled = f" and settled for {self.settle_s:g} s{_describe_blinking(self)}" if self.settle_s else ""
        return f"the target changed{settled}"

    def abbreviate(self, *, detailed: bool) -> str:
        part = f" of {self.share:.0%}" if self.share and detailed else ""
        return f"a change{part}" + (f", then {self.settle_s:g} s without one" if self.settle_s and detailed else "")

    def normalise(self) -> Change:
        if self.ignore_blinking and not self.settle_s:
            raise InvalidRequest(
                "ignore_blinking is of the quiet after a change", hint="give settle_s, or leave it out"
            )
        return self


class Stable(ConditionKind, frozen=True, tag="stable", forbid_unknown_fields=True):
    """Nothing in the target changed for `stable_s`, shown by a fresh compared grab.

    `ignore_blinking`: except for tiles that only alternate between two looks, such as a caret.
    """

    stable_s: PositiveSeconds
    ignore_blinking: bool = False

    can_recur: ClassVar[bool] = False

    @property
    def quiet_s(self) -> float:
        return self.stable_s

    def describe(self) -> str:
        return f"the target is unchanged for {self.stable_s:g} s{_describe_blinking(self)}"

    def abbreviate(self, *, detailed: bool) -> str:  # it has one form
        return f"no change for {self.stable_s:g} s{_describe_blinking(self)}"


def _describe_blinking(leaf: Change | Stable) -> str:
    return " but for blinking" if leaf.ignore_blinking else ""


def _make_change(_given: object, *, ignore_blinking: bool = False, **fields: Any) -> Change:
    return Change(**fields, ignore_blinking=ignore_blinking and fields.get("settle_s", 0.0) > 0)


Change.arguments = (
    Argument(
        "change", _make_change, ("share", "settle_s", "baseline", "ignore_blinking"),
        "any pixel changes", {"change": True, "target": "window:Terminal"},
        help="Any pixel of the target changed.", gives=bool,
    ),
)  # fmt: skip
Change.refinements = (
    Refinement("share", help="With --change: at least this part of the target."),
    Refinement("settle_s", help="With --change: then nothing changed for this long."),
    Refinement(
        "baseline", "change since this token of desktop_look",
        "With --change: since this token (acud baseline).", "since", "TOKEN",
    ),
)  # fmt: skip
Stable.arguments = (
    Argument(
        "stable", Stable, ("ignore_blinking",), "seconds without change", {"stable": 3},
        help="Nothing in the target changed for this long.", metavar="DURATION", gives=float,
    ),
)  # fmt: skip
Stable.refinements = (
    Refinement(
        "ignore_blinking", "stable but for what only blinks, such as a caret",
        "With --stable or --settle: but for what only blinks, such as a caret.",
    ),
)  # fmt: skip
Change.form = KindForm(
    "Something changes",
    (
        FormField("share", "At least % of what it looks at", value=0.0, scale=100.0),
        FormField("settle_s", "Then still for (s)", value=0.0),
    ),
)
Stable.form = KindForm(
    "Nothing changes",
    (FormField("stable_s", "For (s)", value=3.0), FormField("ignore_blinking", "a blinking caret is no change")),
)
