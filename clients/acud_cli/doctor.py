"""`acud doctor`: every part, what it runs on, and how to mend what is wrong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from acud.errors import DaemonDown
from acud.protocol.requests.daemon import Finding
from acud_cli.checks import findings
from acud_cli.plain import plain
from acud_cli.session import Session, console, json_option, pass_session

if TYPE_CHECKING:
    from rich.text import Text

_RANK = {"ok": 0, "warning": 1, "fault": 2}
_MARKS = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "fault": ("fault", "bold red")}


@click.command(short_help="Check every part, and say how to mend what is wrong.")
@json_option
@pass_session
def doctor(session: Session) -> int:
    """Check every part, and say how to mend what is wrong. It needs no running daemon, and tells more with one.

    Exit code: 0 all well, 1 warnings, 2 faults.
    """
    outside = list(findings(session.paths, os.environ))
    inside = _asked(session)
    worst = max(_RANK[finding.level] for finding in outside + inside)
    session.show({"findings": outside + inside, "worst": worst}, lambda: _print(outside, inside, worst))
    return worst


def _asked(session: Session) -> list[Finding]:
    try:
        with session.client() as client:
            return list(client.doctor().findings)
    except DaemonDown as fault:
        if fault.facts.get("reason") == "busy":
            return [Finding("daemon", "fault", fault.message, fault.hint)]
        return []


def _print(outside: list[Finding], inside: list[Finding], worst: int) -> None:
    out = console()
    for title, found in (("this machine", outside), ("the daemon", inside)):
        if found:
            out.print(title, style="dim")
        for finding in found:
            out.print(_line(finding), soft_wrap=True)
    out.print(("all well", "usable, with warnings", "something is broken: mend the faults above")[worst])


def _line(finding: Finding) -> Text:
    from rich.text import Text

    word, style = _MARKS[finding.level]
    fix = f"\n{'':11}→ {plain(finding.fix)}" if finding.fix and finding.level != "ok" else ""
    return Text.assemble((f"  {word:<8}", style), f" {plain(finding.part)}: {plain(finding.text)}", (fix, "bold"))
