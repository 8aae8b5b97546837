"""docs/tutorial.md does what it says: its commands run here, in one shell, and print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.e2e.cli_support import settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_BLOCKS = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_PATIENCE_S = 200.0


class Step(NamedTuple):
    """A block of commands, and what the page shows of their output ("" where it shows nothing)."""

    commands: str
    shown: str


def steps() -> list[Step]:
    """Return the steps of the page in order."""
    return [Step(*found) for found in _BLOCKS.findall(PAGE.read_text(encoding="utf-8"))]


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


@contextmanager
def ended(env: dict[str, str]) -> Iterator[None]:
    """End the daemon of `env` whatever happens; the page's last step has done so already when all is well."""
    try:
        yield
    finally:
        subprocess.run(
            [sys.executable, "-m", "acud_cli", "daemon", "stop"],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )


def run(of: list[Step], folder: Path) -> list[str]:
    """Run the steps with an ACU_HOME in `folder`, and return what each printed."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "acud.toml").write_text(settings(), encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    path = f"{Path(sys.executable).parent}:{kept.pop('PATH')}"
    env = kept | {"PATH": path, "ACU_HOME": str(home), "TMPDIR": str(folder)}
    output = folder / "output"
    # A file, not a pipe: programs that a step leaves running hold it, and nobody must wait for them.
    with output.open("w", encoding="utf-8") as words, ended(env):
        subprocess.run(
            ["bash", "-c", script(of)], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=words, stderr=words,
            timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    printed = re.split(r"^@@ \w+\n", output.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(printed) == len(of) + 1, output.read_text(encoding="utf-8")
    return printed[:-1]


def test_the_page_is_read_as_it_is_meant() -> None:
    found = steps()
    assert len(found) >= 8
    assert sum(bool(step.shown) for step in found) >= 7
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```sh\n") == len(found)
    assert text.count("```text\n") == sum(bool(step.shown) for step in found)


def test_what_is_shown_is_told_from_what_is_not() -> None:
    assert is_as_shown("stopped (pid …)", "stopped (pid 7)\n")
    assert is_as_shown("a\n…\nb", "a\nx  y\nz\nb")
    assert is_as_shown("a\n…\nb", "a\nb")
    assert not is_as_shown("a …\nb", "a x\ny\nb")
    assert not is_as_shown("stopped (pid …)", "no daemon runs\n")
    assert not is_as_shown("a b", "a b\nand more")


@pytest.mark.timeout(300)
def test_the_tutorial() -> None:
    done = steps()
    with TemporaryDirectory(prefix="acud-tutorial-") as folder:
        printed = run(done, Path(folder))
        for step, words in zip(done, printed, strict=True):
            if step.shown:
                assert is_as_shown(step.shown, words), (
                    f"{step.commands}\nprinted\n{words}\nthe page shows\n{step.shown}"
                )
        pictures = list(Path(folder).glob("tmp.*/now.png"))
        assert len(pictures) == 1
