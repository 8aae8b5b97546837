"""Which waits another host can take over when theirs is lost: those for what restarted programs may show too."""

from __future__ import annotations

from datetime import UTC, datetime

from acud.base.errors import InvalidRequest
from acud.types import Change, Rearmed, ScreenImage, Target, Then, Until
from acud.waits.condition_tree import leaves
from acud.waits.targets import parse_window_id

_HINT = "leave on_host_lost out; or wait for a text, number, window or widget"


def check_rearmable(until: Until, target: Target) -> None:
    """Raise InvalidRequest, with the reason, for a wait bound to its host or to the pixels of its display."""
    why = _bound_by(until, target)
    if why:
        raise InvalidRequest(f"no other host could take this wait over (on_host_lost = rearm): {why}", hint=_HINT)


def _bound_by(until: Until, target: Target) -> str:
    first = until.parts[0] if isinstance(until, Then) else until
    asked = leaves(until)
    if any(leaf.is_of_machine for leaf in asked):
        return "a file or process is of this machine"
    if target.pty:
        return "a terminal session is of this machine"
    if target.opened_by is not None:
        return "the window of a launch is of this display; name it by its title"
    if parse_window_id(target.window) is not None:
        return "a window's id is of this display; name it by its title"
    if any(isinstance(leaf, Change) for leaf in leaves(first)):
        return "a change is counted from the pixels of this display"
    if any(isinstance(leaf, ScreenImage) for leaf in asked):
        return "the image that it looks for is kept on this machine"
    return ""


def rearmed_text(rearmed: Rearmed) -> str:
    """Return the note on a wait that was armed again."""
    at = datetime.fromtimestamp(rearmed.utc_s, UTC)
    return (
        f"armed again on host {rearmed.host} at {at:%H:%M:%S} UTC, as host {rearmed.lost[-1]} was lost: programs were "
        "started anew on a new display, what they had done is lost"
    )
