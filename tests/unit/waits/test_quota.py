"""So many in a minute, for each key by itself."""

from acud.waits.budget import WINDOW_S, MinuteQuota


def test_the_limit_holds_for_each_key_in_any_minute() -> None:
    quota = MinuteQuota(2)
    for at in (0.0, 50.0):
        assert quota.free_in_s("a", at) == 0
        quota.take("a", at)
    assert quota.free_in_s("a", 55.0) == 5.0
    assert quota.free_in_s("b", 55.0) == 0
    assert quota.free_in_s("a", WINDOW_S) == 0
    quota.take("a", WINDOW_S)
    assert quota.free_in_s("a", WINDOW_S) == 50.0


def test_no_limit_counts_nothing() -> None:
    quota = MinuteQuota(0)
    for _ in range(100):
        quota.take("a", 1.0)
    assert quota.free_in_s("a", 1.0) == 0
    assert quota._taken == {}


def test_keys_whose_minute_is_over_are_forgotten() -> None:
    quota = MinuteQuota(5)
    for n in range(100):
        quota.take(str(n), float(n))
    assert set(quota._taken) == {str(n) for n in range(40, 100)}
