"""What a live wait did is what its replay does: the same frames judged, the same gates, the same answers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from acud.base import png
from acud.protocol.recordings import FRAMES_SUFFIX, FrameRow, RecordingInfo, file_name
from acud.types import (
    Change,
    Criteria,
    DisplayInfo,
    JudgeName,
    Policy,
    Rect,
    ScreenImage,
    Text,
    Until,
    WaitInfo,
    WaitState,
)
from tests.e2e.cli_support import acud
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, ended, shown, until
from tests.fixtures.daemon import Daemon

PAGE = Rect(20, 20, 420, 160)
LAMP = Rect(64, 64, 96, 96)
RED, GREEN, BLUE, WHITE = 0xC02020, 0x20C020, 0x2020C0, 0xFFFFFF
SCRIPT = """[vision]
backend = "scripted"
scripted = '{"rules": [{"pixel": [112, 112, "#20c020"], "detail": "it is green"}], "tokens_in": 100, "cost_usd": 0.25}'
"""
CALM = Policy(min_interval_s=0.1, force_after_s=3600)
"""Nothing is judged because of the time that a slow machine takes."""


@pytest.fixture(scope="module")
def recorder() -> Iterator[Daemon]:
    with Daemon(settings=SCRIPT + BARE + "[recording]\nenabled = false\n") as running:
        yield running


@pytest.fixture
def screen(recorder: Daemon) -> Iterator[DisplayInfo]:
    made = recorder.client.display_create(480, 320).display
    yield made
    recorder.client.display_remove(made.name, force=True)


class Filmed:
    """A display, its recording, and one wait on it."""

    def __init__(self, daemon: Daemon, screen: DisplayInfo) -> None:
        self.daemon, self.client, self.screen = daemon, daemon.client, screen
        self.client.look(display=screen.name)  # the newest frame is of what is there now
        self.recording = self.client.record_start(screen.name, fps=30).recording
        self.frames(1)
        self.wait_id = ""

    def frames(self, count: int) -> None:
        """Return once so many frames are recorded."""
        until(lambda: self._now().frames >= count, f"{count} frames")

    def _now(self) -> RecordingInfo:
        recordings = self.client.record_list().recordings
        return next(one for one in recordings if one.recording_id == self.recording.recording_id)

    def watch(self, condition: Until, target: str = "screen", judge: JudgeName = JudgeName.AUTO) -> None:
        """Begin to wait."""
        reply = self.client.wait_create(
            condition, target, display=self.screen.name, timeout_s=600, judge=judge, policy=CALM
        )
        self.wait_id = reply.wait.wait_id

    def judged(self, count: int) -> None:
        """Return once so many frames were judged, remembered ones included, and recorded. The next change is far
        enough from the last that each has its turn, also where the wait on the recording begins some hundredths of a
        second elsewhere.
        """
        until(lambda: shown(self.client, self.wait_id).judged >= count, f"{count} judgements")
        self.frames(count)
        time.sleep(3 * CALM.min_interval_s)

    def end(self) -> tuple[WaitInfo, float]:
        """Return the resolved wait, and where in the recording it began."""
        done = ended(self.client, self.wait_id)
        assert done.state is WaitState.RESOLVED
        stopped = self.client.record_stop(self.recording.recording_id)
        rows = _rows(Path(stopped.path), self.recording.recording_id)
        return done, max(0.0, done.created_utc_s - rows[0].utc_ms / 1000)

    def live(self) -> list[tuple[int, str, str, str]]:
        """Return the frame, answer, judge and words of each evaluation."""
        found = self.client.wait_show(self.wait_id, evaluations=1000).evaluations
        return [(one.frame, one.verdict.answer.value, one.judge, one.verdict.detail) for one in found]

    def replay(self, *options: str, from_s: float = 0.0, code: int = 0) -> dict[str, Any]:
        """Return what `acud replay --json` prints."""
        policy = ("--min-interval", "0.1", "--force-after", "3600", "--from", f"{from_s:.3f}")
        done = acud(self.daemon, "replay", self.recording.recording_id, *options, *policy, "--json")
        assert done.returncode == code, (done.stdout, done.stderr)
        told: dict[str, Any] = json.loads(done.stdout)
        return told


def _rows(folder: Path, recording_id: str) -> list[FrameRow]:
    lines = (folder / file_name(recording_id, 1, FRAMES_SUFFIX)).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=FrameRow) for line in lines[1:]]


def _judged(told: dict[str, Any]) -> list[tuple[int, str, str, str]]:
    rows = [row for row in told["rows"] if row["gate"] == "judged"]
    return [(row["frame"], row["verdict"]["answer"], row["judge"], row["verdict"]["detail"]) for row in rows]


def test_a_judged_wait_and_its_replay_say_the_same(recorder: Daemon, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        window = desk.window(LAMP, WHITE)
        filmed = Filmed(recorder, screen)
        filmed.watch(Criteria("it is green"))
        # White and red come again: they are remembered then, and cost nothing.
        for count, colour in enumerate((RED, BLUE, WHITE, RED, GREEN), 1):
            filmed.judged(count)
            desk.recolour(window, colour)
        done, from_s = filmed.end()
    told = filmed.replay("--criteria", "it is green", from_s=from_s)
    (run,) = told["runs"]
    assert _judged(told) == filmed.live()
    assert [row["gate"] for row in told["rows"]] == ["judged"] * 3 + ["memo"] * 2 + ["judged"]
    assert (run["judged"], run["judge_calls"], run["memo"]) == (done.judged, done.judge_calls, 2)
    assert done.evidence is not None
    assert (run["state"], run["frame"]) == ("resolved", done.evidence.frame)
    assert (run["tokens_in"], run["cost_usd"]) == (100 * done.judge_calls, done.cost_usd)


def test_a_wait_for_an_image_and_its_replay_say_the_same(recorder: Daemon, screen: DisplayInfo, tmp_path: Path) -> None:
    lamps = np.full((96, 96, 4), 230, np.uint8)
    lamps[20:60, 30:50, :3] = 40, 40, 200
    lamps[64:72, 10:80] = 30
    (tmp_path / "lamp.png").write_bytes(png.encode(lamps[10:80, 5:90]))
    with Desk(screen.name, screen.auth_file) as desk:
        window = desk.window(LAMP, WHITE)
        filmed = Filmed(recorder, screen)
        filmed.watch(ScreenImage(png.encode(lamps[10:80, 5:90])))
        for count, pixels in enumerate((lamps[:, :, [2, 1, 0, 3]], lamps[:, ::-1], lamps), 1):
            filmed.judged(count)
            desk.show(window, np.ascontiguousarray(pixels))
        done, from_s = filmed.end()
    assert "at 69,74 (85x70)" in done.verdict.detail
    told = filmed.replay("--image", str(tmp_path / "lamp.png"), from_s=from_s)
    live = [(frame, answer, judge) for frame, answer, judge, _ in filmed.live()]
    assert [(frame, answer, judge) for frame, answer, judge, _ in _judged(told)] == live
    assert {judge for _, _, judge in live} == {"image"}
    assert "at 69,74 (85x70)" in _judged(told)[-1][3]
    assert told["runs"][0]["cost_usd"] in (None, 0)


def test_a_read_wait_and_its_replay_say_the_same(recorder: Daemon, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        page = desk.words(PAGE, "Downloading 57 of 90")  # before it is filmed: a window and its words are two frames
        filmed = Filmed(recorder, screen)
        filmed.watch(Text("download complete"), judge=JudgeName.OCR)
        for count, words in enumerate(("Downloading 81 of 90", "Checking the file", "Download complete"), 1):
            filmed.judged(count)
            desk.rewrite(page, words)
        done, from_s = filmed.end()
    told = filmed.replay("--text", "download complete", "--judge", "ocr", from_s=from_s)
    read = [(frame, answer, judge) for frame, answer, judge, _ in filmed.live()]
    assert [(frame, answer, judge) for frame, answer, judge, _ in _judged(told)] == read
    assert (told["runs"][0]["judge_calls"], told["runs"][0]["judged"]) == (done.judge_calls, done.judged)
    assert done.evidence is not None
    assert told["runs"][0]["frame"] == done.evidence.frame


@pytest.mark.parametrize("target", ["screen", "region:64,64,96,96", "region:70,50,100,100"])
def test_a_change_and_its_replay_say_the_same(recorder: Daemon, screen: DisplayInfo, target: str) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        window = desk.window(LAMP, WHITE)
        beside = desk.window(Rect(300, 200, 64, 64), WHITE)
        filmed = Filmed(recorder, screen)
        filmed.watch(Change(), target)
        if target != "screen":
            desk.recolour(beside, BLUE)
            filmed.frames(2)
        desk.recolour(window, RED)
        done, from_s = filmed.end()
    told = filmed.replay("--change", "--target", target, from_s=from_s)
    assert done.evidence is not None
    run = told["runs"][0]
    assert (run["state"], run["frame"]) == ("resolved", done.evidence.frame)
    assert run["verdict"] == msgspec.json.decode(msgspec.json.encode(done.verdict))
    assert run["judge_calls"] == 0


def test_the_replay_ends_with_who_asked_for_it(recorder: Daemon, screen: DisplayInfo) -> None:
    filmed = Filmed(recorder, screen)
    recorder.client.record_stop(filmed.recording.recording_id)
    env = {**recorder.env, "ACU_VISION_SCRIPTED": '{"fault": "hang"}'}
    command = [sys.executable, "-m", "acud_cli", "replay", filmed.recording.recording_id, "--criteria", "x"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as asking:
        assert asking.stdout is not None
        assert filmed.recording.recording_id in asking.stdout.readline().decode()
        (child,) = Path(f"/proc/{asking.pid}/task/{asking.pid}/children").read_text(encoding="ascii").split()
        asking.send_signal(signal.SIGKILL)
        asking.wait()
        until(lambda: _gone(child), "the end of its process")


def _gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_faults_are_one_line_and_a_code(recorder: Daemon, screen: DisplayInfo) -> None:
    filmed = Filmed(recorder, screen)
    stopped = recorder.client.record_stop(filmed.recording.recording_id)
    assert filmed.replay("--window", "x", code=2)["error"]["code"] == "invalid_request"
    assert filmed.replay("--stable", "1h", code=3)["runs"][0]["state"] == "watching"
    rows = Path(stopped.path, file_name(filmed.recording.recording_id, 1, FRAMES_SUFFIX))
    rows.write_bytes(rows.read_bytes()[:-5])
    told = filmed.replay("--change", code=7)
    assert "is cut off in line 2" in told["error"]["message"]
    filmed.recording = msgspec.structs.replace(filmed.recording, recording_id="rec-nix")
    assert filmed.replay("--change", code=7)["error"]["code"] == "not_found"
