"""One decoder under atheris, in a process of its own: `python -m tests.fuzz.guided DECODER [libFuzzer's arguments]`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(
    include=["acud", "acud_client", "acud_web", "acud_http", "acud_cli", "acud_fleet", "acud_mcp"]
):
    from tests.fuzz.all import DECODERS


def main() -> None:
    """Fuzz until libFuzzer's limits; a fault ends the process with its input written down."""
    decoder = DECODERS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], decoder.feed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
