"""The root of the command line. Commands load when they are used, so that `acud --help` is quick."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import Any

import click

from acud.base.errors import suggest
from acud_cli.exit_codes import MEANINGS

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Waiting": {
        "wait": ("acud_cli.wait", "Wait until something shows on a display."),
        "waits": ("acud_cli.wait", "Another name for the commands of `acud wait`."),
        "wake": ("acud_cli.wake", "List, retry and test wakes."),
        "baseline": ("acud_cli.look", "Print a token for now, for `acud wait --change --since`."),
    },
    "Tasks": {
        "task": ("acud_cli.task", "Tasks: plan, actions, thread, display."),
        "usage": ("acud_cli.status", "Show what judges and models cost."),
    },
    "Seeing": {
        "look": ("acud_cli.look", "Take a picture of a display, a window or a region."),
        "scene": ("acud_cli.scene", "Show what is on the displays: windows, text, widgets."),
        "annotate": ("acud_cli.scene", "Describe a display with a vision model."),
        "display": ("acud_cli.display", "Add, create, list, take over and remove displays."),
        "analysis": ("acud_cli.analysis", "The running commentary, its feed and its senses."),
        "record": ("acud_cli.record", "Record displays, and export what a task did."),
        "replay": ("acud_cli.replay", "Try a condition, judges and a policy on a recording."),
        "events": ("acud_cli.events", "Show what happened, and with --follow what happens."),
        "top": ("acud_cli.top", "Show displays, waits and processes, live."),
    },
    "Acting": {
        "do": ("acud_cli.do", "Act on a display: click, type, windows, programs."),
        "terminal": ("acud_cli.terminal", "Open terminal sessions, type into them and read them."),
        "gui": ("acud_cli.gui", "Find and use what is on a display, by its description."),
    },
    "Agents": {
        "agent": ("acud_cli.gui", "Have a chat model plan and do several steps."),
        "mcp": ("acud_cli.mcp", "Serve acud's tools to an LLM agent (MCP)."),
        "dashboard": ("acud_cli.web", "Open the dashboard in a browser, logged in."),
        "web": ("acud_cli.web", "The dashboard over HTTP: serve, log in, tokens."),
    },
    "The daemon": {
        "status": ("acud_cli.status", "Show the daemon, displays, waits, judges and warnings."),
        "daemon": ("acud_cli.daemon", "Start, stop, drain and reload the daemon."),
        "config": ("acud_cli.daemon", "Check the settings."),
        "doctor": ("acud_cli.doctor", "Check every part, and print the fix of each fault."),
        "demo": ("acud_cli.demo", "Show acud at work: a display, a terminal, a wait."),
        "notify": ("acud_cli.wake", "Test notifications on the desktop."),
        "metrics": ("acud_cli.status", "Print the daemon's metrics in Prometheus format."),
        "logs": ("acud_cli.logs", "Show the daemon's log."),
        "backup": ("acud_cli.backup", "Copy the store, and files if wanted, while the daemon runs."),
        "restore": ("acud_cli.backup", "Restore a backup, while the daemon is stopped."),
        "vacuum": ("acud_cli.backup", "Compact the database, while the daemon is stopped."),
        "fleet": ("acud_cli.fleet", "More than one host: serve, list, place, drain."),
        "help": ("acud_cli.help_topics", "Explain conditions, targets, durations, or a command."),
        "completion": ("acud_cli.app", "Print shell completion for bash, zsh or fish."),
    },
}
"""Command, the module that holds it under the same name, and its one line of help (a test holds the two together)."""

_MODULES = {name: module for section in SECTIONS.values() for name, (module, _) in section.items()}

EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())


class Root(click.Group):
    """The group of all commands, by section."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(_MODULES[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, suggesting a near name for an unknown one."""
        if args and args[0] not in _MODULES and not args[0].startswith("-"):
            raise click.UsageError(f"no command {args[0]!r}{self._suggest_command(ctx, args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def _suggest_command(self, ctx: click.Context, name: str) -> str:
        """Return where a command of that name is, or one that is spelled nearly so."""
        groups = [command for one in _MODULES if isinstance(command := self.get_command(ctx, one), click.Group)]
        inside = [f"acud {group.name} {name}" for group in groups if name in group.commands]
        if inside:
            return f"; there is {' and '.join(filter(None, (', '.join(inside[:-1]), inside[-1])))}"
        near = suggest(name, _MODULES).strip()
        return f"; {near}" if near else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections without loading a single command."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()])


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from acud import __version__
        from acud.protocol import VERSION

        click.echo(f"acud {__version__} (protocol {VERSION})")
        ctx.exit()


def _set_home(_ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value:
        os.environ["ACU_HOME"] = value if value.startswith("~") else os.path.abspath(value)  # noqa: PTH100 - no links followed


def _set_flag(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from acud_cli.session import set_flag

        set_flag(ctx, param, wanted)


_flag = partial(click.option, is_flag=True, expose_value=False, callback=_set_flag)


@click.group(
    cls=Root, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--home", metavar="DIR", expose_value=False, callback=_set_home, is_eager=True, help="Use this ACU_HOME.")
@_flag("--json", help="Print JSON (every command takes it too).")
@_flag("--fleet", help="Send the command to the fleet's endpoint (acud fleet).")
@_flag("--quiet", "-q", help="Print only errors (every command takes it too).")
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def cli(**_: Any) -> None:
    """Watch X11 displays: hand over a condition, get the answer with its evidence.

    \b
    Start here:
      acud demo
      acud daemon start
      acud wait '"Download complete" is visible' --timeout 5m
      acud doctor
    """


@click.command(short_help="Print shell completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(acud completion bash)"       in ~/.bashrc
    zsh:   eval "$(acud completion zsh)"        in ~/.zshrc
    fish:  acud completion fish > ~/.config/fish/completions/acud.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:  # not reachable: the choice above names the three that click knows
        raise click.UsageError(f"no completion for {shell}")
    root = ctx.find_root().command
    print(kind(root, {}, "acud", "_ACUD_COMPLETE").source())
