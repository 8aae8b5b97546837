"""Files that tools write in ways that acud's rules were not written on: is "complete" what the writer says?"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from acud.types import FileState, WaitState
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import Pages, need, show, unseen, wait_for
from tests.fixtures.daemon import Daemon

SETTINGS = '[vision]\nbackend = "ocr"\n[host_conditions]\npaths = ["~", "/tmp"]\n'
_SIZE = 600_000


class _Slow(ThreadingHTTPServer):
    """Serves a file whose last third comes once `go` is set; until then it stalls."""

    daemon_threads = True

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked = threading.Event()
        super().__init__(("127.0.0.1", 0), _SlowHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _SlowHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Slow

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        begin, end = 0, _SIZE - 1
        if wanted := self.headers.get("range"):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(first), int(last or end)
        self.send_response(206 if wanted else 200)
        self.send_header("content-type", "application/octet-stream")
        self.send_header("content-disposition", 'attachment; filename="ledger.bin"')
        self.send_header("accept-ranges", "bytes")
        if wanted:
            self.send_header("content-range", f"bytes {begin}-{end}/{_SIZE}")
        self.send_header("content-length", str(end - begin + 1))
        self.end_headers()
        if self.command == "HEAD":
            return
        half = (end - begin + 1) * 2 // 3
        try:
            self.wfile.write(b"a" * half)
            self.wfile.flush()
            if end - begin > 1000:
                self.server.asked.set()
                self.server.go.wait(60)
            self.wfile.write(b"b" * (end - begin + 1 - half))
        except OSError:
            return

    def log_message(self, *words: object) -> None:
        """Print nothing."""


def _judge(daemon: Daemon, path: Path, go: Callable[[], None], holds_s: float, is_done: Callable[[], bool]) -> Outcome:
    """The writer stands still for `holds_s`: no yes; then it ends: yes."""
    wait_id = daemon.client.wait_create(FileState(str(path)), timeout_s=holds_s + 25.0).wait.wait_id
    early = daemon.client.wait_result(wait_id, block_s=holds_s, peek=True).wait
    if early.state == WaitState.RESOLVED:
        return Outcome(Answer.WRONG, f"too early: {early.verdict.detail}")
    go()
    end = daemon.client.wait_end(wait_id).wait
    printed = f"while it stood: {early.verdict.detail}; then {end.state}: {end.verdict.detail}"
    if end.state != WaitState.RESOLVED:
        return Outcome(Answer.UNKNOWN, printed)
    return Outcome(Answer.RIGHT if wait_for(is_done, bool, 1.0) else Answer.WRONG, printed)


def _folder(daemon: Daemon) -> Path:
    path = Path(daemon.home) / f"files-{time.monotonic_ns()}"
    path.mkdir()
    return path


@contextmanager
def _run(*command: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    need(command[0])
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.kill()


def _download(command: tuple[str, ...], pattern: str, daemon: Daemon) -> Outcome:
    """A tool downloads; the server stalls for 5 s before the last third."""
    folder, server = _folder(daemon), _Slow()
    with _run(*(word.replace("URL", f"{server.url}/ledger.bin") for word in command), cwd=folder) as process:
        assert server.asked.wait(20)
        wait_for(lambda: any(folder.iterdir()), bool, 5.0)

        def is_done() -> bool:
            file = folder / "ledger.bin"
            return file.exists() and file.stat().st_size == _SIZE and process.poll() is not None

        outcome = _judge(daemon, folder / pattern, server.go.set, 5.0, is_done)
        server.shutdown()
        return outcome


def _chromium(pattern: str, daemon: Daemon) -> Outcome:
    """Chromium downloads by a link of a page into ~/Downloads, under the profile's own folder."""
    server = _Slow()
    folder = _folder(daemon)
    body = f"<p><a id=file href='{server.url}/ledger.bin'>Ledger</a></p><script>file.click()</script>"
    with Pages(body, "Files") as pages, show(daemon) as screen:
        need("chromium")
        profile = folder / "profile" / "Default"
        profile.mkdir(parents=True)
        target = folder / "Downloads"
        target.mkdir()
        (profile / "Preferences").write_text(
            f'{{"download": {{"default_directory": "{target}", "prompt_for_download": false}}}}'
        )
        screen.launch(
            "chromium",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={profile.parent}",
            pages.url,
        )
        assert server.asked.wait(40)
        wait_for(lambda: any(target.iterdir()), bool, 5.0)

        def is_done() -> bool:
            return any(file.name == "ledger.bin" and file.stat().st_size == _SIZE for file in target.iterdir())

        outcome = _judge(daemon, target / pattern, server.go.set, 5.0, is_done)
        server.shutdown()
        return outcome


_WRITER = """import sys, os, mmap, time
kind, path = sys.argv[1:]
if kind == 'child':
    f = open(path, 'wb', 0); f.write(b'a' * 9000)
    if os.fork(): f.close(); os.wait(); sys.exit()
    sys.stdin.read(1); f.write(b'b'); f.close()
elif kind == 'renamed':
    f = open(path + '.new', 'wb', 0); f.write(b'a' * 9000); os.rename(path + '.new', path)
    sys.stdin.read(1); f.write(b'b'); f.close()
elif kind == 'mmap':
    f = open(path, 'w+b', 0); f.truncate(9001); m = mmap.mmap(f.fileno(), 9001); f.close(); m[0:9000] = b'a' * 9000
    sys.stdin.read(1); m[9000:9001] = b'b'; m.close()
elif kind == 'hardlink':
    f = open(path + '.spool', 'wb', 0); f.write(b'a' * 9000); os.link(path + '.spool', path)
    sys.stdin.read(1); f.write(b'b'); f.close()
elif kind == 'symlink':
    f = open(path + '.data', 'wb', 0); f.write(b'a' * 9000); os.symlink(path + '.data', path)
    sys.stdin.read(1); f.write(b'b'); f.close()
elif kind == 'passed':
    import subprocess
    f = open(path, 'wb', 0); f.write(b'a' * 9000)
    sys.exit(subprocess.call(['sh', '-c', 'exec 3>&1; head -c 1 >&3'], stdout=f))
"""


def _write(kind: str, name: str, daemon: Daemon) -> Outcome:
    folder = _folder(daemon)
    path = folder / name
    with _run(sys.executable, "-c", _WRITER, kind, str(path), cwd=folder) as process:
        wait_for(path.exists, bool, 10.0)

        def go() -> None:
            assert process.stdin
            process.stdin.write(b"b")
            process.stdin.close()

        return _judge(daemon, path, go, 5.0, lambda: path.stat().st_size == 9001 and process.poll() == 0)


def _shell(command: str, daemon: Daemon) -> Outcome:
    """A tool of the shell writes `out.dat` from a FIFO that stalls."""
    folder = _folder(daemon)
    os.mkfifo(folder / "slow")
    need(command.split()[0])
    with _run("sh", "-c", command, cwd=folder) as process, (folder / "slow").open("wb", buffering=0) as feed:
        feed.write(os.urandom(60_000))
        wait_for(lambda: (folder / "out.dat").exists(), bool, 5.0)
        return _judge(daemon, folder / "out.dat", feed.close, 5.0, lambda: process.poll() == 0)


def _partial_name(partial_name: str, pattern: str, final: str, daemon: Daemon) -> Outcome:
    """A partial file lies there, closed and still, as a paused download leaves it: no yes for its pattern."""
    folder = _folder(daemon)

    def begin() -> None:
        (folder / partial_name).write_bytes(b"a" * 9000)

    timer = threading.Timer(0.5, begin)
    timer.start()

    def go() -> None:
        (folder / partial_name).rename(folder / final)

    outcome = _judge(daemon, folder / pattern, go, 4.0, (folder / final).exists)
    timer.join()
    return outcome


def _stale(daemon: Daemon) -> Outcome:
    """An older file is there: a yes for its name says since when."""
    folder = _folder(daemon)
    file = folder / "statement.pdf"
    file.write_bytes(b"%PDF-1.4 old")
    wait_for(lambda: time.time() - file.stat().st_ctime > 2.0, bool)
    wait_id = daemon.client.wait_create(FileState(str(file)), timeout_s=8.0).wait.wait_id
    end = daemon.client.wait_end(wait_id).wait
    is_told = "there since" in end.verdict.detail or "was there" in end.verdict.detail
    return Outcome(Answer.RIGHT if is_told else Answer.WRONG, f"{end.state}: {end.verdict.detail}")


CASES: tuple[Case, ...] = (
    unseen(
        "aria2, preallocated", partial(_download, ("aria2c", "--file-allocation=prealloc", "-x1", "URL"), "ledger.bin")
    ),
    unseen(
        "aria2 without its own file",
        partial(_download, ("aria2c", "--file-allocation=none", "--auto-save-interval=0", "-s1", "URL"), "*.bin"),
    ),
    unseen("axel in four parts", partial(_download, ("axel", "-q", "-n", "4", "URL"), "ledger.bin")),
    unseen("lftp pget", partial(_download, ("lftp", "-c", "set net:timeout 60; pget -n 3 URL"), "ledger.bin")),
    unseen("wget2", partial(_download, ("wget2", "-q", "--max-threads=1", "URL"), "ledger*")),
    unseen("Chromium by name", partial(_chromium, "ledger.bin")),
    unseen("Chromium by pattern", partial(_chromium, "*")),
    unseen("a child holds it open", partial(_write, "child", "report.csv")),
    unseen("renamed while it is written", partial(_write, "renamed", "report.csv")),
    unseen("written through a memory map", partial(_write, "mmap", "index.db")),
    unseen("a hard link to a spool file", partial(_write, "hardlink", "page.ps")),
    unseen("a symbolic link to what is written", partial(_write, "symlink", "latest.log")),
    unseen("standard output passed on", partial(_write, "passed", "out.txt")),
    unseen("gzip", partial(_shell, "gzip -c < slow > out.dat")),
    unseen("dd without truncation", partial(_shell, "dd if=slow of=out.dat bs=1000 conv=notrunc")),
    unseen("tee, appended", partial(_shell, "tee -a out.dat < slow > /dev/null")),
    unseen("a fragment of yt-dlp", partial(_partial_name, "talk.mp4.part-Frag7", "talk*", "talk.mp4")),
    unseen("a partial file of Opera", partial(_partial_name, "invoice.pdf.opdownload", "invoice*", "invoice.pdf")),
    unseen("a partial file of WinSCP", partial(_partial_name, "dump.sql.filepart", "dump*", "dump.sql")),
    unseen("a partial file of gsutil", partial(_partial_name, "plan.odt_.gstmp", "plan*", "plan.odt")),
    unseen("a partial file of rclone", partial(_partial_name, "notes.txt.4f1c09ab.partial", "notes*", "notes.txt")),
    unseen("a partial file of FDM", partial(_partial_name, "iso.img.fdmdownload", "iso*", "iso.img")),
    unseen("a stale file", _stale),
)
