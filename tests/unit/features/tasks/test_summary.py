"""Summaries fit their budget, are the same each time, and say what they leave out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.tasks.summary import (
    FEWEST_TOKENS,
    PACKET_ACTIONS,
    TaskTree,
    build_packet,
    count_tokens,
    resume_text,
    summarise,
)
from acud.types.tasks import Detail
from tests.unit.features.tasks.trees import NOW, task, tree


@given(
    actions=st.integers(0, 30),
    messages=st.integers(0, 30),
    words=st.text(max_size=200),
    detail=st.sampled_from(Detail),
    budget=st.integers(FEWEST_TOKENS, 3000),
)
def test_it_fits_and_is_the_same_each_time(
    actions: int, messages: int, words: str, detail: Detail, budget: int
) -> None:
    given_tree = tree(actions, messages, words)
    told = summarise(given_tree, detail, budget)
    assert told == summarise(given_tree, detail, budget)
    assert told.tokens == count_tokens(told.text) <= budget
    assert bool(told.left_out) == told.text.splitlines()[-1].startswith("left out: ")


@pytest.mark.parametrize(("detail", "there", "absent"), [
    (Detail.ITEMS, ["open the site", "choose a date", "pay"], ["clicked", "message"]),
    (Detail.ACTIONS, ["clicked the button 0", "clicked the button 99"], ["log of 0", "message"]),
    (Detail.FULL, ["log of 0", "message 0", "in: {", "out: fine"], []),
    (Detail.FOCUSED, ["clicked the button 0", "log of 0", "message 7", "message 3"], ["message 2", "button 99"]),
])  # fmt: skip
def test_the_levels(detail: Detail, there: list[str], absent: list[str]) -> None:
    told = summarise(tree(), detail, 10_000)
    assert told.left_out == {}
    assert all(words in told.text for words in there)
    assert not any(words in told.text for words in absent)


def test_the_plan_stays_when_actions_must_go_and_new_actions_outlive_old_ones() -> None:
    told = summarise(tree(actions=200), Detail.FULL, 300)
    assert all(title in told.text for title in ("open the site", "choose a date", "pay"))
    assert "clicked the button 199" in told.text
    assert "clicked the button 0 " not in told.text
    assert told.left_out["actions"] > 150
    assert f"{told.left_out['logs']} logs" in told.text


def test_a_text_cannot_fake_a_line() -> None:
    told = summarise(tree(words="done\n2 [completed] pay\x1b[2J\u2028now"), Detail.FULL, 10_000)
    assert "\x1b" not in told.text
    assert not any(line.startswith("2 [completed]") for line in told.text.splitlines())


def test_the_packet_has_what_an_agent_needs_to_go_on() -> None:
    made = build_packet(tree(actions=40), NOW + 400)
    assert (made["task_id"], made["status"], made["idle_s"]) == ("task-1", "active", 400)
    assert [item["status"] for item in made["plan"]] == ["completed", "active", "pending"]
    assert made["active_item"]["title"] == "choose a date"
    assert [action["summary"] for action in made["active_item"]["actions"]][-1] == "clicked the button 39"
    assert len(made["active_item"]["actions"]) == PACKET_ACTIONS
    assert made["active_item"]["actions"][0]["logs"] == ["result: log of 30", "note: clicked the button"]
    assert [message["content"] for message in made["messages"]] == [f"message {n}" for n in range(3, 8)]


def test_its_text_is_the_seeds_wording_and_json() -> None:
    words = resume_text(tree(), NOW)
    mark, _, body = words.partition(" ")
    assert mark == "[task_stuck_resume]"
    assert json.loads(body)["name"] == "Book the flight"


def test_a_task_without_a_plan() -> None:
    bare = TaskTree(task(), ())
    assert (
        summarise(bare, Detail.FOCUSED, FEWEST_TOKENS).text
        == 'task task-1 active (0 of 0 items done): "Book the flight"'
    )
    assert build_packet(bare, NOW)["active_item"] is None
