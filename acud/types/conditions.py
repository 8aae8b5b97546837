"""What a wait looks at, the conditions of its `until`, and verdicts: three values with their words."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from acud.types.displays import PositiveSeconds, Rect, Seconds, Share, ShortText

MOST_BOXES = 16
"""Boxes that a verdict carries."""


class Answer(StrEnum):
    """The three values of a verdict."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer with its words: evidence for yes, what is missing for no, the reason for unknown.

    `code` names the reason of an unknown for programs: `judge_down`, `unparsable`, `frame_gone`, `not_viewable`,
    `covered`, `locked`, `not_compared`, `window_missing`, `session_missing`, `session_unread`, `monitor_missing`,
    `display_down`, `paused`, `needs_vision`, `redaction`, `no_accessibility`, `incomplete`, `no_value`, `budget`,
    `not_judged`, `engine`, `rate_limited`, `no_key`, `refusal`, `truncated`, `rejected`, `unavailable`, `unreadable`,
    `ambiguous`, `not_allowed`, `no_permission`, `watch_limit`, `no_notifications`, `image_flat`, `image_too_large`,
    `image_unreadable`, `image_missing` … ("" for yes and no). `boxes`: where its subject is (lines of text, a widget,
    an image, a window, what changed or keeps moving), in pixels of the target's picture; at most `MOST_BOXES`, none if
    not known. `times`: how often it is there (0: not counted).
    """

    answer: Answer
    detail: str = ""
    code: str = ""
    boxes: Annotated[tuple[Rect, ...], Meta(max_length=MOST_BOXES)] = ()
    times: Annotated[int, Meta(ge=0)] = 0


class Echo(Struct, frozen=True, forbid_unknown_fields=True):
    """The letters and digits around a condition's words in a command that acud typed.

    The last `command` letters of `before` are of the one command that has the words as an argument, the last
    `arguments` of its arguments alone, which the command may write itself.
    """

    before: str
    after: str
    command: int = 0
    arguments: int = 0


def yes(detail: str, boxes: tuple[Rect, ...] = (), times: int = 0) -> Verdict:
    """Return a yes with its evidence."""
    return Verdict(Answer.YES, detail, boxes=boxes[:MOST_BOXES], times=times)


def no(detail: str, boxes: tuple[Rect, ...] = (), times: int = 0) -> Verdict:
    """Return a no, with what is missing."""
    return Verdict(Answer.NO, detail, boxes=boxes[:MOST_BOXES], times=times)


def unknown(code: str, detail: str) -> Verdict:
    """Return an unknown with its reason."""
    return Verdict(Answer.UNKNOWN, detail, code)


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """What a wait looks at, parsed: a display, and within it at most one of a window, region, terminal or monitor.

    `display` is a name such as `:100`, or "" for the default display (`screen`). `window` is a title part, or an X id
    in decimal or `0x` form. `region` is in display pixels. `ignore` boxes (clock, caret) are in the target's own
    pixels, origin at the target's top left. `pty` names a terminal (`pts/3`) or a tmux session (`build`, or
    `tmux:<socket>/build`); the target is the window that shows it. `monitor` is a RANDR monitor's name or number.
    `opened_by`: the window that a launch opens, by the pid of its program (0: not launched yet).
    """

    display: str = ""
    window: str = ""
    region: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    pty: str = ""
    monitor: str = ""
    opened_by: int | None = None

    @property
    def in_windows(self) -> bool:
        """Whether the lists of windows and monitors decide its place, so that it may move."""
        return bool(self.window or self.pty or self.monitor) or self.opened_by is not None


class Criteria(Struct, frozen=True, tag="criteria", forbid_unknown_fields=True):
    """A condition in natural language, answered by a judge."""

    criteria: ShortText


class Text(Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    """Visible text (white space folded, case ignored without `match_case`), or its absence when `gone`.

    `whole_words`: no letter or digit stands right before or after it, so that "Saved" is not in "Unsaved changes".
    `count`: it is there at least this often, in places that do not overlap.
    """

    text: ShortText
    regex: bool = False
    gone: bool = False
    match_case: bool = False
    whole_words: bool = False
    count: Annotated[int, Meta(ge=1, le=1000)] = 1


class Comparison(StrEnum):
    """How a number on the screen is compared with another."""

    AT_LEAST = ">="
    MORE = ">"
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="


class ScreenNumber(Struct, frozen=True, tag="number", forbid_unknown_fields=True):
    """A visible number compares with `value`: the one in the cell, row or card of the words `label`, or with no label
    the only one of the target.

    `unit`: what stands with it ("%", "MB", "€"; "": anything). Sizes and times in other units are converted. A number
    that is not there, or cannot be read for certain, is unknown.
    """

    compare: Comparison
    value: float
    label: Annotated[str, Meta(max_length=200)] = ""
    unit: Annotated[str, Meta(max_length=20)] = ""
    sentence: Annotated[str, Meta(max_length=4000)] = ""
    """The sentence it comes from: where no number can be read for certain, a configured model is asked this."""


class ScreenImage(Struct, frozen=True, tag="image", forbid_unknown_fields=True):
    """A picture is somewhere in the target, or nowhere when `gone`: in its size, or 5 or 10 % smaller or larger.

    `png`: the picture, 8 bits a channel, 8x8 to 262,144 pixels, at most 256 KiB; what is more than half transparent may
    be anything. `similarity`: the least of how well light and dark agree, how well the colours of every 8x8 pixels do,
    and how well the worst 9x9 pixels do; 1 for equal pixels. The daemon keeps the picture by its `digest`; its replies
    have that, `width` and `height` instead of `png`, and so may a request about a picture that it has.
    """

    png: bytes = b""
    gone: bool = False
    similarity: Annotated[float, Meta(ge=0.5, le=1)] = 0.9
    digest: Annotated[str, Meta(max_length=32, pattern="^[0-9a-f]*$", description="hexadecimal digits")] = ""
    width: Annotated[int, Meta(ge=0)] = 0
    height: Annotated[int, Meta(ge=0)] = 0


class WindowTitle(Struct, frozen=True, tag="window", forbid_unknown_fields=True):
    """A window with `title` in its title (or matching it, with `regex`) is on the display, or none is when `gone`."""

    title: ShortText
    regex: bool = False
    gone: bool = False


class NameMatch(StrEnum):
    """How a widget's name is compared, white space folded and case ignored."""

    EXACT = "exact"
    CONTAINS = "contains"
    REGEX = "regex"


class WidgetState(StrEnum):
    """A state of a widget, or its opposite."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    CHECKED = "checked"
    UNCHECKED = "unchecked"
    MIXED = "mixed"
    """Neither checked nor unchecked."""
    FOCUSED = "focused"
    UNFOCUSED = "unfocused"
    SELECTED = "selected"
    UNSELECTED = "unselected"
    EXPANDED = "expanded"
    COLLAPSED = "collapsed"
    PRESSED = "pressed"
    UNPRESSED = "unpressed"
    EDITABLE = "editable"
    READ_ONLY = "read_only"


class ValueComparison(StrEnum):
    """How a widget's value is compared with another: as numbers where both are numbers, else letter by letter."""

    AT_LEAST = ">="
    MORE = ">"
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    CONTAINS = "contains"


class Widget(Struct, frozen=True, tag="widget", forbid_unknown_fields=True):
    """A widget of this role and name is in the target, in all of these states and with this value, as its program
    reports (docs/accessibility.md); or none of this role and name is, when `gone`.

    `role`: as in scenes and AT-SPI (`button`, `check box`, `progress bar`; "": any). `name` "": any. `value` None: any.
    It is a field's text, a combo box's choice, a slider's position; of a progress bar, and where `percent` is set, the
    percent of its range. A password field's value is never compared.
    """

    role: Annotated[str, Meta(max_length=60)] = ""
    name: Annotated[str, Meta(max_length=500)] = ""
    match: NameMatch = NameMatch.EXACT
    states: Annotated[tuple[WidgetState, ...], Meta(max_length=8)] = ()
    value: Annotated[str, Meta(max_length=300)] | None = None
    compare: ValueComparison = ValueComparison.EQUAL
    percent: bool = False
    gone: bool = False


class Change(Struct, frozen=True, tag="change", forbid_unknown_fields=True):
    """A tile of the target changed since the baseline.

    `share` asks that changed tiles cover at least that part of the target. `settle_s` asks that nothing changed for
    that long after the first change (0: the first changed frame), with `ignore_blinking` as in `stable`. `baseline` is
    a token, or "" for the moment of arming.
    """

    share: Share = 0.0
    settle_s: Seconds = 0.0
    baseline: str = ""
    ignore_blinking: bool = False


class Stable(Struct, frozen=True, tag="stable", forbid_unknown_fields=True):
    """Nothing in the target changed for `stable_s`, shown by a fresh compared grab.

    `ignore_blinking`: except for tiles that only alternate between two looks, such as a caret.
    """

    stable_s: PositiveSeconds
    ignore_blinking: bool = False


class FileState(Struct, frozen=True, tag="file", forbid_unknown_fields=True):
    """A file on the daemon's machine is there and complete, or, with `gone`, none is.

    `path` is absolute, or begins with `~/` (the home of the daemon's user). Its last part may be a pattern with `*`,
    `?` and `[…]`; the newest match counts. Complete: no partial download of it is there (`.part`, `.crdownload` …),
    nothing changed it for `still_s`, and no program has it open for writing. `newer`: only what was created or changed
    after `since_utc_s` (0: after the wait was armed) counts; None: yes for a pattern, no for a name.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    still_s: Seconds = 1.0
    gone: bool = False
    newer: bool | None = None
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0


class ProcessExit(Struct, frozen=True, tag="process", forbid_unknown_fields=True):
    """The process `pid` of the daemon's machine has ended, one that `launch` started or any other.

    `start_ticks`: when it started, in clock ticks since boot, so that a later process with its number is not taken for
    it. 0: found out at arming; -1: no process had the number then, so it had ended.
    """

    pid: Annotated[int, Meta(ge=1, le=4_194_304)]
    start_ticks: Annotated[int, Meta(ge=-1)] = 0


class NotificationText(Struct, frozen=True, tag="notification", forbid_unknown_fields=True):
    """A desktop notification with `text` in its title or body (or matching it, with `regex`) is open on the managed
    display, or was given since the wait was armed (`since_utc_s`; 0: found out at arming).
    """

    text: ShortText
    regex: bool = False
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0


class AllOf(Struct, frozen=True, tag="all", forbid_unknown_fields=True):
    """Every part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class AnyOf(Struct, frozen=True, tag="any", forbid_unknown_fields=True):
    """At least one part holds on one frame."""

    parts: Annotated[tuple[Until, ...], Meta(min_length=1, max_length=16)]


class NotOf(Struct, frozen=True, tag="not", forbid_unknown_fields=True):
    """The part plainly does not hold; an unknown part stays unknown."""

    part: Until


class Then(Struct, frozen=True, tag="then", forbid_unknown_fields=True):
    """The parts hold one after the other, each on a later look than the one before: stages.

    Only the whole condition may be a `then`. What a part counts (`change`, `stable`) counts from its stage's start.
    """

    parts: Annotated[tuple[Until, ...], Meta(min_length=2, max_length=16)]


def in_sequence(first: Until, *later: Until) -> Until:
    """Return the condition that `first` holds, and later each of `later` in turn."""
    parts = first.parts if isinstance(first, Then) else (first,)
    return Then((*parts, *later)) if later else first


def appears_then_goes(part: Until) -> Then:
    """Return the condition that `part` was seen to hold, and after that plainly does not hold."""
    if isinstance(part, WindowTitle) or (isinstance(part, Text) and part.count == 1):
        return Then((part, replace(part, gone=not part.gone)))
    return Then((part, NotOf(part)))


TextLeaf = Text | ScreenNumber
"""Leaves answered from visible text: by OCR, or from a terminal's own text."""
PixelLeaf = Text | ScreenNumber | ScreenImage
"""Leaves that an evaluator answers from pixels by itself, free of charge."""
HostLeaf = FileState | ProcessExit | NotificationText
"""Leaves that the daemon answers without pixels; files and processes need no display."""
Leaf = (
    Criteria
    | Text
    | ScreenNumber
    | ScreenImage
    | WindowTitle
    | Widget
    | Change
    | Stable
    | FileState
    | ProcessExit
    | NotificationText
)
Until = Leaf | AllOf | AnyOf | NotOf | Then
