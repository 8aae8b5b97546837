"""What `[http_endpoints]` may say: nothing that lets strangers in by accident."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError
from acud.config.http_listeners import is_loopback


def load(tmp_path: Path, text: str) -> config.Settings:
    (tmp_path / "acud.toml").write_text("[http_endpoints]\n" + text)
    return config.load(tmp_path / "acud.toml", {})


@pytest.mark.parametrize(("text", "named"), [
    ('host = "0.0.0.0"', "allow_remote"), ('host = "192.168.1.5"', "allow_remote"),
    ('host = "localhost.evil.example"', "allow_remote"),
    ('host = "0.0.0.0"\nallow_remote = true\nallow_tokenless = true', "loopback only"),
    ('token = "fourteen-bytes"', "at least 16"), ('token = "with a blank in the middle"', "at least 16"),
    ('allowed_hosts = ["*"]', "allowed_hosts"), ('allowed_hosts = ["hud.test:80"]', "allowed_hosts"),
    ('allowed_origins = ["*"]', "allowed_origins"),
    ('allowed_origins = ["http://hud.test/page"]', "allowed_origins"), ("port = 65536", "port"),
])  # fmt: skip
def test_refused(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert named in str(caught.value)
    assert "fourteen-bytes" not in str(caught.value)


def test_taken(tmp_path: Path) -> None:
    text = 'host = "::1"\ntoken = "sixteen-letters-"\nallowed_hosts = ["hud.test", "[fe80::1]"]\n'
    found = load(tmp_path, text + 'allowed_origins = ["null", "http://localhost:3000", "app://hud"]').http_endpoints
    assert found.allowed_origins == ("null", "http://localhost:3000", "app://hud")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)
