"""Answers requests that create, change, list and end waits, and those for their evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from acud.base import private_files
from acud.base.errors import AcudError, InvalidRequest, NotFound, Unavailable
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Picture
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
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.waits import active_waits
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare
from acud.supervisor.waits.creation import WaitCreation, check_host_lost
from acud.supervisor.wakes import FETCH_S
from acud.types import Change, Evidence, ScreenImage, ScreenNumber, Then, Until, Verdict, WaitInfo, WaitSpec
from acud.types.tasks import ActionType
from acud.waits import baselines
from acud.waits.conditions import NOT_JUDGED, is_from_now, leaves
from acud.waits.sentences import meaning_notes, with_meanings
from acud.waits.targets import parse_target
from acud.waits.validation import check_until

_FIRST_READING_S = 8.0
"""A reply about a number waits no longer than this for the first reading: some seconds on a busy host."""


@handles(WaitCreate)
def wait_create(app: App, request: WaitCreate, call: Call) -> None:
    """Arm a wait. The reply is deferred while the default display starts, and for the grab that a change is measured
    from, so that all that the caller does afterwards counts. For a number it holds the present reading.
    """

    def on_created(reply: WaitReply) -> None:
        if any(isinstance(leaf, ScreenNumber) for leaf in leaves(reply.wait.spec.until)):

            def on_reading(info: WaitInfo) -> None:
                call.reply(replace(reply, notes=(*reply.notes, *_reading_notes(info))))

            app.waits.when_judged(reply.wait.wait_id, _FIRST_READING_S, call.later(on_reading), fetched_s=FETCH_S)
        else:
            call.reply(reply)

    WaitCreation(app, request, call).begin(call.then(on_created))


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
def wait_update(app: App, request: WaitUpdate, call: Call) -> WaitReply | None:
    """Change a live wait. The reply waits for the grab that a new change is measured from, as in `wait_create`."""
    judge = app.waits.find(request.wait_id).spec.judge
    asked = None if request.until is None else with_meanings(request.until, judge)

    def apply_update(until: Until | None) -> WaitReply:
        before = app.waits.find(request.wait_id)
        wanted = (request.policy or before.spec.policy, until or before.spec.until)
        watched = app.watched_displays.by_name.get(before.display)
        check_host_lost(app, *wanted, before.spec.target, watched)
        info, notes = app.waits.update(replace(request, until=until))
        read_as = () if request.until is None else meaning_notes(request.until, judge)
        return WaitReply(info, (*read_as, *notes), app.wakes.routes_of(info.spec.wake))

    def on_target(outcome: FreshTarget | AcudError) -> None:
        until = asked
        if until is not None and not isinstance(outcome, AcudError):
            source = outcome.picture.source
            until = baselines.with_token(
                until, app.waits.targets.make_token(source, source.frame, box=outcome.picture.crop)
            )
        call.reply(apply_update(until))

    def on_images_checked(fault: InvalidRequest | None) -> None:
        if fault is not None:
            call.fail(fault)
        elif asked is not None and is_from_now(asked):
            app.fresh_frames.resolve_target(app.waits.find_target(request.wait_id), call.later(on_target))
        else:
            call.reply(apply_update(asked))

    if asked is None:
        return apply_update(None)
    display = app.waits.find(request.wait_id).display
    app.screenshots.check_images(asked, display, call.later(on_images_checked))
    return None


@handles(WaitCancel)
def wait_cancel(app: App, request: WaitCancel, call: Call) -> WaitReply:
    """End a live wait without a verdict."""
    return WaitReply(app.waits.cancel(request.wait_id, request.reason))


@handles(WaitResult)
def wait_result(app: App, request: WaitResult, call: Call) -> None:
    """Answer when the wait has ended, or after `block_s` with its state so far; a returned end counts as seen."""

    def on_ended(info: WaitInfo, ended: bool) -> None:
        reply = WaitResultReply(info, ended, app.evidence_path(info.evidence), app.stage_paths(info))
        call.reply(reply, (lambda: app.wakes.mark_wait_seen(info.wait_id)) if ended and not request.peek else None)

    app.waits.when_ended(request.wait_id, request.block_s, on_ended, fetched_s=0.0 if request.peek else FETCH_S)
    if request.again_s:
        app.waits.hold_wake(request.wait_id, request.again_s + request.block_s)


class _BlockedCall:
    """One blocking call: finds its target for the baseline, waits, then takes one picture."""

    def __init__(self, app: App, request: WaitForChange, call: Call) -> None:
        self.app = app
        self.request = request
        self.call = call
        self.began_s = app.clock.monotonic_s()
        self.changed = ChangedShare(False, 0.0, None)
        self.detail = ""
        self.place = app.ports.tasks.place(request.task_id, request.target, request.display)
        self.log = app.ports.tasks.begin_action(
            self.place.task_id, ActionType.WAIT, f"wait for a change of {request.target}"
        )

    def fail(self, fault: AcudError) -> None:
        """Answer with the fault."""
        self.log(fault, None)
        self.call.fail(fault)

    def on_target(self, fresh: FreshTarget) -> None:
        """Arm the wait on the target, from its fresh frame."""
        source = fresh.picture.source
        token = self.request.baseline or self.app.waits.targets.make_token(source, source.frame, box=fresh.picture.crop)
        until = check_until(Change(self.request.share, self.request.settle_s, token))
        target = parse_target(self.request.target, fresh.watched.name, self.request.ignore)
        spec = WaitSpec(until, target, self.request.timeout_s, task_id=self.place.task_id)
        self.app.waits.run_transient(spec, fresh.watched, self.call.later(self.on_end))

    def on_end(self, live: ActiveWait) -> None:
        """Take a picture, whether the target changed or the time is over."""
        self.changed = active_waits.measure_change(live)
        self.detail = live.machine.verdict.detail
        self.app.fresh_frames.resolve(self.request.target, live.display, (), self.call.then(self.on_fresh, self.fail))

    def on_fresh(self, fresh: FreshTarget) -> None:
        """Take the picture from the fresh frame."""
        ask = PictureAsk(self.request.format, self.request.max_side_px, self.request.quality)
        self.app.screenshots.take(fresh.picture, ask, self.call.then(self.on_picture, self.fail))

    def on_picture(self, picture: Picture) -> None:
        """Reply with the picture."""
        self.log(None, {"changed": self.changed.changed, "share": round(self.changed.share, 6)})
        waited_s = self.app.clock.monotonic_s() - self.began_s
        self.call.reply(
            ChangeReply(
                changed=self.changed.changed,
                share=round(self.changed.share, 6),
                box=self.changed.box,
                message=self._build_message(),
                picture=picture,
                waited_s=round(waited_s, 3),
            )
        )

    def _build_message(self) -> str:
        if self.changed.changed:
            return f"Changed: {self.changed.share:.1%} of the target is in changed tiles."
        if not self.changed.share:
            time = f"in {self.request.timeout_s:g} s" if self.request.timeout_s else "so far"
            return f"No change {time}; this is the target as it is now."
        return f"Timeout after {self.request.timeout_s:g} s: {self.detail}; this is the target as it is now."


@handles(WaitForChange)
def wait_for_change(app: App, request: WaitForChange, call: Call) -> None:
    """Block until the target changed, or the time is over."""
    check_until(Change(request.share, request.settle_s, request.baseline))
    blocked = _BlockedCall(app, request, call)
    on_target = call.then(blocked.on_target, blocked.fail)
    app.fresh_frames.resolve(request.target, blocked.place.display, request.ignore, on_target)


@handles(WaitTry)
def wait_try(app: App, request: WaitTry, call: Call) -> None:
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
    made = WaitCreation(app, asked, call)

    def on_verdict(verdict: Verdict) -> None:
        call.reply(WaitTryReply(verdict, made.read_as))

    made.find(
        lambda spec, watched: app.waits.look_once(spec, watched, request.block_s, call.later(on_verdict)), call.fail
    )


@handles(EvidenceGet)
def answer_evidence(app: App, request: EvidenceGet, call: Call) -> EvidenceReply | None:
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

    app.screenshots.take_difference(kept, call.then(lambda png: call.reply(EvidenceReply(kept, png))))
    return None


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
