"""Backends by name in the settings: their kinds, former tables, keys, and why one is refused."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError, InvalidRequest
from acud.config import api_keys
from acud.config.backends import PREDEFINED, AnthropicSettings, GeminiSettings, OpenAiSettings, Price

SECRET = "hush-0123456789"
AZURE = """
[backends.azure]
kind = "openai"
url = "https://x.openai.azure.com/openai/deployments/eye?api-version=2024-10-21"
model = "eye"
headers = { api-key = "{api_key}", x-team = "hush-0123456789" }
price = { input = 1, output = 2, as_of = "2026-11-26" }
"""


def load_settings(folder: Path, text: str, **env: str) -> config.Settings:
    path = folder / "acud.toml"
    path.write_text(text, encoding="utf-8")
    return config.load(path, env)


def find_refusal(folder: Path, text: str, **env: str) -> tuple[str, str]:
    with pytest.raises(ConfigError) as caught:
        load_settings(folder, text, **env)
    return caught.value.message.replace(str(folder), "HOME"), caught.value.hint


def test_any_number_stands_beside_the_predefined_ones(tmp_path: Path) -> None:
    more = '[backends.second]\nkind = "anthropic"\nmodel = "c"\n[backends.google]\nkind = "gemini"\nmodel = "g"\n'
    found = load_settings(tmp_path, AZURE + more).backends
    assert list(found) == [*PREDEFINED, "azure", "second", "google"]
    assert {name: found[name] for name in PREDEFINED} == PREDEFINED
    assert found["second"] == AnthropicSettings(model="c")
    assert found["google"] == GeminiSettings(model="g")
    assert isinstance(found["azure"], OpenAiSettings)
    assert found["azure"].price == Price(1, 2, "2026-11-26")


@pytest.mark.parametrize("name", PREDEFINED)
def test_a_former_table_means_the_same_as_the_present_one(tmp_path: Path, name: str) -> None:
    keys = 'url = "http://x:1"\nmodel = "m"\ntries = 7\n'
    former = load_settings(tmp_path, f"[{name}]\n{keys}")
    path = tmp_path / "acud.toml"
    assert config.former_names(path, {}) == [(f"[{name}]", f"[backends.{name}]")]
    assert former == load_settings(tmp_path, f"[backends.{name}]\n{keys}")
    assert config.former_names(path, {}) == []
    said, hint = find_refusal(tmp_path, f"[{name}]\n[backends.{name}]\n")
    assert f"[{name}] and [backends.{name}] are both given" in said
    assert hint == f"move the keys of [{name}] to [backends.{name}]"
    variable = f"ACU_{name}_TRIES".upper()
    for table in (name, f"backends.{name}"):
        assert load_settings(tmp_path, f"[{table}]\n{keys}", **{variable: "3"}).backends[name].tries == 3


@pytest.mark.parametrize(("text", "said", "hint"), [
    ("[backends.x]\n", "HOME/acud.toml:1: [backends.x]: kind is missing", "which API it speaks: openai, anthropic"),
    ("[backends.x]\nkind = 'grok'\n", "HOME/acud.toml:2: [backends.x] kind must be one of openai, ", "backends.md"),
    (
        "[backends.x]\nkind = 'openai'\nmodel = 'm'\n",
        "HOME/acud.toml:1: [backends.x]: url is missing",
        "conf/acud.toml",
    ),
    ("[backends.x]\nkind = 'gemini'\n", "HOME/acud.toml:1: [backends.x]: model is missing", "name the model"),
    ("[backends.ocr]\nkind = 'gemini'\n", "HOME/acud.toml:1: [backends.ocr]: acud has a judge", "another name"),
    ("[backends.X_1]\nkind = 'gemini'\n", "HOME/acud.toml:1: [backends.X_1]: a backend's name has a-z", "another"),
    (
        "[backends.claude]\nkind = 'openai'\n",
        "HOME/acud.toml:2: [backends.claude] kind must be anthropic",
        "give the backend of kind openai another name",
    ),
    (
        "[backends.x]\nkind = 'gemini'\nmodel = 'm'\ntries = 0\n",
        "HOME/acud.toml:4: [backends.x] tries must be between 1 and 10",
        "conf/acud.toml",
    ),
    (
        "[claude]\n\nmodell = 'm'\n",
        "HOME/acud.toml:3: [backends.claude] modell: there is no setting of this name",
        "did you mean model?",
    ),
    ("[backends]\nx = 3\n", "HOME/acud.toml: [backends.x] must be a table", "write [backends.x]"),
    ("backends = 3\n", "HOME/acud.toml: backends must be a table", "write [backends.NAME]"),
    (
        "[vision]\nbackends = ['ollama', 'x']\n",
        "HOME/acud.toml:2: [vision] backends must be one of fleet, scripted, ollama, vllm, openrouter, claude, not",
        "add a table [backends.x]",
    ),
    ("[gui_agent]\nbackend = 'x'\n", "HOME/acud.toml:2: [gui_agent] backend must be one of ", "[backends.x]"),
    ("[analysis]\nbackend = 'x'\n", "HOME/acud.toml:2: [analysis] backend must be one of ", "[backends.x]"),
    (
        "[grounding]\nuitars_via = 'claude'\n",
        "HOME/acud.toml:2: [grounding] uitars_via must be one of ",
        "backends.md",
    ),
    (
        "[grounding]\nomniparser_picker = 'x'\n",
        "HOME/acud.toml:2: [grounding] omniparser_picker must ",
        "[backends.x]",
    ),
    (f"{AZURE}[backends.azure.headers]\n", "HOME/acud.toml:8 is not valid TOML", "mend the line"),
])  # fmt: skip
def test_the_place_the_setting_the_reason_and_the_next_step(tmp_path: Path, text: str, said: str, hint: str) -> None:
    message, step = find_refusal(tmp_path, text)
    assert message.startswith(said)
    assert hint in step


@pytest.mark.parametrize("line", [
    f'url = "https://x.example?api-key={SECRET}"', f'url = "https://x.example?api-version=1&key={SECRET}"',
    f'headers = {{ "a b" = "{SECRET}" }}', f'headers = {{ Host = "{SECRET}" }}', f'headers = {{ x = "{SECRET}\\n" }}',
])  # fmt: skip
def test_what_could_not_be_sent_or_would_be_shown_is_refused_unseen(tmp_path: Path, line: str) -> None:
    url = "" if line.startswith("url") else 'url = "https://x.example"\n'
    said, step = find_refusal(tmp_path, f'[backends.x]\nkind = "openai"\nmodel = "m"\n{url}{line}\n')
    assert "[backends.x]" in said
    assert SECRET not in said + step
    said, step = find_refusal(tmp_path, "", ACU_VLLM_HEADERS=f'{{"Host": "{SECRET}"}}')
    assert SECRET not in said + step


def test_a_key_is_from_the_environment_by_the_backend_s_name_and_nothing_shows_a_header(tmp_path: Path) -> None:
    env = {"ACU_AZURE_API_KEY": SECRET, "ACU_OTHER_API_KEY": "x"}
    found = load_settings(tmp_path, AZURE, **env)
    held = api_keys.read_all(found.backends, env)["azure"]
    assert (held.value, held.source) == (SECRET, "ACU_AZURE_API_KEY")
    assert held.sent_headers() == {"api-key": SECRET, "x-team": SECRET}
    assert (held.sent_alone(), api_keys.ApiKey("k").sent_alone()) == ("", "k")
    assert SECRET not in repr(found) + repr(found.backends) + repr(held)
    assert config.unknown_variables(env, found.backends) == ["ACU_OTHER_API_KEY"]


def test_a_judge_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    found = load_settings(tmp_path, AZURE)
    for name in ("auto", "ocr", "claude", "azure"):
        found.check_judge(name)
    with pytest.raises(InvalidRequest, match="there is no judge 'azur'") as caught:
        found.check_judge("azur")
    names = "auto, ocr, fleet, scripted, passthrough, ollama, vllm, openrouter, claude, azure"
    assert caught.value.hint.startswith(f"did you mean azure? there are {names};")
