"""`acud wait`: arm a wait and stay with it."""

from __future__ import annotations

from typing import Any

import click

from acud_cli.arming import arm, armed_line, arming_options, tell_notes
from acud_cli.exits import Exit
from acud_cli.session import Session, json_option, pass_session
from acud_cli.watch import stay


@click.command(short_help="Wait until something shows on a display.")
@arming_options
@click.option("--detach", is_flag=True, help="Arm it, print its id, and return at once.")
@json_option
@pass_session
def wait(session: Session, *, detach: bool, **given: Any) -> int:
    """Wait until CRITERIA, a sentence, holds on a display; then say so, with evidence.

    Instead of a sentence, or with it, conditions that cost nothing: --text, --regex, --gone, --window, --window-gone,
    --change, --stable. Several must all hold on one picture, unless --any.

    The daemon does the waiting: Ctrl-C leaves it, and the wait goes on. Exit code: 0 the condition holds, 3 timeout,
    4 cancelled, 5 failed.

    \b
    acud wait '"Download complete" is visible' --timeout 10m
    acud wait --text "Build finished" --display :100
    acud wait --gone "Loading" --stable 2 --target 'window:Firefox'
    acud wait "the installer shows an error" --judge ollama --detach
    """
    with session.client() as client:
        armed = arm(client, given)
        tell_notes(armed.notes)
        if detach:
            session.show(armed, lambda: print(armed.wait.wait_id))
            return Exit.OK
        return stay(session, client, armed.wait, armed_line(armed.wait))
