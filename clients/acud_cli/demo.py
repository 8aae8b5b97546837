"""`acud demo`: a display, a terminal that downloads something, and a wait for its last line: acud's main job in half a
minute. Everything lives in a directory of its own; what is started here is ended here.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from acud.base import paths as places
from acud.base.errors import Unavailable
from acud.protocol.requests.waits import WaitShowReply
from acud.types import DisplayInfo, WaitInfo, WaitState
from acud_cli.formatting import count, duration, milliseconds, shorten
from acud_cli.session import Session, pass_session
from acud_client import Client

CRITERIA = '"Download complete" is visible'
DOWNLOAD = """
printf '\\n  Fetching dataset.tar.zst from mirror\\n\\n'
for done in 12 25 37 50 62 75 87 100; do printf '  %3d %% of 812 MB\\n' "$done"; sleep 1; done
printf '\\n  Download complete\\n'; exec sleep 600
"""
_ACUD = (sys.executable, "-m", "acud_cli")
BOLD, DIM, GREEN, PLAIN = ("\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m") if sys.stdout.isatty() else ("",) * 4


@click.command(short_help="Show acud at work: a display, a terminal, a wait.")
@click.option("--keep", is_flag=True, help="Leave the daemon and the terminal running, to look around.")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Keep its files there (default: ~/.cache)."
)
@pass_session
def demo(session: Session, *, keep: bool, folder: Path | None) -> None:
    """Show acud at work. Start a daemon with a display of its own, open a terminal there that prints "Download
    complete" after some seconds, wait for that text, and print what happened.

    It needs no key, no model and no network, does not touch your daemon or your screen, and ends what it started.

    \b
    acud demo
    acud demo --keep
    """
    session.only_here("acud demo")
    home = (folder or (Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "acud-demo")).absolute()
    if not session.json:
        _show_wait(home, keep)
        return
    with contextlib.redirect_stdout(sys.stderr):
        told = _show_wait(home, keep)
    session.show(told, lambda: None)


def _show_wait(home: Path, keep: bool) -> WaitShowReply:
    began_s = time.monotonic()
    env = _make_environment(home)
    with _run_daemon(env, keep), Client(places.resolve(env), timeout_s=20) as client:
        display = client.display_create(1280, 720).display
        _print_step(
            "display",
            f"{display.name}, {display.width}x{display.height}, with a window manager and a session bus of its own",
        )
        with _open_terminal(display, keep):
            _print_step("terminal", "an xterm there downloads something for eight seconds")
            _run_wait(env, display)
            told = _print_timeline(client)
        if keep:
            _print_environment(home, display)
    _print_next_steps(keep)
    print(f"{DIM}the whole demo took {duration(time.monotonic() - began_s)}{PLAIN}")
    return told


def _make_environment(home: Path) -> dict[str, str]:
    """The person's environment without what would change the demo: their acud's settings, their display."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACU_", "OLLAMA_", "DISPLAY"))}
    return kept | {"ACU_HOME": str(home)}


@contextlib.contextmanager
def _run_daemon(env: dict[str, str], keep: bool) -> Iterator[None]:
    _run_acud(env, "daemon", "stop", "--force")  # of a demo that was killed, or kept
    try:
        _print_step("daemon", _run_acud(env, "daemon", "start"))
        yield
    finally:
        if not keep:
            _run_acud(env, "daemon", "stop", "--force")


@contextlib.contextmanager
def _open_terminal(display: DisplayInfo, keep: bool) -> Iterator[None]:
    env = os.environ | {"DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    look = ["-T", "Downloads", "-geometry", "64x18+120+90", "-fa", "DejaVu Sans Mono", "-fs", "14", "-bg", "white"]
    xterm = subprocess.Popen(
        ["xterm", *look, "-e", "sh", "-c", DOWNLOAD], env=env, stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
        if xterm.poll() is not None:
            raise Unavailable(f"the xterm ended early, with exit code {xterm.returncode}")
    finally:
        if not keep:
            xterm.terminate()
            xterm.wait()


def _run_wait(env: dict[str, str], display: DisplayInfo) -> None:
    arguments = ["wait", CRITERIA, "--display", display.name, "--judge", "ocr", "--timeout", "90"]
    print(f"\n{BOLD}$ acud wait '{CRITERIA}' --display {display.name} --judge ocr --timeout 90{PLAIN}", flush=True)
    code = subprocess.run([*_ACUD, *arguments], env=env, stdout=sys.stdout, check=False).returncode
    print()
    if code != 0:
        raise Unavailable(f"the wait ended with exit code {code}", hint=f"acud --home {env['ACU_HOME']} logs")


def _print_timeline(client: Client) -> WaitShowReply:
    newest = client.wait_list(states=[WaitState.RESOLVED], limit=1).waits[0]
    story = client.wait_show(newest.wait_id, evaluations=200)
    print(f"{BOLD}What happened{PLAIN}")
    for at_s, words in _list_moments(story):
        print(f"  {at_s:6.2f} s  {shorten(words, 110)}")
    print()
    _print_step("frames", f"{count(newest.frames_seen, 'frame')} seen, {count(newest.judged, 'evaluation')}")
    _print_step("judge", f"{count(newest.judge_calls, 'call')} of the OCR on this machine, no key, no network")
    _print_step("latency", _describe_latency(newest))
    _print_step("evidence", story.evidence_path or "none was kept")
    print()
    return story


def _list_moments(story: WaitShowReply) -> Iterator[tuple[float, str]]:
    armed_s = story.wait.created_utc_s
    yield 0.0, "armed"
    said = ""
    for one in story.evaluations:
        words = f"{one.verdict.answer}: {one.verdict.detail}  (frame {one.frame}, {milliseconds(one.latency_ms)})"
        if one.verdict.detail != said:
            yield one.utc_s - armed_s, words
        said = one.verdict.detail
    yield story.wait.ended_utc_s - armed_s, story.wait.state.value


def _describe_latency(wait: WaitInfo) -> str:
    if wait.changed_to_resolved_ms is None:
        return "not measured"
    return f"changed → resolved in {GREEN}{milliseconds(wait.changed_to_resolved_ms)}{PLAIN}"


def _print_environment(home: Path, display: DisplayInfo) -> None:
    place = shlex.quote(str(home))
    print(f"{BOLD}Still running{PLAIN} (end it with: acud --home {place} daemon stop)")
    print(f"  export ACU_HOME={place}")
    print(f'  eval "$(acud display env {display.name})"   # programs started from this shell now show there')
    print("  acud top\n")


def _print_next_steps(keep: bool) -> None:
    print(f"{BOLD}Try next{PLAIN}")
    if not keep:
        print("  acud demo --keep              # leaves the daemon and the terminal running to look around")
    print("  acud daemon start && acud doctor")
    print("  acud wait --help\n")


def _print_step(name: str, words: str) -> None:
    print(f"  {DIM}{name:<9}{PLAIN} {words}", flush=True)


def _run_acud(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([*_ACUD, *arguments], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip().removeprefix("acud: "))
    return done.stdout.strip()
