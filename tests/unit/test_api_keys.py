"""Keys of backends: where they are from, and that nothing shows one."""

from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError
from msgspec.structs import replace

from acud import config
from acud.base.errors import ConfigError
from acud.config import api_keys
from acud.config.api_keys import ApiKey
from acud.config.backends import PREDEFINED, without_secrets
from acud.protocol.bootstrap import EvaluatorOptions

SECRET = "sk-ant-0123456789abcdef"


class Ring(KeyringBackend):
    """A keyring that holds one password."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return SECRET if (service, username) == ("acud", "claude") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError


def load_settings(tmp_path: Path, text: str = "", env: dict[str, str] | None = None) -> dict[str, ApiKey]:
    path = tmp_path / "acud.toml"
    path.write_text(text)
    return api_keys.read_all(config.load(path, env or {}).backends, env or {})


def test_the_environment_wins_and_says_so(tmp_path: Path) -> None:
    text = '[backends.claude]\napi_key = "from-the-file"\n'
    assert load_settings(tmp_path, text)["claude"] == ApiKey("from-the-file", "acud.toml")
    assert load_settings(tmp_path, text, {"ANTHROPIC_API_KEY": SECRET})["claude"] == ApiKey(SECRET, "ANTHROPIC_API_KEY")
    assert load_settings(tmp_path, "", {"OPENROUTER_API_KEY": SECRET})["openrouter"].source == "OPENROUTER_API_KEY"
    assert load_settings(tmp_path) == dict.fromkeys(("ollama", "vllm", "openrouter", "claude"), ApiKey())


def test_a_file_holds_the_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    text = f'[backends.vllm]\napi_key_file = "{file}"\n'
    assert load_settings(tmp_path, text)["vllm"].fault == f"cannot read {file}: FileNotFoundError"
    file.write_text(f" {SECRET}\n")
    assert load_settings(tmp_path, text)["vllm"] == ApiKey(SECRET, str(file))
    file.write_text("\n")
    assert load_settings(tmp_path, text)["vllm"].fault == f"{file} is empty"
    file.write_text("two\nlines")
    assert load_settings(tmp_path, text)["vllm"] == ApiKey(fault=f"what {file} holds cannot go into an HTTP header")


def test_a_keyring_holds_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        text = '[backends.claude]\napi_key_keyring = "acud"\n[backends.openrouter]\napi_key_keyring = "acud"\n'
        found = load_settings(tmp_path, text)
    finally:
        keyring.set_keyring(before)
    assert found["claude"] == ApiKey(SECRET, "keyring acud")
    assert found["openrouter"].fault == "the keyring has no password of openrouter under acud"


def test_nothing_shows_a_key(tmp_path: Path) -> None:
    settings = config.load(tmp_path / "none", {"ANTHROPIC_API_KEY": SECRET, "OPENROUTER_API_KEY": SECRET})
    held = api_keys.read_all(settings.backends, {})
    options = EvaluatorOptions(
        settings.vision, settings.ocr, False, "", "", 1, 1, backends=without_secrets(settings.backends), keys=held
    )
    assert settings.backends["claude"].api_key == SECRET
    assert SECRET not in repr(settings) + repr(settings.backends) + repr(held) + repr(options)
    assert all(
        SECRET not in str(one)
        for struct in (settings.backends["claude"], held["claude"])
        for one in struct.__rich_repr__()
    )
    assert options.backends == PREDEFINED


@pytest.mark.parametrize("line", [f"url = 'https://{SECRET}@x.example'", f"url = 'https://x.example?key={SECRET}'"])
def test_a_key_in_an_address_is_refused_unseen(tmp_path: Path, line: str) -> None:
    path = tmp_path / "acud.toml"
    path.write_text(f"[backends.claude]\n{line}\n")
    with pytest.raises(ConfigError, match="claude") as caught:
        config.load(path, {})
    assert SECRET not in str(caught.value)


def test_what_installations_set_still_means_the_same(tmp_path: Path) -> None:
    env = {
        "ACU_VISION_BACKEND": "openrouter", "ACU_VISION_MODEL": "llava", "OLLAMA_URL": "http://gpu:11434",
        "OLLAMA_KEEP_ALIVE": "5m", "ACU_VLLM_URL": "http://gpu:8000", "ACU_VLLM_MODEL": "eye",
        "ACU_CLAUDE_VISION_MODEL": "claude-x", "ACU_OPENROUTER_VISION_MODEL": "a/b",
    }  # fmt: skip
    found = config.load(tmp_path / "none", env)
    assert found.vision.chain() == ("openrouter",)
    ollama, vllm, openrouter, claude = found.backends.values()
    assert ollama == replace(PREDEFINED["ollama"], model="llava", url="http://gpu:11434", keep_alive="5m")
    assert (vllm.url, vllm.model) == ("http://gpu:8000", "eye")
    assert (claude.model, openrouter.model) == ("claude-x", "a/b")
    assert (PREDEFINED["claude"].model, PREDEFINED["openrouter"].model) == (
        "claude-sonnet-4-20250514",
        "google/gemini-2.0-flash-lite-001",
    )


def test_one_backend_named_stands_alone_and_auto_goes_along_the_list(tmp_path: Path) -> None:
    path = tmp_path / "acud.toml"
    path.write_text('[vision]\nbackends = ["ollama", "openrouter", "ollama"]\n')
    assert config.load(path, {}).vision.chain() == ("ollama", "openrouter")
    assert config.load(path, {"ACU_VISION_BACKEND": "ollama"}).vision.chain() == ("ollama",)
    assert config.load(path, {"ACU_VISION_BACKENDS": "claude, vllm"}).vision.chain() == ("claude", "vllm")
    with pytest.raises(ConfigError, match="backends"):
        config.load(path, {"ACU_VISION_BACKENDS": "ocr"})
