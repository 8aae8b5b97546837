"""Ids stay with the text or widget that they were given to, and are never given twice."""

from hypothesis import given
from hypothesis import strategies as st

from acud.features.scene.element_ids import ElementIds, SeenElement, compute_overlap, match_elements
from acud.types import Rect


def line(words: str, x: int = 0, y: int = 0, w: int = 100, h: int = 16) -> SeenElement:
    return SeenElement(words, Rect(x, y, w, h))


def test_identical_frames_mint_nothing() -> None:
    ids, frame = ElementIds("t", 1), [line("File", 10), line("Edit", 60)]
    assert [ids.assign(frame) for _ in range(10)] == [["t1-1", "t1-2"]] * 10
    assert ids.next_number == 3


def test_order_does_not_matter() -> None:
    ids = ElementIds("t", 0)
    ids.assign([line("a", y=0), line("b", y=20)])
    assert ids.assign([line("b", y=20), line("a", y=0)]) == ["t0-2", "t0-1"]


def test_an_id_is_never_given_again() -> None:
    ids = ElementIds("t", 2)
    assert ids.assign([line("a")]) == ["t2-1"]
    assert ids.assign([]) == []
    assert ids.assign([line("a")]) == ["t2-2"]
    assert ElementIds("t", 2, 7).assign([line("a")]) == ["t2-7"]


def test_a_window_that_moves_takes_its_texts_along() -> None:
    ids = ElementIds("t", 1)
    rows = ["Name", "OK", "Cancel", "OK", "Apply"]
    first = ids.assign([line(words, 100, 20 * number) for number, words in enumerate(rows)])
    for step in range(1, 30):
        moved = [line(words, 100 + 11 * step, 20 * number + 7 * step) for number, words in enumerate(rows)]
        assert ids.assign(moved) == first


def test_a_list_that_scrolls_keeps_the_rows_that_read_alike_apart() -> None:
    ids = ElementIds("t", 1)

    def frame(top: int) -> list[SeenElement]:
        names = [line(f"report {row}", 0, 20 * (row - top)) for row in range(top, top + 10)]
        return names + [line("Delete", 300, 20 * (row - top)) for row in range(top, top + 10)]

    known: dict[tuple[str, int], str] = {}
    for top in range(20):
        given_ids = ids.assign(frame(top))
        for place, (kind, row) in enumerate([(k, r) for k in ("name", "delete") for r in range(top, top + 10)]):
            assert known.setdefault((kind, row), given_ids[place]) == given_ids[place]


def test_a_misread_letter_keeps_the_id_and_another_text_does_not() -> None:
    ids = ElementIds("t", 1)
    ids.assign([line("Password reset")])
    assert ids.assign([line("Passw0rd reset")]) == ["t1-1"]
    assert ids.assign([line("Logged in as bo")]) == ["t1-2"]


def test_kinds_never_match_each_other() -> None:
    assert match_elements(
        [SeenElement("OK", Rect(0, 0, 9, 9), "button")], [SeenElement("OK", Rect(0, 0, 9, 9), "label")]
    ) == [None]


def test_a_key_outweighs_words_and_place() -> None:
    before = [
        SeenElement("Send", Rect(0, 0, 50, 20), "button", key=(":1.4", "/a")),
        SeenElement("Send", Rect(90, 0, 50, 20), "button"),
    ]
    now = [SeenElement("Sending", Rect(90, 0, 50, 20), "button", key=(":1.4", "/a"))]
    assert match_elements(before, now) == [0]


def test_overlap_is_intersection_over_union() -> None:
    assert compute_overlap(Rect(0, 0, 10, 10), Rect(5, 0, 10, 10)) == 50 / 150
    assert compute_overlap(Rect(0, 0, 10, 10), Rect(20, 0, 10, 10)) == 0


SEEN = st.builds(
    SeenElement,
    st.sampled_from(["a", "b", "OK", "OK!"]),
    st.builds(Rect, st.integers(0, 99), st.integers(0, 99), st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from(["", "button"]),
)


@given(st.lists(st.lists(SEEN, max_size=8), max_size=8))
def test_whatever_comes_ids_are_unique_in_a_frame_and_never_come_back(frames: list[list[SeenElement]]) -> None:
    ids, gone, present = ElementIds("t", 1), set[str](), set[str]()
    for frame in frames:
        names = ids.assign(frame)
        assert len(set(names)) == len(frame)
        assert not gone & set(names)
        gone |= present - set(names)
        present = set(names)
