"""Ledger, baseline tokens, memo: what is remembered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.types import AllOf, Change, NotOf, Stable
from acud.waits.baselines import BaselineToken, collect_tokens, encode_token, parse_token
from acud.waits.model import CACHE_SIZE, VerdictCache
from acud.waits.tiles import TileHistory


@given(st.lists(st.integers(0, 255), max_size=12), st.integers(-2, 16))
def test_the_ledger_is_exact(history: list[int], base: int) -> None:
    ledger = TileHistory()
    for frame, tiles in enumerate(history):
        ledger.record(frame, tiles)
    known = bool(history) and 0 <= base < len(history)
    expected = 0
    for frame, tiles in enumerate(history):
        expected |= tiles if frame > base else 0
    assert ledger.since(base) == (expected if known else None)


def test_the_ledger_forgets_what_an_uncompared_frame_hides() -> None:
    ledger = TileHistory()
    ledger.record(1, 0b1)
    ledger.record(2, None)
    ledger.record(3, 0b10)
    assert ledger.since(1) is None
    assert ledger.since(2) == 0b10


@given(
    st.builds(
        BaselineToken,
        st.sampled_from([":1", ":100", ":100.w4194307", "host:3"]),
        st.text("0az./#@-", max_size=12),
        st.integers(1, 16384),
        st.integers(1, 16384),
        st.integers(0, 10**18 - 1),
    )
)
def test_tokens_read_back(base: BaselineToken) -> None:
    assert parse_token(encode_token(base)) == base


@pytest.mark.parametrize("token", ["", "x", ":1@s/1x1#", ":1@s/1x1#-1", ":1@s 1/1x1#1", ":1@s/1x1#1 ", ":1/1x1#1"])
def test_no_tokens(token: str) -> None:
    with pytest.raises(InvalidRequest, match="acud baseline"):
        parse_token(token)


def test_tokens_of_a_condition() -> None:
    until = AllOf((Change(baseline="a"), NotOf(Change(baseline="b")), Change(), Stable(1)))
    assert collect_tokens(until) == {"a", "b"}


def test_the_memo_keeps_the_newest_and_forgets() -> None:
    memo = VerdictCache()
    for number in range(CACHE_SIZE + 2):
        memo = memo.add_no(0, str(number))
    memo = memo.add_no(0, "5")
    assert len(memo.noes_of(0)) == CACHE_SIZE
    assert (memo.noes_of(0)[0], memo.noes_of(0)[-1]) == ("2", "5")
    assert memo.noes_of(1) == ()
    assert "5" not in memo.drop_no(0, "5").noes_of(0)
