"""README and the examples in `--help` do what they say: each line runs here as it is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from acud_cli.app import cli
from acud_cli.exit_codes import Exit
from tests.contract.named_in_texts import VERBATIM
from tests.e2e.cli_support import settings
from tests.e2e.gui_support import PROGRAM, SYSTEM_PYTHON
from tests.e2e.test_tutorial import ended
from tests.fixtures.forked_acud import forked_acud

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
_PATIENCE_S = 1100.0
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FORM = (
    f"{{ {SYSTEM_PYTHON} {PROGRAM} form & }}; "
    "until acud wait --widget 'button \"Export\" enabled' --text Export --stable 0.3 --timeout 60 >/dev/null; "
    "do :; done"
)
"""Shows a window with an Export button, a Name field and a Colour list, and returns when it is painted."""
CLICK = 'acud gui do "click the Export button"'


class Shell:
    """Runs lines one after the other in one shell, as a person types them, and says how each ended."""

    def __init__(self, folder: Path, config: str = "") -> None:
        home = folder / "home"
        home.mkdir(mode=0o700)
        (home / "acud.toml").write_text(settings() + config, encoding="utf-8")
        (folder / ".venv").symlink_to(ROOT / ".venv")
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        path = f"{Path(sys.executable).parent}:{kept.pop('PATH')}"
        self.env = kept | {"PATH": path, "HOME": str(folder), "ACU_HOME": str(home), "TMPDIR": str(folder)}
        self.folder = folder

    def run(self, lines: list[str]) -> list[tuple[int, str]]:
        """Return the exit code and the output of each line."""
        marked = "".join(f"{line}\nprintf '\\n@@ %s\\n' $?\n" for line in lines)
        output = self.folder / "output"
        with output.open("w", encoding="utf-8") as words:
            subprocess.run(
                ["bash", "-c", marked], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=words,
                stderr=words, timeout=_PATIENCE_S, check=False,
            )  # fmt: skip
        *printed, _ = re.split(r"^@@ (\d+)\n", output.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(printed) == 2 * len(lines), printed
        return [(int(code), text.strip()) for text, code in zip(printed[::2], printed[1::2], strict=True)]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell whose `acud` is a process of its own each time."""
    made = Shell(tmp_path)
    with ended(made.env):
        yield made


@pytest.fixture
def quick(shell: Shell) -> Iterator[Shell]:
    """A shell whose calls of `acud` are forks of one process."""
    with forked_acud(shell.folder) as folder:
        shell.env["PATH"] = f"{folder}:{shell.env['PATH']}"
        yield shell


def typed_lines(text: str) -> list[str]:
    """Return the indented lines of a text, without those in fences."""
    return [line.strip() for line in _FENCED.sub("", text).splitlines() if re.match(r" {4}\S", line)]


def block(heading: str) -> list[str]:
    """Return the lines to be typed below `## heading`."""
    return typed_lines(PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0])


# ---- README --------------------------------------------------------------------------------------------------------

RUN_ELSEWHERE = {"scripts/demo": "test_cli_demo.py runs it", "scripts/test": "it is what runs this test"}


def test_every_block_of_the_page_is_run() -> None:
    run = [*block("Use it"), *block("More commands"), *block("For agents"), *RUN_ELSEWHERE]
    assert sorted(typed_lines(PAGE)) == sorted(run)
    assert len(block("Use it")) == 5
    assert len(block("More commands")) >= 10
    assert sorted(name for name, _ in _FENCED.findall(PAGE)) == ["json", "python"]


@pytest.mark.timeout(600)
def test_use_it_and_from_python(quick: Shell) -> None:
    lines = [*block("Use it"), *block("More commands")]
    button = next(place for place, line in enumerate(lines) if "Export button" in line)
    ((_, program),) = [one for one in _FENCED.findall(PAGE) if one[0] == "python"]
    (quick.folder / "program.py").write_text(program, encoding="utf-8")
    # What is there when the page says "click the Export button" has one.
    typed = [*lines[:button], FORM, *lines[button:], "python program.py", "kill $(jobs -p)", "acud daemon stop"]
    # On a busy machine the effect of a click is painted later than the 2 s that it is given by default.
    typed = [line.replace(CLICK, f"{CLICK} --timeout 30") for line in typed]
    for line, (code, said) in zip(typed, quick.run(typed), strict=True):
        assert code == 0 or (line.startswith("acud doctor") and code == 1) or line.startswith("kill"), (
            line,
            code,
            said,
        )
        assert "Traceback" not in said, (line, said)
        if line.startswith(CLICK):
            assert said.startswith("verified"), said
        if line.startswith("python"):
            assert said.startswith("resolved"), said
    assert (quick.folder / "now.png").exists()
    assert (quick.folder / "after.png").exists()


def test_for_agents(shell: Shell) -> None:
    ((_, server),) = [one for one in _FENCED.findall(PAGE) if one[0] == "json"]
    told = json.loads(server)
    typed = [*block("For agents"), " ".join([told["command"], *told["args"], "</dev/null"]), "acud daemon stop"]
    assert [(code, line) for line, (code, _) in zip(typed, shell.run(typed), strict=True) if code] == []


# ---- the examples of --help ----------------------------------------------------------------------------------------


def examples() -> list[str]:
    """Return the command lines in the helps, in their order, each once."""
    found: dict[str, None] = {}

    def walk(command: click.Command) -> None:
        for lines in VERBATIM.findall(command.help or ""):
            told = [re.sub(r"^\w+: +", "", line.strip()) for line in lines.splitlines() if "acud " in line]
            found.update((re.split(r" {3,}", line)[0], None) for line in told)
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                walk(inner)

    walk(cli)
    return list(found)


NOT_HERE = {
    "acud fleet worker --backend ollama": "needs a NATS server (test_fleet_permissions.py)",
    "acud fleet worker --backend vllm --backend openrouter --concurrency 32": "the same",
    "acud fleet worker --ray": "needs Ray (test_fleet_ray.py)",
    'eval "$(acud completion zsh)"': "needs a zsh; tests/unit/clients/test_app.py makes the script",
}
NOT_HERE_AT_ALL = {
    "acud fleet ": "needs a NATS server (test_fleet_wakes.py)", "acud daemon run": "is the daemon (test_cli_daemon.py)",
    "acud daemon stop": "ends the daemon that the others need (test_cli_daemon.py)", "acud daemon restart": "the same",
    "acud daemon drain": "the same", "acud demo": "starts a daemon of its own (test_cli_demo.py)",
    "acud agent run": "needs a model (test_agent.py)",
    "acud web serve": "goes on, and takes a port (test_gateway_process.py)",
    "acud web relay": "the same (test_listener_process.py)",
    "acud mcp install": "writes where a host is (tests/unit/mcp/test_install.py)",
}  # fmt: skip
"""Beginnings of examples that do not run here; tests/unit/clients/test_app.py tries each on its command."""
_IDS = re.compile(r"\b(x8fgvb|e0471d|8whsfy|1kahan|q7k2mz|3hq9vn)\b")
"""Ids in examples that name nothing here."""
WORLD = (
    "acud daemon start",
    'eval "$(acud display create 1280x720 --env)"',
    FORM,
    "xterm -T Firefox -geometry 60x12+700+300 -e 'echo Download complete; echo Build finished; exec sleep 600' &",
    "acud wait --text 'Build finished' --timeout 60",
    "token=$(acud baseline)",
    "display() { cat >seen; }; pass() { echo secret; }",  # ImageMagick's and the password store's
    "mkdir -p ~/.config/fish/completions",
)
"""What the examples find, so that none of them waits for what never comes."""
CLOSES = "acud do key alt+F4"
"""Closes a window, and so goes last."""
ENDLESS = {line for line in examples() if re.search(" --(watch|follow)", line)} - set(NOT_HERE)
"""Goes on until Ctrl-C."""
AFTER = {'eval "$(acud display take "$DISPLAY" --for 15m --env)"': '; acud display release "$DISPLAY"'}
CHANGES = ("acud look --on-change 10 --settle 0.5 -o after.png", 'acud wait --change --since "$token" --timeout 10')
"""Waits for a change, which a window makes meanwhile."""
ACTING = {"do", "gui"}
"""Commands that change what the others see: their examples go last."""
CALM = "acud wait cancel --all && acud analysis config --off"
"""Between them: what was armed before would be read and judged anew at each change."""
_NAMED = (Exit.OK, Exit.TIMEOUT, Exit.NOT_FOUND, Exit.REFUSED)
"""It was understood and done, or what it names (rec-00t40a, t3-12, :100) is not there."""
OUTCOMES = {
    "acud doctor": (Exit.OK, Exit.ERROR),  # warnings
    "acud wake test": (Exit.USAGE,),  # no route, no dashboard and no notifications are set up, and there is no :0
    "acud wake test --route openclaw": (Exit.USAGE,),
    "acud notify test": (Exit.USAGE,),
    "acud dashboard": (Exit.ERROR,),
    "acud web login": (Exit.ERROR,),
    "acud web login --scope act --name phone": (Exit.ERROR,),
    "acud display add :0": (Exit.OK, Exit.ERROR),
    "acud display add :0 --auth-file /run/user/1000/gdm/Xauthority": (Exit.OK, Exit.ERROR),
    "acud annotate": (Exit.ERROR,),  # no model is set
    "acud annotate --ask claude --display :100": (Exit.NOT_FOUND,),
    **dict.fromkeys(ENDLESS, (Exit.OK, Exit.DETACHED)),
}


def test_what_is_not_run_here_is_an_example() -> None:
    assert {*NOT_HERE, *ENDLESS, *OUTCOMES, *AFTER, *CHANGES} <= set(examples())
    assert all(any(line.startswith(begun) for line in examples()) for begun in NOT_HERE_AT_ALL)


def _elsewhere(line: str) -> bool:
    return line in NOT_HERE or line.startswith(tuple(NOT_HERE_AT_ALL)) or bool(_IDS.search(line))


def _typed(line: str) -> str:
    """Return the line in a shell of its own, so that it changes nothing for the next one."""
    if line in ENDLESS:
        # A shell has its background ignore Ctrl-C. With a connection to the daemon the command is at work; who reads a
        # file alone has none, and as many turns as take some seconds on any machine.
        turn = '[ -z "$(find /proc/$pid/fd -lname "socket:*")" ] || break; sleep 0.1'
        turns = f"for turn in $(seq 60); do {turn}; done"
        return f"(env --default-signal=INT {line} & pid=$!; {turns}; sleep 1; kill -INT $pid; wait $pid)"
    beside = "(sleep 1; exec xterm -e sleep 2) & " if line in CHANGES else ""
    return f"({beside}{line}{AFTER.get(line, '')})"


def _place(line: str) -> tuple[bool, bool, bool]:
    return line == CLOSES, line.removeprefix('eval "$(').split()[1] in ACTING, line == CALM


@pytest.mark.timeout(1200)
def test_the_examples_of_the_help(quick: Shell) -> None:
    lines = sorted([*(line for line in examples() if not _elsewhere(line)), CALM], key=_place)
    assert len(lines) > 100
    ended_so = quick.run([*WORLD, *map(_typed, lines), "kill $(jobs -p); acud daemon stop"])
    assert [one for one in ended_so[: len(WORLD)] if one[0]] == []
    wrong = [
        (line, code, said)
        for line, (code, said) in zip(lines, ended_so[len(WORLD) : -1], strict=True)
        if code not in OUTCOMES.get(line, _NAMED) or "Traceback" in said
    ]
    assert not wrong, "\n".join(f"{line}: exit code {code}: {said}" for line, code, said in wrong)
