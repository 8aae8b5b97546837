"""Digests of requests: keyed by a private file, the same over restarts, and of no use to who reads the store."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from acud.base.errors import InvalidRequest, Refused
from acud.supervisor.replies import RequestDigest

BODY = {"type": "desktop_action", "actions": [{"type": "type", "text": "1234"}]}


def test_a_digest_is_the_same_with_the_same_key_and_another_without_it(tmp_path: Path) -> None:
    first, again = RequestDigest(tmp_path / "key"), RequestDigest(tmp_path / "key")
    assert first.digest(BODY) == again.digest(dict(reversed(BODY.items())))
    assert first.digest(BODY) != RequestDigest(tmp_path / "other").digest(BODY)
    assert first.digest(BODY) != first.digest(BODY | {"type": "other"})


def test_a_digest_cannot_be_had_by_hashing_guesses(tmp_path: Path) -> None:
    guess = hashlib.sha256(msgspec.msgpack.Encoder(order="deterministic").encode(BODY)).hexdigest()
    assert RequestDigest(tmp_path / "key").digest(BODY) != guess


def test_the_key_is_private_and_one_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    RequestDigest(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["key"]
    path.chmod(0o644)
    with pytest.raises(Refused, match="can be read by others"):
        RequestDigest(path)


@pytest.mark.parametrize("text", ["", "short", "zz" * 32, "é" * 64])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(Refused, match="holds no key"):
        RequestDigest(path)


def test_a_body_that_is_nested_too_deeply_is_the_callers_fault(tmp_path: Path) -> None:
    body: dict[str, object] = {}
    for _ in range(3000):
        body = {"a": body}
    with pytest.raises(InvalidRequest):
        RequestDigest(tmp_path / "key").digest(body)
