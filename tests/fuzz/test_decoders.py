"""A short, seeded run of every decoder: what broke one before, and some hundred new inputs, the same each time."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.all import DECODERS
from tests.fuzz.decoder import CORPUS, Decoder
from tests.fuzz.mutation import inputs

EXAMPLES = 30
KEPT_BYTES = 1 << 20
"""What a decoder may still hold after some runs: caches of types and patterns, not the inputs."""
JUNK_BYTES = 60_000
"""Twenty inputs of this size are more than that."""

each = pytest.mark.parametrize("decoder", DECODERS.values(), ids=list(DECODERS))


@each
def test_valid_inputs_are_decoded_and_regressions_stay_mended(decoder: Decoder) -> None:
    for seed in decoder.seeds():
        decoder.feed(seed)
    for data in decoder.corpus().values():
        decoder.feed(data)


@each
def test_no_input_raises_anything_but_a_typed_error(decoder: Decoder) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # a long input takes minutes to shrink; the one found is told as it is
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(inputs(decoder.seeds()))
    def run(data: bytes) -> None:
        decoder.feed(data)

    run()


@each
def test_inputs_are_not_kept(decoder: Decoder) -> None:
    seeds = (decoder.seeds() * 10)[:10]
    for seed in seeds:
        decoder.feed(seed)
    # What a thread of an earlier test holds meanwhile is counted too, and is gone in the next look; a leak stays one.
    looks = (_kept_bytes(decoder, seeds) for _ in range(3))
    assert any(kept < KEPT_BYTES for kept in looks)


def _kept_bytes(decoder: Decoder, seeds: list[bytes]) -> int:
    gc.freeze()  # what is there already is not looked at: a run of all tests holds a million objects
    tracemalloc.start()
    try:
        for seed in seeds * 2:
            decoder.feed(seed + b"\xc1" * JUNK_BYTES)
            decoder.feed(seed)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.unfreeze()


def test_every_folder_of_the_corpus_is_of_a_decoder() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= DECODERS.keys()
