"""The ring's layout: nothing overlaps, pixels lie where a copy is fast, a foreign or damaged header is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import ProtocolError, Refused
from acud.frames import layout as place
from acud.frames.layout import Layout
from acud.types import MAX_NUMBER

LAYOUTS = st.builds(Layout, st.integers(1, 5000), st.integers(1, 5000), st.integers(2, place.MAX_SLOTS))


@given(LAYOUTS)
def test_slots_follow_each_other_without_overlap(layout: Layout) -> None:
    end = place.HEADER_BYTES
    for slot in range(layout.slots):
        start = layout.slot_word(slot) * place.WORD
        assert start == end
        assert start + (place.S_TILES + layout.tiles) * place.WORD <= layout.pixels_at(slot)
        end = start + layout.slot_bytes
        assert layout.pixels_at(slot) + layout.pixel_bytes <= end
    assert end == layout.file_bytes


@given(LAYOUTS)
def test_pixels_lie_in_their_page_as_large_blocks_of_malloc_do(layout: Layout) -> None:
    assert all(layout.pixels_at(slot) % place.PAGE == 16 for slot in range(layout.slots))


@given(LAYOUTS)
def test_tiles_cover_the_frame(layout: Layout) -> None:
    assert layout.columns * 16 >= layout.width > (layout.columns - 1) * 16
    assert layout.rows * 16 >= layout.height > (layout.rows - 1) * 16


@given(LAYOUTS, st.integers(0, MAX_NUMBER))
def test_a_header_says_what_was_written(layout: Layout, epoch: int) -> None:
    words = memoryview(bytearray(place.HEADER_BYTES)).cast("Q")
    place.write_header(words, layout, epoch)
    assert place.read_header(words, layout.file_bytes) == (layout, epoch)


@given(LAYOUTS, st.integers(0, 7), st.integers(0, 2**64 - 1))
def test_a_damaged_header_is_refused_or_still_consistent(layout: Layout, word: int, value: int) -> None:
    words = memoryview(bytearray(place.HEADER_BYTES)).cast("Q")
    place.write_header(words, layout, 1)
    words[word] = value
    try:
        found, epoch = place.read_header(words, layout.file_bytes)
    except ProtocolError:
        return
    assert found.file_bytes == layout.file_bytes
    assert epoch <= MAX_NUMBER


@pytest.mark.parametrize("machine", ["aarch64", "riscv64", "i686"])
def test_other_machines_are_refused_by_name(machine: str) -> None:
    with pytest.raises(Refused, match=machine):
        place.check_machine(machine)


def test_this_machine_is_accepted() -> None:
    place.check_machine("x86_64")
