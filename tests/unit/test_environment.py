"""Secrets by their names stay with the daemon; everything else reaches the programs."""

import pytest

from acud.config import environment_names
from acud.environment import without_secrets

SECRETS = (
    "OPENROUTER_API_KEY",
    "ANTHROPIC_API_KEY",
    "ACU_VLLM_API_KEY",
    "ACU_WAKE_OPENCLAW_TOKEN",
    "ACU_WAKE_WEBHOOK_SECRET",
    "OPENCLAW_GATEWAY_TOKEN",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "PGPASSWORD",
    "HF_TOKEN",
    "OPENAI_KEY",
    "openai_api_key",
    "SECRETS",
)
KEPT = ("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "KEYMAP", "AGENT_MAX_TOKENS", "QT_QPA_PLATFORM")


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_stays(name: str) -> None:
    assert without_secrets({name: "v", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.parametrize("name", KEPT)
def test_what_programs_need_goes_on(name: str) -> None:
    assert without_secrets({name: "v"}) == {name: "v"}


def test_no_setting_that_holds_a_key_or_token_gets_through() -> None:
    held = {"api_key", "openclaw_token", "webhook_secret", "token"}
    names = [name for name, (_, key) in environment_names().items() if key in held]
    assert len(names) >= 6
    assert without_secrets(dict.fromkeys(names, "v")) == {}


def test_a_login_in_an_address_stays_but_a_proxy_is_for_programs() -> None:
    env = {
        "DATABASE_URL": "postgres://me:secret@db/1",  # pragma: allowlist secret
        "HTTPS_PROXY": "http://me:secret@proxy:3128",  # pragma: allowlist secret
        "HOMEPAGE": "https://example.org/a:b@c",
    }
    assert set(without_secrets(env)) == {"HTTPS_PROXY", "HOMEPAGE"}
