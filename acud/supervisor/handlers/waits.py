"""Answers requests that create, change, list and end waits, and those for their evidence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from acud.base import private_files
from acud.base.errors import AcudError, InvalidRequest, NotFound, Unavailable
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.waits import (
    ChangeReply,
    EvidenceGet,
    EvidenceReply,
    WaitCancel,
    WaitCreate,
    WaitForChange,
    WaitList,
    WaitListReply,
    WaitReply,
    WaitResult,
    WaitResultReply,
    WaitShow,
    WaitShowReply,
    WaitTry,
    WaitTryReply,
    WaitUpdate,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles
from acud.supervisor.coroutines import Callback
from acud.supervisor.waits import active_waits
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare
from acud.supervisor.waits.creation import WaitCreation, check_extras, check_rearm_wish, measure_from_now
from acud.supervisor.waits.end_polls import Polled
from acud.supervisor.wakes import FETCH_S
from acud.types import Change, Evidence, ScreenImage, ScreenNumber, Then, WaitInfo, WaitSpec
from acud.types.tasks import ActionType
from acud.waits.condition_tree import NOT_JUDGED, is_from_now, leaves
from acud.waits.sentences import meaning_notes, with_meanings
from acud.waits.targets import parse_target
from acud.waits.validation import check_until

_FIRST_READING_S = 8.0
"""A reply about a number waits no longer than this for the first reading: some seconds on a busy host."""


@handles(WaitCreate)
async def wait_create(app: App, request: WaitCreate, call: Call) -> WaitReply:
    """Arm a wait. The reply is deferred while the default display starts, and for the grab that a change is measured
    from, so that all that the caller does afterwards counts. For a number it holds the present reading.
    """
    reply = await WaitCreation(app, request).create()
    if not any(isinstance(leaf, ScreenNumber) for leaf in leaves(reply.wait.spec.until)):
        return reply
    judged = partial(app.waits.when_judged, reply.wait.wait_id, _FIRST_READING_S, fetched_s=FETCH_S)
    polled = await Callback[Polled](judged)
    return replace(reply, notes=(*reply.notes, *_reading_notes(polled.info)))


def _reading_notes(info: WaitInfo) -> Iterator[str]:
    """Yield the reading at arming; nothing where that took too long."""
    verdict = info.verdict
    if verdict.code != NOT_JUDGED.code:
        yield f"now: {verdict.detail.removeprefix('reads ')}"


@handles(WaitList)
def wait_list(app: App, request: WaitList, call: Call) -> WaitListReply:
    """Return the waits that match the request, newest first."""
    return app.waits.list_newest(request)


@handles(WaitShow)
def wait_show(app: App, request: WaitShow, call: Call) -> WaitShowReply:
    """Return one wait with its newest evaluations, oldest first."""
    info = app.waits.find(request.wait_id)
    evaluations = app.store.evaluations.newest(info.wait_id, request.evaluations, request.before)
    place, covered = app.waits.find_place(info.wait_id)
    return WaitShowReply(
        info,
        tuple(evaluations),
        app.evidence_path(info.evidence),
        app.stage_paths(info),
        app.store.evaluations.count(info.wait_id),
        place,
        covered,
    )


@handles(WaitUpdate)
async def wait_update(app: App, request: WaitUpdate, call: Call) -> WaitReply:
    """Change a live wait. The reply waits for the grab that a new change is measured from, as in `wait_create`."""
    before = app.waits.find(request.wait_id)
    judge = before.spec.judge
    until = None if request.until is None else with_meanings(request.until, judge)
    if until is not None:
        check_extras(until, before.spec.target)
        await app.screenshots.check_images(until, before.display)
        if is_from_now(until):
            measured = await measure_from_now(app, until, app.waits.find_target(request.wait_id))
            until = measured[0] if measured is not None else until
    before = app.waits.find(request.wait_id)
    watched = app.watched_displays.by_name.get(before.display)
    wanted = (request.policy or before.spec.policy, until or before.spec.until)
    check_rearm_wish(app, *wanted, before.spec.target, watched)
    info, notes = app.waits.update(replace(request, until=until))
    read_as = () if request.until is None else meaning_notes(request.until, judge)
    return WaitReply(info, (*read_as, *notes), app.wakes.routes_of(info.spec.wake))


@handles(WaitCancel)
def wait_cancel(app: App, request: WaitCancel, call: Call) -> WaitReply:
    return WaitReply(app.waits.cancel(request.wait_id, request.reason))


@handles(WaitResult)
async def wait_result(app: App, request: WaitResult, call: Call) -> None:
    """Answer when the wait has ended, or after `block_s` with its state so far; a returned end counts as seen."""
    if request.again_s:
        app.waits.hold_wake(request.wait_id, request.again_s + request.block_s)
    fetched_s = 0.0 if request.peek else FETCH_S
    ended = partial(app.waits.when_ended, request.wait_id, request.block_s, fetched_s=fetched_s)
    info, has_ended = await Callback[Polled](ended)
    reply = WaitResultReply(info, has_ended, app.evidence_path(info.evidence), app.stage_paths(info))
    counts = has_ended and not request.peek
    call.reply(reply, (lambda: app.wakes.mark_wait_seen(info.wait_id)) if counts else None)


@handles(WaitForChange)
async def wait_for_change(app: App, request: WaitForChange, call: Call) -> ChangeReply | None:
    """Block until the target changed, or the time is over; then take one picture."""
    check_until(Change(request.share, request.settle_s, request.baseline))
    place = app.ports.tasks.find_place(request.task_id, request.target, request.display)
    log = app.ports.tasks.begin_action(place.task_id, ActionType.WAIT, f"wait for a change of {request.target}")
    try:
        reply = await _await_change(app, request, place.display, place.task_id)
    except AcudError as fault:
        log(fault, None)
        call.fail(fault)
        return None
    log(None, {"changed": reply.changed, "share": reply.share})
    return reply


async def _await_change(app: App, request: WaitForChange, display: str, task_id: str) -> ChangeReply:
    target = parse_target(request.target, display, request.ignore)
    began_s = app.clock.monotonic_s()
    fresh = await app.fresh_frames.find(target)
    source = fresh.picture.source
    token = request.baseline or app.waits.targets.make_token(source, source.frame, box=fresh.picture.crop)
    until = check_until(Change(request.share, request.settle_s, token))
    spec = WaitSpec(until, replace(target, display=fresh.watched.name), request.timeout_s, task_id=task_id)
    live = await Callback[ActiveWait](partial(app.waits.run_transient, spec, fresh.watched))
    changed = active_waits.measure_change(live)
    fresh = await app.fresh_frames.find(parse_target(request.target, live.display))
    picture = await app.screenshots.take(
        fresh.picture, PictureAsk(request.format, request.max_side_px, request.quality)
    )
    return ChangeReply(
        changed=changed.changed,
        share=round(changed.share, 6),
        box=changed.box,
        message=_describe_change(request, changed, live.machine.verdict.detail),
        picture=picture,
        waited_s=round(app.clock.monotonic_s() - began_s, 3),
    )


def _describe_change(request: WaitForChange, change: ChangedShare, detail: str) -> str:
    if change.changed:
        return f"Changed: {change.share:.1%} of the target is in changed tiles."
    if not change.share:
        time = f"in {request.timeout_s:g} s" if request.timeout_s else "so far"
        return f"No change {time}; this is the target as it is now."
    return f"Timeout after {request.timeout_s:g} s: {detail}; this is the target as it is now."


@handles(WaitTry)
async def wait_try(app: App, request: WaitTry, call: Call) -> WaitTryReply:
    """Answer with the first verdict on the target as it is now."""
    if isinstance(request.until, Then):
        raise InvalidRequest("a sequence can't be tried at once", hint="try its stages one by one")
    asked = WaitCreate(
        request.until,
        request.target,
        request.display,
        request.ignore,
        timeout_s=0.0,
        judge=request.judge,
        task_id=request.task_id,
        force=request.force,
    )
    creation = WaitCreation(app, asked)
    verdict = await app.waits.look_once(*await creation.find(), request.block_s)
    return WaitTryReply(verdict, creation.read_as)


@handles(EvidenceGet)
async def answer_evidence(app: App, request: EvidenceGet, call: Call) -> EvidenceReply:
    """Return a kept picture of a wait as bytes; compute the picture of differences on request."""
    info = app.waits.find(request.wait_id)
    if request.part == "sought":
        return _find_sought_image(app, info, request.stage)
    if request.part == "verdict":
        return _load_verdict_picture(app, info, request.number)
    kept = _find_evidence(info, request.stage)
    if kept is None or not kept.name:
        reason = kept.reason if kept is not None else f"it is {info.state.value}"
        raise NotFound(f"wait {info.wait_id} has no evidence picture: {reason}", hint="acud look takes one now")
    if request.part == "after":
        return EvidenceReply(kept, _read_picture(app.store.evidence.path(kept.name)))
    if not kept.before:
        reason = kept.before_reason or "it was kept by an acud that kept none"
        raise NotFound(f"wait {info.wait_id} has no picture from before: {reason}", hint="ask for the part after")
    before = app.store.evidence.path(kept.before)
    if request.part == "before":
        return EvidenceReply(kept, _read_picture(before))
    return EvidenceReply(kept, await app.screenshots.take_difference(kept))


def _find_sought_image(app: App, info: WaitInfo, stage: int) -> EvidenceReply:
    until = info.spec.until
    parts = until.parts if isinstance(until, Then) else (until,)
    wanted = [leaf for part in parts[max(0, stage - 1) :][:1] for leaf in leaves(part) if isinstance(leaf, ScreenImage)]
    png = app.wait_runtime.images.get(wanted[0].digest) if wanted else None
    if png is None:
        reason = "it is kept no more" if wanted else "its condition names none"
        raise NotFound(
            f"wait {info.wait_id} has no image to look for: {reason}", hint="acud wait show tells its condition"
        )
    return EvidenceReply(Evidence(width=wanted[0].width, height=wanted[0].height), png)


def _load_verdict_picture(app: App, info: WaitInfo, number: int) -> EvidenceReply:
    jpeg = app.store.verdict_pictures.get(info.wait_id, number)
    if jpeg is None:
        raise NotFound(
            f"no picture is kept of verdict {number} of wait {info.wait_id}", hint="acud wait show lists them"
        )
    return EvidenceReply(Evidence(display=info.display), jpeg)


def _find_evidence(info: WaitInfo, stage: int) -> Evidence | None:
    """Return the evidence of the end, or of a stage. Raises: NotFound for a stage that was not reached."""
    if not stage:
        return info.evidence
    if stage > len(info.stages):
        reached = f"reached {len(info.stages)} of its stages" if info.stages else "has no stage that was reached"
        raise NotFound(f"wait {info.wait_id} {reached}, not stage {stage}", hint="acud wait show lists them")
    return info.stages[stage - 1].evidence


def _read_picture(picture: Path) -> bytes:
    try:
        return private_files.read_regular(picture)
    except OSError as fault:
        raise Unavailable(f"the picture {picture.name} can't be read: {fault.strerror}", hint="acud doctor") from fault
