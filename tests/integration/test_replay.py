"""A condition over a recording: the wait's own rules, on frames that the recorder wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.config import HiddenWindow, RedactionSettings
from acud.config.backends import OpenRouterSettings, predefined_backends
from acud.features.recording.replay import recording as tapes
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX
from acud.types import AllOf, Change, Criteria, FileState, JudgeName, Stable, Text, WindowTitle, widget_condition
from tests.integration.replay_rig import HEIGHT, WIDTH, Tape, boxed, plain, replay, settings

RED, GREEN, BLUE = (200, 30, 30), (30, 200, 30), (30, 30, 200)
GREEN_LAMP = (
    '{"rules": [{"pixel": [80, 80, "#1ec81e"], "detail": "the lamp is green"}], "tokens_in": 7, "cost_usd": 0.5}'
)
LAMP = (64, 64, 32, 32)
IS_GREEN = Criteria("the lamp is green")


def lamps(tmp_path: Path, *colours: tuple[int, int, int], every_s: float = 3.0) -> Tape:
    """Return a recording of a black screen, then a lamp of each colour, each for `every_s`."""
    tape = Tape(tmp_path)
    frames = [plain(), *(boxed(*LAMP, colour) for colour in colours)]
    tape.segment([(count * every_s, pixels) for count, pixels in enumerate(frames)], len(frames) * every_s)
    return tape


def test_what_programs_told_of_widgets_is_not_recorded(tmp_path: Path) -> None:
    until = AllOf((IS_GREEN, widget_condition('button "Submit" enabled')))
    (run,) = replay(lamps(tmp_path, RED, GREEN), until, settings(GREEN_LAMP)).runs
    assert (run.state, run.verdict.answer, run.verdict.code) == ("watching", "unknown", "not_recorded")


def test_changes_and_stillness_are_told_by_tiles_alone(tmp_path: Path) -> None:
    tape = lamps(tmp_path, RED, GREEN)
    assert replay(tape, Change(), settings()).runs[0].at_s == 3.0
    assert replay(tape, Change(share=0.5), settings()).runs[0].state == "watching"
    assert replay(tape, Change(settle_s=2.0), settings()).runs[0].at_s == 5.0
    assert replay(tape, Stable(2.5), settings(), from_s=4.0).runs[0].at_s == 6.5 + 2.0  # red until 6, then still


def test_judges_are_compared_frame_by_frame(tmp_path: Path) -> None:
    told = replay(
        lamps(tmp_path, RED, BLUE),
        Criteria('"Done" is visible'),
        settings('{"rules": [{"pixel": [80, 80, "#1e1ec8"]}]}'),
        judges=(JudgeName.SCRIPTED, JudgeName.OCR),
    )
    assert [(run.judge, run.state) for run in told.runs] == [("scripted", "resolved"), ("ocr", "watching")]
    (pair,) = told.pairs
    assert (pair.both, pair.same, pair.differ) == (3, 2, (3,))


def test_between_segments_nothing_is_known(tmp_path: Path) -> None:
    tape = Tape(tmp_path)
    tape.segment([(0.0, plain()), (1.0, boxed(*LAMP, RED))], 2.0)
    tape.segment([(6.0, boxed(*LAMP, RED)), (8.0, boxed(*LAMP, GREEN))], 9.0)
    told = replay(tape, IS_GREEN, settings(GREEN_LAMP))
    assert (told.runs[0].state, told.runs[0].frame) == ("resolved", 4)
    assert told.runs[0].at_s == pytest.approx(8.0, abs=0.05)
    # Nobody saw it be still between 2 and 6.
    still = replay(tape, Stable(1.5), settings(), from_s=1.0)
    assert still.runs[0].at_s == pytest.approx(7.5, abs=0.05)
    # The first frame of the second segment shows what the last one did.
    assert replay(tape, Change(), settings(), from_s=1.5).runs[0].frame == 4


# ---- what cannot be replayed ---------------------------------------------------------------------------------------


def test_what_a_recording_does_not_hold_is_refused(tmp_path: Path) -> None:
    tape = lamps(tmp_path)
    with pytest.raises(InvalidRequest, match="no windows"):
        replay(tape, WindowTitle("x"), settings())
    with pytest.raises(InvalidRequest, match="no files, processes or notifications"):
        replay(tape, FileState("/srv/a"), settings())
    with pytest.raises(InvalidRequest, match="no windows"):
        replay(tape, Change(), settings(), target="monitor:0")
    with pytest.raises(InvalidRequest, match="baseline"):
        replay(tape, Change(baseline=f":1@x/{WIDTH}x{HEIGHT}#1"), settings())


def test_recordings_are_found_by_id_and_path(tmp_path: Path) -> None:
    one, other = lamps(tmp_path), lamps(tmp_path)
    assert tapes.find(one.recording_id, tmp_path) == (one.folder, one.recording_id)
    assert tapes.find(str(one.path(VIDEO_SUFFIX)), tmp_path)[1] == one.recording_id
    assert tapes.find(one.recording_id[-6:], tmp_path) == (one.folder, one.recording_id)
    with pytest.raises(Conflict, match="names 2 recordings"):
        tapes.find(other.recording_id[:7], tmp_path)
    for strange in ("rec-../../etc", "rec-zzz", str(tmp_path / "nothing")):
        with pytest.raises(NotFound):
            tapes.find(strange, tmp_path)


def test_a_torn_video_is_replayed_to_its_end_and_told(tmp_path: Path) -> None:
    tape = lamps(tmp_path, RED, GREEN)
    video = tape.path(VIDEO_SUFFIX)
    whole = video.read_bytes()
    video.write_bytes(whole[: whole.rfind(b"moof", 0, whole.rfind(b"moof")) - 4])
    told = replay(tape, IS_GREEN, settings(GREEN_LAMP))
    assert told.said() == [(1, "judged", "no"), (2, "judged", "no")]
    (fault,) = told.faults
    assert f"{video.name} is cut off or damaged" in fault.message
    assert "before frame 3 at 6.000 s" in fault.message


def test_damaged_lines_are_told_by_number(tmp_path: Path) -> None:
    tape = lamps(tmp_path, RED, GREEN)
    path = tape.path(FRAMES_SUFFIX)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + b"{broken}\n")
    told = replay(tape, IS_GREEN, settings(GREEN_LAMP))
    assert len(told.rows) == 2
    assert f"{path.name}, line 4 is damaged" in told.faults[0].message
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    assert f"{path.name} is cut off in line 4" in replay(tape, Change(), settings()).faults[0].message


def test_a_damaged_picture_is_unknown_and_told(tmp_path: Path) -> None:
    tape = lamps(tmp_path, RED, GREEN)
    video = tape.path(VIDEO_SUFFIX)
    data = bytearray(video.read_bytes())
    at = data.rfind(b"mdat", 0, data.rfind(b"mdat")) + 12
    data[at : at + 12] = b"\xff" * 12
    video.write_bytes(data)
    told = replay(tape, IS_GREEN, settings(GREEN_LAMP))
    assert told.said()[:2] == [(1, "judged", "no"), (2, "judged", "no")]
    assert {row.verdict.answer.value for row in told.rows[2:]} == {"unknown"}
    assert "frame 3 at 6.000 s cannot be decoded" in told.faults[0].message


def test_a_missing_segment_and_a_missing_video(tmp_path: Path) -> None:
    tape = Tape(tmp_path)
    for count in range(3):
        tape.segment([(count * 2.0, plain(count * 40))], count * 2.0 + 1)
    tape.path(FRAMES_SUFFIX, 2).unlink()
    tape.path(VIDEO_SUFFIX, 3).unlink()
    told = replay(tape, Text("x"), settings(), judges=(JudgeName.OCR,))
    assert told.began[0].segments == 1
    assert "-0002.jsonl is missing" in told.faults[0].message
    assert "-0003.mp4 cannot be read" in told.faults[0].message


# ---- redaction and keys --------------------------------------------------------------------------------------------


def test_nothing_leaves_where_it_cannot_be_hidden(tmp_path: Path) -> None:
    """The judge is elsewhere, and rules name windows: which no recording holds."""
    chosen = settings(
        backends=predefined_backends()
        | {"openrouter": OpenRouterSettings(url="http://192.0.2.1:9", api_key="k", model="m")},
        redaction=RedactionSettings(windows=(HiddenWindow(title="KeePass"),)),
    )
    told = replay(lamps(tmp_path), IS_GREEN, chosen, judges=(JudgeName.OPENROUTER,))
    assert {row.verdict.code for row in told.rows} == {"redaction"}
    assert "no list of windows" in told.rows[0].verdict.detail
    assert told.runs[0].cost_usd == 0


def test_from_to_and_the_timeout(tmp_path: Path) -> None:
    tape = lamps(tmp_path, RED, GREEN)
    early = replay(tape, IS_GREEN, settings(GREEN_LAMP), to_s=5.0)
    assert (early.runs[0].state, early.runs[0].at_s) == ("watching", 5.0)
    late = replay(tape, IS_GREEN, settings(GREEN_LAMP), from_s=6.5)
    assert (late.runs[0].state, late.runs[0].at_s, late.runs[0].frame) == ("resolved", 6.5, 3)
    timed = replay(tape, IS_GREEN, settings(GREEN_LAMP), timeout_s=2.0)
    assert (timed.runs[0].state, timed.runs[0].at_s) == ("timeout", 2.0)
    with pytest.raises(InvalidRequest, match="nothing lies between"):
        replay(tape, IS_GREEN, settings(), from_s=100.0)


def test_answers_take_as_long_as_is_said(tmp_path: Path) -> None:
    told = replay(lamps(tmp_path, RED, GREEN), IS_GREEN, settings(GREEN_LAMP), latency_s=1.5)
    assert (told.runs[0].at_s, told.runs[0].frame) == (7.5, 3)
    late = replay(lamps(tmp_path, GREEN), IS_GREEN, settings(GREEN_LAMP), latency_s=10.0)
    assert (late.runs[0].state, late.runs[0].at_s) == ("resolved", 13.0)  # asked in it, answered after it
