"""The command line as a whole: help, completion, faults; what needs no daemon."""

import inspect
import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from acud_cli.__main__ import run
from acud_cli.app import SECTIONS, cli
from acud_cli.exit_codes import MEANINGS, Exit
from tests.contract.command_lines import wrong

COMMANDS = {name: summary for section in SECTIONS.values() for name, (_, summary) in section.items()}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACU_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert command.short_help == COMMANDS[name]


def _leaves(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        found += _leaves(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


@pytest.mark.parametrize("path", _leaves(cli), ids=" ".join)
def test_every_command_has_help_and_takes_json(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path, "--help"]) == 0
    text = capsys.readouterr().out
    if path not in {("daemon", "run"), ("completion",)}:
        assert "--json" in text
    assert "None" not in text


def test_help_loads_neither_sockets_nor_messages() -> None:
    code = "import sys; from acud_cli.__main__ import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.strip("[]\n").replace("'", "").split(", "))
    assert not loaded & {"zmq", "msgspec", "msgpack", "rich", "asyncio", "acud_client.sync"}
    assert all(meaning in done.stdout for meaning in MEANINGS.values())


@pytest.mark.parametrize("arguments", [
    ["nonsense"], ["wait"], ["wait", "--timeout", "soon"], ["wait", "x", "--region", "1,2,3"],
    ["wait", "x", "--share", "0.5"], ["wait", "x", "--target", "screen", "--region", "0,0,5,5"],
    ["wait", "list", "is", "empty"], ["wait", "cancel"], ["waits", "cancel"],
    ["waits", "cancel", "--all", "wait-1"], ["waits", "update", "wait-1", "--until", "{"],
    ["look", "--format", "gif"], ["look", "-o", "x.gif"], ["look", "-o", "x.png", "--format", "jpeg"],
    ["wait", "evidence", "wait-1", "-o", "x.jpg"], ["do", "click", "1", "2", "--picture", "x.gif"],
    ["scene", "--marks", "x.jpg"], ["task", "item", "task-1", "0", "active"], ["wait", "list", "-n", "many"],
    ["wait", "list", "-n", "5000"], ["look", "-o", "-", "--json"], ["display", "create", "huge"],
    ["completion", "tcsh"], ["--nonsense"],
], ids=" ".join)  # fmt: skip
def test_wrong_use_is_one_line_and_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == Exit.USAGE
    said = capsys.readouterr()
    if "--json" in arguments:
        assert json.loads(said.out)["error"]["code"] == "usage"
    else:
        assert said.err.startswith("acud: ")
        assert said.err.count("\n") == 1
        assert "--help)" in said.err
        assert "range" not in said.err


@pytest.mark.parametrize("path", _leaves(cli), ids=" ".join)
def test_every_help_has_an_example_that_is_right(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path, "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    own = [line for line in lines if f"acud {' '.join(path)}" in line and not line.startswith("Usage:")]
    if path[0] == "waits":
        path = ("wait", *path[1:])
        own = [line for line in lines if f"acud {' '.join(path)}" in line]
    assert own, "no example"
    for line in own:
        command = line[line.index(f"acud {' '.join(path)}") :].partition("   ")[0].partition(" | ")[0]
        command = re.split(r" && | #| > |`", command)[0]
        command = re.sub(r'\)"?$', "", command) if "$(" in line else command
        assert not wrong(shlex.split(command)[1:]), command


def _command(path: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("path", _leaves(cli), ids=" ".join)
def test_a_command_takes_what_its_options_give(path: tuple[str, ...]) -> None:
    command = _command(path)
    assert command.callback is not None
    given = {one.name: None for one in command.params if one.expose_value and one.name}
    taken = inspect.signature(inspect.unwrap(command.callback))
    first = [
        one for one in taken.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD and one.name not in given
    ]
    taken.bind(*(None for _ in first), **given)


SHORT = {
    "-q": "--quiet", "-d": "--display", "-t": "--target", "-n": "--limit", "-o": "--output", "-f": "--follow",
    "-w": "--window",
}  # fmt: skip
FORMER = {"-f": "--file"}
"""Short names that another option had before 0.2.0, and has until 0.3."""


@pytest.mark.parametrize("path", _leaves(cli), ids=" ".join)
def test_a_short_name_means_one_thing_everywhere(path: tuple[str, ...]) -> None:
    for option in (one for one in _command(path).params if isinstance(one, click.Option)):
        for short in (name for name in option.opts if len(name) == 2 and name != "-h"):
            assert SHORT[short] in option.opts or FORMER.get(short) in option.opts, f"{short} in {path}"
        if "--display" in option.opts and path[0] != "mcp":
            assert "-d" in option.opts
        if "--target" in option.opts:
            assert "-t" in option.opts
        if len({name for name in option.opts if name.startswith("--")}) > 1 and option.name != "window_manager":
            assert "former name" in (option.help or ""), f"{option.opts} of {path}"


_KINDS = {"enumchoice": "word", "choice": "word", "text": "word", "path": "file", "filename": "file"}
SEVERAL_KINDS = {
    "--since": "a mark of what was there: events and scenes are numbered, pictures have tokens",
    "--size": "WIDTHxHEIGHT, of a terminal in characters",
}
"""Names whose values are written in more than one way, and why."""


def test_a_long_name_takes_one_kind_of_value_everywhere() -> None:
    kinds: dict[str, set[str]] = {}
    for path in _leaves(cli):
        for option in (one for one in _command(path).params if isinstance(one, click.Option)):
            kind = "flag" if option.is_flag else _KINDS.get(option.type.name, option.type.name)
            kinds.setdefault(next(name for name in option.opts if name.startswith("--")), set()).add(kind)
    assert {name: found for name, found in kinds.items() if len(found) > 1}.keys() == SEVERAL_KINDS.keys()


@pytest.mark.parametrize("arguments", [[], ["task"], ["do", "window"]], ids=" ".join)
def test_who_names_no_command_is_shown_them(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == Exit.USAGE
    said = capsys.readouterr().err
    assert said.startswith(f"Usage: {' '.join(['acud', *arguments])} [OPTIONS]")
    assert said.count("\n") > 8


def test_a_name_that_lies_deeper_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    run(["drain"])
    said = capsys.readouterr().err
    assert "no command 'drain'; there is acud daemon drain" in said
    assert "acud fleet drain" in said


@pytest.mark.parametrize("topic", ["conditions", "targets", "durations"])
def test_the_topics_are_explained(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", topic]) == 0
    told = capsys.readouterr().out
    assert len(told.splitlines()) > 8
    assert max(map(len, told.splitlines())) <= 100
    assert run(["help", topic, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == told.splitlines()


def test_the_help_of_a_command_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "wait", "show"]) == 0
    assert capsys.readouterr().out.startswith("Usage: acud wait show [OPTIONS] ID")
    assert run(["help"]) == 0
    assert "acud help targets" in capsys.readouterr().out
    assert run(["help", "nonsense"]) == Exit.USAGE
    assert "no topic and no command 'nonsense'; topics: conditions" in capsys.readouterr().err


def test_a_near_name_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    run(["wats"])
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [
    ["wait", "x"], ["waits", "list"], ["waits", "result", "wait-1"], ["wait", "list"], ["wait", "result", "wait-1"],
    ["status"], ["daemon", "status"], ["display", "list"], ["display", "env"], ["look", "-o", "x.png"], ["events"],
    ["events", "--follow"], ["top"], ["baseline"],
], ids=" ".join)  # fmt: skip
def test_without_a_daemon_the_next_step_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == Exit.DAEMON_DOWN
    assert capsys.readouterr().err == "acud: the acud daemon is not running (start it with: acud daemon start)\n"
    for order in (["--json", *arguments], [*arguments, "--json"]):
        assert run(order) == Exit.DAEMON_DOWN
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == "daemon_down"
        assert error["facts"]["reason"] == "absent"


def test_a_home_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["--home", str(tmp_path / "other"), "doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any(str(tmp_path / "other") in finding["text"] for finding in findings)


@pytest.mark.parametrize(("given", "begun", "offered"), [
    (["wait"], "li", ["list"]), (["wait", "--timeout", "5m"], "--det", ["--detach"]),
    (["wait", "a sentence"], "li", []), (["wait", "list"], "--a", ["--all"]), (["waits", "list"], "--a", ["--all"]),
    (["wait", "create"], "li", []),
], ids=str)  # fmt: skip
def test_a_wait_and_the_commands_of_waits_complete(given: list[str], begun: str, offered: list[str]) -> None:
    found = ShellComplete(cli, {}, "acud", "_ACUD_COMPLETE").get_completions(given, begun)
    assert [item.value for item in found] == offered


def test_a_reader_that_goes_away_is_no_fault() -> None:
    line = f"{sys.executable} -m acud_cli --help | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""


_OPTIONS = ("wait create --text", "wait --note x --gone", "look --target", "wait create --file", "terminal open --cwd")


@pytest.mark.parametrize("line", [*map(" ".join, _leaves(cli)), *_OPTIONS])
def test_an_argument_that_is_no_utf8_is_one_line(
    line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACU_HOME", str(tmp_path))
    assert run([*line.split(), "a\udcff", "--json"]) in (Exit.USAGE, Exit.ERROR, Exit.DAEMON_DOWN)
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["message"]
    assert told.err == ""
    if line in (*_OPTIONS, "wait show", "task register", "do type"):
        assert json.loads(told.out)["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(("line", "meant"), [
    ("daemn status", "did you mean daemon?"), ("wait lst", "did you mean list? As a sentence: acud wait -- lst"),
    ("display shwo", "Did you mean 'show'"), ("wait --wigdet x", "'--widget'"),
    ("do click --buton 3 1 2", "'--button'"), ("logs --level eror", "did you mean error?"),
    ("waits list --state resolvd", "did you mean resolved?"), ("help conditons", "did you mean conditions?"),
    ('wait --until {"type":"tetx"}', "(did you mean text?)"),
    ('wait --until {"type":"window","titel":"x"}', "there is no field titel (did you mean title?)"),
    ('wait --until {"type":"number","label":1}', "label must be a text, not a whole number"),
    ('wait --until {"type":', "--until is no JSON: "),
])  # fmt: skip
def test_a_name_that_is_spelled_nearly_right_is_told(line: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == Exit.USAGE
    told = capsys.readouterr().err
    assert meant in told
    assert "`" not in told


def test_quiet_prints_errors_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("-q daemon stop", "daemon stop -q", "help targets --quiet", "-q help targets"):
        assert run(line.split()) == Exit.OK
        assert capsys.readouterr() == ("", "")
    assert run(["help", "targets", "-q", "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["lines"]
    assert run(["status", "-q"]) == Exit.DAEMON_DOWN
    assert "not running" in capsys.readouterr().err


def test_ctrl_c_while_the_command_line_is_loaded_ends_it_without_a_word() -> None:
    code = """
import os, signal, sys
class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "acud_cli.app":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Loading())
from acud_cli import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")
