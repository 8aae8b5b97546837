"""SQL in named blocks: `-- name: x` begins block x of a file."""

from __future__ import annotations

import re
from pathlib import Path

SQL = Path(__file__).parent / "sql"
"""The core's statements; a feature's stand in `tables.sql` in its folder."""
_HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load(group: str, folder: Path = SQL) -> dict[str, str]:
    """Return the blocks of `<group>.sql` in `folder` by name. Raises: ValueError when a name appears twice."""
    file = folder / f"{group}.sql"
    parts = _HEADER.split(file.read_text(encoding="utf-8"))
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file} names a block twice")
    return dict(zip(names, (body.strip() for body in bodies), strict=True))
