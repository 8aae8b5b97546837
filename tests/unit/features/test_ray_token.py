"""Ray's token is closed to others before Ray is started: Ray itself writes it for everybody to read."""

import os
import sys
from pathlib import Path

import pytest

from acud.base.errors import Unavailable
from acud.features.fleet.settings import RaySettings
from acud.features.fleet.worker.ray_pool import RayPool

_RAY = """
from pathlib import Path

class exceptions:
    class RayError(Exception):
        pass

def init(**_):
    folder = Path.home() / ".ray"
    folder.mkdir(exist_ok=True)
    (folder / "auth_token").write_text("token")
    raise RuntimeError(f"{folder.stat().st_mode & 0o777:o}")
"""
"""What Ray does with its token when it is started (ray/_private/authentication, 2.60), and no more."""


@pytest.mark.asyncio
@pytest.mark.parametrize("before", [None, 0o755])
async def test_nobody_else_reads_rays_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int | None
) -> None:
    (tmp_path / "lib" / "ray").mkdir(parents=True)
    (tmp_path / "lib" / "ray" / "__init__.py").write_text(_RAY)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    if before is not None:
        (home / ".ray").mkdir(mode=before)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    umask = os.umask(0o022)
    try:
        with pytest.raises(Unavailable, match="RuntimeError: 700"):
            await RayPool.start(RaySettings(judge="any:thing"), ())
    finally:
        os.umask(umask)
        sys.modules.pop("ray", None)
    assert (home / ".ray" / "auth_token").exists()
