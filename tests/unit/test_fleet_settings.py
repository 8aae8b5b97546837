"""`[fleet]`: nobody joins a fleet unknown, and what is set can be a name."""

from pathlib import Path

import msgspec
import pytest

from acud import config
from acud.config.fleet import FleetSettings


def _make(**given: object) -> FleetSettings:
    return msgspec.convert(given, FleetSettings)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"url": "nats://10.0.0.1:4222"}, "is not loopback"),
        ({"url": "tls://nats.example:4222"}, "is not loopback"),
        ({"url": "nats://127.0.0.1:4222,nats://10.0.0.1:4222"}, "10.0.0.1"),
        ({"url": "http://127.0.0.1"}, "no nats:// or tls://"),
        ({"url": "nats://me:secret@127.0.0.1"}, "keys of their own"),  # pragma: allowlist secret
        ({"host": "Big Host"}, "no host name"),
        ({"prefix": "a.b"}, "no token"),
        ({"labels": {"gpu": "a b"}}, "no plain word"),
        ({"replicas": 3, "lease_s": 5}, "election"),
        ({"tls_cert": "c"}, "belong together"),
        ({"nkey_seed_file": "a", "credentials_file": "b"}, "name one"),
    ],
)
def test_what_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        _make(**given)


def test_a_password_is_never_part_of_the_fault() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        _make(url="nats://me:hunter22@127.0.0.1")  # pragma: allowlist secret
    assert "hunter22" not in str(caught.value)


def test_credentials_open_the_way_beyond_loopback() -> None:
    assert _make(url="nats://10.0.0.1", nkey_seed_file="seed").in_the_clear == ("nats://10.0.0.1",)
    assert _make(url="tls://10.0.0.1", nkey_seed_file="seed").in_the_clear == ()


def test_labels_from_the_environment(tmp_path: Path) -> None:
    settings = config.load(tmp_path / "none", {"ACU_FLEET_LABELS": "gpu=yes, site=berlin"})
    assert settings.fleet.labels == {"gpu": "yes", "site": "berlin"}


def test_what_workers_are_shown_leaves_unless_they_are_ones_own() -> None:
    assert not config.Settings().keeps("fleet")
    assert config.Settings(jobs=config.JobSettings(local=True)).keeps("fleet")
    assert [config.Settings().keeps(name) for name in ("ocr", "scripted", "ollama", "claude")] == [True] * 3 + [False]
