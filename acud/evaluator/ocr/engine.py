"""What finds and reads lines of text looks like to its callers; the engine itself is `RapidEngine` in `rapid.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from acud.types import Rect

Bgr = NDArray[np.uint8]
"""Height x width x 3, BGR."""


class Line(Struct, frozen=True):  # part of the plug-in interface, as its name is
    """A piece of text on one row: its words, how sure the engine is (0 to 1), and its box in view pixels.

    `reader`: which reader read it ("": the provider's only one, or its first).
    """

    text: str
    confidence: float
    box: Rect
    reader: str = ""


class Reading(NamedTuple):
    """The reading of a crop: its text, how sure the engine is (0 to 1), and where each letter's middle is in the crop's
    pixels, from left to right. No letters, no `middles`; an engine that can't place them gives none.

    `reader`: the reader's name, if not the first one.
    """

    text: str
    confidence: float
    middles: tuple[float, ...] = ()
    reader: str = ""


class Engine(Protocol):
    """Finds lines and reads them. Blocks; not safe in threads. Raises: Unavailable when the engine fails."""

    version: str
    """What it is, and what runs it."""

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        """Return, of each part, the boxes of lines in its coordinates and inside it, in no certain order."""

    def recognise(self, crops: Sequence[Bgr]) -> list[Reading]:
        """Return the reading of each crop, in order; "" where there is no text. An empty list gives one."""

    def release(self) -> None:
        """Free the memory that only readings use; the next reading allocates it again, in some milliseconds."""


class EngineOnDemand:
    """An engine that its first use loads, and the first use after `unload` again. Raises: Unavailable, as `Engine`."""

    def __init__(self, make: Callable[[], Engine], version: str) -> None:
        """`version`: what it is called before it is loaded."""
        self._make = make
        self._engine: Engine | None = None
        self.version = version

    @property
    def loaded(self) -> bool:
        """Whether the engine and its models are in memory."""
        return self._engine is not None

    def load(self) -> Engine:
        """Return the engine; load it first if needed."""
        if self._engine is None:
            self._engine = self._make()
            self.version = self._engine.version
        return self._engine

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        return self.load().detect(parts)

    def recognise(self, crops: Sequence[Bgr]) -> list[Reading]:
        return self.load().recognise(crops)

    def release(self) -> None:
        """Free the memory that only readings need. Call it while no reading runs."""
        if self._engine is not None:
            self._engine.release()

    def unload(self) -> None:
        """Let go of the engine, which must be at nothing."""
        self._engine = None
