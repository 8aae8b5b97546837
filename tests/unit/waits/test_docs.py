"""docs/waiting.md says what the code does."""

from pathlib import Path

from acud.types import Policy
from acud.waits import look_turns, model, schedule
from acud.waits.lifecycle import TRANSITIONS
from tests.fixtures.state_diagrams import labelled, state_diagram

DOCS = (Path(__file__).parents[3] / "docs" / "waiting.md").read_text(encoding="utf-8")


def test_the_diagram_is_the_table() -> None:
    assert f"```mermaid\n{state_diagram('watching', labelled(TRANSITIONS))}\n```" in DOCS


def test_the_defaults_are_the_codes() -> None:
    policy = Policy()
    rates = (schedule.JUDGE_FPS, schedule.QUIET_FPS, schedule.CHANGE_FPS)
    for row in (
        f"| `cadence` | `{policy.cadence}` |",
        f"| `interval_s` | {policy.interval_s:g} |",
        f"| `min_interval_s` | {policy.min_interval_s:g} |",
        f"| `force_after_s` | {policy.force_after_s:g} |",
        f"| `confirm` | {policy.confirm} |",
        f"| memo | {model.CACHE_SIZE} identities |",
        f"| calls in the air | {look_turns.MOST_FLIGHTS} |",
        f"| readings in hand | {look_turns.MOST_READINGS} |",
        "| frame rate asked for | {:g}, {:g} with `stable_s`, {:g} with `change` |".format(*rates),
    ):
        assert row in DOCS
