"""Tiles that only alternate between two looks: a caret, a blinking light. A wait for quiet may ignore them.

A tile blinks once it has returned to its former look twice in a row (A, B, A, B). A third look ends that, and so does a
change sooner than `LEAST_LOOK_S` after the one before: between two grabs the tile may have shown anything.
"""

from __future__ import annotations

from msgspec import Struct

from acud.waits.tiles import bits

LEAST_LOOK_S = 0.2
"""Four times the time between two grabs at the requested rate: a look that lasts this long is seen."""
_RETURNS = 2
NEVER = float("inf")


class TileLooks(Struct, frozen=True):
    """The newest look of a tile since the grab at `at`, the look before it (0: none), and how often in a row the tile
    returned to its former look.
    """

    newest: int
    before: int
    returns: int
    at: float

    @property
    def blinks(self) -> bool:
        return self.returns >= _RETURNS


class BlinkWatch(Struct, frozen=True):
    """The looks of tiles since quiet may have begun (`since`: a grab's time)."""

    tiles: dict[int, TileLooks] = {}
    since: float = NEVER

    @property
    def blinking(self) -> int:
        """The tiles that only alternate."""
        return sum(1 << index for index, looks in self.tiles.items() if looks.blinks)

    @property
    def quiet_from(self) -> float:
        """Since when nothing else changed."""
        return max([self.since, *(looks.at for looks in self.tiles.values() if not looks.blinks)])

    def note_change(self, hit: int, looks: dict[int, int], at: float) -> BlinkWatch:
        """Return the watch after the tiles `hit` changed. `looks`: their present looks by tile, where known."""
        known = {index: looks[index] for index in bits(hit) if index in looks} if looks else {}
        kept = {index: look for index, look in self.tiles.items() if not hit >> index & 1}
        shown = {index: _update_looks(self.tiles.get(index), look, at) for index, look in known.items()}
        since = self.since if len(known) == hit.bit_count() else at
        return BlinkWatch(kept | shown, since)

    def restart(self, at: float) -> BlinkWatch:
        """Return the watch after a moment in which anything may have changed; blinking tiles stay known."""
        return BlinkWatch(self.tiles, at)


def _update_looks(looks_before: TileLooks | None, look: int, at: float) -> TileLooks:
    if looks_before is None or at - looks_before.at < LEAST_LOOK_S:
        return TileLooks(look, 0, 0, at)
    if looks_before.before and look == looks_before.before:
        return TileLooks(look, looks_before.newest, looks_before.returns + 1, at)
    return TileLooks(look, 0 if looks_before.before else looks_before.newest, 0, at)
