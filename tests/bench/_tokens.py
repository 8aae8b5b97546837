"""The tokens that a text costs a model: o200k of npm's gpt-tokenizer, or `characters/4` where npm can't bring it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

STATE = Path(__file__).parents[2] / ".state"
_PACKAGE = "gpt-tokenizer@3"


def installed(folder: Path, *packages: str) -> bool:
    """Return whether npm's packages are in `folder`; they are put there where npm can."""
    if not (folder / "node_modules").exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", str(folder), *packages], check=False)
    return (folder / "node_modules").exists()


def counter() -> tuple[Callable[[str], int], str]:
    folder = STATE / "tokenizer"
    if not installed(folder, _PACKAGE):
        return lambda text: len(text) // 4, "characters/4"
    script = folder / "count.mjs"
    script.write_text(
        "import {encode} from 'gpt-tokenizer/encoding/o200k_base'; import fs from 'node:fs';"
        "console.log(encode(JSON.parse(fs.readFileSync(0, 'utf8'))).length);"
    )

    def count(text: str) -> int:
        done = subprocess.run(["node", str(script)], input=json.dumps(text), text=True, capture_output=True, check=True)
        return int(done.stdout)

    return count, f"o200k ({_PACKAGE})"
