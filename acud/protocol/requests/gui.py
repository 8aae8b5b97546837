"""Elements found and acted on by their description."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import SEARCH_S, Command, RestOperation
from acud.protocol.requests.looks import Picture
from acud.protocol.requests.waits import ActionWait, BlockS, WaitCreate
from acud.protocol.web import Scope
from acud.types import JudgeChoice, JudgeName, ShortText, Spent, Until, Verdict
from acud.types.action_effects import ActionEffects, FieldReading
from acud.types.grounding import Found, GroundingBackend


class GuiFind(Struct, frozen=True, tag="gui_find", forbid_unknown_fields=True):
    """Find what `description` describes in `target`, on a grab made after this call; nothing is done there.

    `backend`: which methods may be asked (None: as in the settings; `auto` sends nothing off this machine). With a
    `task_id`, `screen` is that task's display, and the search is logged there.
    """

    description: ShortText
    target: str = "screen"
    display: str = ""
    backend: GroundingBackend | None = None
    max_candidates: Annotated[int, Meta(ge=1, le=50)] = 8
    task_id: Annotated[str, Meta(max_length=64)] = ""


class FindReply(Struct, frozen=True, forbid_unknown_fields=True):
    """What was found, in pixels of `display`, on which frame; `baseline` is a token for that frame."""

    display: str
    found: Found
    epoch: int
    frame: int
    baseline: str


class GuiDo(Struct, frozen=True, tag="gui_do", forbid_unknown_fields=True):
    """Do one thing described in words ("click the Export button", "type hello into the name field") or with coordinates
    ("click(847, 523)"), and see whether it had an effect. Nothing is done unless one thing alone was found.

    `expect`: the condition that shows the effect (None: something in the target changed), within `timeout_s`; `judge`
    answers what of it is in words. Coordinates are pixels of `target`, or of the picture whose `view` is given.

    `then`: further instructions, such as those of a form, done in order. The first that fails ends the list: one that
    does nothing, that has no effect, or whose field refuses what is typed. None is begun later than `block_s` after the
    call. `expect` is what the last one has to show. `wait`, `block_s`: as of `desktop_action`; it is armed once there
    is something to do, and cancelled when an instruction fails.
    """

    instruction: ShortText
    target: str = "screen"
    display: str = ""
    view: Annotated[str, Meta(max_length=200)] = ""
    backend: GroundingBackend | None = None
    expect: Until | None = None
    timeout_s: Annotated[float, Meta(ge=0, le=45)] = 2.0
    picture: bool = False
    max_side_px: Annotated[int, Meta(ge=0, le=16384)] = 0
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    task_id: Annotated[str, Meta(max_length=64)] = ""
    lease: Annotated[str, Meta(max_length=64)] = ""
    judge: JudgeChoice = JudgeName.AUTO
    then: Annotated[tuple[ShortText, ...], Meta(max_length=31)] = ()
    wait: WaitCreate | None = None
    block_s: BlockS = 45.0


class DoReply(Struct, frozen=True, forbid_unknown_fields=True):
    """How it went. `verified`: done, and the effect was seen. `unverified`: done, and no effect was (or could be) seen
    (why: `verdict`). Nothing was done for `ambiguous` (`found` has the candidates), `disabled` (`found` has what can't
    be used now), `not_found` and `unknown`.

    Of a list `status` is that of the instruction that ended it, or `unfinished`: all went well, and its time was over.
    `done`: what was done, a line for each; `left`: what was not begun; `displays`: all those where it was done.

    `field`: what the field or list reads that was typed into or chosen in. `effects`: what else happened; None where
    nothing was done. Neither is stored for a repeat.
    """

    status: Literal["verified", "unverified", "ambiguous", "disabled", "not_found", "unknown", "unfinished"]
    display: str
    message: str
    did: str = ""
    found: Found | None = None
    target_found: Found | None = None
    """Where a drag went."""
    verdict: Verdict | None = None
    baseline: str = ""
    picture: Picture | None = None
    spent: Spent = Spent()
    """What judging the effect took."""
    field: FieldReading | None = None
    effects: ActionEffects | None = None
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    displays: tuple[str, ...] = ()
    wait: ActionWait | None = None
    """How what was to be waited for stands; None where nothing was done, or an instruction failed."""


_SEARCHES_S = 300.0
"""A drag searches twice, a scroll after each turn of the wheel (for a minute at most)."""


def _asked_s(request: GuiDo) -> float:
    follows = request.wait is not None or request.then
    return request.timeout_s * (1 + len(request.then)) + (request.block_s if follows else 0.0)


COMMANDS = (
    Command(
        GuiFind,
        FindReply,
        deferred=True,
        limit_s=SEARCH_S,
        positional=2,
        feature="grounding",
        # A model may be asked, which costs.
        rest=RestOperation("POST", "/api/gui/find", Scope.WAIT),
    ),
    Command(
        GuiDo,
        DoReply,
        mutating=True,
        deferred=True,
        outside=True,
        limit_s=_SEARCHES_S,
        asked_s=_asked_s,
        begins=lambda request: "waits" if request.wait is not None else "",
        positional=2,
        errors=(
            "InvalidRequest, with every form, for an instruction that fits none; "
            "Refused while a person has the display, unless `lease` is theirs; "
            "OutcomeUnknown when it is not known whether it was done"
        ),
        feature="actions",
        destroys=True,
        rest=RestOperation("POST", "/api/gui/do", Scope.ACT),
    ),
)
