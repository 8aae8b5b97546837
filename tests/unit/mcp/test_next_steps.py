"""Errors name an agent's next step: no command of the CLI, no option, no regular expression."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import AcudError, DaemonDown, InvalidRequest, NotFound
from acud_cli.app import cli
from acud_client.daemon_socket import START_HINT
from acud_mcp.next_steps import COMMANDS, error_words
from acud_mcp.server import TOOLS
from acud_mcp.tool import Tool, parse_arguments

ROOT = Path(__file__).parents[3]
COMMAND = re.compile(rf"\bacud ({'|'.join(COMMANDS)})\b|(?<![\w-])--[a-z]")
PATTERN = re.compile(r"\^|\(\?|\\[dws]|\[[0-9a-zA-Z]-|\{\d+,")


def test_each_command_of_the_cli_is_known() -> None:
    import click

    context = click.Context(cli)
    assert set(cli.list_commands(context)) <= {*COMMANDS, "demo"}


@pytest.mark.parametrize(("fault", "words"), [
    (NotFound("no display :9", hint="acud display list"), "no display :9; display_list"),
    (NotFound("no picture", hint="acud look takes one now"), "no picture; desktop_look takes one now"),
    (InvalidRequest("x", hint="arm it with force (acud wait --force)"), "x; arm it with force (smart_wait)"),
    (InvalidRequest("it has ended", hint="acud wait show tells how"), "it has ended; wait_status tells how"),
    (InvalidRequest("x", hint="take one with `acud baseline`, or none"), "x; take one with desktop_look, or none"),
    (AcudError("x", hint="acud logs --level error, then acud daemon restart"), "x; health_check, then ask whoever "
     "runs acud to restart its daemon"),
    (AcudError("y", hint="name another with --display (acud display list)"), "y; name another with display "
     "(display_list)"),
    (DaemonDown("it is not running", hint=START_HINT), "it is not running; ask whoever runs acud to start its "
     "daemon"),
    (AcudError("acud looks away", hint="acud fleet status"), "acud looks away; ask whoever runs acud"),
])  # fmt: skip
def test_a_command_becomes_a_tool(fault: AcudError, words: str) -> None:
    assert error_words(fault) == words


def texts() -> Iterator[str]:
    for folder in ("acud", "clients/acud_client", "clients/acud_mcp"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if COMMAND.search(text) else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_no_text_of_the_code_shows_a_command_once_it_is_an_error() -> None:
    found = {text for text in texts() if COMMAND.search(text)}
    assert len(found) > 50
    assert [text for text in found if COMMAND.search(error_words(AcudError("it failed", hint=text)))] == []


BAD = (None, "", "^nonsense (", -1, 1e308, True, [], ["x"], {}, {"foo": 1}, "x" * 5000, "\x00")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_bad_values_are_told_without_a_pattern_or_a_command(tool: Tool) -> None:
    for name in tool.arguments_type.__struct_fields__:
        for value in BAD:
            try:
                parse_arguments(tool, {name: value})
            except InvalidRequest as fault:
                said = error_words(fault).replace("^nonsense (", "")
                assert not PATTERN.search(said), said
                assert not COMMAND.search(said), said
