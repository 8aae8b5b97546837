"""What `[web]` may say: nothing that lets strangers in, or sends secrets in the clear, by accident."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError
from acud.config.http_listeners import WebSettings


def load(tmp_path: Path, text: str) -> WebSettings:
    (tmp_path / "acud.toml").write_text("[web]\n" + text)
    return config.load(tmp_path / "acud.toml", {}).web


@pytest.mark.parametrize(("text", "named"), [
    ('host = "0.0.0.0"', "allow_remote"), ('host = "192.168.1.5"\nallow_remote = true', "tls_cert"),
    ('host = "0.0.0.0"\nallow_insecure = true', "allow_remote"), ('tls_cert = "a.pem"', "belong together"),
    ('tls_key = "a.pem"', "belong together"), ('allowed_hosts = ["*"]', "allowed_hosts"),
    ('allowed_origins = ["*"]', "allowed_origins"), ('allowed_origins = ["null"]', "sandboxed"),
    ("session_days = 0", "session_days"), ("max_connections = 100000", "max_connections"), ("port = 65536", "port"),
    ('token = "a token of the HTTP endpoints"', "token"),
])  # fmt: skip
def test_refused(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert named in str(caught.value)


@pytest.mark.parametrize("text", [
    "", 'host = "::1"\nport = 0', 'host = "0.0.0.0"\nallow_remote = true\ntls_cert = "a.pem"\ntls_key = "b.pem"',
    'host = "0.0.0.0"\nallow_remote = true\nallow_insecure = true',
    'allowed_hosts = ["desk.lan"]\nallowed_origins = ["https://hud.test"]',
])  # fmt: skip
def test_taken(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).enabled is False
