"""Every table group on a real file."""

import contextlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from acud.base.errors import Conflict, InternalError, InvalidRequest, NotFound, OutcomeUnknown
from acud.config import StoreSettings
from acud.features.scene.tables import SceneNumbers
from acud.protocol.requests.waits import WaitFacets
from acud.store.displays import StoredDisplay, StoredProcess
from acud.store.retention import trim
from acud.store.store import Store
from acud.store.waits import MOST_PICTURES, StoredWait
from acud.types import DisplayState, Evidence, Text, WaitFilter, WaitState, no, yes
from tests.integration.store_support import DAY_S, NOW_S, evaluation, open_store, picture, wait

# ---- waits ---------------------------------------------------------------------------------------------------------


def test_an_id_is_there_once(store: Store) -> None:
    one = wait()
    store.waits.insert(one)
    with pytest.raises(Conflict):
        store.waits.insert(one)
    assert store.waits.newest((), 10).total == 1


def test_a_wait_ends_once(store: Store) -> None:
    one = wait()
    store.waits.insert(one)
    ended = msgspec.structs.replace(
        one, state=WaitState.RESOLVED, verdict=yes("Done."), ended_utc_s=NOW_S, evidence=Evidence("e.png"), judged=3
    )
    store.waits.update(ended)
    assert store.waits.get(one.wait_id) == ended
    with pytest.raises(Conflict, match="has ended: resolved"):
        store.waits.update(msgspec.structs.replace(one, state=WaitState.TIMEOUT))
    assert store.waits.get(one.wait_id) == ended


def test_find_by_ending(store: Store) -> None:
    waits = [wait() for _ in range(3)]
    for one in waits:
        store.waits.insert(one)
    for one in waits:
        assert store.waits.find(one.wait_id[-6:]) == one
    other = "1" if waits[0].wait_id[-7] == "0" else "0"
    twin = msgspec.structs.replace(wait(), wait_id=f"wait-{other * 17}{waits[0].wait_id[-6:]}")
    store.waits.insert(twin)
    with pytest.raises(InvalidRequest, match=f"several waits end with {waits[0].wait_id[-6:]}") as told:
        store.waits.find(waits[0].wait_id[-6:])
    assert twin.wait_id in told.value.message
    assert store.waits.find(waits[0].wait_id[-7:]) == waits[0]


def test_a_search_finds_what_words_begin_with_in_all_that_is_kept(store: Store) -> None:
    spec = wait().spec
    report = replace(wait(), spec=replace(spec, label="Quarterly-Report (final)", until=Text("Saved as PDF")))
    over = replace(wait(WaitState.RESOLVED, ended_utc_s=NOW_S + 5), display=":101", verdict=yes("reads “Fertig 100 %”"))
    other = wait()
    for each in (report, over, other):
        store.waits.insert(each)

    def found(**wanted: Any) -> list[StoredWait]:
        return list(store.waits.newest((), 10, filters=WaitFilter(**wanted)).waits)

    assert found(text="rep quar saved") == [report]
    assert found(text="eport") == [], "a word is found by its beginning"
    assert found(text="FERTIG 100") == [over]
    assert found(text=report.wait_id) == [report]
    assert found(display=":101") == [over]
    assert found(since_utc_s=NOW_S + 1) == [over]
    assert found(judge="claude") == []
    assert found(judge="auto", text="download") == [other, over]
    second = store.waits.newest((), 1, offset=1)
    assert (second.waits, second.total) == ((over,), 3)
    assert store.waits.facets(()) == WaitFacets((":100", ":101"), (), ("auto",))
    store.waits.update(replace(report, verdict=no("still 40 %")))
    assert [one.wait_id for one in found(text="still report")] == [report.wait_id]


# ---- evaluations ---------------------------------------------------------------------------------------------------


def test_a_wait_keeps_so_many_small_pictures_the_oldest_in_larger_steps(store: Store) -> None:
    one = wait()
    store.waits.insert(one)
    for i in range(MOST_PICTURES + 1):
        _judge(store, one.wait_id, i, f"{i:032}")
    kept = [int(row.picture) for row in store.evaluations.newest(one.wait_id, 100) if row.picture]
    assert kept == [*range(0, MOST_PICTURES // 2, 2), *range(MOST_PICTURES // 2, MOST_PICTURES + 1)]
    rows = store.read("SELECT count(*) FROM verdict_pictures")
    assert rows[0]["count(*)"] == len(kept)


def test_a_small_picture_goes_with_the_last_verdict_that_names_it(store: Store) -> None:
    one, other = wait(), wait()
    for each in (one, other):
        store.waits.insert(each)
        _judge(store, each.wait_id, 0, "shared")
    _judge(store, one.wait_id, 1, "newer")
    (mine,) = store.evaluations.newest(other.wait_id, 5)
    assert store.verdict_pictures.get(other.wait_id, mine.number) == b"shared"
    assert store.verdict_pictures.get(one.wait_id, mine.number) is None, "the number is of another wait"
    store.evaluations.trim(NOW_S + 1, 1)
    assert store.verdict_pictures.get(other.wait_id, mine.number) == b"shared"
    assert store.verdict_pictures.trim(5) == 1, "the older one no more fits"
    assert store.verdict_pictures.get(other.wait_id, mine.number) is None
    assert [row["digest"] for row in store.read("SELECT digest FROM verdict_pictures")] == ["newer"]
    store.evaluations.trim(NOW_S + 60)
    assert store.read("SELECT digest FROM verdict_pictures") == []


def _judge(store: Store, wait_id: str, second: int, picture: str) -> None:
    store.verdict_pictures.keep(wait_id, picture, picture.encode(), NOW_S + second)
    store.evaluations.add(wait_id, replace(evaluation(NOW_S + second), picture=picture))


# ---- events --------------------------------------------------------------------------------------------------------


def test_numbers_are_not_reused_and_trimming_is_told(store: Store) -> None:
    for _ in range(10):
        store.events.append("t", "s", {}, NOW_S)
    assert store.events.trim(3) == 7
    assert store.events.since(0, "", 10).trimmed == 8
    assert store.events.since(7, "", 10).trimmed == 0
    assert store.events.trim(0) == 3
    page = store.events.since(4, "", 10)
    assert (page.events, page.newest, page.trimmed) == ((), 10, 11)
    made = store.events.append("t", "s", {}, NOW_S)
    assert (made.n, made.prev) == (11, 0)


def test_an_event_names_none_that_was_undone(store: Store) -> None:
    def append() -> tuple[int, int]:
        made = store.events.append("t", "s", {}, NOW_S)
        return made.n, made.prev

    assert append() == (1, 0)
    store.commit_turn()
    with contextlib.suppress(ZeroDivisionError), store.savepoint():
        assert append() == (2, 1)
        raise ZeroDivisionError
    assert append() == (2, 1)
    store.rollback_turn()
    assert append() == (2, 1)
    store.commit_turn()
    assert append() == (3, 2)


# ---- requests ------------------------------------------------------------------------------------------------------


def test_a_start_without_an_end_is_unknown(store: Store) -> None:
    store.requests.start("r1", "d", NOW_S)
    with pytest.raises(OutcomeUnknown):
        store.requests.recall("r1", "d")
    with pytest.raises(Conflict):
        store.requests.start("r1", "d", NOW_S)
    store.requests.answer("r1", "d", b"", NOW_S)
    assert store.requests.recall("r1", "d") == b""
    store.requests.withdraw("r1")
    assert store.requests.recall("r1", "d") == b""


# ---- displays ------------------------------------------------------------------------------------------------------


def display(name: str = ":100") -> StoredDisplay:
    process = StoredProcess("x_server", 12, 345, "Xvfb", "boot-a")
    return StoredDisplay(name, True, DisplayState.UP, NOW_S, 1280, 720, processes=(process,))


def test_display_numbers_are_never_reused(store: Store) -> None:
    first = store.displays.add(display())
    assert store.displays.get(first.number) == first == store.displays.find(":100")
    with pytest.raises(Conflict):
        store.displays.add(display())
    ended = msgspec.structs.replace(first, state=DisplayState.ENDED, ended_utc_s=NOW_S)
    store.displays.update(ended)
    with pytest.raises(NotFound):
        store.displays.find(":100")
    with pytest.raises(Conflict, match="has ended"):
        store.displays.update(first)
    assert (store.displays.living(), store.displays.newest_ended(5)) == ((), (ended,))
    assert store.displays.trim(NOW_S + 1) == 1
    assert store.displays.add(display()).number == first.number + 1


# ---- evidence ------------------------------------------------------------------------------------------------------


def keep(store: Store, home: Path, wait_id: str, utc_s: float = NOW_S, size_bytes: int = 10) -> str:
    name = picture(home, size_bytes)
    store.evidence.add(name, wait_id, "ab", utc_s)
    return name


def test_evidence_is_a_row_and_a_file(store: Store, tmp_path: Path) -> None:
    one = wait()
    store.waits.insert(one)
    name = keep(store, tmp_path, one.wait_id)
    assert store.evidence.path(name) == tmp_path / "evidence" / name
    store.evidence.path(name).unlink()
    with pytest.raises(NotFound, match="is missing"):
        store.evidence.path(name)
    assert [row.name for row in store.evidence.missing()] == [name]


@pytest.mark.parametrize("name", ["../../etc/passwd", "x.png", "evidence-.png", "", "wait-00t402x00mwtwjk6046q8p0.png"])
def test_only_ids_become_paths(store: Store, name: str) -> None:
    with pytest.raises(InvalidRequest):
        store.evidence.add(name, "w", "", NOW_S)
    with pytest.raises(NotFound):
        store.evidence.path(name)


def test_the_oldest_evidence_over_the_limit_goes(store: Store, tmp_path: Path) -> None:
    one = wait()
    store.waits.insert(one)
    names = [keep(store, tmp_path, one.wait_id, NOW_S + i, 600_000) for i in range(4)]
    gone = trim(store, StoreSettings(evidence_max_mb=1.3), NOW_S).files
    assert sorted(gone) == sorted(names[:2])
    assert sum(store.evidence.get(name).size_bytes for name in names[2:]) == 1_200_000
    with pytest.raises(InternalError):
        store.evidence.remove_files(gone)
    store.commit_turn()
    store.evidence.remove_files(gone)
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == sorted(names[2:])


def test_files_without_rows_are_swept(store: Store, tmp_path: Path) -> None:
    one = wait()
    store.waits.insert(one)
    kept, orphan = keep(store, tmp_path, one.wait_id), picture(tmp_path)
    (tmp_path / "evidence" / "half.tmp").write_bytes(b"")
    store.commit_turn()
    assert set(store.evidence.remove_orphans()) == {orphan, "half.tmp"}
    assert [path.name for path in (tmp_path / "evidence").iterdir()] == [kept]


# ---- retention -----------------------------------------------------------------------------------------------------


def test_what_is_old_goes_and_what_lives_stays(store: Store, tmp_path: Path) -> None:
    live, old, new = wait(), wait(WaitState.TIMEOUT, ended_utc_s=NOW_S), wait(WaitState.TIMEOUT, ended_utc_s=NOW_S + 2)
    for one in (live, old, new):
        store.waits.insert(one)
        store.evaluations.add(one.wait_id, evaluation(NOW_S))
    names = {one.wait_id: keep(store, tmp_path, one.wait_id) for one in (live, old, new)}
    store.requests.answer("r", "d", b"", NOW_S)
    store.displays.add(display())
    trimmed = trim(store, StoreSettings(), NOW_S + 30 * DAY_S + 1)
    assert (trimmed.waits, trimmed.evaluations, trimmed.requests, trimmed.displays) == (1, 3, 1, 0)
    assert trimmed.files == (names[old.wait_id],)
    assert store.waits.newest((), 10).waits == (new, live)


def test_numbers_are_kept_until_what_they_number_is_gone(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        with store.turn():
            for name in ("t3", "a3", "scene"):
                SceneNumbers(store).reserve(name, 1000)
            SceneNumbers(store).forget(["t3", "a3", "v3"])
        assert [SceneNumbers(store).first_free(name) for name in ("t3", "a3", "scene")] == [1, 1, 1000]


def test_a_repeat_answers_as_the_first_did(store: Store) -> None:
    assert store.requests.recall("r1", "d") is None
    store.requests.answer("r1", "d", b"reply", NOW_S)
    assert store.requests.recall("r1", "d") == b"reply"
    with pytest.raises(Conflict, match="other content"):
        store.requests.recall("r1", "other")
    with pytest.raises(Conflict):
        store.requests.answer("r1", "d", b"second", NOW_S)
    assert store.requests.recall("r1", "d") == b"reply"
