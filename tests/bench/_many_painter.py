"""A process that paints on many displays at a rate each, and hears when capture tells of it.

    python -m tests.bench._many_painter      # orders on standard input, one JSON object a line; answers likewise

`{"home": …, "displays": [[name, auth_file], …]}` first; then `{"fps": {name: rate}}` from now on, or `{"tell": true}`,
answered with what was painted, heard and used since the last time. One process for all, so that what is measured is the
displays' cost and not that of many painters; its own CPU time is told apart.
"""

from __future__ import annotations

import heapq
import json
import os
import select
import sys
import time
from typing import Any

import zmq

from acud.base.paths import resolve
from acud.protocol import codec
from acud.protocol.capture import Notice

BOX = (320, 160, 240, 96)
"""What is painted: 15 x 6 whole tiles."""


class _Painted:
    """One display: its window, its turn, when it was last painted and not heard of yet."""

    def __init__(self, name: str, auth_file: str) -> None:
        os.environ["XAUTHORITY"] = auth_file
        from Xlib.display import Display

        self.name = name
        self.display = Display(name)
        screen = self.display.screen()
        size = screen.width_in_pixels, screen.height_in_pixels
        self.window = screen.root.create_window(
            0, 0, *size, 0, screen.root_depth, background_pixel=0xF0F0F0, override_redirect=True
        )
        self.window.map()
        self.gc = self.window.create_gc(foreground=0)
        self.ink = self.window.create_gc(foreground=0xFFFFFF)
        self.display.sync()
        self.fps = 0.0
        self.count = 0
        self.painted_s: float | None = None

    def paint(self) -> None:
        self.count += 1
        self.gc.change(foreground=(self.count * 0x10305) & 0x7F7F7F)
        self.window.fill_rectangle(self.gc, *BOX)
        for row in range(5):
            words = f"scene {self.count} take {row} of {self.name[1:]}".encode()
            self.window.draw_text(self.ink, BOX[0] + 8, BOX[1] + 16 + 16 * row, words)
        self.painted_s = time.monotonic()
        self.display.flush()


class _Painter:
    def __init__(self, order: dict[str, Any]) -> None:
        self.displays = {name: _Painted(name, auth) for name, auth in order["displays"]}
        paths = resolve({"ACU_HOME": order["home"]})
        self.heard: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        self.heard.setsockopt(zmq.SUBSCRIBE, b"")
        self.heard.setsockopt(zmq.RCVHWM, 10_000)
        for name in self.displays:
            self.heard.connect(paths.frames_endpoint(name))
        self.turns: list[tuple[float, str]] = []
        self.latencies_ms: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self.since_s, self.cpu_s, self.painted, self.frames = time.monotonic(), time.process_time(), 0, 0
        self.latencies_ms = []

    def order(self, order: dict[str, Any]) -> None:
        if "fps" in order:
            for name, fps in order["fps"].items():
                self.displays[name].fps = fps
            painting = [one for one in self.displays.values() if one.fps > 0]
            now = time.monotonic()
            # Spread over one interval: displays do not repaint in step.
            self.turns = [(now + n / len(painting) / one.fps, one.name) for n, one in enumerate(painting)]
            heapq.heapify(self.turns)
        if order.get("tell"):
            print(json.dumps(self.told()), flush=True)
            self._begin()

    def told(self) -> dict[str, Any]:
        seconds = time.monotonic() - self.since_s
        return {
            "seconds": seconds, "painted": self.painted, "frames": self.frames, "latencies_ms": self.latencies_ms,
            "cpu_s": time.process_time() - self.cpu_s,
        }  # fmt: skip

    def paint_due(self) -> None:
        now = time.monotonic()
        while self.turns and self.turns[0][0] <= now:
            at_s, name = heapq.heappop(self.turns)
            one = self.displays[name]
            one.paint()
            self.painted += 1
            heapq.heappush(self.turns, (max(at_s + 1 / one.fps, now - 1 / one.fps), name))

    def hear(self) -> None:
        while True:
            try:
                data = self.heard.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._noticed(codec.decode(data, Notice), time.monotonic())

    def _noticed(self, notice: Notice, now: float) -> None:
        one = self.displays.get(notice.source)
        if one is None or not notice.tiles:
            return
        self.frames += 1
        if one.painted_s is not None:
            self.latencies_ms.append((now - one.painted_s) * 1000)
            one.painted_s = None

    def run(self) -> None:
        poller = zmq.Poller()
        poller.register(self.heard, zmq.POLLIN)
        poller.register(sys.stdin.fileno(), zmq.POLLIN)
        while True:
            wait_s = self.turns[0][0] - time.monotonic() if self.turns else 1.0
            poller.poll(max(0, int(wait_s * 1000)))
            self.hear()
            self.paint_due()
            if select.select([sys.stdin], [], [], 0)[0]:
                line = sys.stdin.readline()
                if not line:
                    return
                self.order(json.loads(line))


def main() -> None:
    painter = _Painter(json.loads(sys.stdin.readline()))
    print("{}", flush=True)
    painter.run()


if __name__ == "__main__":
    main()
