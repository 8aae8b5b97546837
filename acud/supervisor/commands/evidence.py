"""Answer `evidence`."""

from __future__ import annotations

from pathlib import Path

from acud import private_files
from acud.errors import AcudError, NotFound, Unavailable
from acud.protocol.requests.waits import EvidenceGet, EvidenceReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: EvidenceGet, call: Call) -> EvidenceReply | None:
    """Return a kept picture of a wait as bytes; a difference is made first."""
    info = app.waits.find(request.wait_id)
    kept = info.evidence
    if kept is None or not kept.name:
        reason = kept.reason if kept is not None else f"it is {info.state.value}"
        raise NotFound(f"wait {info.wait_id} has no evidence picture: {reason}", hint="acud look takes one now")
    if request.part == "after":
        return EvidenceReply(kept, _read(app.store.evidence.path(kept.name)))
    if not kept.before:
        reason = kept.before_reason or "it was kept by an acud that kept none"
        raise NotFound(f"wait {info.wait_id} has no picture from before: {reason}", hint="ask for the part after")
    before = app.store.evidence.path(kept.before)
    if request.part == "before":
        return EvidenceReply(kept, _read(before))

    def made(outcome: bytes | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            call.reply(EvidenceReply(kept, outcome))

    app.differences.make(kept, made)
    return None


def _read(picture: Path) -> bytes:
    try:
        return private_files.read_regular(picture)
    except OSError as fault:
        raise Unavailable(f"the picture {picture.name} can't be read: {fault.strerror}", hint="acud doctor") from fault
