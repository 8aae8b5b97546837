"""Who of a display's programs must go: the newest of too many, the largest of too large."""

from acud.supervisor.displays.resources import LimitVerdict, Program, check_limits

SERVER = Program(1, 60_000_000, 10)
NOBODY: frozenset[int] = frozenset()


def programs(*sizes_mb: int) -> list[Program]:
    return [SERVER, *(Program(2 + at, size * 1_000_000, 20 + at) for at, size in enumerate(sizes_mb))]


def test_nobody_goes_within_the_limits_or_without_any() -> None:
    assert check_limits(programs(100, 200), NOBODY, 360_000_000, 3) == LimitVerdict()
    assert check_limits(programs(*[900] * 50), NOBODY, 0, 0) == LimitVerdict()


def test_the_largest_goes_first_and_no_more_than_needed() -> None:
    found = check_limits(programs(100, 300, 200), NOBODY, 400_000_000, 0)
    assert found == LimitVerdict((3,), "660 MB of memory, 400 are allowed")
    assert check_limits(programs(100, 300, 200), NOBODY, 300_000_000, 0).pids == (3, 4)


def test_an_x_server_that_is_itself_too_large_goes() -> None:
    assert check_limits(programs(10), frozenset({1}), 50_000_000, 0).pids == (1,)


def test_the_newest_of_too_many_go() -> None:
    assert check_limits(programs(1, 1, 1), frozenset({1}), 0, 3) == LimitVerdict((4,), "4 processes, 3 are allowed")


def test_all_go_where_something_forks_without_end() -> None:
    found = check_limits(programs(*[1] * 9), frozenset({1}), 0, 4)
    assert set(found.pids) == set(range(2, 11))


def test_what_makes_a_display_is_never_too_many() -> None:
    assert check_limits(programs(1, 1), frozenset({1, 2, 3}), 0, 2).pids == ()
