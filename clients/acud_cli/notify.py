"""`acud notify`: whether notifications arrive."""

from __future__ import annotations

import click

from acud_cli.plain import plain
from acud_cli.session import Session, json_option, pass_session, say


@click.group(short_help="Test notifications on the desktop.")
def notify() -> None:
    """Test notifications on the desktop, which [notify] in acud.toml switches on."""


@notify.command("test", short_help="Show a notification.")
@json_option
@pass_session
def test_notification(session: Session) -> None:
    """Show a notification and say which server took it."""
    with session.client() as client:
        reply = client.notify_test()
    session.show(reply, lambda: say(f"shown by {plain(reply.server)}"))
