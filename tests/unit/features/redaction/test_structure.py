"""What labels hide by their place, on screens and by widgets; secrets that a terminal broke over two rows."""

from acud.accessibility.nodes import Node
from acud.features.redaction.screen_boxes import ReadLine, hide_in, redact_rows
from acud.features.redaction.spans import Rule
from acud.features.redaction.text_rules import ALL
from acud.features.redaction.widgets import rules_of_widgets
from acud.types import HiddenBox, Rect

BOUNDS = Rect(0, 0, 1200, 800)
CELL, ROW = 8, 24


def row(number: int, *cells: tuple[int, str]) -> list[ReadLine]:
    return [ReadLine(text, Rect(CELL * x, ROW * number, CELL * len(text), 16)) for x, text in cells]


def redact_lines(*rows: list[ReadLine]) -> list[str]:
    return [found.text for found in redact_rows(rows, ALL)]


def test_a_form_with_labels_on_the_left() -> None:
    found = redact_lines(
        row(0, (0, "Full name"), (20, "Mara Lindqvist")),
        row(1, (0, "Password"), (20, "tall blue fern")),
        row(2, (0, "User PIN"), (20, "4917")),
        row(3, (0, "Port"), (20, "993")),
        row(4, (0, "App password"), (20, "nhvc fdof xebx wnuz")),
        row(5, (0, "Project key"), (20, "PARCEL")),
        row(6, (0, "Password strength"), (20, "strong")),
    )
    assert found == [
        *("Full name", "Mara Lindqvist", "Password", "[REDACTED_PASSWORD]", "User PIN", "[REDACTED_CODE]"),
        *("Port", "993", "App password", "[REDACTED_PASSWORD]", "Project key", "PARCEL", "Password strength", "strong"),
    ]


def test_a_form_with_labels_above() -> None:
    found = redact_lines(
        row(0, (0, "Network name")),
        row(1, (1, "Birch Cafe")),
        row(2, (0, "Wi-Fi password")),
        row(3, (1, "espresso")),
        row(4, (0, "Security code (CVV)")),
        row(5, (1, "776")),
        row(6, (0, "Postcode")),
        row(7, (1, "114 55")),
    )
    assert found[3] == "[REDACTED_PASSWORD]"
    assert found[5] == "[REDACTED_CODE]"
    assert [found[1], found[7]] == ["Birch Cafe", "114 55"]


def test_a_column_under_its_head_and_no_other() -> None:
    found = redact_lines(
        row(0, (0, "Site"), (30, "User name"), (50, "Password"), (80, "Changed")),
        row(1, (0, "forum.example.com mara"), (50, "petal"), (80, "2025-11-02")),  # two cells read as one
        row(2, (0, "shop.example.net"), (30, "mlind"), (50, "correct horse battery"), (80, "2024-06-30")),
        row(3, (0, "wiki.internal"), (30, "mara"), (50, "summer" + " " * 24 + "2026-03-01")),
    )
    assert found == [
        *("Site", "User name", "Password", "Changed"),
        *("forum.example.com mara", "[REDACTED_PASSWORD]", "2025-11-02"),
        *("shop.example.net", "mlind", "[REDACTED_PASSWORD]", "2024-06-30"),
        *("wiki.internal", "mara", "[REDACTED_PASSWORD]" + " " * 24 + "2026-03-01"),
    ]


def test_columns_of_ids_and_accounts() -> None:
    found = redact_lines(
        row(0, (0, "Name"), (20, "Employee no."), (40, "National ID"), (60, "Bank account"), (100, "Start")),
        row(1, (0, "Ann Becker"), (20, "100482"), (40, "53973846125"), (60, "98 7654 3210"), (100, "2019-04-01")),
        row(2, (0, "Joe Hart"), (20, "100602"), (40, "X1234567"), (60, "-"), (100, "2023-01-09")),
    )
    assert found[5:] == [
        *("Ann Becker", "100482", "[REDACTED_ID]", "[REDACTED_IBAN]", "2019-04-01"),
        *("Joe Hart", "100602", "[REDACTED_ID]", "-", "2023-01-09"),
    ]


def test_a_password_that_a_terminal_broke_is_hidden_on_both_rows() -> None:
    full = 60
    rows = [
        row(0, (0, "$ " + "x" * (full - 2))),
        row(1, (0, "y")),
        row(2, (0, "$ curl -u admin:" + "s3ven+Lamps" + "z" * (full - 27))),
        row(3, (0, "Tail9! https://nexus.example.com/status")),
        row(4, (0, "200")),
    ]
    found = hide_in(rows, ALL, BOUNDS)
    assert {one.rule for one in found} == {Rule.PASSWORD}
    assert covers(found, 2, 16, full)
    assert covers(found, 3, 0, 6)
    assert not covers(found, 3, 9, 12)
    assert not covers(found, 4, 0, 3)


def covers(found: list[HiddenBox], number: int, first: int, last: int) -> bool:
    part = Rect(CELL * first, ROW * number, CELL * (last - first), 16)
    return any(one.box.contains(part) for one in found)


def test_only_a_word_is_hidden_where_its_ink_is_known() -> None:
    (line,) = row(0, (0, "SSN 123-45-6789 ok"))
    columns = [(0, 24), (40, 120), (130, 150)]
    (one,) = hide_in([[line]], ALL, BOUNDS, lambda _: columns)
    assert (one.box.x, one.box.right) == (37, 124)


def node(role: str, name: str, box: Rect, text: str = "") -> Node:
    return Node("", 0, -1, 1, role, name, 0, box, text=text)


def test_widgets_tell_what_fields_and_cells_hold() -> None:
    nodes = [
        node("label", "Password", Rect(0, 0, 80, 20)),
        node("text", "Password", Rect(100, 0, 80, 20), "two words"),
        node("text", "User name", Rect(100, 30, 80, 20), "mara"),
        node("entry", "Security code (CVV)", Rect(100, 60, 80, 20), "776"),
        node("entry", "Security code (CVV)", Rect(100, 90, 80, 20)),
        node("column header", "Name", Rect(0, 200, 80, 20)),
        node("column header", "Key", Rect(100, 200, 80, 20)),
        node("column header", "Created", Rect(200, 200, 80, 20)),
        node("table cell", "laptop", Rect(0, 225, 80, 20)),
        node("table cell", "c9d52d9ecb3e16d4271a8dcf85cabd2396f2fc61", Rect(100, 225, 80, 20)),
        node("table cell", "2022-07-19", Rect(200, 225, 80, 20)),
    ]
    rules = rules_of_widgets(nodes, ALL)
    assert rules == ["", "password", "", "code", "", "", "", "", "", "key", ""]
