r"""Lines as they stand on screens of developers, administrators and private people: only their secrets are hidden.

In the files, a secret stands in `⟦…⟧`; `¦` is left out, `\n` is a line break. The values are made up.
"""

import random
from pathlib import Path

from acud.features.redaction.text_rules import find
from tests.redaction_set.marked import Text, parse
from tests.redaction_set.scores import of_text


def _lines(name: str) -> list[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8").strip()
    return [line.replace("\\n", "\n") for line in text.split("\n")]


def test_the_secrets_of_a_line_are_hidden_and_nothing_else() -> None:
    wrong = []
    for line in _lines("everyday_secrets.txt"):
        text = Text("line", parse(line, random.Random(0)))
        score = of_text(text, [(span.start, span.end) for span in find(text.marked.text)])
        if score.secrets == 0 or score.missed or score.overhidden:
            wrong.append((line, score))
    assert wrong == []


def test_a_line_without_a_secret_stays() -> None:
    assert [(line, found) for line in _lines("everyday_plain.txt") if (found := find(line))] == []
