"""Text on a real display, read by the embedded judge: conditions on text, and sentences that amount to one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acud.base.errors import NoJudge
from acud.protocol.requests.waits import WaitCreate
from acud.types import (
    AllOf,
    AnyOf,
    Criteria,
    DisplayInfo,
    NotOf,
    Policy,
    Rect,
    Stable,
    Text,
    Until,
    WaitState,
    WindowTitle,
    number_condition,
)
from acud.types.actions import Click, Point, TypeText
from acud.types.scene import SceneMode
from acud.waits.anew import WAS_THERE
from acud_client import Client
from tests.e2e import desktop
from tests.e2e.desktop import Desk, ended, judged, shown, timed_out
from tests.fixtures.tesseract import needs_tesseract

LONG_S = 120.0
PAGE = Rect(20, 20, 420, 160)


def _armed(client: Client, view: DisplayInfo, until: Until, target: str = "screen", timeout_s: float = LONG_S) -> str:
    reply = client.wait_create(until, target, display=view.name, timeout_s=timeout_s, judge="ocr")
    return reply.wait.wait_id


@pytest.mark.parametrize(
    "until",
    [
        Text("download complete"),
        Text(r"complete in \d+ s", regex=True),
        Criteria("Wait until the text “download complete” appears on the screen."),
    ],
)
def test_text_that_appears(client: Client, view: DisplayInfo, desk: Desk, until: Until) -> None:
    page = desk.words(PAGE, "Downloading 57 of 90")
    wait = _armed(client, view, until)
    assert judged(client, wait).verdict.answer == "no"
    desk.rewrite(page, "Download Complete in 12 s")
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert done.evidence.name


def test_a_text_that_flickers_is_not_gone(client: Client, view: DisplayInfo, desk: Desk) -> None:
    page, gone = desk.words(PAGE, "Uploading 7 files"), Text("Uploading", gone=True)
    held = client.wait_create(gone, display=view.name, timeout_s=LONG_S, judge="ocr", policy=Policy(hold_s=90.0))
    wait, usual = held.wait.wait_id, _armed(client, view, gone)
    for one in (wait, usual):
        judged(client, one, "no")
    desk.rewrite(page, "Nothing here")
    assert judged(client, wait, "yes").state is WaitState.WATCHING
    assert ended(client, usual).state is WaitState.RESOLVED
    desk.rewrite(page, "Uploading 7 files")
    assert judged(client, wait, "no").state is WaitState.WATCHING
    desk.rewrite(page, "Nothing here")
    judged(client, wait, "yes")
    client.wait_update(wait, timeout_s=0.1)
    done = ended(client, wait)
    assert (done.state, done.verdict.answer) == (WaitState.TIMEOUT, "no")
    assert "for less than 90 s" in done.verdict.detail


@pytest.mark.parametrize("until", [Text("please wait", gone=True), Criteria('"Please wait" is gone')])
def test_text_that_goes(client: Client, view: DisplayInfo, desk: Desk, until: Until) -> None:
    page = desk.words(PAGE, "Please wait a moment")
    wait = _armed(client, view, until)
    assert judged(client, wait).verdict.answer == "no"
    desk.rewrite(page, "Thank you all")
    assert ended(client, wait).state is WaitState.RESOLVED


@needs_tesseract("eng", "rus")
def test_text_in_cyrillic(client: Client, view: DisplayInfo, desk: Desk) -> None:
    page = desk.words(PAGE, "Загрузка началась")
    wait = _armed(client, view, Text("загрузка завершена"))
    assert judged(client, wait).verdict.answer == "no"
    desk.rewrite(page, "Загрузка завершена")
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert 'reads "Загрузка завершена"' in done.verdict.detail
    assert "by tesseract rus" in done.verdict.detail
    scene = client.refresh_scene(SceneMode.ACTIVE, [view.name])
    (line,) = (one for one in scene.ocr if one.text == "Загрузка завершена")
    assert line.reader.startswith("tesseract rus")


@pytest.mark.parametrize("gone", [False, True])
def test_letters_that_nothing_reads_are_unknown_and_doctor_names_the_package(
    client: Client, view: DisplayInfo, gone: bool
) -> None:
    verdict = judged(client, _armed(client, view, Text("กำลังโหลด", gone=gone))).verdict
    assert verdict.answer == "unknown"
    assert "tesseract-ocr-tha" in verdict.detail
    found = desktop.until(lambda: [one for one in client.doctor().findings if one.part == "ocr"])
    assert "Thai text" in found[0].text
    assert "tesseract-ocr-tha" in found[0].fix


def test_case_matters_only_when_told(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(PAGE, "FINISHED TODAY")
    strict = _armed(client, view, Text("finished today", match_case=True))
    assert judged(client, strict).verdict.answer == "no"
    assert ended(client, _armed(client, view, Text("finished today"))).state is WaitState.RESOLVED
    assert shown(client, strict).state is WaitState.WATCHING


def test_whole_words_and_counts(client: Client, view: DisplayInfo, desk: Desk) -> None:
    page = desk.words(PAGE, "Unsaved changes")
    whole = _armed(client, view, Text("Saved", whole_words=True))
    twice = _armed(client, view, Text("saved", count=2))
    assert judged(client, whole).verdict.answer == "no"
    assert "1 of 2 times" in judged(client, twice).verdict.detail
    desk.rewrite(page, "Unsaved, Saved")
    assert ended(client, whole).state is WaitState.RESOLVED
    assert "reads 2 times" in ended(client, twice).message


def test_a_number_after_its_label_compares(client: Client, view: DisplayInfo, desk: Desk) -> None:
    page = desk.words(PAGE, "Progress: 57 %")
    wait = _armed(client, view, number_condition("Progress >= 90 %"))
    still = _armed(client, view, NotOf(number_condition("Errors = 0")))
    assert 'reads "57 %" after "Progress"' in judged(client, wait).verdict.detail
    assert judged(client, still, code="unreadable").verdict.answer == "unknown"
    again = client.wait_create(number_condition("Progress >= 90 %"), display=view.name, timeout_s=LONG_S, judge="ocr")
    assert any(note.startswith('now: "57 %" after "Progress"') for note in again.notes), again.notes
    desk.rewrite(page, "Progress: 95 %")
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert "95 %" in done.message


def test_a_terminal_counts_what_programs_write_and_not_what_acud_typed(
    client: Client, view: DisplayInfo, desk: Desk, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    desk.run("xterm", "-T", "Shell", "-geometry", "60x12", "-fa", "Mono", "-fs", "11", "-e", "env", "PS1=> ", "sh")
    shell = desktop.titled(client, view.name, "Shell")
    client.desktop_action(Click(Point(shell.bounds.x + 50, shell.bounds.y + 50)), display=view.name)
    typed = TypeText(f"read x <{go}; echo FINISHED\n")
    for policy in (Policy(), Policy(fresh=True)):
        wait = WaitCreate(Text("FINISHED"), timeout_s=LONG_S, policy=policy)
        reply = client.desktop_action(typed, display=view.name, wait=wait, block_s=0)
        assert reply.wait is not None
        armed = [reply.wait.wait.wait_id]
        if not policy.fresh:
            armed.append(_armed(client, view, Text("finished", whole_words=True)))
        for one in armed:
            judged(client, one, "no")
        go.write_text("now\n")
        assert [ended(client, one).state for one in armed] == [WaitState.RESOLVED] * len(armed)
    stands = ended(client, _armed(client, view, Text("FINISHED")))
    assert WAS_THERE in stands.verdict.detail


def test_what_needs_vision_is_refused_or_says_so_at_creation_and_at_the_end(
    client: Client, view: DisplayInfo, desk: Desk
) -> None:
    until = AnyOf((Criteria('"Done" is visible'), Criteria("the progress bar is nearly full")))
    with pytest.raises(NoJudge, match='nobody could judge "the progress bar is nearly full": OCR reads text') as caught:
        client.wait_create(until, display=view.name, timeout_s=LONG_S, judge="ocr")
    assert "--force" in caught.value.hint
    plain = _armed(client, view, Criteria('"Done" is visible'))
    with pytest.raises(NoJudge):
        client.wait_update(plain, until=until)
    assert client.wait_update(plain, until=until, force=True).notes
    reply = client.wait_create(until, display=view.name, timeout_s=LONG_S, judge="ocr", force=True)
    assert "needs a judge that sees" in " ".join(reply.notes)
    done = timed_out(client, reply.wait.wait_id, "unknown", "needs_vision")
    assert (done.state, done.verdict.answer, done.verdict.code) == (WaitState.TIMEOUT, "unknown", "needs_vision")
    assert "needs_vision" in done.message
    assert "vision backend" in done.message


def test_the_reply_says_how_a_sentence_is_read(client: Client, view: DisplayInfo, desk: Desk) -> None:
    asked = Criteria('wait until "Done" is visible')
    reply = client.wait_create(asked, display=view.name, timeout_s=LONG_S)
    assert [note for note in reply.notes if "is new and empty" not in note] == [
        'read as: the text "Done" is visible; no model is asked'
    ]
    assert reply.wait.spec.until == Text("Done")
    changed = client.wait_update(reply.wait.wait_id, until=Criteria("the Export window closes"))
    assert changed.wait.spec.until == WindowTitle("Export", gone=True)
    assert 'read as: a window titled "Export" is gone; no model is asked' in changed.notes


def test_a_covered_window_is_read_and_the_covering_one_is_not(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(PAGE, "Invoice number 4711", title="Below")
    desk.words(PAGE, "Holiday pictures", title="Above")
    below = _armed(client, view, Text("Invoice number"), "window:Below")
    wrong = _armed(client, view, Text("Holiday"), "window:Below")
    above = _armed(client, view, Text("Holiday"), "window:Above")
    assert ended(client, below).state is WaitState.RESOLVED
    assert ended(client, above).state is WaitState.RESOLVED
    judged(client, wrong, "no")


def test_text_that_comes_in_a_covered_window(client: Client, view: DisplayInfo, desk: Desk) -> None:
    below = desk.words(PAGE, "Compiling the world", title="Build log")
    desk.window(Rect(0, 0, 640, 480), 0x336699, title="Cover")
    wait = _armed(client, view, Text("Build finished"), "window:Build log")
    assert judged(client, wait, "no").note == ""
    desk.rewrite(below, "Build finished")
    assert ended(client, wait).state is WaitState.RESOLVED


def test_text_and_quiet_on_one_frame(client: Client, view: DisplayInfo, desk: Desk) -> None:
    page = desk.words(PAGE, "Loading")
    wait = _armed(client, view, AllOf((Text("Ready"), Stable(1.0))))
    assert judged(client, wait).verdict.answer == "no"
    desk.rewrite(page, "Ready to go")
    assert ended(client, wait).state is WaitState.RESOLVED


def test_text_in_an_ignored_box_is_not_seen(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(0, 0, 320, 60), "Secret word")
    desk.words(Rect(0, 240, 320, 60), "Public word")
    boxes = [Rect(0, 0, 640, 100)]
    hidden = client.wait_create(
        Text("Secret"), display=view.name, ignore=boxes, timeout_s=LONG_S, judge="ocr"
    ).wait.wait_id
    plain = client.wait_create(
        Text("Public"), display=view.name, ignore=boxes, timeout_s=LONG_S, judge="ocr"
    ).wait.wait_id
    assert ended(client, plain).state is WaitState.RESOLVED
    assert judged(client, hidden).verdict.answer == "no"
