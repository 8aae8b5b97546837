"""One way to notice what a display shows, in a process of its own: acud, the floor, mss, python-xlib or gptme; readers.

    python tests/bench/_peer_watchers.py NAME DISPLAY [HOME]     # orders on standard input, one JSON object a line

It imports nothing of this repository but acud's client for acud, and the readers of the OCR set for those: gptme's runs
in gptme's environment. Orders: `watch` (armed, then when it noticed, or null), `go_on` (a call is over, another one
will follow), `idle` (watches for `s` seconds), `work` (watches for `s` seconds and asks a judge of 200 ms about each
picture, until `pixel` has `colour`), `text` (armed, then when it told that `text` is shown, or null). Every answer
carries the CPU time of this process and the programs that it ran.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

FPS = 10.0
"""How often a poller looks: ten times as often as the field does, so that its delay is small and its cost is seen."""
JUDGE_S = 0.2
WIDTH, HEIGHT = 1280, 720

Armed = Callable[[], None]
Colour = tuple[int, int, int]


class Watcher(Protocol):
    """Notices changes of one display."""

    looks: int

    def watch(self, armed: Armed, timeout_s: float) -> bool:
        """Return whether a change was noticed within `timeout_s`; `armed` is called once it has its first picture."""

    def go_on(self) -> None:
        """Take what the next call compares with from what the display shows now, where it can be kept between calls."""

    def colour(self, x: int, y: int) -> Colour:
        """Return a pixel of the picture in hand, which a judge is shown."""


class Poller:
    """Grabs so many times a second and compares with the picture before, byte by byte."""

    def __init__(self, grab: Callable[[], bytes]) -> None:
        self._grab = grab
        self._seen = grab()
        self.screenshots = 0

    def watch(self, armed: Armed, timeout_s: float) -> bool:
        armed()
        end_s = time.monotonic() + timeout_s
        while (began_s := time.monotonic()) < end_s:
            now = self._grab()
            self.screenshots += 1
            if now != self._seen:
                self._seen = now
                return True
            time.sleep(max(0.0, min(began_s + 1 / FPS, end_s) - time.monotonic()))
        return False

    def go_on(self) -> None:
        self._seen = self._grab()

    def colour(self, x: int, y: int) -> Colour:
        blue, green, red = self._seen[4 * (y * WIDTH + x) :][:3]
        return red, green, blue


def mss(display: str) -> Watcher:
    """Return a poller over mss, on its default (XShm) path."""
    from mss import MSS

    grabber = MSS(display=display)
    area = {"left": 0, "top": 0, "width": WIDTH, "height": HEIGHT}
    return Poller(lambda: bytes(grabber.grab(area).raw))


def xlib(display: str) -> Watcher:
    """Return a poller over python-xlib's GetImage."""
    from Xlib import X
    from Xlib.display import Display

    root = Display(display).screen().root
    return Poller(lambda: bytes(root.get_image(0, 0, WIDTH, HEIGHT, X.ZPixmap, 0xFFFFFFFF).data))


class Floor:
    """The least that noticing costs: the X server's own word that something was drawn (DAMAGE), and nothing else.

    It grabs and compares nothing, so it also tells of what was drawn and looks as before.
    """

    def __init__(self, display: str) -> None:
        from Xlib.display import Display
        from Xlib.ext import damage

        self._display = Display(display)
        self._display.damage_query_version()
        root = self._display.screen().root
        self._damage = root.damage_create(damage.DamageReportNonEmpty)
        self.screenshots = 0

    def watch(self, armed: Armed, timeout_s: float) -> bool:
        armed()
        end_s = time.monotonic() + timeout_s
        while not self._display.pending_events():
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not select.select([self._display], [], [], left_s)[0]:
                return False
        self._display.next_event()
        self._display.damage_subtract(self._damage)  # so that it tells of the next drawing
        self._display.flush()
        return True

    def go_on(self) -> None:
        self._display.damage_subtract(self._damage)
        self._display.sync()
        while self._display.pending_events():
            self._display.next_event()

    def colour(self, x: int, y: int) -> Colour:
        raise NotImplementedError("the floor has no picture")


class ReadingLoop:
    """Reads the whole frame with an OCR whenever bytes changed, and looks for a text in all that it read.

    White space is left out and case ignored, as acud does.
    """

    def __init__(self, display: str, read: Callable[[Any], Sequence[str]]) -> None:
        from mss import MSS

        self._grabber = MSS(display=display)
        self._read = read
        self._seen, self._said = b"", ""

    def text(self, text: str, armed: Armed, timeout_s: float) -> bool:
        """Return whether `text` was read within `timeout_s`; `armed` is called once what is shown now was read."""
        wanted = _folded([text])
        end_s, began_s = time.monotonic() + timeout_s, time.monotonic()
        self._look()
        armed()
        while wanted not in self._said:
            time.sleep(max(0.0, min(began_s + 1 / FPS, end_s) - time.monotonic()))
            if (began_s := time.monotonic()) >= end_s:
                return False
            self._look()
        return True

    def _look(self) -> None:
        import numpy as np

        raw = bytes(self._grabber.grab({"left": 0, "top": 0, "width": WIDTH, "height": HEIGHT}).raw)
        if raw != self._seen:
            self._seen = raw
            self._said = _folded(self._read(np.frombuffer(raw, np.uint8).reshape(HEIGHT, WIDTH, 4)))


def _folded(texts: Sequence[str]) -> str:
    return "".join("".join(texts).split()).casefold()


def reading_loop(display: str, name: str) -> ReadingLoop:
    """Return a loop over plain rapidocr at one thread, or tesseract at twice the size."""
    from tests.ocr_set import scores

    read = scores.plain_rapidocr() if name == "rapidocr" else scores.tesseract()
    if read is None:
        raise SystemExit("tesseract is not installed")
    return ReadingLoop(display, read)


class Gptme:
    """gptme's own `computer("wait_for_change")`, unchanged, over the program it takes screenshots with (scrot)."""

    def __init__(self, home: str) -> None:
        from pathlib import Path

        from gptme.tools import computer, screenshot

        screenshot.OUTPUT_DIR = Path(home, "screenshots")  # else in a fixed folder that all users share
        self._screenshot = computer.screenshot
        self._call = computer.computer
        computer.screenshot = self._counted
        self._armed: Armed | None = None
        self._picture = ""
        self.screenshots = 0

    def _counted(self) -> Any:
        path = self._screenshot()
        if self._armed is not None:  # the first one of a call is what it will compare with
            armed, self._armed = self._armed, None
            armed()
        else:
            self.screenshots += 1
        return path

    def watch(self, armed: Armed, timeout_s: float) -> bool:
        self._armed = armed
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            message = self._call("wait_for_change", text=str(timeout_s))
        self._picture = str(message.files[0])
        return "Screen changed" in said.getvalue()

    def go_on(self) -> None:
        """A call takes its own first picture; there is nothing to hand to the next one."""

    def colour(self, x: int, y: int) -> Colour:
        from PIL import Image

        with Image.open(self._picture) as picture:
            red, green, blue = picture.convert("RGB").getpixel((x, y))
        return red, green, blue


class Acud:
    """A change wait of a running daemon, from a token taken when the one before had ended; its evidence is kept."""

    def __init__(self, display: str) -> None:
        from acud_client import Client

        self._client = Client()
        self._display = display
        self._since = self._client.baseline(display=display).baseline
        self.screenshots = 0

    def watch(self, armed: Armed, timeout_s: float) -> bool:
        from acud_client import Change

        until = Change(baseline=self._since)
        wait = self._client.wait_create(until, display=self._display, timeout_s=timeout_s).wait
        armed()
        ended = self._client.wait_end(wait.wait_id).wait
        return bool(ended.state == "resolved")

    def go_on(self) -> None:
        self._since = self._client.baseline(display=self._display).baseline

    def colour(self, x: int, y: int) -> Colour:
        raise NotImplementedError("acud's judge is shown the picture by the daemon")

    def text(self, text: str, armed: Armed, timeout_s: float) -> bool:
        """Wait for a text; return whether it was told within `timeout_s`."""
        from acud_client import Text

        wait = self._client.wait_create(Text(text), display=self._display, timeout_s=timeout_s).wait
        armed()
        return bool(self._client.wait_end(wait.wait_id).wait.state == "resolved")

    def work(self, armed: Armed, seconds: float) -> tuple[float | None, int]:
        """Wait for a sentence, as an agent does; return when it was told, and how often the judge was asked."""
        from acud_client import Criteria

        wait = self._client.wait_create(Criteria("the lamp is green"), display=self._display, timeout_s=seconds).wait
        armed()
        ended = self._client.wait_end(wait.wait_id).wait
        told_s = time.monotonic() if ended.state == "resolved" else None
        return told_s, ended.judge_calls


# ---- orders --------------------------------------------------------------------------------------------------------


def _say(**words: object) -> None:
    sys.__stdout__.write(json.dumps({**words, "cpu_s": _cpu_s()}) + "\n")  # gptme's print is redirected
    sys.__stdout__.flush()


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _armed() -> None:
    _say(armed=time.monotonic())


def _watch(watcher: Watcher, order: dict[str, Any]) -> None:
    noticed = watcher.watch(_armed, order["timeout_s"])
    _say(noticed=time.monotonic() if noticed else None)


def _go_on(watcher: Watcher, order: dict[str, Any]) -> None:
    watcher.go_on()
    _say(ready=True)


def _text(watcher: Acud | ReadingLoop, order: dict[str, Any]) -> None:
    told = watcher.text(order["text"], _armed, order["timeout_s"])
    _say(told=time.monotonic() if told else None)


def _idle(watcher: Watcher, order: dict[str, Any]) -> None:
    end_s, looks = time.monotonic() + order["s"], watcher.screenshots
    watcher.go_on()
    while (left_s := end_s - time.monotonic()) > 0.1:
        watcher.watch(lambda: None, left_s)
    _say(looks=watcher.screenshots - looks)


def _work(watcher: Watcher, order: dict[str, Any]) -> None:
    looks = watcher.screenshots
    if isinstance(watcher, Acud):
        told_s, calls = watcher.work(_armed, order["s"])
    else:
        told_s, calls = _judged(watcher, order)
    _say(told=told_s, calls=calls, looks=watcher.screenshots - looks)


def _judged(watcher: Watcher, order: dict[str, Any]) -> tuple[float | None, int]:
    end_s, calls, armed = time.monotonic() + order["s"], 1, _armed
    time.sleep(JUDGE_S)
    while (left_s := end_s - time.monotonic()) > 0.1:
        noticed = watcher.watch(armed, left_s)
        armed = _nothing
        if not noticed:
            break
        calls += 1
        time.sleep(JUDGE_S)
        if list(watcher.colour(*order["pixel"])) == order["colour"]:
            return time.monotonic(), calls
    return None, calls


def _nothing() -> None:
    """Has been armed before."""


def main() -> None:
    name, display, home = sys.argv[1], sys.argv[2], os.environ["HOME"]
    makers: dict[str, Callable[[], Any]] = {
        "acud": lambda: Acud(display),
        "floor": lambda: Floor(display),
        "mss": lambda: mss(display),
        "python-xlib": lambda: xlib(display),
        "gptme": lambda: Gptme(home),
        "rapidocr": lambda: reading_loop(display, name),
        "tesseract": lambda: reading_loop(display, name),
    }
    watcher = makers[name]()
    _say(ready=True)
    for line in sys.stdin:
        order = json.loads(line)
        {"watch": _watch, "go_on": _go_on, "idle": _idle, "work": _work, "text": _text}[order["do"]](watcher, order)


if __name__ == "__main__":
    main()
