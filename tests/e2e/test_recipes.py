"""docs/recipes.md does what it says: its recipes run here, in one shell, with the settings that it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.cli_support import settings
from tests.e2e.page_steps import Step, check, printed_by, script, steps_of
from tests.e2e.test_tutorial import ended
from tests.fixtures.forked_acud import forked_acud
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import TOKEN, Receiver

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "recipes.md"
TEXT = PAGE.read_text(encoding="utf-8")
LEAST = 20
LOADED = {
    # An effect is painted, and a wake sent, later than a page tells of.
    "acud gui do ": "acud gui do --timeout 30 ",
    "acud wake list\n": "until acud wake list | grep -q '^sent '; do sleep 0.2; done\nacud wake list\n",
}
"""What the page's readers type, and what it takes on a loaded machine."""
_PATIENCE_S = 600.0


def configuration(web_port: int) -> str:
    """Return the acud.toml that the page's readers have at its end: its tables, each of which may be in parts."""
    tables: dict[str, str] = {"web": f"port = {web_port}\n"}
    for block in re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        name, _, lines = block.partition("\n")
        tables[name.strip("[]")] = tables.get(name.strip("[]"), "") + lines
    return settings() + "".join(f"[{name}]\n{lines}" for name, lines in tables.items())


def run(of: list[Step], folder: Path) -> tuple[str, Receiver]:
    """Run the steps in a home and a checkout of their own; return what they printed, and what OpenClaw was sent."""
    home, checkout = folder / "home", folder / "checkout"
    for made in (home, checkout, home / ".openclaw", home / "acud"):
        made.mkdir(mode=0o700)
    (checkout / "examples").symlink_to(ROOT / "examples")
    hook = home / ".openclaw" / "acud-hook-token"
    hook.touch(mode=0o600)
    hook.write_text(TOKEN, encoding="utf-8")
    web, webhook = free_port(), free_port()
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    path = f"{Path(sys.executable).parent}:{kept.pop('PATH')}"
    own = {"PATH": path, "HOME": str(home), "ACU_HOME": str(home / "acud"), "TMPDIR": str(folder)}
    env = kept | own | {"TMUX_TMPDIR": str(folder)}
    output = folder / "output"
    with Receiver() as openclaw:
        places = {"127.0.0.1:18790": f"127.0.0.1:{web}", "8765": str(webhook), "/tmp/wake-": f"{folder}/wake-"}
        places["127.0.0.1:18789"] = f"127.0.0.1:{openclaw.port}"
        commands, configured = script(of), configuration(web)
        for usual, patient in LOADED.items():
            assert usual in commands
            commands = commands.replace(usual, patient)
        for shown, real in places.items():
            commands, configured = commands.replace(shown, real), configured.replace(shown, real)
        tomllib.loads(configured)
        (home / "acud" / "acud.toml").write_text(configured, encoding="utf-8")
        # A file, not a pipe: programs that a recipe leaves running hold it, and nobody must wait for them.
        with output.open("w", encoding="utf-8") as words, ended(env), forked_acud(folder) as forked:
            env["PATH"] = f"{forked}:{env['PATH']}"
            try:
                subprocess.run(
                    ["bash", "-c", commands], cwd=checkout, env=env, stdin=subprocess.DEVNULL, stdout=words,
                    stderr=words, timeout=_PATIENCE_S, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                pytest.fail(f"a recipe did not end; so far:\n{output.read_text(encoding='utf-8')}")
    return output.read_text(encoding="utf-8"), openclaw


def test_every_recipe_is_listed_and_has_commands_and_their_output() -> None:
    recipes = re.findall(r"^### (.+)$", TEXT, re.MULTILINE)
    parts = re.split(r"^### .+$", TEXT, flags=re.MULTILINE)[1:]
    assert len(recipes) >= LEAST
    assert [name for name, part in zip(recipes, parts, strict=True) if "```sh\n" not in part] == []
    listed = set(re.findall(r"\]\(#([\w-]+)\)", TEXT))
    assert listed == {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in recipes}
    found = steps_of(PAGE)
    assert TEXT.count("```sh\n") == len(found)
    assert [step.commands for step in found if not step.shown] == []


@pytest.mark.timeout(700)
def test_the_recipes() -> None:
    done = steps_of(PAGE)
    with TemporaryDirectory(prefix="acud-recipes-", ignore_cleanup_errors=True) as folder:
        output, openclaw = run(done, Path(folder))
    check(done, printed_by(output, done))
    sent = [one.body for one in openclaw.taken]
    assert any(one.get("sessionKey") == "agent:main:export" for one in sent), sent
