"""A whole daemon with `[redaction] recordings = true`: what its videos, their lines and an export hold."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from acud.evaluator.evidence import pixels_of
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.features.recording.recorder.frame_copy import FrameCopier
from acud.protocol.recordings import RecordingInfo
from acud.types import Criteria, JudgeName
from acud.types.tasks import ActionType
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, ended, until
from tests.e2e.recordings import tapes, whole
from tests.fixtures.daemon import Daemon

PASSWORD, KEY = "tr0ub4dor&3", "sk-ant-api03-Ab1dEf2hIj3kLm4nOp5q"
SHOWN = f"""Invoice for the oak chairs
Password: {PASSWORD}
export ANTHROPIC={KEY}
Nothing else to report"""
DAEMON_SETTINGS = """
[display]
width = 640
height = 480
window_manager = "none"
session_bus = false
[redaction]
recordings = true
evidence = "redacted"
"""


def read(reader: ScreenReader, pixels: np.ndarray) -> str:
    bgrx = np.zeros((*pixels.shape[:2], 4), np.uint8)
    bgrx[:, :, :3] = pixels[:, :, ::-1]
    return "".join(line.text for line in reader.read((), bgrx)).replace(" ", "")


def test_a_secret_is_in_no_frame_no_identity_and_no_export(daemon: Daemon, tmp_path: Path) -> None:
    client = daemon.client
    task = client.task_register("pay the chairs", []).view.task
    (recording,) = client.record_list(task_id=task.task_id).recordings
    screen = next(one for one in client.display_list().displays if one.name == task.display)
    (tmp_path / "page").write_text(SHOWN, encoding="utf-8")
    with Desk(screen.name, screen.auth_file) as desk:
        show = f"printf '\\033[?25l'; cat {tmp_path / 'page'}; sleep 1000"
        desk.run("xterm", "-fa", "DejaVu Sans Mono", "-fs", "11", "-bg", "white", "-fg", "black", "-e", show)
        seen = Criteria('"Nothing else to report" is visible')
        wait = client.wait_create(seen, task_id=task.task_id, judge=JudgeName.OCR, timeout_s=100).wait
        ended(client, wait.wait_id)
        client.task_log_action(task.task_id, ActionType.CLI, f"typed Password: {PASSWORD}")
        client.task_update(task.task_id, message=f"the key is {KEY}")
        until(lambda: _frames(daemon, task.task_id, recording) >= 1, "a frame")
        exact = pixels_of(client.look(display=screen.name).image)
        stopped = client.record_stop(recording.recording_id).recording
    (one,) = tapes(stopped, daemon.paths.recordings)
    whole(one)
    assert one.head.redacted
    reader = ScreenReader(RapidEngine())
    different = {shown.pixels.tobytes(): shown.pixels for shown in one.shown}
    texts = [read(reader, pixels) for pixels in different.values()]
    words = read(reader, one.shown[-1].pixels)
    assert "Invoicefortheoakchairs" in words
    assert "Nothingelsetoreport" in words
    assert not [secret for secret in ("tr0ub", "dor&3", "sk-ant", "Lm4nOp") if secret in " ".join(texts)]
    bgrx = np.zeros((*exact.shape[:2], 4), np.uint8)
    bgrx[:, :, :3] = exact[:, :, :3]
    copier = FrameCopier(bgrx.shape[1], bgrx.shape[0])
    everything = np.ones(-(-bgrx.shape[1] // 16) * -(-bgrx.shape[0] // 16), np.bool_)
    assert copier.copy(1, 1, 1, bgrx, everything).identity not in {row.identity for row in one.rows}
    told = CommandLine(daemon.home).json("task", "export", task.task_id, "-o", str(tmp_path / "task.zip"))
    with zipfile.ZipFile(tmp_path / "task.zip") as archive:
        told_texts = {
            name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".json", ".txt"))
        }
    assert not [name for name, text in told_texts.items() if PASSWORD in text or KEY in text]
    assert "typed Password: [REDACTED_PASSWORD]" in [
        one["action"]["summary"] for one in json.loads(told_texts["actions.json"])
    ]
    assert any(f"recordings/{recording.recording_id}-0001.mp4" == one["name"] for one in told["manifest"]["files"])


def _frames(daemon: Daemon, task_id: str, recording: RecordingInfo) -> int:
    found = daemon.client.record_list(task_id=task_id).recordings
    return next(one.frames for one in found if one.recording_id == recording.recording_id)
