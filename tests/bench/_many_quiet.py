"""What a wait on a quiet display feels of 15 neighbours that play, in one run.

Short blocks alone and beside them take turns, each pair of blocks in the other order than the one before, so that a
slow minute of the machine hits both alike. A block alone begins once nothing of the neighbours' waits for an evaluator.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from acud.protocol.events import Event
from acud.types import Change, DisplayInfo, Policy, Text, Until
from acud_client import Client
from tests.bench._many_displays import ManyPainter, arm, create, host
from tests.bench._progress import say
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter

_NEIGHBOURS = 15
_FPS = 10.0
_CHANGES = 8
_TEXTS = 2
_REST_S = 0.05
_WARM_S = 1.0
_DRAIN_S = 60.0
_SIDES = ("alone", "beside")

Taken = dict[str, list[float]]
"""By what was waited for: milliseconds."""


def run(blocks: int) -> dict[str, Any]:
    say(f"a quiet display: starting {_NEIGHBOURS} neighbours")
    with host() as daemon:
        displays, _, _ = create(daemon, _NEIGHBOURS + 1)
        quiet, busy = displays[0], displays[1:]
        lamp = Painter(quiet)
        with ManyPainter(daemon, busy) as painter:
            # Each neighbour plays under a text that OCR looks for: more reading than one engine can do.
            arm(daemon, busy, ((Text("never written"), "region:320,160,240,96", Policy()),))
            try:
                return _figures(_Quiet(daemon, painter, lamp, quiet, busy).pairs(blocks))
            finally:
                lamp.close()


class _Quiet:
    """The quiet display among its neighbours."""

    def __init__(
        self, daemon: Daemon, painter: ManyPainter, lamp: Painter, quiet: DisplayInfo, busy: list[DisplayInfo]
    ) -> None:
        self._client = Client(daemon.paths, timeout_s=_DRAIN_S)
        self._painter, self._lamp, self._quiet, self._busy = painter, lamp, quiet, busy

    def pairs(self, blocks: int) -> list[dict[str, Taken]]:
        with self._client:
            self._text()  # the engine is loaded, and has read the line: what follows are turns, not readings
            pairs = []
            for number in range(blocks):
                say(f"a quiet display: {number + 1} of {blocks} pairs")
                order = _SIDES if number % 2 else _SIDES[::-1]
                pairs.append({side: self._block(side) for side in order})
            return pairs

    def _block(self, side: str) -> Taken:
        self._painter.paint({display.name: _FPS if side == "beside" else 0.0 for display in self._busy})
        time.sleep(_WARM_S)
        if side == "alone":
            self._drain()
        return {"change": [self._change() for _ in range(_CHANGES)], "text": [self._text() for _ in range(_TEXTS)]}

    def _drain(self) -> None:
        deadline_s = time.monotonic() + _DRAIN_S
        while self._client.status().queued_jobs:
            if time.monotonic() > deadline_s:
                raise RuntimeError("the neighbours' work does not come to an end")
            time.sleep(0.1)

    def _change(self) -> float:
        return self._one(Change(), "screen", paints=True)

    def _text(self) -> float:
        """Return what a text that is there, and was read before, takes from its arming to its end: its turn, mostly."""
        return self._one(Text("lazy dog"), "region:0,0,640,32", paints=False)

    def _one(self, until: Until, target: str, *, paints: bool) -> float:
        self._lamp.lamp(on=False)
        time.sleep(_REST_S)
        with self._client.events(topic="wait.resolved") as events:
            began = time.monotonic()
            wait = self._client.wait_create(until, target, display=self._quiet.name, timeout_s=120.0).wait.wait_id
            began = self._lamp.lamp(on=True) if paints else began
            for event in events:
                if isinstance(event, Event) and event.subject == wait:
                    return (time.monotonic() - began) * 1000
        raise RuntimeError("the event stream ended")


def _figures(pairs: list[dict[str, Taken]]) -> dict[str, Any]:
    changes = {side: [ms for pair in pairs for ms in pair[side]["change"]] for side in _SIDES}
    texts = {side: [ms for pair in pairs for ms in pair[side]["text"]] for side in _SIDES}
    ratios = [
        statistics.median(pair["beside"]["change"]) / statistics.median(pair["alone"]["change"]) for pair in pairs
    ]
    return {
        "quiet_wait_p50_ms": {side: round(statistics.median(changes[side]), 1) for side in _SIDES},
        "quiet_wait_p95_ms": {side: _p95(changes[side]) for side in _SIDES},
        "quiet_wait_ratio": round(statistics.median(ratios), 2),
        "quiet_text_p50_ms": {side: round(statistics.median(texts[side]), 1) for side in _SIDES},
        "quiet_text_longest_ms": {side: round(max(texts[side]), 1) for side in _SIDES},
        "quiet_samples": {"change": len(changes["alone"]), "text": len(texts["alone"])},
    }


def _p95(values: list[float]) -> float:
    return round(sorted(values)[int(len(values) * 0.95)], 1)
