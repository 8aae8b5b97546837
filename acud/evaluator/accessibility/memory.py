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

    @property
    def is_hidden(self) -> bool:
        """Whether it did not show, and was asked nothing else."""
        return not self.asked.role


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
        """Hold exactly `kept` from now on."""
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
        """Forget the widgets that touch these display areas or whose place is not known, and what is hidden in them."""
        if not areas:
            return False
        touched = {ref for ref, one in self._kept.items() if _touches(one, areas)}
        return self._forget(lambda ref, one: ref in touched or (one.is_hidden and one.parent in touched))

    def _forget(self, is_doubtful: Callable[[Ref, Remembered], bool]) -> bool:
        kept = {ref: one for ref, one in self._kept.items() if not is_doubtful(ref, one)}
        had, self._kept = len(kept) < len(self._kept), kept
        return had


def _touches(one: Remembered, areas: Sequence[Rect]) -> bool:
    if one.is_hidden:
        return False
    return one.box is None or any(one.box.intersect(area) for area in areas)
