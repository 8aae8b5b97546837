"""Of a log, a violation quotes what is about its waits, and its end where nothing is."""

from __future__ import annotations

from tests.soak.telling import log_lines

LOG = "\n".join(f'{{"n": {n}, "wait": "wait-{n % 3}"}}' for n in range(200))


def test_the_newest_lines_about_a_wait_are_quoted() -> None:
    title, *lines = log_lines(LOG, ["wait-1"])
    assert title == "the log about it:"
    assert [f'"n": {n},' in line for n, line in zip(range(142, 200, 3), lines, strict=True)] == [True] * 20


def test_a_log_that_says_nothing_of_it_is_quoted_from_its_end() -> None:
    title, *lines = log_lines(LOG, ["wait-9"])
    assert (title, len(lines)) == ("the log's end:", 20)
    assert '"n": 199,' in lines[-1]
    assert log_lines("", ["wait-9"]) == ["the log's end:"]
