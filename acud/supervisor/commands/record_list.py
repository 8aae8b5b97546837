"""Answer `record_list`."""

from __future__ import annotations

from acud.protocol.requests.record_list import RecordList, RecordListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: RecordList, call: Call) -> RecordListReply:
    """Return the newest recordings."""
    task_id = app.tasks.find(request.task_id).task_id if request.task_id else ""
    return RecordListReply(app.recordings.newest(request.limit, task_id), str(app.paths.recordings))
