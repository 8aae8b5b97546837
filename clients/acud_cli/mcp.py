"""`acud mcp`: acud's tools for LLM agents, over the Model Context Protocol."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from acud.base.errors import ConfigError
from acud.base.extras import require
from acud_cli.options import Duration, WholeNumber
from acud_cli.session import Session, pass_session, say, session_of
from acud_mcp.selection import DEFAULT_PORT, Selection, workspace_of

if TYPE_CHECKING:
    from acud_mcp.handshake import Handshake
    from acud_mcp.tool import Options

HOST_NAMES = ("openclaw", "claude", "claude-desktop", "cursor", "vscode", "codex", "gemini", "opencode", "goose")
_OPTIONS = (
    click.option("--caps", envvar="ACU_MCP_CAPS", default="", metavar="A,B", help="Toolsets: core,tasks,memory,admin."),
    click.option("--tools", envvar="ACU_MCP_TOOLS", default="", metavar="A,B", help="Single tools, by name."),
    click.option("--read-only", envvar="ACU_MCP_READ_ONLY", is_flag=True, help="No tool that changes anything."),
    click.option(
        "--autostart", envvar="ACU_MCP_AUTOSTART", is_flag=True, help="Start the daemon when a call needs it."
    ),
    click.option(
        "--block",
        envvar="ACU_MCP_BLOCK",
        type=Duration(300),
        help="The longest a call may block (default: what its host is known to wait for).",
    ),
    click.option(
        "--tasks-extension/--no-tasks-extension",
        envvar="ACU_MCP_TASKS_EXTENSION",
        default=True,
        help="Waits as MCP task handles, for clients that declare the extension (default: on).",
    ),
)


def _selection(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group(
    short_help="Serve acud's tools to an LLM agent (MCP).",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]...",
)
@_selection
@click.option("--fleet", is_flag=True, help="Speak to the fleet's endpoint (acud fleet serve), not to the daemon here.")
@click.option("--http", is_flag=True, help="Streamable HTTP on 127.0.0.1 instead of standard input and output.")
@click.option(
    "--port",
    envvar="ACU_MCP_PORT",
    type=WholeNumber(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="For --http.",
)
@click.pass_context
def mcp(ctx: click.Context, /, *, http: bool, port: int, fleet: bool, autostart: bool, **given: Any) -> None:
    """Serve acud's tools over the Model Context Protocol.

    A host (OpenClaw, Claude Code, Cursor, VS Code …) starts this command by itself, after `acud mcp install`. Without
    --caps and --tools every tool is served.

    \b
    acud mcp
    acud mcp --caps core,tasks
    """
    if ctx.invoked_subcommand is not None:
        return
    session = session_of(ctx)
    session.fleet = session.fleet or fleet
    if autostart:
        session.only_here("--autostart")
    workspace = workspace_of(os.environ)
    names = (_split_names(given["caps"]), _split_names(given["tools"]))
    absent = _find_absent(session) | (frozenset() if workspace else {"workspace"})
    selection = Selection(*names, given["read_only"], absent)
    handshake = None
    if http:
        require("web", "acud mcp --http")
    else:
        handshake = _make_handshake(selection, tasks_extension=given["tasks_extension"])
        if not handshake.answer_static_requests():
            return
    # What follows takes its time to load; the host has its list of tools by now.
    options = _make_options(session, selection, workspace, http=http, **given)
    starter = _make_starter(session) if autostart else None
    if handshake is None:
        from acud_mcp.http_server import serve as serve_http

        serve_http(options, starter, port)
    else:
        from acud_mcp.server import Methods
        from acud_mcp.stdio_server import serve_stdio

        serve_stdio(Methods(options, starter), handshake)


def _make_handshake(selection: Selection, *, tasks_extension: bool) -> Handshake:
    from acud_mcp.handshake import Handshake, standard_streams

    return Handshake(selection, *standard_streams(), tasks_extension=tasks_extension)


def _find_absent(session: Session) -> frozenset[str]:
    """Return what tools need and the daemon here has not: features that are switched off, a model for gui_agent. Empty
    if that is not known: of a fleet's hosts, and of settings that the daemon would refuse.
    """
    if session.fleet:
        return frozenset()
    from acud import config

    try:
        settings: Any = config.load(session.home.config, os.environ)
    except ConfigError:
        return frozenset()
    off = {name for name in settings.features.__struct_fields__ if not getattr(settings.features, name)}
    return frozenset(off | (set() if settings.gui_agent.backend else {"planner"}))


def _make_options(
    session: Session,
    selection: Selection,
    workspace: Path | None,
    *,
    http: bool,
    tasks_extension: bool,
    block: float | None,
    **_selection: Any,
) -> Options:
    from acud_client.own_display import find_own_display
    from acud_mcp.tool import Options

    return Options(
        session.paths,
        selection.caps,
        selection.tools,
        read_only=selection.read_only,
        workspace=workspace,
        tasks_extension=tasks_extension,
        here=None if http or session.fleet else find_own_display(os.environ),
        absent=selection.absent,
        block_s=block,
    )


def _split_names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(" ", "").split(",") if name)


def _make_starter(session: Session) -> Callable[[], object]:
    def start() -> object:
        from acud_cli import daemon_process

        return daemon_process.start(session.paths, debug=False)

    return start


@mcp.command("install", short_help="Write acud into a host's configuration.")
@click.argument("host", type=click.Choice(HOST_NAMES))
@click.option(
    "config",
    "--config",
    "--file",
    type=click.Path(path_type=Path),
    help="The host's configuration, where it is not as usual. --file: its former name, until 0.3.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
@_selection
@pass_session
def install(session: Session, *, host: str, config: Path | None, dry_run: bool, **options: Any) -> None:
    """Write acud into the configuration of HOST, which then starts `acud mcp` by itself.

    The rest of the file is kept. For OpenClaw the skill file is installed too: its tool search hides tools until the
    agent knows of them.

    \b
    acud mcp install claude
    acud mcp install openclaw --dry-run
    """
    from acud_mcp import hosts

    chosen = hosts.HOSTS[host]
    added = hosts.make_entry(chosen, _mcp_arguments(options), os.environ)
    path = config or Path.home() / chosen.file
    text = hosts.merge_entry(chosen, path.read_text(encoding="utf-8") if path.exists() else "", added, path)
    files = {str(path): text}
    if chosen.skill and config is None:
        files[str(Path.home() / chosen.skill)] = hosts.read_skill()
    if not dry_run:
        for name, content in files.items():
            hosts.write_file(Path(name), content)
    reply = {"host": host, "written": not dry_run, "files": list(files), "entry": added}
    session.show(
        reply, lambda: _print_files(chosen.title, list(files), "" if not dry_run else hosts.show_entry(chosen, added))
    )


def _print_files(title: str, files: list[str], dry_run: str) -> None:
    """`dry_run`: what would be written, "" where it was."""
    for name in files:
        say(f"{'would write' if dry_run else 'wrote'} {name}")
    print(dry_run, end="")
    if not dry_run:
        say(f"{title} knows acud from its next start on")


def _mcp_arguments(options: dict[str, Any]) -> list[str]:
    block = "" if options["block"] is None else f"{options['block']:g}"
    named = [("--caps", options["caps"]), ("--tools", options["tools"]), ("--block", block)]
    flags = [
        ("--read-only", options["read_only"]),
        ("--autostart", options["autostart"]),
        ("--no-tasks-extension", not options["tasks_extension"]),
    ]
    return [part for name, value in named if value for part in (name, value)] + [name for name, on in flags if on]
