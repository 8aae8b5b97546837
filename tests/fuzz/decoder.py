"""What a fuzzed decoder is: it takes any bytes, and either returns or raises one of its own typed errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from acud.base.errors import AcudError

CORPUS = Path(__file__).parent / "corpus"
"""A folder for each decoder; each file in it broke that decoder once, or nearly."""


class Decoder(NamedTuple):
    """`run` decodes; what it raises beside `typed` is a fault. `seeds`: valid inputs, from which others are made."""

    name: str
    run: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    typed: tuple[type[BaseException], ...] = (AcudError,)

    def feed(self, data: bytes) -> None:
        """Decode `data`. Raises whatever is no typed error."""
        try:
            self.run(data)
        except self.typed:
            return

    def corpus(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))}


def of_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a decoder of text for bytes; what is not UTF-8 arrives as replacement characters."""
    return lambda data: read(data.decode("utf-8", "replace"))
