"""Rings, evidence and threads of the evaluator against real files."""

from __future__ import annotations

import errno
import os
import resource
import threading
from pathlib import Path

import numpy as np
import pytest

from acud.base.errors import NotFound, Unavailable
from acud.evaluator import evidence as pictures
from acud.evaluator import view_pixels as rings_module
from acud.evaluator.view_pixels import Rings, ViewPixels
from acud.frames.ring import FrameGone
from acud.protocol.questions import PictureAsk
from acud.types import Rect
from tests.integration.evaluator_rig import PaintedRing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path("/dev/shm") / f"acud-test-{os.getpid()}-{tmp_path.name}"


def open_rings(place: Path) -> set[str]:
    """Return the files of rings at `place` that this process has mapped."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in maps if str(place) in line}


def test_a_shot_is_a_copy_of_its_own_with_ignored_boxes_black(place: Path) -> None:
    with PaintedRing(place) as ring, Rings() as rings:
        ring.pixels[:] = 200
        ring.publish()
        shot = rings.take_view(ring.job(crop=Rect(10, 20, 100, 50), ignore=(Rect(0, 0, 5, 5), Rect(90, 40, 50, 50))))
        ring.pixels[:] = 1
        for _ in range(8):
            ring.publish()
        assert shot.pixels.shape == (50, 100, 4)
        assert (shot.pixels[:5, :5, :3] == 0).all()
        assert (shot.pixels[40:, 90:, :3] == 0).all()
        assert (shot.pixels[10:40, 10:90, :3] == 200).all()


def test_a_view_partly_off_the_frame_is_cut_and_its_ignored_boxes_move_along(place: Path) -> None:
    with PaintedRing(place) as ring, Rings() as rings:
        ring.pixels[:] = 200
        ring.publish()
        shot = rings.take_view(ring.job(crop=Rect(-20, -10, 60, 40), ignore=(Rect(20, 10, 4, 4), Rect(0, 0, 10, 10))))
        assert shot.crop == Rect(0, 0, 40, 30)
        assert (shot.pixels[:4, :4, :3] == 0).all()
        assert (shot.pixels[4:, 4:, :3] == 200).all()
        with pytest.raises(NotFound):
            rings.take_view(ring.job(crop=Rect(-20, -10, 20, 10)))


def test_a_new_epoch_at_the_same_path_is_found_and_the_old_ring_let_go(place: Path) -> None:
    with Rings() as rings:
        with PaintedRing(place, epoch=1) as ring:
            ring.publish()
            assert rings.take_view(ring.job()).epoch == 1
        with PaintedRing(place, width=64, height=48, epoch=2) as ring:
            ring.publish()
            assert rings.take_view(ring.job()).pixels.shape == (48, 64, 4)
        assert len(open_rings(place)) == 1
        rings.free_unneeded()
        assert open_rings(place) == set()


def test_rings_kept_open_are_bounded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rings_module, "MAX_RINGS", 2)
    with Rings() as rings:
        for number in range(4):
            with PaintedRing(place.with_name(f"{place.name}-{number}")) as ring:
                ring.publish()
                rings.take_view(ring.job())
                assert len(open_rings(place)) <= 3
        rings.close()
        rings.close()
        assert open_rings(place) == set()


def test_a_writer_that_never_rests_is_a_frame_or_gone_never_a_torn_one(place: Path) -> None:
    with PaintedRing(place, 320, 200, slots=2) as ring, Rings() as rings:
        ring.publish()
        job, stop = ring.job(), threading.Event()

        def write() -> None:
            while not stop.is_set():
                ring.pixels[:] = (ring.frame + 1) % 251
                ring.publish()

        writer = threading.Thread(target=write)
        writer.start()
        taken = 0
        try:
            for _ in range(300):
                try:
                    shot = rings.take_view(job)
                except FrameGone:
                    continue
                taken += 1
                assert (shot.pixels == shot.frame % 251).all() or shot.frame == 1
        finally:
            stop.set()
            writer.join()
        assert taken > 0


def shot_of(pixels: np.ndarray) -> ViewPixels:
    return ViewPixels(":100.w77", 3, 9, 0, Rect(5, 6, pixels.shape[1], pixels.shape[0]), pixels, "ab" * 8)


def test_evidence_is_private_complete_and_says_what_it_shows(tmp_path: Path) -> None:
    kept = pictures.keep_views([pictures.encoded_view(shot_of(np.full((30, 40, 4), 7, np.uint8)))], tmp_path)[0]
    assert (kept.display, kept.epoch, kept.frame, kept.crop) == (":100", 3, 9, Rect(5, 6, 40, 30))
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]
    assert (tmp_path / kept.name).stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_nothing_behind_and_is_said(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (200, 200, 4), np.uint8)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        kept = pictures.keep_views([pictures.encoded_view(shot_of(pixels))], tmp_path)[0]
        with pytest.raises(Unavailable):
            pictures.write_picture(shot_of(pixels), PictureAsk(), tmp_path / "job-1.png")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (kept.name, kept.identity, "too large" in kept.reason) == ("", "ab" * 8, True)
    assert list(tmp_path.iterdir()) == []


def test_pictures_kept_together_are_synced_once_each_and_their_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(pictures, "sync", lambda *places: synced.extend(places))
    views = [pictures.encoded_view(shot_of(np.full((30, 40, 4), shade, np.uint8))) for shade in (7, 9)]
    first, withheld, second = pictures.keep_views([views[0], pictures.EncodedView(views[0].record), views[1]], tmp_path)
    assert withheld.name == ""
    assert synced == [tmp_path / first.name, tmp_path / second.name, tmp_path]


def test_a_disk_that_syncs_nothing_keeps_no_picture_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(pictures, "sync", refuse)
    (kept,) = pictures.keep_views([pictures.encoded_view(shot_of(np.zeros((4, 4, 4), np.uint8)))], tmp_path)
    assert (kept.name, "Input/output error" in kept.reason) == ("", True)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_does_not_stop_the_next(tmp_path: Path) -> None:
    (tmp_path / "job-1.png").write_bytes(b"half" * 1000)
    pictures.write_picture(shot_of(np.zeros((4, 4, 4), np.uint8)), PictureAsk(), tmp_path / "job-1.png")
    assert pictures.pixels_of((tmp_path / "job-1.png").read_bytes()).shape == (4, 4, 4)
