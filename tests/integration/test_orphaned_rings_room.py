"""Where /dev/shm has no room for a ring, what a killed supervisor left gives way: others' rings first, then its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from acud.base.errors import ShmFull
from acud.protocol.capture import Notice
from tests.integration.tmpfs import tmpfs
from tests.unit.supervisor.test_orphaned_rings import LAYOUT, Host, list_left, ring


def size(rings: int) -> str:
    """Return the mount option for room for so many rings, and less than one more."""
    return f"size={rings * LAYOUT.file_bytes + LAYOUT.file_bytes // 2}"


def test_rings_of_other_sources_give_way_first(tmp_path: Path) -> None:
    shm = tmp_path / "shm"
    with tmpfs(shm, size(3)):
        for name in ("1.4", "2.4", "3.4"):
            ring(shm, name, 6, 7)
        host = Host(shm)
        first = host.hello(":1")
        assert list_left(shm) == {"1.4", "1.5"}
        assert host.attach.previous == str(shm / "1.4")
        second = host.hello(":2")
        assert (second.server, second.frame, second.epoch) == ("new.x", 0, 5)
        third = host.hello(":3")  # what the first one is still to be compared with goes too
        assert (list_left(shm), third.up) == ({"1.5", "2.5", "3.5"}, True)
        host.sources.notice(Notice(":1", first.epoch, 8, 1, fresh=True))
        assert (first.server, first.frame) == ("run.x", 8)


def test_its_own_ring_gives_way_last_and_its_frames_go_on(tmp_path: Path) -> None:
    shm = tmp_path / "shm"
    with tmpfs(shm, size(1)):
        ring(shm, "1.4", 6, 7)
        host = Host(shm)
        source = host.hello()
        assert list_left(shm) == {"1.5"}
        assert (source.server, host.attach.first_frame, host.attach.previous) == ("run.x", 8, "")
        assert (source.up, source.live) == (True, False)


def test_without_anything_to_give_way_the_source_is_lost(tmp_path: Path) -> None:
    shm = tmp_path / "shm"
    with tmpfs(shm, size(1)):
        host = Host(shm)
        host.hello(":1")
        with pytest.raises(ShmFull):
            host.hello(":2")
        lost = host.sources.by_name[":2"]
        assert (list_left(shm), lost.up) == ({"1.1"}, False)
        assert "MB free" in lost.lost_reason
