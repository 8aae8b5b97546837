"""Who gets in over HTTP, and where the token and the pictures lie."""

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import Refused
from acud.base.paths import resolve
from acud.config.http_listeners import ListenerSettings
from acud_http.request_filter import RequestFilter, values
from acud_mcp import look_tools
from acud_mcp.http_server import SURFACE, token, token_path

TOKEN = "t" * 43


async def _never(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    raise AssertionError("not reached")


def status(**headers: str) -> int:
    """Return what the guard answers to these headers; 0: it lets them through."""
    given = {"host": "127.0.0.1:1", "authorization": f"Bearer {TOKEN}", **headers}
    raw = [(name.encode(), value.encode()) for name, value in given.items() if value]
    return find_status(raw)


def find_status(headers: list[tuple[bytes, bytes]]) -> int:
    scope = {"type": "http", "headers": headers}
    guard = RequestFilter(_never, SURFACE, ListenerSettings(), TOKEN)
    refusal = guard.answer(scope, values(scope, b"origin"))
    return refusal.status_code if refusal else 0


@pytest.mark.parametrize("host", ["127.0.0.1:18794", "localhost:18794", "[::1]:18794", "localhost"])
def test_loopback_passes(host: str) -> None:
    assert status(host=host) == 0
    assert status(host=host, origin=f"http://{host}") == 0


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1.evil.example", "localhost:1@evil", "localhost:", "a b"]
)
def test_a_foreign_host_is_misdirected(host: str) -> None:
    assert status(host=host) == 421


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://localhost.evil.example", "file://"])
def test_a_foreign_origin_is_forbidden(origin: str) -> None:
    assert status(origin=origin) == 403


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN])
def test_a_wrong_token_is_unauthorized(given: str) -> None:
    assert status(authorization=given) == 401


def test_a_doubled_header_is_refused() -> None:
    twice = [(b"host", b"localhost"), (b"host", b"evil.example"), (b"authorization", b"x")]
    assert find_status(twice) == 421


def test_the_token_is_made_once_and_private(tmp_path: Path) -> None:
    paths = resolve({"ACU_HOME": str(tmp_path / "home")})
    made = token(paths)
    assert len(made) >= 32
    assert token(paths) == made
    assert token_path(paths).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in paths.home.iterdir()] == ["mcp-token"]


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    paths = resolve({"ACU_HOME": str(tmp_path)})
    token(paths)
    token_path(paths).chmod(0o644)
    with pytest.raises(Refused, match="others"):
        token(paths)


def test_an_empty_token_is_refused(tmp_path: Path) -> None:
    paths = resolve({"ACU_HOME": str(tmp_path)})
    token_path(paths).touch(0o600)
    with pytest.raises(Refused, match="no token"):
        token(paths)


def test_pictures_are_private_and_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_tools, "MAX_PICTURES", 3)
    paths = resolve({"ACU_HOME": str(tmp_path)})
    made = []
    for number in range(5):
        made.append(look_tools.save_picture(paths, b"%d" % number, "jpg"))
        os.utime(made[-1], (1e9 + number + 1e9, 2e9 + number))
    left = sorted(path.read_bytes() for path in (tmp_path / "looks").iterdir())
    assert left == [b"2", b"3", b"4"]
    assert made[-1].stat().st_mode & 0o777 == 0o600


def test_old_pictures_go(tmp_path: Path) -> None:
    paths = resolve({"ACU_HOME": str(tmp_path)})
    old = look_tools.save_picture(paths, b"x", "jpg")
    look_tools.sweep_pictures(old.parent, old.stat().st_mtime + look_tools.MAX_PICTURE_AGE_S + 1)
    assert not old.exists()
