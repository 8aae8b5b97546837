"""`acud look`: a picture, now or after the next change; `acud baseline`: a token for now."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from acud.protocol.requests.looks import Picture
from acud_cli.exit_codes import Exit
from acud_cli.formatting import duration
from acud_cli.options import (
    BOX,
    DURATION,
    Number,
    PictureFile,
    WholeNumber,
    boxes,
    pick,
    picture_kind,
    target_of,
    target_options,
    task_option,
)
from acud_cli.session import Session, pass_session, say, warn, write_picture
from acud_client.sync import Client


@click.command(short_help="Take a picture of a display, a window or a region.")
@target_options
@click.option("--window", "-w", default="", metavar="TITLE", help="Short for --target window:TITLE.")
@click.option(
    "--output",
    "-o",
    type=PictureFile(".png", ".jpg", ".jpeg", pipe=True),
    metavar="FILE",
    help="A .png or .jpg file, or - for a pipe.",
)
@click.option("--format", "kind", type=click.Choice(["png", "jpeg"]), help="Default: by the file's name, else png.")
@click.option(
    "--max-side", "max_side_px", type=WholeNumber(0, 16384), default=0, help="Shrink to this many pixels at most."
)
@click.option("--quality", type=WholeNumber(1, 100), default=90, show_default=True, help="Of a JPEG.")
@click.option("--on-change", type=DURATION, metavar="DURATION", help="Wait for a change first, at most so long.")
@click.option("--settle", type=DURATION, default=0.0, help="With --on-change: until nothing changed for so long.")
@click.option("--share", type=Number(0, 1), default=0.0, help="With --on-change: at least this part.")
@click.option("--since", default="", metavar="TOKEN", help="With --on-change: a change since this token.")
@click.option("--ignore", type=BOX, multiple=True, help="With --on-change: a part that counts for nothing.")
@click.option("--redacted", is_flag=True, help="As it may leave this machine; tells what is black, and by which rule.")
@task_option
@pass_session
def look(session: Session, *, target: str, window: str, region: tuple[int, ...] | None, **options: Any) -> int:
    """Take a picture of a display, a window or a region, from pixels grabbed after the call.

    With --on-change the picture comes when something changed, or when the time is up (exit code 3).

    \b
    acud look -o now.png
    acud look --window Firefox --max-side 960 -o - --format jpeg | display
    acud look --redacted -o leaves.png
    acud look --on-change 10 --settle 0.5 -o after.png
    """
    if options["redacted"] and options["on_change"] is not None:
        raise click.UsageError("--redacted shows what is there now; leave out --on-change")
    where, kind = target_of(target, region, window), _choose_format(options)
    _check_output(session, options["output"])
    client = session.client()
    form = {"format": kind, **pick(options, "display", "max_side_px", "quality", "task_id")}
    if options["on_change"] is not None:
        return _after_change(session, client, where, form, options)
    picture = client.look(where, redacted=options["redacted"], **form)
    _save_picture(session, picture, options["output"], {"picture": picture})
    if options["redacted"] and not session.json:
        warn(_hidden_words(picture))
    return Exit.OK


def _hidden_words(picture: Picture) -> str:
    found = (f"{one.rule} {one.box.x},{one.box.y} ({one.box.w}x{one.box.h})" for one in picture.hidden)
    return f"black: {', '.join(found) or 'nothing'}"


def _choose_format(options: dict[str, Any]) -> Literal["png", "jpeg"]:
    """Return the picture's format. Raises: click.UsageError if the file's name contradicts it."""
    output: Path | None = options["output"]
    asked: Literal["png", "jpeg"] | None = options["kind"]
    if asked and output is not None and output.suffix:
        named = picture_kind(output)
        if named != asked and not (output.is_char_device() or output.is_fifo()):
            raise click.UsageError(f"{output} would hold a {asked.upper()}; name it so, or leave out --format")
    return asked or picture_kind(output)


def _check_output(session: Session, output: Path | None) -> None:
    if str(output) == "-" and session.json:
        raise click.UsageError("-o - prints the picture and --json prints JSON; give -o FILE")
    if str(output) == "-" and sys.stdout.isatty():
        raise click.UsageError("standard output is a terminal; send it to a file or a pipe, or give -o FILE")


def _after_change(session: Session, client: Client, where: str, form: dict[str, Any], options: dict[str, Any]) -> int:
    reply = client.wait_for_change(
        where,
        ignore=boxes(options["ignore"]),
        timeout_s=options["on_change"],
        settle_s=options["settle"],
        share=options["share"],
        baseline=options["since"],
        **form,
    )
    _save_picture(session, reply.picture, options["output"], reply)
    if not session.json:
        warn(f"{reply.message} (after {duration(reply.waited_s)})")
    return Exit.OK if reply.changed else Exit.TIMEOUT


def _save_picture(session: Session, picture: Picture, output: Path | None, reply: Any) -> None:
    path = output or Path(f"acud-{picture.display.lstrip(':')}-{time.strftime('%Y%m%d-%H%M%S')}.{picture.format}")
    write_picture(path, picture.image)
    if str(path) != "-":
        session.show(_without_image(reply, path), lambda: say(_picture_words(picture, path)))


def _without_image(reply: Any, path: Path) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(reply, builtin_types=(bytes,))
    plain["picture"] = {name: value for name, value in plain["picture"].items() if name != "image"}
    return {"path": str(path)} | plain


def _picture_words(picture: Picture, path: Path) -> str:
    size = f"{picture.width}x{picture.height}"
    scaled = "" if (picture.crop.w, picture.crop.h) == (picture.width, picture.height) else " (scaled)"
    return f"{path}: {size}{scaled} of {picture.display}, frame {picture.frame}, {len(picture.image) / 1000:.0f} kB"


@click.command(short_help="Print a token for now, for `acud wait --change --since`.")
@target_options
@task_option
@pass_session
def baseline(session: Session, *, target: str, region: tuple[int, ...] | None, display: str, task_id: str) -> None:
    """Print a token that stands for the pixels of now. Take it before an action, and hand it to the wait after it.

    \b
    token=$(acud baseline)
    xdotool click 1
    acud wait --change --since "$token" --timeout 10
    """
    reply = session.client().baseline(target_of(target, region), display=display, task_id=task_id)
    session.show(reply, lambda: say(reply.baseline))
