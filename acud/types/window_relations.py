"""How the windows of a display belong together: pure rules over lists of windows, topmost first."""

from __future__ import annotations

from collections.abc import Sequence

from acud.types.displays import WindowInfo


def family_of(window: WindowInfo, windows: Sequence[WindowInfo]) -> frozenset[int]:
    """Return the windows of the program of `window`: those of its process, and those linked to it by ownership."""
    related = {window.window_id}
    same = {one.window_id for one in windows if one.pid and one.pid == window.pid}
    for _ in windows:
        more = {one.window_id for one in windows if one.owner in related}
        more |= {one.owner for one in windows if one.window_id in related and one.owner}
        if more <= related:
            break
        related |= more
    return frozenset(related | same)


def modal_over(window_id: int, windows: Sequence[WindowInfo]) -> WindowInfo | None:
    """Return the modal dialog that blocks this window: one that belongs to it, or one above it of the same program
    without an owner. None if there is none.
    """
    shown = [one for one in windows if one.visibility != "unmapped" and one.kind != "popup"]
    at = next((at for at, one in enumerate(shown) if one.window_id == window_id), None)
    if at is None:
        return None
    pid = shown[at].pid
    modals = [one for one in shown if one.modal and one.owner == window_id]
    return next(
        iter(modals + [one for one in shown[:at] if one.modal and not one.owner and pid and one.pid == pid]), None
    )


def behind_modal(windows: Sequence[WindowInfo]) -> frozenset[int]:
    """Return the windows that a modal dialog blocks."""
    return frozenset(one.window_id for one in windows if modal_over(one.window_id, windows) is not None)
