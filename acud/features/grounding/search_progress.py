"""The combined result of several methods: an answer, a reason to ask the next method, or an honest end."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from acud.types.grounding import Candidate, Found, GroundingBackend, GroundingMethod, Tried

LOCAL = (GroundingMethod.DIRECT, GroundingMethod.ACCESSIBILITY, GroundingMethod.OCR)
SAME_PX = 24
"""Two results without boxes this near to each other are one thing."""


def methods(backend: GroundingBackend) -> tuple[GroundingMethod, ...]:
    """Return the methods that `backend` allows, in the order of trying."""
    if backend is GroundingBackend.DIRECT:
        return (GroundingMethod.DIRECT,)
    if backend is GroundingBackend.AUTO:
        return LOCAL
    return (*LOCAL, GroundingMethod(backend.value))


def next_method(plan: Sequence[GroundingMethod], so_far: Found) -> GroundingMethod | None:
    """Return the method of `plan` to ask after `so_far`; None when the search is over."""
    tried = {one.method: one.outcome for one in so_far.tried}
    if so_far.status == "found":
        return None
    rest = [method for method in plan if method not in tried]
    if "ambiguous" in tried.values() or _why_unusable(so_far):
        # A method that reads only a part of the description cannot choose, nor know what can't be used.
        rest = [method for method in rest if method not in LOCAL]
    return rest[0] if rest else None


def _why_unusable(so_far: Found) -> str:
    """Return why the meant widget can't be used (disabled, behind a dialog, covered); "" if no reason is known."""
    looked = (one for one in so_far.tried if one.method is GroundingMethod.ACCESSIBILITY and one.outcome == "nothing")
    return next((one.reason for one in looked), "")


def add(so_far: Found, tried: Tried, candidates: Sequence[Candidate]) -> Found:
    """Return `so_far` with the result of one more method."""
    everything = (*so_far.tried, tried)
    if tried.outcome == "sure" or (tried.outcome == "ambiguous" and _is_one(candidates)):
        chosen = _prefer_widget(so_far.candidates, candidates[0])
        return Found("found", (chosen,), everything)
    candidates = (*so_far.candidates, *candidates)
    if candidates:
        distinct = _drop_doubles(candidates)
        doubt = "it fits several" if len(distinct) > 1 else "it fits, but not well enough to be sure"
        return Found("ambiguous", distinct, everything, doubt)
    # A model's answer without a place does not mean that the thing is not there.
    blind = [f"{one.method.value}: {one.reason}" for one in everything if one.outcome in ("unavailable", "unsure")]
    if blind:
        why = f"nothing was found, and not every method could look: {'; '.join(blind)}"
        return Found("unknown", (), everything, why)
    why = _why_unusable(Found("not_found", (), everything))
    return Found("not_found", (), everything, why or "no method found it in the target")


def nothing_yet() -> Found:
    """Return the state before the first method."""
    return Found("not_found")


def _prefer_widget(before: Sequence[Candidate], sure: Candidate) -> Candidate:
    """Return the earlier widget around `sure`, with the higher confidence of both; else `sure`."""
    same = [one for one in before if one.box is not None and one.box.holds(sure.point.x, sure.point.y)]
    if len(same) != 1:
        return sure
    return replace(same[0], confidence=max(same[0].confidence, sure.confidence))


def _is_one(candidates: Sequence[Candidate]) -> bool:
    """Return whether all candidates are the same widget, which toolkits report twice in an open list."""
    first = candidates[0]
    return all(_is_same(first, other, both=True) for other in candidates[1:])


def _drop_doubles(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    kept: list[Candidate] = []
    for one in sorted(candidates, key=lambda candidate: -candidate.confidence):
        if not any(_is_same(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)


def _is_same(a: Candidate, b: Candidate, *, both: bool = False) -> bool:
    if a.box is None or b.box is None:
        return max(abs(a.point.x - b.point.x), abs(a.point.y - b.point.y)) <= SAME_PX
    inside = (b.box.holds(a.point.x, a.point.y), a.box.holds(b.point.x, b.point.y))
    return all(inside) if both else any(inside)
