"""Answer `evidence`."""

from __future__ import annotations

from acud.errors import NotFound
from acud.protocol.requests.evidence import EvidenceGet, EvidenceReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: EvidenceGet, call: Call) -> EvidenceReply:
    """Return the kept picture of a wait as bytes."""
    info = app.waits.find(request.wait_id)
    if info.evidence is None or not info.evidence.name:
        reason = info.evidence.reason if info.evidence is not None else f"it is {info.state.value}"
        raise NotFound(f"wait {info.wait_id} has no evidence picture: {reason}", hint="acud look takes one now")
    return EvidenceReply(info.evidence, app.store.evidence.path(info.evidence.name).read_bytes())
