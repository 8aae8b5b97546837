"""Backups of a running daemon, verified and put back; a kill at any moment leaves either state, never a mixture."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from acud.archive.restore import restore
from acud.base.errors import InvalidRequest
from acud.protocol.archive import BackupAsk, RestoreAsk
from acud.store import backup
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine, settings
from tests.fixtures.daemon import Daemon


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    (path / "acud.toml").write_text(settings(), encoding="utf-8")
    return path


@pytest.fixture
def acud(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home=home) as running:
        yield running


def tasks(daemon: Daemon) -> set[str]:
    return {view.task.name for view in daemon.client.task_list().tasks}


def fill(daemon: Daemon) -> None:
    daemon.client.task_register("before", isolated_display=False)
    (daemon.paths.recordings / "rec-1").mkdir(parents=True, exist_ok=True)
    (daemon.paths.recordings / "rec-1" / "0001.mp4").write_bytes(b"film" * 1000)


def refused(acud: CommandLine, verb: str, place: Path, code: int) -> str:
    return str(acud.json(verb, str(place), code=code)["error"]["message"])


def test_a_backup_of_a_running_daemon_is_put_back(daemon: Daemon, acud: CommandLine, tmp_path: Path) -> None:
    fill(daemon)
    made = acud.json("backup", str(tmp_path / "kept"), "--recordings")
    assert [file["path"] for file in made["manifest"]["files"]] == ["data.db", "recordings/rec-1/0001.mp4"]
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert "is there already" in refused(acud, "backup", tmp_path / "kept", 8)
    daemon.client.task_register("after", isolated_display=False)
    assert "already runs" in refused(acud, "restore", tmp_path / "kept", 8)
    (daemon.home / ".checking-4194305").mkdir()  # of a check that was killed: no process has such a number
    assert acud.run("restore", str(tmp_path / "kept"), "--check").startswith("whole: 2 files verified")
    assert not list(daemon.home.glob(".checking-*"))
    assert tasks(daemon) == {"before", "after"}
    daemon.stop()
    (daemon.paths.recordings / "rec-1" / "0001.mp4").write_bytes(b"")
    assert acud.run("restore", str(tmp_path / "kept"), "--check").startswith("whole: 2 files verified")
    aside = Path(acud.json("restore", str(tmp_path / "kept"))["aside"])
    assert {path.name for path in aside.iterdir()} >= {"data.db", "recordings"}
    daemon.start()
    assert tasks(daemon) == {"before"}
    assert (daemon.paths.recordings / "rec-1" / "0001.mp4").read_bytes() == b"film" * 1000


def test_one_file_and_what_is_not_in_it_stays(daemon: Daemon, acud: CommandLine, tmp_path: Path) -> None:
    fill(daemon)
    acud.run("backup", str(tmp_path / "kept.tar"))
    with tarfile.open(tmp_path / "kept.tar") as archive:
        assert sorted(archive.getnames()) == ["data.db", "manifest.json"]
    daemon.stop()
    daemon.paths.database.unlink()
    acud.run("restore", str(tmp_path / "kept.tar"))
    assert (daemon.paths.recordings / "rec-1" / "0001.mp4").exists()
    assert acud.run("vacuum").startswith("data.db: ")
    daemon.start()
    assert tasks(daemon) == {"before"}
    assert not (daemon.paths.home / backup.STAGE).exists()


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, to
    return found


NO_BACKUPS = [
    ([(member("../outside"), b"x")], "it holds '../outside', which is no file of a backup"),
    ([(member("/tmp/acud-outside"), b"x")], "which is no file of a backup"),
    ([(member("link", tarfile.SYMTYPE, "/"), b"")], "it holds 'link', which is no file of a backup"),
    ([(member("pipe", tarfile.FIFOTYPE), b"")], "it holds 'pipe', which is no file of a backup"),
    ([(member("data.db"), b"1"), (member("data.db"), b"2")], "cannot be unpacked"),
    ([(member("data.db"), b"1"), (member("data.db/x"), b"2")], "cannot be unpacked"),
    ([(member("./", tarfile.DIRTYPE), b"")], "it has no manifest.json"),
]
"""What a .tar holds, and what is said of it."""


def bad(kept: Path) -> dict[str, Any]:
    """Ways in which a backup is not whole any more, and what is said of each."""

    def manifest(change: Any) -> None:
        path = kept / "manifest.json"
        plain = json.loads(path.read_text())
        change(plain)
        path.write_text(json.dumps(plain))

    return {
        "is not what the manifest.json says": lambda: (kept / "data.db").write_bytes(b"x"),
        "it has no manifest.json": lambda: (kept / "manifest.json").unlink(),
        "data.db is missing": lambda: (kept / "data.db").unlink(),
        "it names a file '../../x'": lambda: manifest(lambda m: m["files"][0].update(path="../../x")),
        "is of version 99": lambda: manifest(lambda m: m.update(version=99)),
    }


def test_what_is_no_whole_backup_replaces_nothing_and_writes_nothing_elsewhere(
    daemon: Daemon, acud: CommandLine, tmp_path: Path
) -> None:
    fill(daemon)
    good, kept, tar = tmp_path / "good", tmp_path / "kept", tmp_path / "kept.tar"
    acud.run("backup", str(good))
    daemon.stop()
    before = daemon.paths.database.read_bytes()

    def fault_of(place: Path) -> str:
        with pytest.raises(InvalidRequest) as fault:
            restore(daemon.paths, RestoreAsk(str(place)), 0.0)
        assert daemon.paths.database.read_bytes() == before
        return fault.value.message

    for words in bad(kept):
        shutil.copytree(good, kept)
        bad(kept)[words]()
        assert words in fault_of(kept)
        shutil.rmtree(kept)
    for members, words in NO_BACKUPS:
        assert words in fault_of(packed(tar, *members))
        assert not list(daemon.home.rglob("outside")) + list(tmp_path.rglob("outside"))
        assert not Path("/tmp/acud-outside").exists()
    assert NO_BACKUPS[-1][1] in refused(acud, "restore", tar, 2)
    assert not list(daemon.paths.home.glob("replaced-*"))
    daemon.start()
    assert tasks(daemon) == {"before"}


def archive(home: Path, ask: BackupAsk) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "acud.archive"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"ACU_HOME": str(home)},
    )
    process.stdin.write(msgspec.json.encode(ask))
    process.stdin.close()
    return process


@pytest.mark.long
@pytest.mark.parametrize("who", ["backup", "daemon"])
def test_a_kill_in_the_middle_of_a_backup(daemon: Daemon, acud: CommandLine, tmp_path: Path, who: str) -> None:
    fill(daemon)
    for number in range(200):
        (daemon.paths.recordings / "rec-1" / f"{number:04}.mp4").write_bytes(b"film" * 10_000)
    target = tmp_path / "kept"
    process = archive(daemon.paths.home, BackupAsk(str(target), recordings=True))
    partial = tmp_path / ".kept.partial"
    faults.until(lambda: (partial / "recordings").exists() or target.exists(), "the middle of the backup")
    if who == "backup":
        process.send_signal(signal.SIGKILL)
        process.wait()
        if not target.exists():  # else it was quicker
            acud.run("backup", str(target), "--recordings")
        assert not partial.exists()
    else:
        daemon.kill()
        assert process.wait(faults.PATIENCE_S) == 0
        daemon.start()
    assert tasks(daemon) == {"before"}
    daemon.stop()
    assert acud.run("restore", str(target), "--check").startswith("whole: 201 files verified")


@pytest.mark.parametrize(
    "moved", [pytest.param(("evidence",), marks=pytest.mark.long), ("evidence", "recordings", "data.db")]
)
def test_a_kill_in_the_middle_of_a_restore_is_finished_by_the_next_start(
    daemon: Daemon, acud: CommandLine, tmp_path: Path, moved: tuple[str, ...]
) -> None:
    fill(daemon)
    acud.run("backup", str(tmp_path / "kept"), "--recordings", "--evidence")
    daemon.client.task_register("after", isolated_display=False)
    daemon.stop()
    home = daemon.paths.home
    stage, aside = home / backup.STAGE, home / "replaced-now"
    shutil.copytree(tmp_path / "kept", stage)
    (stage / "evidence").mkdir(exist_ok=True)
    backup.begin_swap(home, aside.name)
    aside.mkdir()
    for item in moved:  # what was done before the kill; of the last one only its first half
        (home / item).rename(aside / item)
        if item != moved[-1]:
            (stage / item).rename(home / item)
    daemon.start()
    assert tasks(daemon) == {"before"}
    assert sorted(path.name for path in aside.iterdir() if not path.name.startswith("data.db-")) == [
        "data.db",
        "evidence",
        "recordings",
    ]
    assert not (home / "restore.json").exists()
