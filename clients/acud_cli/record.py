"""`acud record`: recordings of displays and tasks, and a task's export as a ZIP file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
from msgspec import Struct

from acud.base.errors import AcudError
from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.protocol.requests.recordings import RecordListReply, RecordReply
from acud_cli.formatting import FittedTable, count, duration, moment, plain, shorten
from acud_cli.options import (
    Number,
    choose_target,
    choose_task,
    complete_displays,
    complete_tasks,
    display_option,
    limit_option,
    read_list,
    zip_option,
)
from acud_cli.session import Session, complete_ids, pass_session, print_table, say, say_all, warn
from acud_client.sync import Client

if TYPE_CHECKING:
    from acud_client.task_export import Manifest


_STOP_S = 30.0
_complete_id = complete_ids(
    lambda client: (
        (one.recording_id, f"{one.state}, {one.display}") for one in client.record_list(limit=100).recordings
    )
)
_recording_id = click.argument("recording_id", metavar="ID", shell_complete=_complete_id)


@click.group(short_help="Record displays, and export what a task did.")
def record() -> None:
    """Recordings: MP4 files of the frames that changed, with their true times, and a line about each frame beside them.

    Tasks with a display of their own are recorded by themselves ([recording] enabled). An id may be cut short: its
    ending, which lists show, or its beginning is enough while it is unique.
    """


@record.command(short_help="Record a display, or a task's, from now on.")
@click.argument("name", default="", metavar="[DISPLAY]", shell_complete=complete_displays)
@display_option
@choose_task("For this task: on its display, until its end.")
@click.option("--fps", type=Number(0.1, 30), default=None, help="At most this many frames a second.")
@choose_target("Only this window or region.")
@pass_session
def start(session: Session, *, name: str, display: str, task_id: str, fps: float | None, target: str) -> None:
    """Record a display, or a task's, from now on; print the recording's id once it has its first frame.

    \b
    acud record start :100
    acud record start --target window:Firefox
    acud record start --task e0471d --fps 5
    """
    if name and display and name != display:
        raise click.UsageError(f"which display: {name} or {display}?")
    reply = session.client().record_start(name or display, task_id=task_id, fps=fps or 0.0, target=target)
    session.show(reply, lambda: say(reply.recording.recording_id))
    if reply.recording.reason:
        warn(f"note: {reply.recording.reason}")


@record.command(short_help="End a recording.")
@_recording_id
@pass_session
def stop(session: Session, *, recording_id: str) -> None:
    """End a recording with what its display shows now, and print where its files are.

    \b
    acud record stop 8whsfy
    """
    reply = session.client(timeout_s=_STOP_S).record_stop(recording_id)
    session.show(reply, lambda: _print_stopped(reply))


def _print_stopped(reply: RecordReply) -> None:
    one = reply.recording
    say(f"{one.state.value} {one.recording_id}: {_describe_amount(one)}")
    say(reply.path)


def _describe_amount(one: RecordingInfo) -> str:
    if not one.frames and one.state is RecordingState.RECORDING:
        return "nothing on disk yet"
    lost = f", {count(one.dropped, 'frame')} dropped" if one.dropped else ""
    return f"{count(one.frames, 'frame')}, {duration(one.seconds)}, {one.size_bytes / 1e6:.2f} MB{lost}"


@record.command("list", short_help="List recordings, newest first.")
@choose_task("Only those of this task.")
@limit_option(1000, 20)
@pass_session
def list_recordings(session: Session, *, task_id: str, limit: int) -> None:
    """List recordings, newest first.

    \b
    acud record list
    acud record list --task e0471d
    """
    client = session.client()

    def read(most: int, offset: int) -> RecordListReply:
        return client.record_list(task_id=task_id, limit=most, offset=offset)

    reply = read_list(session, read, "recordings", limit, 1000, lambda one: one.recording_id)
    session.show(reply, lambda: _print_list(reply.recordings))


def _print_list(recordings: tuple[RecordingInfo, ...]) -> None:
    if not recordings:
        say("no recordings")
        return
    table = FittedTable("state, display, reason+-, holds+, began-, task-, id")
    for one in recordings:
        began, reason = moment(one.created_utc_s), shorten(one.reason, 120)
        names = (one.task_id or "-", one.recording_id)
        table.add_row(one.state.value, plain(one.display), reason, _describe_amount(one), began, *names)
    print_table(table)


@record.command(short_help="Remove recordings and their files.")
@click.argument("recording_ids", metavar="ID...", nargs=-1, required=True, shell_complete=_complete_id)
@pass_session
def delete(session: Session, *, recording_ids: tuple[str, ...]) -> None:
    """Remove recordings and their files; one that is being made is to be stopped first.

    \b
    acud record delete 8whsfy
    """
    client = session.client()
    gone = [client.record_delete(one).recording for one in recording_ids]
    session.show({"recordings": gone}, lambda: say_all(f"deleted {one.recording_id}" for one in gone))


@record.command(short_help="Write everything of a task to a ZIP file.")
@click.argument("task_id", metavar="TASK", shell_complete=complete_tasks)
@zip_option
@pass_session
def export(session: Session, *, task_id: str, output: Path) -> None:
    """Write everything of a task to a ZIP file; the same as `acud task export`.

    \b
    acud record export e0471d -o flight.zip
    """
    export_to(session, task_id, output)


def export_to(session: Session, task_id: str, output: Path) -> None:
    """Write a task's ZIP file, and print the list of its content."""
    manifest = write_export(session.client(timeout_s=_STOP_S), task_id, output)
    for note in manifest.notes:
        warn(note)
    told = {"path": str(output), "size_bytes": output.stat().st_size, "manifest": manifest}
    session.show(told, lambda: say(f"saved {output} ({output.stat().st_size / 1e6:.2f} MB)"))


def write_export(client: Client, task_id: str, output: Path) -> Manifest:
    """Write everything of a task to `output`. Raises: NotFound; OSError naming the file."""
    partial = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            manifest = _write_task_zip(client, task_id, file)
        partial.replace(output)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return manifest


def _write_task_zip(client: Client, task_id: str, file: BinaryIO) -> Manifest:
    from acud_client.task_export import Manifest, advance, export

    steps, answer = export(task_id), None
    while not isinstance(step := advance(steps, answer), Manifest):
        answer = None
        if isinstance(step, bytes):
            file.write(step)
        else:
            answer = _ask_or_fault(client, step.request, step.kind)
    return step


def _ask_or_fault(client: Client, request: Struct, kind: type[Struct]) -> Struct | AcudError:
    try:
        return client.ask(request, kind)
    except AcudError as fault:
        return fault
