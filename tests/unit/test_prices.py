"""What an answer costs, by its model's price; `[prices]` in the settings."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud import config
from acud.base.errors import ConfigError
from acud.config.backends import Price, cost_usd

PRICES = {"paid": Price(0.10, 0.40, "2026-11-21"), "free": Price(0, 0, "2026-11-21")}
TOKENS = st.none() | st.integers(0, 10_000_000)


def test_tokens_times_price() -> None:
    assert cost_usd("paid", 2_000_000, 500_000, PRICES) == pytest.approx(0.4)


@pytest.mark.parametrize(("tokens_in", "tokens_out"), [(None, 1), (1, None), (None, None)])
def test_unknown_tokens_have_an_unknown_cost(tokens_in: int | None, tokens_out: int | None) -> None:
    assert cost_usd("paid", tokens_in, tokens_out, PRICES) is None


@given(TOKENS, TOKENS)
def test_an_unknown_model_is_never_free(tokens_in: int | None, tokens_out: int | None) -> None:
    assert cost_usd("other", tokens_in, tokens_out, PRICES) is None
    assert cost_usd("free", tokens_in, tokens_out, PRICES) == 0.0


def test_settings_add_to_the_known_prices(tmp_path: Path) -> None:
    path = tmp_path / "acud.toml"
    path.write_text('[prices."a/b"]\ninput = 1\noutput = 4.5\nas_of = "2026-01-02"\n')
    assert config.load(path, {}).prices == config.PRICES | {"a/b": Price(1, 4.5, "2026-01-02")}


@pytest.mark.parametrize("line", ["output = -1", 'as_of = "lately"', "currency = 1"])
def test_a_price_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    fields = {"input": "input = 1", "output": "output = 1", "as_of": 'as_of = "2026-01-02"'}
    fields[line.split(" ", 1)[0]] = line
    path = tmp_path / "acud.toml"
    path.write_text("[prices.x]\n" + "\n".join(fields.values()))
    with pytest.raises(ConfigError, match="prices"):
        config.load(path, {})
