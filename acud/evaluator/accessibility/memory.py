"""What one application's widgets said before, by handle, and when it must no longer be believed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from acud.evaluator.accessibility.widget import Asked, Ref
from acud.types import Rect


class Remembered(Struct, frozen=True):
    """One widget's answers, given at `read_s` (monotonic). `parent` and `top`: the widget it is in, and the top-level
    one (each itself, for a top-level one). `box`: in display pixels. Without a role it did not show.
    """

    asked: Asked
    parent: Ref
    top: Ref
    window: int
    read_s: float
    box: Rect | None = None
    name: str = ""
    role: str = ""
    description: str = ""
    text: str = ""
    actions: tuple[str, ...] = ()


class Memory:
    """The widgets of one application, as they were last read. Bounded by the limits of the walk that fills it."""

    def __init__(self) -> None:
        self._kept: dict[Ref, Remembered] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, ref: Ref) -> Remembered | None:
        """Return what `ref` said, or None when it must be asked."""
        return self._kept.get(ref)

    def keep(self, kept: dict[Ref, Remembered]) -> None:
        """Hold exactly `kept` from now on, in which parents come before what is in them."""
        self._kept = kept

    def forget_all(self) -> bool:
        """Forget everything. Return whether there was something, as the others below do."""
        had, self._kept = bool(self._kept), {}
        return had

    def forget_older(self, than_s: float) -> bool:
        """Forget what was said before `than_s`."""
        return self._forget(lambda _, one: one.read_s < than_s)

    def forget(self, paths: Collection[str]) -> bool:
        """Forget widgets by their object paths."""
        return bool(paths) and self._forget(lambda ref, _: ref.path in paths)

    def forget_windows(self, windows: Collection[int]) -> bool:
        """Forget everything in these X windows, and every top-level widget (it may be in one of them now)."""
        return self._forget(lambda ref, one: one.window in windows or ref == one.top)

    def forget_around(self, paths: Collection[str]) -> bool:
        """Forget the whole top-level windows that these widgets are in. A widget that is not known may be in any."""
        if not paths:
            return False
        tops = {ref.path: one.top for ref, one in self._kept.items() if ref.path in paths}
        if len(tops) < len(paths):
            return self.forget_all()
        around = set(tops.values())
        return self._forget(lambda _, one: one.top in around)

    def forget_in(self, areas: Sequence[Rect]) -> bool:
        """Forget the widgets that touch these display areas, and with them what is hidden in them or scrolled away: it
        moves without a pixel changing where it is.
        """
        if not areas:
            return False
        visible: dict[Ref, Rect | None] = {}
        touched: set[Ref] = set()
        for ref, one in self._kept.items():  # parents come first
            visible[ref] = _seen(one, visible.get(one.parent, one.box))
            is_out_of_sight = visible[ref] is None and one.parent in touched
            if is_out_of_sight or (one.box and any(one.box.intersect(area) for area in areas)):
                touched.add(ref)
        return self._forget(lambda ref, _: ref in touched)

    def _forget(self, is_doubtful: Callable[[Ref, Remembered], bool]) -> bool:
        kept = {ref: one for ref, one in self._kept.items() if not is_doubtful(ref, one)}
        had, self._kept = len(kept) < len(self._kept), kept
        return had


def _seen(one: Remembered, around: Rect | None) -> Rect | None:
    """Return the part of a widget that its parents let be seen, `around` being what is seen of the nearest."""
    return one.box.intersect(around) if one.box and around else None
