"""Command lines that are named somewhere, tried on the real commands of `click`."""

from __future__ import annotations

import re
import shlex
from difflib import get_close_matches
from functools import cache
from itertools import product, takewhile
from typing import Any

import click

from acud_cli.app import cli
from tests.contract.named_in_texts import HOLE, Said

_COMMAND = re.compile(r"(?<![\w./@\"'=\[-])acud +(?=[a-z-])")
_HOLES = re.compile(r"^(?:[A-Z][A-Z0-9_.:/,-]*|.*[…$<>\[\]].*|\.\.\.)$")
"""A value that stands for another one: `ID`, `<id>`, `…`, `"$wait"`."""


@cache
def commands(group: click.Group) -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


TOP = commands(cli)
DEEPER = {name for command in TOP.values() if isinstance(command, click.Group) for name in commands(command)}


def faults(said: Said) -> list[str]:
    if said.code and said.text.startswith("acud "):
        lines = [part for part in re.split(r" \| | && |; ", said.text) if part.startswith("acud ")]
        found = [wrong(words) for line in lines for words in alternatives(line.removeprefix("acud "))]
    else:
        found = [
            wrong_in_prose(said.text[start.end() :], strict=said.advice and _begins(said.text[: start.start()]))
            for start in _COMMAND.finditer(said.text)
        ]
    return [f"{said.place}: acud {fault}" for fault in found if fault]


def _begins(before: str) -> bool:
    """Tell whether what follows `before` is a thing to do, and not a part of a sentence."""
    return not before.strip() or before.rstrip()[-1] in ";:,"


# ---- a whole command line ------------------------------------------------------------------------------------------


def alternatives(line: str) -> list[list[str]]:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return [
        list(one) for one in product(*(word.split("|") if re.fullmatch(r"[\w|-]+", word) else [word] for word in words))
    ]


def wrong(words: list[str]) -> str:
    """Return what is wrong with a whole command line, or ""."""
    command: click.Command = cli
    context = click.Context(cli, info_name="acud", **cli.context_settings)
    while isinstance(command, click.Group):
        inner = commands(command)
        first = [word for word in words if word != "--json"][:1]
        if command.invoke_without_command and not (first and first[0] in inner):
            break  # `acud wait` with a sentence
        words = [word for word in words if word != "--json"]
        if not command.invoke_without_command:  # else its parser would take the command for the sentence
            parser = command.make_parser(context)
            parser.allow_interspersed_args = False
            try:
                _, words, _ = parser.parse_args(words)
            except click.UsageError as fault:
                return f"{' '.join(words)}: {fault.format_message()}"
        if not words:
            return ""  # a group is named
        if _HOLES.match(words[0]):
            return ""
        if words[0] not in inner:
            return f"{' '.join(words)}: {context.command_path} has no command {words[0]!r}"
        command = inner[words[0]]
        context = click.Context(command, info_name=words[0], parent=context)
        words = words[1:]
    return _wrong_values(command, context, words)


def _wrong_values(command: click.Command, context: click.Context, words: list[str]) -> str:
    line = f"{context.command_path.removeprefix('acud ')} {' '.join(words)}"
    try:
        given, extra, _ = command.make_parser(context).parse_args(_filled(command, words))
    except click.UsageError as fault:
        return f"{line}: {fault.format_message()}"
    if [word for word in extra if not _HOLES.match(word)]:
        return f"{line}: too many words: {extra}"
    for param in command.params:
        for value in _flat(given.get(param.name or "")):
            if (
                isinstance(value, str)
                and not _HOLES.match(value)
                and not isinstance(param.type, click.Path | click.Tuple)
            ):
                try:
                    param.type.convert(value, param, context)
                except click.UsageError as fault:
                    return f"{line}: {fault.format_message()}"
    return ""


def _flat(value: Any) -> list[Any]:
    return [inner for one in value for inner in _flat(one)] if isinstance(value, list | tuple) else [value]


def _filled(command: click.Command, words: list[str]) -> list[str]:
    """Return `words` with a hole behind each option that is only named: `--timeout` takes a value."""
    filled = []
    for place, word in enumerate(words, 1):
        given = list(takewhile(lambda one: not one.startswith("--"), words[place:]))
        filled += [word, *[HOLE] * (_values(command, word) - len(given))]
    return filled


def _values(command: click.Command, word: str) -> int:
    option = _options(command).get(word)
    return 0 if option is None or option.is_flag or option.count else option.nargs


@cache
def _options(command: click.Command) -> dict[str, click.Option]:
    # A command keeps the first `--help` that it makes: it must be the one that people see.
    context = click.Context(command, help_option_names=cli.context_settings["help_option_names"])
    return {
        name: param
        for param in command.get_params(context)
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    }


# ---- in prose ------------------------------------------------------------------------------------------------------


def wrong_in_prose(rest: str, *, strict: bool = False) -> str:
    """Return what is wrong with the command whose words begin `rest`, or "": where it ends only its words can tell.

    A word that is no command is prose (`acud watches`), unless it is the name of one elsewhere or nearly one's name;
    when `strict`, whatever stands behind `acud`.
    """
    words = rest[:300].split()
    command: click.Command = cli
    path: list[str] = []
    while words and isinstance(command, click.Group):
        word, ends = _bare(words[0])
        if _HOLES.match(word) or (words[0].endswith(":") and not path):
            break  # `acud worker: …` is a message
        inner = commands(command)
        if word in _options(command):
            words.pop(0)
            continue
        if word not in inner:
            if command.invoke_without_command or not (strict or _is_meant(word)):
                break
            return f"{' '.join([*path, word])}: there is no such command"
        path.append(words.pop(0).rstrip(".,;:)"))
        command = inner[word]
        if ends:
            return ""
    return _wrong_options(command, path, words) if path else ""


def _is_meant(word: str) -> bool:
    """Tell whether `word` can be meant as a command's name, and not as the verb of a sentence about acud."""
    known = DEEPER | set(TOP)
    if word not in TOP and word.endswith("s") and word[:-1] in known:
        return False  # `acud wakes the agent`
    near = len(word) > 4 and not word.endswith("ed") and get_close_matches(word, known, n=1, cutoff=0.82)
    return word in known or bool(near)


def _wrong_options(command: click.Command, path: list[str], words: list[str]) -> str:
    options = _options(command)
    while words:
        raw = words.pop(0)
        word, ends = _bare(raw)
        if not word.startswith("-") or not word.strip("-"):
            if _HOLES.match(word) and not ends:
                continue
            return ""
        name = word.split("=")[0]
        if name not in options:
            return f"{' '.join([*path, name])}: there is no such option"
        if not ends and "=" not in word and words:
            del words[: _values(command, name)]
        if ends:
            return ""
    return ""


def _bare(word: str) -> tuple[str, bool]:
    """Return a word without the punctuation behind it, and whether that ends a command."""
    bare = re.split(r"[.,;:)\"'<`]", word, maxsplit=1)[0] if not word.startswith("<") else word
    return bare, bare != word
