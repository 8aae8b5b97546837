"""A reader of text for tests: a distribution with an entry point, and a file that says what it reads.

The script is JSON: a list of [text, x, y], or a string, which it raises. Each call is noted in a log.
"""

from __future__ import annotations

import json
from pathlib import Path

NAME = "scripted-reader"

_MODULE = """
import json, os
from pathlib import Path
from acud.evaluator.ocr.engine import Line
from acud.types import Rect

FOLDER = Path(os.environ["SCRIPTED_READER"])

class Reader:
    name = "scripted-reader"
    priority = 10

    def read(self, pixels, fresh):
        with (FOLDER / "log").open("a") as log:
            log.write("fresh\\n" if fresh else "again\\n")
        said = json.loads((FOLDER / "script.json").read_text())
        if isinstance(said, str):
            raise RuntimeError(said)
        return [Line(text, 0.9, Rect(x, y, 80, 16)) for text, x, y in said]
"""


class ScriptedReader:
    """Installs itself under `folder`; `env` makes a daemon's evaluators find it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "scripted_reader.py").write_text(_MODULE)
        meta = folder / "scripted_reader-1.0.dist-info"
        meta.mkdir()
        (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: scripted-reader\nVersion: 1.0\n")
        (meta / "entry_points.txt").write_text("[acud.ocr_providers]\nscripted = scripted_reader:Reader\n")
        self.says([])

    @property
    def env(self) -> dict[str, str]:
        """What the daemon's environment needs."""
        return {"PYTHONPATH": str(self._folder), "SCRIPTED_READER": str(self._folder)}

    def says(self, script: list[tuple[str, int, int]] | str) -> None:
        """Read these lines from now on, or raise with this."""
        fresh = self._folder / "script.new"
        fresh.write_text(json.dumps(script))
        fresh.replace(self._folder / "script.json")

    def calls(self) -> list[str]:
        """Return `fresh` or `again` for each picture so far."""
        log = self._folder / "log"
        return log.read_text().split() if log.exists() else []
