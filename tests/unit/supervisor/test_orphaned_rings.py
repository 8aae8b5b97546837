"""What a killed supervisor's rings tell: which is kept, what changed when, and when each goes."""

from array import array
from pathlib import Path

import numpy as np
import pytest

from acud.frames.layout import S_TILES, Layout
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.protocol.capture import Attach, Demand, Notice, SourceHello
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.orphaned_rings import MAX_SEQUENCE_NUMBERS, OrphanedRings, count_by_frame, find_same_frame
from acud.types import MAX_NUMBER
from tests.fixtures.manual_clock import ManualClock

LAYOUT = Layout(64, 48, 2)


def ring(folder: Path, name: str, *frames: int, server: str = "run.x") -> Path:
    """Leave a ring in which each of `frames` changed the next tile."""
    path = folder / name
    with Ring.create(path, LAYOUT, int(name.rpartition(".")[2]), server) as made:
        writer = FrameWriter(made)
        changes = np.zeros(LAYOUT.tiles, np.uint64)
        for tile, frame in enumerate(frames):
            changes[tile] = frame
            writer.publish(writer.begin(), frame, frame, None, changes)
        writer.close()
    return path


def list_left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_newest_ring_with_a_frame_of_each_source_is_kept(tmp_path: Path) -> None:
    for name, frames in {"1.9": (3,), "1.10": (4, 5), "1.11": (), "1.w7.2": (8,), "2.1": ()}.items():
        ring(tmp_path, name, *frames)
    (tmp_path / "stranger").write_bytes(b"x")
    orphaned_rings = OrphanedRings(tmp_path)
    assert list_left(tmp_path) == {"1.10", "1.w7.2"}
    past = orphaned_rings.find(":1")
    assert past is not None
    assert (past.epoch, past.frame, past.server, orphaned_rings.find_epoch(":1")) == (10, 5, "run.x", 11)
    assert past.changed == {4: 0b1, 5: 0b10, 0: (1 << LAYOUT.tiles) - 1 & ~0b11}
    assert (orphaned_rings.find(":2"), orphaned_rings.find_epoch(":2")) == (None, 1)


def test_a_ring_goes_when_it_was_compared_and_nobody_reads_it(tmp_path: Path) -> None:
    ring(tmp_path, "1.1", 1)
    orphaned_rings = OrphanedRings(tmp_path)
    orphaned_rings.hold_ring(":1")
    orphaned_rings.mark_compared(":1")
    assert list_left(tmp_path) == {"1.1"}
    orphaned_rings.release_ring(":1")
    assert (list_left(tmp_path), orphaned_rings.is_empty) == (set(), True)


def test_what_is_read_for_ever_goes_all_the_same(tmp_path: Path) -> None:
    ring(tmp_path, "1.1", 1)
    orphaned_rings = OrphanedRings(tmp_path)
    orphaned_rings.hold_ring(":1")
    orphaned_rings.clear()
    orphaned_rings.release_ring(":1")
    assert not list_left(tmp_path)


def test_a_frame_looks_as_before_where_it_says_so_itself(tmp_path: Path) -> None:
    """The newest frame tells of each tile the last change only; it hides that frame 6 showed another one of tile 0."""
    path = tmp_path / "1.1"
    with Ring.create(path, Layout(64, 48, 3), 1, "run.x") as made:
        writer = FrameWriter(made)
        changes = np.zeros(LAYOUT.tiles, np.uint64)
        for frame, tile in ((4, 2), (5, 0), (6, 1), (7, 0)):
            changes[tile] = frame
            writer.publish(writer.begin(), frame, frame, None, changes)
        writer.close()
    past = OrphanedRings(tmp_path).find(":1")
    assert past is not None
    assert find_same_frame(past, 4, 0b1) is None  # frame 4 is overwritten; 5, 6 and 7 show another tile 0
    assert (find_same_frame(past, 5, 0b1), find_same_frame(past, 5, 0b10)) == (6, 5)
    assert (find_same_frame(past, 4, 0b1000), find_same_frame(past, 8, 0)) == (7, None)
    path.unlink()
    assert find_same_frame(past, 5, 0b1) is None


class Host:
    """A supervisor's sources over what another left; `sent` is what capture was told."""

    def __init__(self, folder: Path) -> None:
        self.sources = Sources(folder, 2, ManualClock(), run="new")
        self.sent: list[Attach | Demand] = []

    def hello(self, name: str = ":1", x_server: str = "x") -> Source:
        return self.sources.hello(SourceHello(name, name, 64, 48, 24, "attachfd", x_server=x_server), self._link)

    def _link(self, message: Attach | Demand) -> bool:
        self.sent.append(message)
        return True

    @property
    def attach(self) -> Attach:
        return next(message for message in reversed(self.sent) if isinstance(message, Attach))


def test_a_source_goes_on_where_it_was(tmp_path: Path) -> None:
    before = ring(tmp_path, "1.4", 6, 7)
    host = Host(tmp_path)
    source = host.hello()
    assert (source.server, source.frame, source.live) == ("run.x", 7, False)
    assert (host.attach.epoch, host.attach.first_frame, host.attach.previous) == (5, 8, str(before))
    host.hello()  # capture died before its first frame
    assert host.attach.previous == str(before)
    host.sources.notice(Notice(":1", source.epoch, 8, 1))
    assert source.live
    assert list_left(tmp_path) == {"1.6"}


def test_numbers_of_a_source_that_goes_and_comes_do_not_go_back_while_its_ring_is_read(tmp_path: Path) -> None:
    ring(tmp_path, "1.4", 6, 7)
    host = Host(tmp_path)
    source = host.hello()
    host.sources.orphaned_rings.hold_ring(":1")
    for frame in (8, 9):
        host.sources.notice(Notice(":1", source.epoch, frame, 1))
    host.sources.forget(source)
    assert list_left(tmp_path) == {"1.4"}
    back = host.hello()
    assert (back.server, back.frame, host.attach.first_frame, host.attach.previous) == ("run.x", 9, 10, "")


def test_another_x_server_is_another_run(tmp_path: Path) -> None:
    ring(tmp_path, "1.4", 6, 7)
    assert Host(tmp_path).hello(x_server="y").server == "run.y"


def test_a_source_without_remains_counts_anew(tmp_path: Path) -> None:
    ring(tmp_path, "1.4")
    source = Host(tmp_path).hello()
    assert (source.server, source.frame, source.epoch) == ("new.x", 0, 5)


@pytest.mark.parametrize("frame", [2**64 - 1, MAX_NUMBER])
def test_a_ring_whose_frames_leave_no_numbers_is_not_taken_up(tmp_path: Path, frame: int) -> None:
    ring(tmp_path, "1.1", frame)
    ring(tmp_path, "2.1", 3).rename(tmp_path / f"2.{'9' * 200}")
    orphaned_rings = OrphanedRings(tmp_path)
    assert (list_left(tmp_path), orphaned_rings.find(":1"), orphaned_rings.find_epoch(":2")) == (
        {f"2.{'9' * 200}"},
        None,
        0,
    )


def test_a_ring_whose_tiles_changed_after_its_frames_is_not_taken_up(tmp_path: Path) -> None:
    path = ring(tmp_path, "1.1", 3)
    with Ring.open(path, writable=True) as made:
        made.words[LAYOUT.slot_word(0) + S_TILES + 2] = 2**64 - 1
    assert (OrphanedRings(tmp_path).find(":1"), list_left(tmp_path)) == (None, set())


def test_of_very_many_frames_a_tile_may_seem_to_have_changed_later_never_earlier() -> None:
    found = count_by_frame(array("Q", range(3 * MAX_SEQUENCE_NUMBERS)))
    oldest = 2 * MAX_SEQUENCE_NUMBERS
    assert len(found) == MAX_SEQUENCE_NUMBERS
    assert found[oldest] == (1 << oldest + 1) - 1
    assert found[oldest + 1] == 1 << oldest + 1
