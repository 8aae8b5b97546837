"""Everyday lines: their secrets are hidden, and no other word."""

from __future__ import annotations

import random

import pytest

from acud.features.redaction.text_rules import find
from tests.redaction_set.marked import Text, parse
from tests.redaction_set.scores import of_text
from tests.unit.features.redaction.everyday import WITH_SECRETS, WITHOUT


def _lines(block: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in block.strip().split("\n")]


@pytest.mark.parametrize("line", _lines(WITH_SECRETS))
def test_the_secrets_of_a_line_are_hidden_and_nothing_else(line: str) -> None:
    text = Text("line", parse(line, random.Random(0)))
    score = of_text(text, [(span.start, span.end) for span in find(text.marked.text)])
    assert score.secrets > 0
    assert score.missed == ()
    assert score.overhidden == 0


@pytest.mark.parametrize("line", _lines(WITHOUT))
def test_a_line_without_a_secret_stays(line: str) -> None:
    assert find(line) == []
