"""`acud gui`: find something on a display by its description, or do what a sentence says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from acud.protocol.requests.gui import DoReply
from acud.types.grounding import Candidate, Found, GroundingBackend
from acud_cli.exit_codes import Exit
from acud_cli.options import DURATION, task_option
from acud_cli.session import Session, json_option, pass_session, say, warn, write_picture
from acud_cli.wait_options import Wanted, condition_of

_EXITS = {
    "found": Exit.OK,
    "verified": Exit.OK,
    "unverified": Exit.TIMEOUT,
    "ambiguous": Exit.REFUSED,
    "not_found": Exit.NOT_FOUND,
    "unknown": Exit.ERROR,
}

_display_option = click.option("--display", "-d", default="", metavar="NAME", help="The display, such as :100.")
_target_option = click.option(
    "--target", "-t", default="screen", metavar="TARGET", help="Where to look: screen, window:TITLE, region:x,y,w,h."
)
_backend_option = click.option(
    "--backend",
    type=click.Choice([one.value for one in GroundingBackend]),
    help="What may be asked (default: as set). auto: nothing leaves this machine.",
)


@click.group(short_help="Find and use what is on a display, by its description.")
def gui() -> None:
    """Find and use what is on a display, by its description.

    Exit codes: 0 found, or done with its effect seen; 3 done, and no effect was seen; 7 not there; 8 several fit, and
    none was chosen; 1 it could not be said.

    \b
    acud gui find "the Export button"
    acud gui do "click the Export button" --expect-text "Exported"
    acud gui do "type 'hello' into the Name field"
    """


@gui.command("find", short_help="Say where something is; nothing is done.")
@click.argument("description")
@_target_option
@_display_option
@_backend_option
@click.option("--candidates", type=click.IntRange(1, 50), default=8, show_default=True, help="Shown at most.")
@task_option
@json_option
@pass_session
def gui_find(session: Session, *, description: str, backend: str | None, **given: Any) -> int:
    """Say where what DESCRIPTION describes is: its middle, its box, and how it was found.

    \b
    acud gui find "the Name field" --target "window:Contact form"
    """
    with session.client() as client:
        reply = client.gui_find(
            description,
            given["target"],
            display=given["display"],
            backend=GroundingBackend(backend) if backend else None,
            max_candidates=given["candidates"],
            task_id=given["task_id"],
        )
    session.show(reply, lambda: _tell(reply.found))
    return _EXITS[reply.found.status]


@gui.command("do", short_help="Do what a sentence says, and see whether it had an effect.")
@click.argument("instruction")
@_target_option
@_display_option
@click.option("--view", default="", metavar="TOKEN", help="Coordinates are of the picture with this view token.")
@_backend_option
@click.option("--expect", default="", metavar="SENTENCE", help="What shows the effect (default: any change).")
@click.option("--expect-text", multiple=True, metavar="T", help="The effect shows as the visible text T.")
@click.option("--until", default="", metavar="JSON", help="The effect as a condition (docs/protocol.md), as JSON.")
@click.option("--timeout", type=DURATION, default=2.0, help="How long the effect may take (default: 2s).")
@task_option
@click.option(
    "--lease", default="", envvar="ACU_LEASE", metavar="ID", help="Your lease on a display that is taken over."
)
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="Then save what it looks like (JPEG).")
@json_option
@pass_session
def gui_do(session: Session, *, instruction: str, backend: str | None, picture: Path | None, **given: Any) -> int:
    """Do what INSTRUCTION says, once, and see whether it had an effect.

    Click, double-click, right-click, hover over, type into, set to, select in, scroll to, drag to, press. Words in
    quotation marks are taken as they are.

    \b
    acud gui do "click(847, 523)"
    acud gui do "select Red in the Colour list"
    acud gui do "drag the report to the Trash" --expect "the report is gone from the list"
    """
    with session.client() as client:
        reply = client.gui_do(
            instruction,
            given["target"],
            display=given["display"],
            view=given["view"],
            backend=GroundingBackend(backend) if backend else None,
            expect=condition_of(Wanted(given["expect"], given["expect_text"], until=given["until"])),
            timeout_s=given["timeout"],
            picture=picture is not None,
            task_id=given["task_id"],
            lease=given["lease"],
        )
    if picture is not None and reply.picture is not None:
        write_picture(picture, reply.picture.image)
    session.show(_plain(reply, picture), lambda: _tell_done(reply))
    return _EXITS[reply.status]


def _plain(reply: DoReply, path: Path | None) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(reply, builtin_types=(bytes,))
    if reply.picture is not None:
        plain["picture"] = {name: value for name, value in plain["picture"].items() if name != "image"}
        plain["picture"]["path"] = str(path)
    return plain


def _tell(found: Found) -> None:
    for candidate in found.candidates:
        say(_candidate(candidate))
    if found.status != "found":
        warn(f"{found.status}: {found.reason}")


def _candidate(one: Candidate) -> str:
    box = "" if one.box is None else f" in {one.box.w}x{one.box.h} at {one.box.x},{one.box.y}"
    words = " ".join(part for part in (one.role, repr(one.label) if one.label else "") if part)
    window = f" of {one.window!r}" if one.window else ""
    return f"{one.point.x},{one.point.y}{box}: {words or 'a point'}{window} ({one.method.value}, {one.confidence:.2f})"


def _tell_done(reply: DoReply) -> None:
    say(f"{reply.status}: {reply.message}")
    shown = reply.found if reply.target_found is None or reply.status == "verified" else reply.target_found
    if shown is not None and shown.status == "ambiguous":
        for candidate in shown.candidates:
            say(f"  {_candidate(candidate)}")
