"""`acud backup`, `acud restore` and `acud vacuum`: done by a process of their own, with the caller's rights."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from acud.base.errors import Unavailable, from_wire
from acud.base.typed_values import decode_json
from acud.protocol.archive import (
    ArchiveAnswer,
    ArchiveAsk,
    ArchiveFault,
    BackupAsk,
    BackupMade,
    CompactAsk,
    Compacted,
    RestoreAsk,
    Restored,
)
from acud_cli.formatting import count
from acud_cli.session import Session, pass_session, say, warn

Answer = TypeVar("Answer", BackupMade, Restored, Compacted)
_PLACE = click.Path(path_type=Path)


@click.command(short_help="Copy the store, and files if wanted, while the daemon runs.")
@click.argument("target", type=_PLACE)
@click.option("--evidence", is_flag=True, help="With the pictures that prove waits.")
@click.option("--recordings", is_flag=True, help="With the recordings.")
@pass_session
def backup(session: Session, *, target: Path, evidence: bool, recordings: bool) -> None:
    """Make a backup at TARGET, which must not exist: a folder, or one file when it ends in .tar. The database is copied
    as it is at one moment, whether the daemon runs or not, and nothing waits for it; a manifest has the SHA-256 of each
    file.

    Settings, keys and tokens are not in it: keep acud.toml yourself.

    \b
    acud backup ~/acud-backup
    acud backup ~/acud.tar --evidence
    """
    ask = BackupAsk(str(target.absolute()), evidence, recordings, os.getpid())
    made = _run_archive(session, ask, BackupMade)
    words = f"{made.path}: {count(len(made.manifest.files), 'file')}, {made.size_bytes / 1e6:.1f} MB"
    session.show(made, lambda: say(f"{words}, tables as of {made.manifest.migration}"))
    if made.manifest.skipped:
        warn(f"note: {count(len(made.manifest.skipped), 'file')} went by retention meanwhile and are not in it")


@click.command(short_help="Restore a backup, while the daemon is stopped.")
@click.argument("source", type=_PLACE)
@click.option("--check", is_flag=True, help="Only verify the backup; nothing is replaced.")
@pass_session
def restore(session: Session, *, source: Path, check: bool) -> None:
    """Verify the backup SOURCE (a folder, a .tar, or a database such as backups/before-*.db) as a whole, then put it in
    place. What was there before is kept aside in ACU_HOME. The daemon must be down: acud daemon stop.

    \b
    acud restore ~/acud.tar --check
    acud restore ~/acud.tar
    """
    done = _run_archive(session, RestoreAsk(str(source.absolute()), check, os.getpid()), Restored)
    words = f"{count(done.verified, 'file')} verified, tables as of {done.migration}"
    session.show(
        done, lambda: say(f"restored: {words}; the former state: {done.aside}" if done.aside else f"whole: {words}")
    )


@click.command(short_help="Compact the database, while the daemon is stopped.")
@pass_session
def vacuum(session: Session) -> None:
    """Write the database anew, without free pages. The daemon gives free pages back by itself as retention makes them;
    this is for a database that an early acud made, or after much was deleted. The daemon must be down.

    \b
    acud vacuum
    """
    done = _run_archive(session, CompactAsk(os.getpid()), Compacted)
    session.show(done, lambda: say(f"data.db: {done.before / 1e6:.1f} -> {done.after / 1e6:.1f} MB"))


def _run_archive(session: Session, ask: ArchiveAsk, kind: type[Answer]) -> Answer:
    env = os.environ | {"ACU_HOME": str(session.paths.home)}
    process = subprocess.run(
        [sys.executable, "-m", "acud.archive"],
        input=msgspec.json.encode(ask),
        stdout=subprocess.PIPE,
        env=env,
        check=False,
    )
    if process.returncode:
        raise Unavailable(f"its process ended with code {process.returncode}", hint="what it said is above")
    answer = decode_json(process.stdout, ArchiveAnswer)
    if isinstance(answer, ArchiveFault):
        raise from_wire(answer.code, answer.message, answer.hint, {})
    assert isinstance(answer, kind)
    return answer
