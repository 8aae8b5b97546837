"""docs/tutorial.md does what it says: its commands run here, in one shell, and print what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.cli_support import settings
from tests.e2e.page_steps import Step, check, is_as_shown, printed_by, script, steps_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_PATIENCE_S = 280.0
LOADED = {
    "sleep 5; echo": "until acud wait list | grep -q Download; do sleep 0.5; done; echo",
    "--timeout 8s": "--timeout 30s",
    "for 8.0 s": "for …",
}
"""The page's times, and what a loaded machine needs in their place: the download ends once somebody waits for it."""


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
    return printed_by(output.read_text(encoding="utf-8"), of)


def test_the_page_is_read_as_it_is_meant() -> None:
    found = steps_of(PAGE)
    assert len(found) >= 8
    assert sum(bool(step.shown) for step in found) >= 7
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```sh\n") == len(found)
    assert text.count("```text\n") == sum(bool(step.shown) for step in found)
    assert [usual for usual in LOADED if text.count(usual) != 1] == []


def test_what_is_shown_is_told_from_what_is_not() -> None:
    assert is_as_shown("stopped (pid …)", "stopped (pid 7)\n")
    assert is_as_shown("a\n…\nb", "a\nx  y\nz\nb")
    assert is_as_shown("a\n…\nb", "a\nb")
    assert not is_as_shown("a …\nb", "a x\ny\nb")
    assert not is_as_shown("stopped (pid …)", "no daemon runs\n")
    assert not is_as_shown("a b", "a b\nand more")


def on_a_loaded_machine(step: Step) -> Step:
    commands, shown = step
    for usual, own in LOADED.items():
        commands, shown = commands.replace(usual, own), shown.replace(usual, own)
    return Step(commands, shown)


@pytest.mark.timeout(400)
def test_the_tutorial() -> None:
    done = [on_a_loaded_machine(step) for step in steps_of(PAGE)]
    with TemporaryDirectory(prefix="acud-tutorial-") as folder:
        printed = run(done, Path(folder))
        check(done, printed)
        pictures = list(Path(folder).glob("tmp.*/now.png"))
        assert len(pictures) == 1
