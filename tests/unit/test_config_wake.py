"""`[wake]`: lists in the environment, what is refused, secrets that stay out of messages."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError
from acud.types import RouteName

SECRET = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0"


def _load(tmp_path: Path, text: str = "", **env: str) -> config.WakeSettings:
    path = tmp_path / "acud.toml"
    path.write_text(f"[wake]\n{text}")
    return config.load(path, env).wake


def test_lists_in_the_environment(tmp_path: Path) -> None:
    given = {
        "ACU_WAKE_OPENCLAW_TOKEN": "t",
        "ACU_WAKE_ROUTES": "openclaw, openclaw_cli",
        "ACU_OPENCLAW_CLI": "/opt/bin/openclaw",
        "ACU_WAKE_COMMAND": '["notify", "a, b", "{id}"]',
    }
    wake = _load(tmp_path, **given)
    assert wake.routes == (RouteName.OPENCLAW, RouteName.OPENCLAW_CLI)
    assert wake.command == ("notify", "a, b", "{id}")
    assert wake.openclaw_cli == "/opt/bin/openclaw"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('routes = ["pigeon"]', "pigeon"),
        ('routes = ["webhook"]', "webhook_url"),
        ('routes = ["openclaw"]', "openclaw_token"),
        ('routes = ["command"]', "command"),
        ('command = ["sh", "-c", "echo {text}"]', "{id}"),
        ('webhook_url = "ftp://host/x"', "webhook_url"),
        ('webhook_url = "https://user:pass@host/x"', "secrets have keys of their own"),  # pragma: allowlist secret
        ('openclaw_url = "http://host/hooks?token=x"', "secrets have keys of their own"),
        ("retry_first_s = 0", "retry_first_s"),
        ('routes = ["fleet"]', "url in [fleet]"),
        ('carry = ["main"]', "carry needs routes besides fleet"),
        ('carry = ["main"]\nroutes = ["webhook"]\nwebhook_url = "http://h/x"', "carry needs url in [fleet]"),
        ('carry = ["a*"]', "carry"),
    ],
)
def test_what_could_never_deliver_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, f'webhook_secret = "{SECRET}"\n{text}')
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)


def test_routes_in_the_environment_come_with_what_they_need_in_any_order(tmp_path: Path) -> None:
    given = {"ACU_WAKE_ROUTES": "webhook", "ACU_WAKE_WEBHOOK_URL": "http://h/x", "ACU_WAKE_WEBHOOK_SECRET": SECRET}
    assert _load(tmp_path, **given).routes == (RouteName.WEBHOOK,)
    with pytest.raises(ConfigError, match="webhook_url"):
        _load(tmp_path, ACU_WAKE_ROUTES="webhook", ACU_WAKE_WEBHOOK_SECRET=SECRET)
    with pytest.raises(ConfigError, match="ACU_WAKE_COMMAND"):
        _load(tmp_path, ACU_WAKE_COMMAND='["unfinished')


def test_a_secret_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    assert config.secret("openclaw_token", "", str(file)) == SECRET
    assert config.secret("openclaw_token", "given", str(file)) == "given"
    assert config.secret("openclaw_token", "", "") == ""
    file.write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        config.secret("openclaw_token", "", str(file))
    with pytest.raises(ConfigError, match="FileNotFoundError"):
        config.secret("openclaw_token", "", str(tmp_path / "none"))
