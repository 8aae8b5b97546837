"""From read lines to boxes: parts of lines, wrapped keys, bands of private regions."""

from acud.features.redaction.screen_boxes import ReadLine, hide_in
from acud.features.redaction.spans import Rule
from acud.features.redaction.text_rules import ALL
from acud.types import HiddenBox, Rect

BOUNDS = Rect(0, 0, 800, 600)
CELL = 8


def line(text: str, row: int, x: int = 0) -> list[ReadLine]:
    return [ReadLine(text, Rect(x, 20 * row + 4, CELL * len(text), 12))]


def find_hidden(*rows: list[ReadLine]) -> list[HiddenBox]:
    return hide_in(rows, ALL, BOUNDS)


def covers(found: list[HiddenBox], row: int, first: int, last: int) -> bool:
    part = Rect(CELL * first, 20 * row + 4, CELL * (last - first), 12)
    return any(one.box.contains(part) for one in found)


def test_the_part_of_a_line_and_not_its_neighbours() -> None:
    found = find_hidden(
        line("all is well", 0), line("paid with 4111 1111 1111 1111 on the first of May", 1), line("bye", 2)
    )
    (one,) = found
    assert one.rule == Rule.CARD
    assert covers(found, 1, 10, 29)
    assert one.box.x > CELL * 6
    assert one.box.right < CELL * 34
    assert (one.box.y, one.box.bottom) == (21, 39)


def test_a_key_that_a_terminal_broke_is_hidden_to_its_end() -> None:
    rows = [line("key ghp_16C7e42F292c6912E7710c838347Ae1", 0), line("78B4a9fQ2 and more words", 1), line("plain", 2)]
    found = find_hidden(*rows)
    assert covers(found, 0, 4, 39)
    assert covers(found, 1, 0, 9)
    assert not any(one.box.y > 40 for one in found)
    assert not any(one.box.right > CELL * 13 and one.box.y > 20 for one in found)


LOGGED = "Nov 25 21:03:{:02} web-1 api[902]: "


def terminal(*texts: str) -> list[list[ReadLine]]:
    return [line(text, row) for row, text in enumerate(texts)]


def test_in_a_terminal_a_box_ends_with_the_letter() -> None:
    others = [LOGGED.format(second) + "request took 41 ms, answer 200" for second in range(8)]
    log = LOGGED.format(9) + "pass=mellow7Fox, mode=ro for the worker"
    (one,) = find_hidden(*terminal(*others, log))
    first = log.index("mellow")
    assert covers([one], 8, first, first + 10)
    assert one.box.x >= CELL * first - 4
    assert one.box.right <= CELL * (first + 10) + 4


def test_a_value_is_found_behind_an_option_that_ends_at_the_edge() -> None:
    option = "swaks --to harbour@example.org --auth-password"
    full = "y" * len(option)
    rows = [*terminal(full, "and on", full, "and on", option), line("Cleat%Moon3 --quiet", 5, x=CELL)]
    assert covers(find_hidden(*rows), 5, 1, 12)


def test_the_next_row_of_a_table_does_not_go_on_with_a_key() -> None:
    rows = [
        [*line("DEPLOY_TOKEN", 0), *line("gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a", 0, x=200)],
        [*line("COMMIT", 1), *line("e29591d17167cad3c8e8da43173b4146dbec8305", 1, x=200)],
    ]
    assert all(one.box.bottom < 24 for one in find_hidden(*rows))


def test_the_rows_of_a_table_of_keys_are_no_broken_lines() -> None:
    key = "Kd92mQp0sLxRt7YwZ3vB5nC8hJ1gF4dS6aE9uI2oP0c="
    rows = [[*line("Private key", 0), *line(key, 0, x=200)], [*line("Public key", 1), *line(key.swapcase(), 1, x=200)]]
    assert not any(one.box.x < 150 for one in find_hidden(*rows))


def test_a_value_in_a_box_of_its_own_beside_its_label() -> None:
    row = [ReadLine("Password", Rect(0, 4, 64, 12)), ReadLine("hunter2", Rect(200, 4, 56, 12))]
    (one,) = find_hidden(row)
    assert one.rule == Rule.PASSWORD
    assert one.box.contains(Rect(200, 4, 56, 12))
    assert one.box.x > 100


def test_a_private_region_is_a_band_as_wide_as_the_view() -> None:
    rows = [
        line("before", 0), line("<private>", 1), line("my secret", 4, x=300), line("</private>", 6), line("after", 7),
    ]  # fmt: skip
    (one,) = find_hidden(*rows)
    assert (one.rule, one.box) == (Rule.PRIVATE, Rect(0, 21, 800, 118))


def test_a_private_region_on_one_line_leaves_the_rest_of_it() -> None:
    (one,) = find_hidden(line("name <private>Ada</private> of London town", 0))
    assert 0 < one.box.x <= 40
    assert one.box.right < CELL * 34


def test_a_region_cut_off_goes_to_the_edge_of_the_view() -> None:
    (opened,) = find_hidden(line("before", 0), line("<private>", 1), line("my secret", 2))
    assert opened.box == Rect(0, 21, 800, 579)
    (closed,) = find_hidden(line("my secret", 0), line("</private>", 1), line("after", 2))
    assert closed.box == Rect(0, 0, 800, 39)


def test_no_lines_no_boxes() -> None:
    assert find_hidden() == []
    assert find_hidden(line("", 0)) == []
