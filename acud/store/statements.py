"""SQL in named blocks: `-- name: x` begins block x of a file in `sql/`."""

from __future__ import annotations

import re
from pathlib import Path

_SQL = Path(__file__).parent / "sql"
_HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load(group: str) -> dict[str, str]:
    """Return the blocks of `sql/<group>.sql` by name. Raises: ValueError when a name appears twice."""
    parts = _HEADER.split((_SQL / f"{group}.sql").read_text(encoding="utf-8"))
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"sql/{group}.sql names a block twice")
    return dict(zip(names, (body.strip() for body in bodies), strict=True))
