"""The tokens that a text costs a model: o200k of npm's gpt-tokenizer, or `characters/4` where npm can't bring it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

_TOKENIZER = Path(__file__).parents[2] / ".state" / "tokenizer"
_PACKAGE = "gpt-tokenizer@3"


def counter() -> tuple[Callable[[str], int], str]:
    """Return what counts the tokens of a text, and its name."""
    script = _TOKENIZER / "count.mjs"
    if not (_TOKENIZER / "node_modules").exists() and shutil.which("npm"):
        _TOKENIZER.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", str(_TOKENIZER), _PACKAGE], check=False)
    if not (_TOKENIZER / "node_modules").exists():
        return lambda text: len(text) // 4, "characters/4"
    script.write_text(
        "import {encode} from 'gpt-tokenizer/encoding/o200k_base'; import fs from 'node:fs';"
        "console.log(encode(JSON.parse(fs.readFileSync(0, 'utf8'))).length);"
    )

    def count(text: str) -> int:
        done = subprocess.run(["node", str(script)], input=json.dumps(text), text=True, capture_output=True, check=True)
        return int(done.stdout)

    return count, f"o200k ({_PACKAGE})"
