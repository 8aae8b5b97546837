"""Answer `record_list`."""

from __future__ import annotations

from acud.protocol.requests.recordings import RecordList, RecordListReply
from acud.store import Of
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordList, call: Call) -> RecordListReply:
    """Return the newest recordings."""
    of = Of(request.tasks, request.displays)
    if request.task_id:
        of = Of((app.tasks.find(request.task_id).task_id,))
    return RecordListReply(app.recordings.newest(request.limit, of), str(app.paths.recordings))
