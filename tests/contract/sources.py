"""The project's Python sources, each parsed once for all contracts."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a file's syntax tree; callers leave it as it is."""
    return ast.parse(path.read_text(encoding="utf-8"))
