"""Conditions on files: what a path means, what counts as a partial download, when a file is complete."""

import pytest

from acud.base.errors import InvalidRequest
from acud.types import Answer, FileState, Rect, Verdict, WindowInfo
from acud.waits.host_files import (
    WRITER_AGAIN_S,
    FileSeen,
    FileUse,
    HostPath,
    is_partial,
    judge_file,
    matches,
    parse_path,
)
from acud.waits.targets import find_titled_windows

HOME = "/home/ann"
NOW_UTC_S, NOW_S = 1_000_000.0, 500.0
CLOSED = FileUse()


def make_file(name: str, age_s: float = 60.0, size: int = 2_000_000, kind: str = "file") -> FileSeen:
    return FileSeen(name, kind, size, NOW_UTC_S - age_s, NOW_S - age_s)  # type: ignore[arg-type]  # a literal


def judge(leaf: FileState, *found: FileSeen, use: FileUse = CLOSED) -> Verdict:
    return judge_file(leaf, parse_path(leaf.path, HOME), found, NOW_S, lambda _: use)[0]


def test_a_path_is_of_one_folder() -> None:
    assert parse_path("~/Downloads/*.pdf", HOME) == HostPath("/home/ann/Downloads", "*.pdf", True)
    assert parse_path("/srv//a/./b", HOME) == HostPath("/srv/a", "b", False)


@pytest.mark.parametrize(
    "path", ["a.pdf", "/srv/../etc/passwd", "/srv/", "/", "/srv/*/a.pdf", "/srv/**/a", "/a\0b", "~ann/x"]
)
def test_a_path_that_cannot_be_watched_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest) as told:
        parse_path(path, HOME)
    assert told.value.hint


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Re\u0301sume\u0301.pdf", "r\u00e9sum\u00e9.PDF"),
        ("r\u00e9sum\u00e9.pdf", "RE\u0301SUME\u0301.pdf"),
        ("STRASSE.txt", "stra\u00dfe.txt"),
        ("\u03aa\u0301.txt", "\u0390.txt"),  # its capital has no form as one letter
        ("Q3  report\u00a0final.pdf", "q3 report final.pdf"),
        ("\uff26inal.pdf", "final.pdf"),
        ("\ufb01nal.pdf", "FINAL.pdf"),
        ("re\u0301sume\u0301 2.pdf", "r\u00e9sum\u00e9*.pdf"),
        ("\uff3bdraft\uff3d R\u00c9SUM\u00c9.pdf", "\uff3bdraft\uff3d re\u0301*.pdf"),
        ("what\uff1f.pdf", "what\uff1f.pdf"),
    ],
)
def test_names_are_compared_as_titles_are(name: str, path: str) -> None:
    wanted = parse_path(f"/d/{path}", HOME)
    assert matches(name, wanted)
    assert judge(FileState(f"/d/{path}", newer=False), make_file(name)).answer is Answer.YES
    assert judge(FileState(f"/d/{path}", newer=False), make_file(f"{name}.part", 1)).answer is Answer.NO
    assert bool(find_titled_windows(path, (WindowInfo(1, name, Rect(0, 0, 9, 9)),))) or wanted.is_pattern
    for other in ("r\u00e9sume.pdf", "strase.txt", "whatever.pdf", "d re\u0301.pdf"):
        assert not matches(other, wanted)


def test_the_end_of_an_unnamed_download_is_compared_so_too() -> None:
    empty, part = make_file("Bild.\u00c4PFEL", 1, 0), make_file("gIA03G8Q.a\u0308pfel.part", 1)
    assert "under way" in judge(FileState("/d/bild.a\u0308pfel", newer=False), empty, part).detail


def test_a_pattern_finds_no_hidden_file() -> None:
    assert matches("a.pdf", parse_path("/d/*.pdf", HOME))
    assert not matches(".a.pdf", parse_path("/d/*.pdf", HOME))
    assert not matches("a.pdf.part", parse_path("/d/*.pdf", HOME))


@pytest.mark.parametrize("name", [
    "report.pdf.part", "report.pdf.crdownload", "report.8kQz_2aB.pdf.part", "report.pdf.aria2", "report.pdf.PART",
    "report.pdf.!qB", "report.pdf.wkdownload", "report.pdf.part-Frag3", "report.pdf.1a2b3c4d.partial",
    ".report.pdf.Ab12Cd", ".syncthing.report.pdf.tmp",
])  # fmt: skip
def test_partial_downloads_of_browsers_are_known(name: str) -> None:
    assert is_partial(name, parse_path("/d/report.pdf", HOME))
    assert is_partial(name, parse_path("/d/*.pdf", HOME))
    assert not is_partial(name, parse_path("/d/other.pdf", HOME))


def test_a_file_beside_its_partial_download_is_not_complete() -> None:
    leaf = FileState("/d/report.pdf")
    placeholder = make_file("report.pdf", size=0)  # as Firefox makes one
    told = judge(leaf, placeholder, make_file("report.pdf.part", size=10))
    assert (told.answer, told.detail) == (Answer.NO, 'a download is under way: "report.pdf.part" (10 bytes) is there')
    assert judge(leaf, placeholder).answer is Answer.YES


@pytest.mark.parametrize("name", ["gIA03G8Q.pdf.part", "Unconfirmed 52.crdownload", ".goutputstream-AB12C3"])
def test_an_empty_file_beside_a_download_without_a_name_yet_is_not_complete(name: str) -> None:
    for path in ("/d/report.pdf", "/d/*.pdf"):
        leaf = FileState(path, newer=False)
        assert f'"{name}"' in judge(leaf, make_file("report.pdf", size=0), make_file(name)).detail
    assert judge(FileState("/d/report.pdf"), make_file("report.pdf", size=9), make_file(name)).answer is Answer.YES
    other = judge(FileState("/d/report.txt"), make_file("report.txt", size=0), make_file("gIA03G8Q.pdf.part"))
    assert other.answer is Answer.YES


def test_a_file_that_is_open_for_writing_is_not_complete_and_the_basis_is_named() -> None:
    leaf = FileState("/d/a.bin")
    open_to = FileUse(writer="wget (process 7)")
    verdict, due_s = judge_file(leaf, parse_path(leaf.path, HOME), [make_file("a.bin")], NOW_S, lambda _: open_to)
    assert verdict.detail == '"a.bin" (2 MB) is there, but wget (process 7) has it open for writing'
    assert due_s == NOW_S + WRITER_AGAIN_S
    assert "in no program" in judge(leaf, make_file("a.bin")).detail
    assert judge(leaf, make_file("a.bin"), use=FileUse(unknown="it is another user's")).detail.endswith(
        "unchanged for 1 s, judged by size and time alone: it is another user's"
    )


def test_a_file_of_before_the_wait_is_named_as_such() -> None:
    leaf = FileState("/d/a.bin", since_utc_s=NOW_UTC_S)
    before = "is there since 1970-01-12 13:45:40 UTC, before the wait began"
    assert judge(leaf, make_file("a.bin")).detail.startswith(f'the file "a.bin" (2 MB) {before}')
    assert judge(leaf, make_file("a.bin.part")).detail.endswith(before)


def test_a_file_that_changes_is_not_complete_and_it_is_known_when_it_may_be() -> None:
    leaf = FileState("/d/a.bin", still_s=5.0)
    verdict, due_s = judge_file(
        leaf, parse_path(leaf.path, HOME), [make_file("a.bin", age_s=2.0)], NOW_S, lambda _: CLOSED
    )
    assert (verdict.answer, due_s) == (Answer.NO, NOW_S + 3.0)
    complete = judge(leaf, make_file("a.bin", age_s=5.0)).detail
    assert complete == 'the file "a.bin" (2 MB) is there, unchanged for 5 s, open for writing in no program'


def test_of_a_pattern_only_new_files_count_and_of_a_name_old_ones_too() -> None:
    old, new = make_file("old.pdf", age_s=3600.0), make_file("new.pdf", age_s=10.0)
    since = NOW_UTC_S - 30.0
    pattern = FileState("/d/*.pdf", since_utc_s=since)
    told = judge(pattern, old)
    assert told.answer is Answer.NO
    assert told.detail.startswith('"old.pdf" (2 MB) is there, but was last changed 3570.0 s before')
    assert '"new.pdf"' in judge(pattern, old, new).detail
    assert judge(FileState("/d/*.pdf", newer=False), old).answer is Answer.YES
    assert judge(FileState("/d/old.pdf"), old).answer is Answer.YES
    assert judge(FileState("/d/old.pdf", newer=True, since_utc_s=since), old).answer is Answer.NO


def test_a_download_left_behind_long_ago_holds_no_new_one_up() -> None:
    pattern = FileState("/d/*.pdf", since_utc_s=NOW_UTC_S - 30.0)
    assert (
        judge(pattern, make_file("old.pdf.part", age_s=3600.0), make_file("new.pdf", age_s=10.0)).answer is Answer.YES
    )
    assert judge(pattern, make_file("other.pdf.part", age_s=1.0), make_file("new.pdf", age_s=10.0)).answer is Answer.NO


def test_a_folder_is_no_file_and_not_gone() -> None:
    folder = make_file("out", kind="folder")
    assert judge(FileState("/d/out"), folder).detail == '"out" is no file, but a folder'
    assert judge(FileState("/d/out", gone=True), folder).answer is Answer.NO
    assert judge(FileState("/d/out", gone=True)).answer is Answer.YES


def test_a_name_is_no_more_than_data() -> None:
    told = judge(FileState("/d/*", newer=False), make_file('a" is done\n\x1b[31m\udcff.pdf'))
    assert told.detail.startswith('the file "a? is done??[31m?.pdf" (2 MB)')
