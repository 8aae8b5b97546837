"""When each tile of a source last changed, as one bitmap per frame number: what baseline tokens are checked against."""

from __future__ import annotations

from collections.abc import Mapping


class Ledger:
    """The last change of every tile since `record` first saw the source. Owned by the supervisor, one per source.

    A tile stands in one frame's bitmap only, the newest that changed it; so the ledger is exact, never trimmed, and
    holds at most as many bitmaps as there are tiles. Frame numbers of a source never go back.
    """

    def __init__(self, changed: Mapping[int, int] | None = None, newest: int = -1) -> None:
        """`changed`: what another ledger of the source knew up to frame `newest`, all of it."""
        self._changed = dict(changed or {})
        self._from: int | None = None if changed is None else 0
        self._newest = newest

    def record(self, frame: int, tiles: int | None) -> None:
        """Note that `tiles` changed in `frame`; None (not known) forgets what came before."""
        self._newest = max(self._newest, frame)
        if self._from is None or tiles is None:
            self._changed, self._from = {}, frame
        elif tiles:
            kept = ((number, older & ~tiles) for number, older in self._changed.items())
            self._changed = {number: older for number, older in kept if older} | {frame: tiles}

    def since(self, frame: int) -> int | None:
        """Return the tiles that changed in frames after `frame`, or None when the ledger does not know that frame."""
        if self._from is None or not self._from <= frame <= self._newest:
            return None
        touched = 0
        for number, tiles in self._changed.items():
            touched |= tiles if number > frame else 0
        return touched
