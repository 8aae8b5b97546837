"""What the supervisor knows of frames: missed notices, demands of a turn, what a loss leaves. Rings are real files."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec import Struct

from acud.base.errors import ProtocolError, Refused, ShmFull
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.process.event_loop import EventLoop
from acud.protocol.capture import Attach, Demand, Notice, SourceHello
from acud.supervisor import frame_sources as room
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.observers import Observers, Order
from acud.supervisor.orphaned_rings import KEEP_S
from acud.supervisor.waits.active_waits import ActiveWaits
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.types import MAX_NUMBER, Rect
from tests.fixtures.manual_clock import ManualClock


class Watcher:
    """Records what it is told."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.losses: list[tuple[str, str]] = []

    def source_up(self, source: Source) -> None:
        """A ring is there."""

    def frame_seen(self, source: Source, notice: Notice) -> None:
        self.notices.append(notice)

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        self.losses.append((code, reason))


class Rig:
    """The display `:1` of 64x48, said hello to; `sent` is what its capture was told."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.sources = Sources(folder, 2, self.clock)
        self.watcher = Watcher()
        self.sources.watchers.add(self.watcher, Order.CORE)
        self.sent: list[Struct] = []
        self.source = self.hello()

    def hello(self, name: str = ":1") -> Source:
        """Let capture ask for a ring of `name`, which is on that display."""

        def link(message: Attach | Demand) -> bool:
            self.sent.append(message)
            return True

        return self.sources.hello(SourceHello(name, ":1", 64, 48, 24, "attachfd"), link)

    def notice(self, frame: int, **values: object) -> Notice:
        """Publish a frame in which the first tile changed; return what watchers were told."""
        defaults = {"epoch": self.source.epoch, "mono_ns": int(self.clock.now_s * 1e9), "tiles": b"\x01"}
        self.sources.notice(Notice(source=":1", frame=frame, **{**defaults, **values}))  # type: ignore[arg-type]
        return self.watcher.notices[-1]

    def demands(self) -> list[tuple[float, int]]:
        """End the turn; return the (rate, grab number) of every demand that left."""
        self.sent.clear()
        self.sources.flush()
        return [(message.fps, message.grab) for message in self.sent if isinstance(message, Demand)]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def publish(path: Path, frame: int) -> None:
    with Ring.open(path, writable=True) as ring:
        writer = FrameWriter(ring)
        writer.publish(writer.begin(), frame, frame, None, np.full(ring.layout.tiles, frame, np.uint64))
        writer.close()


def test_frames_in_a_row_are_told_as_they_changed(rig: Rig) -> None:
    assert not rig.notice(1).fresh
    assert not rig.notice(2).fresh
    assert not rig.notice(2, tiles=b"", grab=1).fresh


def test_a_missed_notice_means_that_anything_may_have_changed(rig: Rig) -> None:
    rig.notice(1)
    assert rig.notice(4).fresh
    assert not rig.notice(5).fresh


def test_a_frame_that_only_a_heartbeat_named_may_have_changed_anything(rig: Rig) -> None:
    rig.notice(1)
    rig.sources.compare_heartbeat({":1": (rig.source.epoch, 3)})
    assert (rig.watcher.notices[-1].frame, rig.watcher.notices[-1].fresh) == (3, True)
    rig.sources.compare_heartbeat({":1": (rig.source.epoch, 3), ":9": (1, 1)})
    assert len(rig.watcher.notices) == 2


def test_a_notice_of_an_older_epoch_is_left_out(rig: Rig) -> None:
    rig.notice(1)
    rig.hello()
    before = len(rig.watcher.notices)
    rig.sources.notice(Notice(":1", rig.source.epoch - 1, 2, 1, b"\x01"))
    assert len(rig.watcher.notices) == before


def test_frame_numbers_go_on_in_a_new_ring_and_the_old_one_goes_with_its_first_frame(rig: Rig, tmp_path: Path) -> None:
    rig.notice(1)
    rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert (attach.first_frame, Path(attach.previous).exists()) == (2, True)
    rig.notice(2)
    assert [path.name for path in tmp_path.iterdir()] == [Path(attach.path).name]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Let /dev/shm be full, or have room again."""
    create = Ring.create

    def set_full(full: bool) -> None:
        def refuse(*_: object) -> Ring:
            raise ShmFull("no room")

        monkeypatch.setattr(Ring, "create", refuse if full else create)

    return set_full


def refused(rig: Rig) -> None:
    """Let capture start again where there is no room for its ring."""
    with pytest.raises(ShmFull):
        rig.hello()


def test_the_ring_before_outlasts_a_time_without_room(rig: Rig, full: Callable[[bool], None]) -> None:
    rig.notice(1)
    before = rig.source.path
    assert before is not None
    full(True)
    for _ in range(3):
        refused(rig)
        rig.clock.advance(KEEP_S / 4)
    full(False)
    rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert (attach.first_frame, Path(attach.previous)) == (2, before)
    assert before.exists()


def test_the_ring_before_makes_room_where_none_comes(rig: Rig, full: Callable[[bool], None]) -> None:
    rig.notice(1)
    before = rig.source.path
    assert before is not None
    full(True)
    refused(rig)
    rig.clock.advance(KEEP_S + 1)
    refused(rig)
    assert not before.exists()
    full(False)
    rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert (attach.first_frame, attach.previous) == (2, "")


def test_a_ring_of_which_no_frame_was_heard_does_not_replace_the_one_before(rig: Rig) -> None:
    """Capture was killed twice in a row: what changed is what differs from the last frame that was heard of."""
    rig.notice(1)
    heard = rig.source.path
    rig.hello()
    unheard = rig.source.path
    assert heard is not None
    assert unheard is not None
    with Ring.open(unheard, writable=True) as ring:
        writer = FrameWriter(ring)
        writer.publish(writer.begin(), 2, 1, None, np.zeros(ring.layout.tiles, np.uint64))
        writer.close()
    rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert (attach.first_frame, Path(attach.previous)) == (3, heard)
    assert not unheard.exists()


def test_a_frame_that_was_never_heard_of_keeps_its_number(rig: Rig) -> None:
    """Capture died between frame and notice; an evaluator may have read the frame, and a token may name it."""
    rig.notice(1)
    assert rig.source.path is not None
    with Ring.open(rig.source.path, writable=True) as ring:
        writer = FrameWriter(ring)
        for frame in (1, 2):
            writer.publish(writer.begin(), frame, 1, None, np.zeros(ring.layout.tiles, np.uint64))
        writer.close()
    rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert attach.first_frame == 3
    assert rig.notice(3).fresh


def test_all_who_ask_for_a_grab_in_one_turn_share_it(rig: Rig) -> None:
    rig.demands()
    first = [rig.sources.grab_now(rig.source) for _ in range(50)]
    assert len(set(first)) == 1
    assert rig.demands() == [(0.0, first[0])]
    assert rig.sources.grab_now(rig.source) == first[0] + 1


def test_the_highest_rate_wanted_goes_to_capture_and_only_when_it_changes(rig: Rig) -> None:
    rig.demands()
    rig.sources.want(rig.source, "a", 5)
    rig.sources.want(rig.source, "b", 30)
    assert [fps for fps, _ in rig.demands()] == [30]
    rig.sources.want(rig.source, "a", 0)
    assert rig.demands() == []
    rig.sources.want(rig.source, "b", 0)
    assert [fps for fps, _ in rig.demands()] == [0]


def test_a_lost_source_is_not_live_and_says_why(rig: Rig) -> None:
    rig.notice(1)
    assert rig.source.live
    rig.sources.mark_lost(rig.source, "display_down", "the X server is gone")
    assert not rig.source.live
    assert rig.watcher.losses == [("display_down", "the X server is gone")]


def test_forgetting_a_source_unlinks_its_ring(rig: Rig, tmp_path: Path) -> None:
    rig.sources.forget(rig.source)
    assert list(tmp_path.iterdir()) == []


def test_frames_and_missed_notices_are_counted(rig: Rig) -> None:
    now_ns = int(rig.clock.now_s * 1e9)
    rig.notice(1, mono_ns=now_ns - 2_000_000, damage_ns=now_ns - 5_000_000)
    rig.notice(1)  # a demanded grab that found nothing new
    rig.notice(4)
    rig.sources.compare_heartbeat({":1": (rig.source.epoch, 6)})
    tally = rig.sources.find_tally(rig.source)
    assert (tally.frames, tally.missed) == (6, 4)
    assert (tally.damage_to_frame_s.count, tally.frame_to_notice_s.count) == (1, 2)
    assert tally.damage_to_frame_s.sample().value == pytest.approx(0.003)


def test_a_heartbeat_tells_that_nothing_changed(rig: Rig) -> None:
    rig.notice(1)
    rig.clock.advance(30)
    assert rig.sources.age_s(rig.source) == pytest.approx(30)
    compared = {":1": int((rig.clock.now_s - 1) * 1e9)}
    rig.sources.compare_heartbeat({":1": (rig.source.epoch + 1, 1)}, compared)  # of another epoch: not of this frame
    assert rig.sources.age_s(rig.source) == pytest.approx(30)
    rig.sources.compare_heartbeat({":1": (rig.source.epoch, 1)}, compared)
    assert rig.sources.age_s(rig.source) == pytest.approx(1)


def test_since_when_frames_are_wanted(rig: Rig) -> None:
    assert rig.sources.wanted_for_s(rig.source) is None
    rig.sources.want(rig.source, "a", 2)
    rig.clock.advance(3)
    rig.sources.want(rig.source, "b", 5)
    assert rig.sources.wanted_for_s(rig.source) == pytest.approx(3)
    rig.sources.want(rig.source, "a", 0)
    rig.sources.want(rig.source, "b", 0)
    assert rig.sources.wanted_for_s(rig.source) is None


def test_a_display_that_is_gone_is_counted_anew(rig: Rig) -> None:
    rig.notice(1)
    rig.sources.forget(rig.source)
    assert rig.sources.tallies == {}


def test_more_frames_than_the_host_is_to_grab_lower_the_demand_and_fewer_raise_it_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.sources._total_fps = 5.0
    rig.sources.want(rig.source, "wait", 20.0)
    rig.sources.flush()
    for frame in range(1, 42):
        rig.clock.advance(0.05)
        rig.notice(frame)
    rig.sources.flush()
    slow = [message for message in rig.sent if isinstance(message, Demand)][-1].fps
    assert slow == pytest.approx(5.0)
    rig.clock.advance(10)
    rig.notice(50)
    rig.sources.flush()
    assert [message for message in rig.sent if isinstance(message, Demand)][-1].fps == 20.0


def test_no_display_says_how_much_of_shared_memory_it_takes(tmp_path: Path) -> None:
    sources = Sources(tmp_path, 2, ManualClock(), max_megapixels=0.02)
    sources.watchers.add(watcher := Watcher(), Order.CORE)

    def hello(name: str, width: int, height: int) -> Source:
        return sources.hello(SourceHello(name, name.partition(".")[0], width, height, 24, "attachfd"), lambda _: True)

    def files() -> set[str]:
        return {path.name for path in tmp_path.iterdir()}

    screen = hello(":1", 100, 100)
    for name, size in ((":1", (65535, 65535)), (":1", (200, 101)), (":2", (20_001, 1))):
        with pytest.raises(
            Refused, match=f"{name} says it has {size[0]}x{size[1]} pixels.* over 0.02 megapixels"
        ) as no:
            hello(name, *size)
        assert "[capture] max_megapixels" in no.value.hint
    assert not screen.up  # the display that grew is not shown as it was
    assert watcher.losses[0][0] == "refused"
    assert files() == {"1.1"}
    hello(":1", 100, 100)
    hello(":1.w5", 100, 100)
    with pytest.raises(Refused, match="beside 2 more pictures of :1"):
        hello(":1.w6", 1, 1)  # all windows together, not each of them
    hello(":2", 100, 200)
    assert {name.partition(".")[0] for name in files()} == {"1", "2"}


def test_a_source_that_comes_back_goes_on_counting(rig: Rig) -> None:
    rig.notice(1)
    epoch = rig.source.epoch
    rig.sources.forget(rig.source)
    back = rig.hello()
    assert (back.epoch, back.frame) == (epoch + 1, 1)


def test_numbers_of_sources_that_went_are_bounded_and_none_begins_below_them(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_MOST_LEFT", 3)
    rig.notice(1)
    rig.notice(2)
    rig.sources.forget(rig.source)
    for window in range(20):
        rig.sources.forget(rig.hello(f":1.w{window}"))
    assert len(rig.sources._left) <= 3
    assert rig.hello().frame >= 2
    assert rig.hello(":1.w0").epoch > 1


def test_what_changed_on_a_source_is_forgotten_with_it(rig: Rig) -> None:
    nobody: Any = SimpleNamespace(watchers=Observers(), by_name={})
    aims = TargetTracker(
        ActiveWaits(),
        nobody,
        rig.sources,
        lambda live, event: None,
        nobody,
        nobody,
        nobody,
        nobody,
        EventLoop(rig.clock.monotonic_s),
    )
    covered = rig.hello(":1.w5")
    for frame in (1, 2):
        rig.sources.notice(Notice(":1.w5", covered.epoch, frame, 1, b"\x01"))
    token = aims.make_token(covered, 1)
    assert aims.changed_since(covered, token) == 1
    rig.sources.forget(covered)
    assert aims.changed_since(covered, token) is None
    assert not aims._histories
    assert not aims._buffers
    assert aims.changed_since(rig.hello(":1.w5"), token) is None


@pytest.mark.parametrize(("values", "words"), [
    ({"frame": MAX_NUMBER}, "cannot have come"), ({"frame": 20_000}, "cannot have come"),
    ({"mono_ns": 2**62}, "still to come"), ({"tiles": b"\x01" * 1000}, "not there"),
    ({"tiles": b"\0\x10"}, "not there"), ({"box": Rect(60, 40, 16, 16)}, "64x48"),
    ({"box": Rect(-(2**31), 0, 16, 16)}, "64x48"), ({"grab": 7}, "grab 7"),
])  # fmt: skip
def test_a_notice_that_cannot_be_is_a_fault_and_nothing_of_it_is_taken_in(
    rig: Rig, values: dict[str, Any], words: str
) -> None:
    rig.notice(1)
    with pytest.raises(ProtocolError, match=words):
        rig.notice(**{"frame": 2, **values})
    assert (rig.source.frame, len(rig.watcher.notices)) == (1, 1)
    assert not rig.notice(2).fresh


def test_a_heartbeat_that_cannot_be_is_a_fault(rig: Rig) -> None:
    rig.notice(1)
    with pytest.raises(ProtocolError, match="cannot have come"):
        rig.sources.compare_heartbeat({":1": (rig.source.epoch, MAX_NUMBER)})
    with pytest.raises(ProtocolError, match="still to come"):
        rig.sources.compare_heartbeat({":1": (rig.source.epoch, 1)}, {":1": 2**62})
    assert (rig.source.frame, rig.source.compared_mono_ns) == (1, int(rig.clock.now_s * 1e9))


def test_frames_go_on_as_fast_as_the_clock(rig: Rig) -> None:
    rig.clock.now_s += 3600.0
    rig.notice(3600 * 240)
    assert rig.sources.can_have_frame(":1", 3600 * 240 + 1)
    assert not rig.sources.can_have_frame(":1", MAX_NUMBER)


@pytest.mark.parametrize("frame", [2**64 - 1, MAX_NUMBER, 30_000])
def test_a_ring_with_a_frame_that_cannot_be_costs_nobody_a_number(rig: Rig, frame: int) -> None:
    rig.notice(1)
    assert rig.source.path is not None
    publish(rig.source.path, frame)
    assert rig.sources.is_damaged(rig.source) == (frame <= MAX_NUMBER)
    for _ in range(2):
        rig.hello()
    attach = next(m for m in reversed(rig.sent) if isinstance(m, Attach))
    assert attach.first_frame == 2
    assert rig.notice(2).frame == 2


def test_the_numbers_of_grabs_go_on_where_a_source_is_said_hello_to_again(rig: Rig) -> None:
    """Its capture process may have kept the window, and the number that was asked of it last."""
    rig.sources.grab_now(rig.source)
    asked = rig.demands()[0][1]
    rig.sources.forget(rig.source)
    rig.source = rig.hello()
    assert rig.notice(rig.source.first + 1, grab=asked).grab == asked
    assert rig.sources.grab_now(rig.source) > asked
