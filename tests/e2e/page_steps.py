"""The commands of a documentation page, run as one shell's script, and compared with what the page shows of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_BLOCKS = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of commands, and what the page shows of their output ("" where it shows nothing)."""

    commands: str
    shown: str


def steps_of(page: Path) -> list[Step]:
    """Return the steps of `page` in order."""
    return [Step(*found) for found in _BLOCKS.findall(page.read_text(encoding="utf-8"))]


def script(of: list[Step]) -> str:
    """Return the steps as one shell's script; a mark stands before what each of them prints."""
    return (
        "".join(f"printf '\\n@@ %s\\n' {n}\n{step.commands}" for n, step in enumerate(of)) + "printf '\\n@@ end\\n'\n"
    )


def is_as_shown(shown: str, printed: str) -> bool:
    """Tell whether the output is what the page shows. `…` stands for anything in its line, alone for any lines or none;
    blanks count as one."""
    lines = [
        r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n"
        for line in _plain(shown).splitlines()
    ]
    return re.fullmatch("".join(lines), _plain(printed) + "\n") is not None


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def printed_by(output: str, of: list[Step]) -> list[str]:
    """Return what each step printed, of all that `script` did. Fails when the script did not reach its end."""
    printed = re.split(r"^@@ \w+\n", output, flags=re.MULTILINE)[1:]
    assert len(printed) == len(of) + 1, output
    return printed[:-1]


def check(of: list[Step], printed: list[str]) -> None:
    """Fail for a step that printed something else than the page shows."""
    for step, words in zip(of, printed, strict=True):
        if step.shown:
            assert is_as_shown(step.shown, words), f"{step.commands}\nprinted\n{words}\nthe page shows\n{step.shown}"
