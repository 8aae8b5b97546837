"""Answer `record_stop`."""

from __future__ import annotations

from acud.protocol.recordings import RecordingInfo
from acud.protocol.requests.recordings import RecordReply, RecordStop
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordStop, call: Call) -> None:
    """End a recording; the reply waits for its last frame."""

    def closed(recording: RecordingInfo) -> None:
        call.reply(RecordReply(recording, str(app.recordings.folders.folder(recording.folder))))

    app.recordings.stop(request.recording_id, "stopped", closed)
