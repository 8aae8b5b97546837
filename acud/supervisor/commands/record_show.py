"""Answer `record_show`."""

from __future__ import annotations

from acud.protocol.requests.recordings import RecordReply, RecordShow
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordShow, call: Call) -> RecordReply:
    """Return one recording."""
    recording = app.recordings.find(request.recording_id)
    return RecordReply(recording, str(app.recordings.folders.folder(recording.folder)))
