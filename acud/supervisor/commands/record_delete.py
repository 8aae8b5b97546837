"""Answer `record_delete`."""

from __future__ import annotations

from acud.protocol.requests.recordings import RecordDelete, RecordReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordDelete, call: Call) -> RecordReply:
    """Forget a recording."""
    recording = app.recordings.delete(request.recording_id)
    return RecordReply(recording, str(app.recordings.folders.folder(recording.folder)))
