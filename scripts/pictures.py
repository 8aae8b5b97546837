"""The pictures of README and the dashboard's page, of a real run: what `scripts/pictures` makes.

An agent in a terminal clicks Export, hands the rest to acud and ends. acud watches, and starts it again. acud records
all of it; the animation is that recording, in as many colours as it needs.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from acud.base import paths as places
from acud.features.recording.replay.recording import RecordedSegment, VideoReader, load
from acud.types import Comparison, DisplayInfo, ScreenNumber, Text
from acud.types.actions import Launch
from acud.types.tasks import ItemStatus
from acud_client import Client

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".state" / "pictures"
PICTURES = ROOT / "docs" / "pictures"
ACUD = ROOT / ".venv" / "bin" / "acud"
PROGRAM = ROOT / "examples" / "customers.py"
SYSTEM_PYTHON = "/usr/bin/python3"
SIZE = 1226, 604
BACKGROUND = "#33475b"
EXPORT_S = 6
PATIENCE_S = 90
MOST_BYTES = 2_000_000
COLOURS = 256
LAST_S = 4.0
SETTINGS = """
[display]
first_number = 720
[vision]
backend = "ocr"
[recording]
fps = 12
crf = 0
[web]
enabled = true
port = 0
[wake]
routes = ["command"]
command = ["sh", "-c", "cat >> {home}/wakes"]
"""
AGENT = r"""
PATH={bin}:$PATH; cd {home}; clear
say() {{ printf '\n\e[1;36m●\e[0m \e[1m%s\e[0m\n' "$1"; sleep 1.2; }}
run() {{
    printf '\e[32m$\e[0m '; for ((n = 0; n < ${{#1}}; n++)); do printf %s "${{1:n:1}}"; sleep 0.015; done; echo
    eval "$1" 2>&1 | sed -E 's/\(found by.*//; /^note: (read|its)/d; /focus/d' | fold -sw 62; sleep 1
}}
say "Export the customers, then mail the file."
run 'acud gui do "click Export"'
run "acud wait '\"Export finished\" is visible' --target window:Customers --detach"
say "I end here. acud watches."
printf '\n\e[90m(no agent runs: no screenshots, no tokens)\e[0m\n'
until [ -s wakes ]; do sleep 0.05; done
printf '\n\e[1;33macud wakes the agent\e[0m\n'; sed 's/ Next:.*Seen/ Seen/' wakes | fold -sw 62; echo; sleep 2
say "It is done. I mail customers.pdf."
touch done; exec sleep 600
"""
Found = TypeVar("Found")
Pixels = NDArray[np.uint8]


def main() -> int:
    """Make what is named on the command line, or both, and return the exit code."""
    wanted = sys.argv[1:] or ["run", "dashboard"]
    if not set(wanted) <= {"run", "dashboard"}:
        print("usage: scripts/pictures [run] [dashboard]", file=sys.stderr)
        return 2
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACU_", "DISPLAY"))}
    env["ACU_HOME"] = str(HOME)
    with _daemon(env), Client(places.resolve(env), timeout_s=60) as client:
        if "run" in wanted:
            _tell(_animation(client, env))
        if "dashboard" in wanted:
            for picture in _dashboard(client, env):
                _tell(picture)
    return 0


@contextlib.contextmanager
def _daemon(env: dict[str, str]) -> Iterator[None]:
    HOME.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in ("wakes", "done"):
        (HOME / left).unlink(missing_ok=True)
    (HOME / "acud.toml").write_text(SETTINGS.format(home=HOME), encoding="utf-8")
    _acud(env, "daemon", "stop", "--force")  # of a run that was killed
    for kept in HOME.glob("data.db*"):  # so that lists show this run alone
        kept.unlink()
    try:
        _acud(env, "daemon", "start")
        yield
    finally:
        _acud(env, "daemon", "stop", "--force")


# ---- the run -------------------------------------------------------------------------------------------------------


def _animation(client: Client, env: dict[str, str]) -> Path:
    display = client.display_create(*SIZE).display
    _background(display)
    _customers(client, display)
    recording = client.record_start(display.name).recording
    _agent(display, env)
    _until((HOME / "done").exists, "the agent's end")
    time.sleep(LAST_S / 2)  # the last words are in the recording
    recording = client.record_stop(recording.recording_id).recording
    client.display_remove(display.name, force=True)
    film = load(HOME / "recordings" / recording.folder, recording.recording_id)
    return _apng(film.stretches[-1], PICTURES / "run.png")


def _customers(client: Client, display: DisplayInfo, seconds: float = EXPORT_S) -> None:
    """Show the program, and return when it tells its widgets and stands still."""
    client.desktop_action(Launch((SYSTEM_PYTHON, str(PROGRAM), str(seconds))), display=display.name)
    _until(lambda: client.gui_find("Export", display=display.name).found.status == "found", "the program")


def _background(display: DisplayInfo) -> None:
    own = os.environ | {"DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    subprocess.run(["xsetroot", "-solid", BACKGROUND], env=own, check=True)


def _agent(display: DisplayInfo, env: dict[str, str]) -> None:
    script = HOME / "agent.bash"
    script.write_text(AGENT.format(bin=ACUD.parent, home=HOME), encoding="utf-8")
    own = env | {
        "DISPLAY": display.name,
        "XAUTHORITY": display.auth_file,
        "DBUS_SESSION_BUS_ADDRESS": display.bus_address,
    }
    look = ["-geometry", "64x27+622+40", "-fa", "DejaVu Sans Mono", "-fs", "11", "-bg", "#10141a", "-fg", "#dfe5ec"]
    subprocess.Popen(
        ["xterm", "-T", "Agent", *look, "+bc", "-e", "bash", str(script)],
        env=own, stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _apng(stretch: RecordedSegment, path: Path) -> Path:
    """Write the recording as an animated PNG. Of each frame only the tiles that changed are taken, so that what stood
    still on the display stands still in the file."""
    reader = VideoReader(stretch)
    pictures: list[Pixels] = []
    for shown in stretch.shown:
        decoded = reader.picture(shown)[:, :, 2::-1]
        now = pictures[-1].copy() if pictures else decoded.copy()
        columns = -(-stretch.width // 16)
        for row in range(-(-stretch.height // 16)):
            for column in range(columns):
                if shown.tiles >> (row * columns + column) & 1:
                    box = np.s_[16 * row : 16 * row + 16, 16 * column : 16 * column + 16]
                    now[box] = decoded[box]
        pictures.append(now)
    reader.close()
    times = [shown.at_s for shown in stretch.shown]
    lengths = [round(1000 * (b - a)) for a, b in pairwise(times)] + [round(1000 * LAST_S)]
    palette = Image.fromarray(np.concatenate(pictures[:: len(pictures) // 3])).quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    frames = [Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=lengths, loop=0, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"pictures: {path} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
    return path


# ---- the dashboard -------------------------------------------------------------------------------------------------


def _dashboard(client: Client, env: dict[str, str]) -> Iterator[Path]:
    """Show two tasks in the dashboard: an export that is watched, and a build that has passed its tests."""
    export = client.task_register(
        "Send the customers to accounting", ["Open the list", "Export it", "Mail the file"], display_width=SIZE[0],
        display_height=SIZE[1],
    ).view.task  # fmt: skip
    display = _display_of(client, export.metadata["display"])
    _background(display)
    _customers(client, display, 60)
    client.task_item_update(export.task_id, 0, ItemStatus.ACTIVE)
    client.task_item_update(export.task_id, 0, ItemStatus.COMPLETED, note="seven customers are listed")
    client.task_item_update(export.task_id, 1, ItemStatus.ACTIVE)
    client.gui_do("click Export", task_id=export.task_id)
    client.wait_create(Text("Export finished"), task_id=export.task_id, label="the export ends", timeout_s=600)
    client.wait_create(
        ScreenNumber(Comparison.AT_LEAST, 90.0, unit="%"), task_id=export.task_id, label="nearly there", timeout_s=600
    )
    build = client.task_register(
        "Build release 2.4", ["Compile", "Test", "Upload"], display_width=960, display_height=540
    ).view.task
    _terminal(
        _display_of(client, build.metadata["display"]),
        "Build",
        "for n in 1 2 3 4 5 6; do echo compiling part $n of 6; sleep 1; done; echo; echo 412 tests passed",
    )
    passed = client.wait_create(Text("tests passed"), task_id=build.task_id, label="the tests pass", timeout_s=600)
    client.wait_end(passed.wait.wait_id)
    with _browser(env) as page:
        page.goto(page.url.split("#")[0] + "#/")
        yield _shot(page, "dashboard")
        page.goto(page.url.split("#")[0] + f"#/tasks/{export.task_id}")
        yield _shot(page, "dashboard-task")


def _display_of(client: Client, name: str) -> DisplayInfo:
    return next(one for one in client.display_list().displays if one.name == name)


def _terminal(display: DisplayInfo, title: str, script: str) -> None:
    _background(display)
    own = os.environ | {"DISPLAY": display.name, "XAUTHORITY": display.auth_file}
    look = ["-geometry", "80x20+60+50", "-fa", "DejaVu Sans Mono", "-fs", "12", "-bg", "#10141a", "-fg", "#dfe5ec"]
    subprocess.Popen(
        ["xterm", "-T", title, *look, "-e", "bash", "-c", f"{script}; exec sleep 600"],
        env=own, stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


@contextlib.contextmanager
def _browser(env: dict[str, str]) -> Iterator[Page]:
    """A page that is logged in."""
    link = _until(lambda: _acud(env, "web", "login"), "the gateway").splitlines()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(link)
        page.wait_for_url("**/dashboard**")
        yield page
        browser.close()


def _shot(page: Page, name: str) -> Path:
    page.wait_for_selector(".panel[data-shown]")
    page.wait_for_function("() => !document.querySelector('.skeleton')")
    page.wait_for_timeout(1_500)  # thumbnails have come
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path)
    with Image.open(path) as shot:
        shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


# ---- telling -------------------------------------------------------------------------------------------------------


def _until(asked: Callable[[], Found], what: str) -> Found:
    """Return what `asked` returns once that is true; ends the program after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := asked():
            return found
        time.sleep(0.1)
    raise SystemExit(f"pictures: {what} did not come within {PATIENCE_S} s")


def _acud(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([ACUD, *arguments], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"pictures: acud {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _tell(path: Path) -> None:
    print(f"pictures: {path.relative_to(ROOT)}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
