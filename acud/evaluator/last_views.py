"""Views kept to compare later ones with: of each wait the last negative and the last judged, of each scene the last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.evaluator.evidence import EncodedView
from acud.evaluator.view_pixels import ViewPixels
from acud.pixels import gates
from acud.pixels.gates import DEFAULTS, dhash, passes, ssim
from acud.pixels.tiles import TileCompare
from acud.protocol.questions import Ask
from acud.types import Answer, GateKind, Verdict
from acud.types.scene import ChangeTiers

NEGATIVE_VIEW_BYTES = 96 << 20
"""Pictures kept: 27 views of 1280x720 as pixels, some hundreds as PNG; waits that share a view share its picture."""
MAX_BYTES = 64 << 20
"""Pixels kept: 17 waits on 1280x720 behind a lossy gate."""

Pixels = NDArray[np.uint8]

SCENE_FRAME_BYTES = 64 << 20
"""Pixels kept: the frames of 17 displays of 1280x720. A display whose frame was dropped has none to compare once."""


class LastNegativeViews:
    """The last negative view of each wait, encoded if a judge was asked; the least recently used goes first."""

    def __init__(self) -> None:
        self._views: OrderedDict[str, ViewPixels | EncodedView] = OrderedDict()
        self._first: dict[str, tuple[int, int]] = {}
        """Epoch and frame of the views that no judge has seen."""

    def began(self, wait_id: str, shot: ViewPixels) -> None:
        """Remember the first view of a wait, unless one is remembered."""
        if wait_id not in self._views:
            self.held_not(wait_id, shot)
            self._first[wait_id] = (shot.epoch, shot.frame)

    def held_not(self, wait_id: str, view: ViewPixels | EncodedView) -> None:
        """Remember a view on which the wait's condition did not hold."""
        self._views[wait_id] = view
        self._views.move_to_end(wait_id)
        self._first.pop(wait_id, None)
        while len(self._views) > 1 and self._count_bytes() > NEGATIVE_VIEW_BYTES:
            self.forget(next(iter(self._views)))

    def pop(self, wait_id: str, epoch: int, changed_from: int | None) -> ViewPixels | EncodedView | None:
        """Return what was remembered of the wait, and forget it. A first view that shows frame `changed_from` of the
        ring's `epoch`, or a later one, was taken too late to be one of before.
        """
        first, view = self._first.get(wait_id), self._views.get(wait_id)
        self.forget(wait_id)
        is_late = first is not None and changed_from is not None and first[0] == epoch and first[1] >= changed_from
        return None if is_late else view

    def forget(self, wait_id: str) -> None:
        self._views.pop(wait_id, None)
        self._first.pop(wait_id, None)

    def _count_bytes(self) -> int:
        sizes: dict[int, int] = {}
        for view in self._views.values():
            if isinstance(view, EncodedView):
                sizes[id(view)] = len(view.png)
            else:
                sizes[id(view.pixels)] = view.pixels.nbytes
        return sum(sizes.values())


class PicturedViews:
    """The identity of each wait's newest small picture: a verdict on the same pixels needs no other."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}

    def takes(self, wait_id: str, shot: ViewPixels) -> bool:
        """Return whether `shot` differs from the wait's last pictured view, and remember it."""
        is_other = self._newest.get(wait_id) != shot.identity
        self._newest[wait_id] = shot.identity
        return is_other

    def forget(self, wait_id: str) -> None:
        self._newest.pop(wait_id, None)


class GateMemory:
    """Keeps, oldest use first out, the pixels last judged for each wait with a lossy gate."""

    def __init__(self, max_width_px: int) -> None:
        self._max_width_px = max_width_px
        self._judged: OrderedDict[str, NDArray[np.uint8]] = OrderedDict()

    def holds_back(self, ask: Ask, shot: ViewPixels) -> bool:
        """Return whether the wait's gate sees too little change since the view last judged for it. Blocks for up to 0.1
        s (`ssim`); safe in a thread.
        """
        before = self._judged.get(ask.wait_id)
        if before is None or not self.applies(ask):
            return False
        kind = GateKind(ask.gate)
        return not passes(kind, before, shot.pixels, ask.gate_threshold, self._max_width_px)

    def applies(self, ask: Ask) -> bool:
        """Return whether `ask` has a lossy gate to pass."""
        return not ask.force and ask.gate in DEFAULTS

    def forget(self, wait_id: str) -> None:
        self._judged.pop(wait_id, None)

    def note_judged(self, ask: Ask, shot: ViewPixels, verdicts: Mapping[int, Verdict]) -> None:
        """Remember `shot` as judged for the wait, if every leaf asked about got a yes or a no."""
        if ask.gate not in DEFAULTS or not ask.asks:
            return
        asked = (verdicts.get(leaf.index) for leaf in ask.asks)
        if any(verdict is None or verdict.answer is Answer.UNKNOWN for verdict in asked):
            return
        self._judged[ask.wait_id] = shot.pixels
        self._judged.move_to_end(ask.wait_id)
        while sum(pixels.nbytes for pixels in self._judged.values()) > MAX_BYTES and len(self._judged) > 1:
            self._judged.popitem(last=False)


def tiers(before: Pixels, after: Pixels) -> ChangeTiers:
    """Return how `after` differs from `before`, both height x width x 4 uint8 BGRX, C-contiguous, of one shape. Equal
    frames cost the tiles alone; of others only what the changed tiles touch is looked at for `ssim`.
    """
    height, width = after.shape[:2]
    compare = TileCompare(width, height)
    mask = compare.find_changes(before, after)
    box = compare.bounds(mask)
    hashed = dhash(after)
    if box is None:
        return ChangeTiers(0, f"{hashed:016x}", 0, 0, 1.0)
    return ChangeTiers(
        int(np.count_nonzero(mask)),
        f"{hashed:016x}",
        (hashed ^ dhash(before)).bit_count(),
        int(np.count_nonzero(gates.grid(before) != gates.grid(after))),
        round(ssim(before, after, box), 6),
    )


class _Shown(NamedTuple):
    epoch: int
    frame: int
    pixels: Pixels


class ShownFrames:
    """Keeps, per source, the pixels that its last scene was made of; the source asked for longest ago goes first."""

    def __init__(self, max_bytes: int = SCENE_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    def advance(self, source: str, epoch: int, frame: int, pixels: Pixels) -> ChangeTiers | None:
        """Return how `pixels` differ from the frame kept of `source`, and keep these from now on. None where there is
        nothing to compare with: the first frame, another size, or one that was let go.
        """
        before = self._shown.get(source)
        self._shown[source] = _Shown(epoch, frame, pixels)
        self._shown.move_to_end(source)
        while len(self._shown) > 1 and sum(kept.pixels.nbytes for kept in self._shown.values()) > self._max_bytes:
            self._shown.popitem(last=False)
        if before is None or before.pixels.shape != pixels.shape:
            return None
        return tiers(before.pixels, pixels)

    def pixels(self, source: str, epoch: int, frame: int) -> Pixels | None:
        """Return the pixels of that very frame if they are the ones kept; not to be written to."""
        kept = self._shown.get(source)
        return kept.pixels if kept is not None and (kept.epoch, kept.frame) == (epoch, frame) else None

    def forget(self, source: str) -> None:
        """Forget the frames of a source that has ended."""
        self._shown.pop(source, None)
