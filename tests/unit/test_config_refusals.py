"""Why settings are refused: the file and line, or the variable; the setting; the reason; the next step."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError


def find_refusal(folder: Path, text: str, **env: str) -> tuple[str, str]:
    (folder / "acud.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.usable(folder / "acud.toml", env)
    return caught.value.message.replace(str(folder), "HOME"), caught.value.hint


@pytest.mark.parametrize(("text", "message", "hint"), [
    (
        "# mine\n[vision]\nbackned = 'ocr'\n",
        "HOME/acud.toml:3: [vision] backned: there is no setting of this name",
        "did you mean backend? see conf/acud.toml for every key",
    ),
    (
        "[daemon]\ndebug = true\n\n[visoin]\nbackend = 'ocr'\n",
        "HOME/acud.toml:4: [visoin]: there is no section of this name",
        "did you mean vision? see conf/acud.toml for every key",
    ),
    (
        "[vision]\n\ntimeout_s = 'long'\n",
        "HOME/acud.toml:3: [vision] timeout_s must be a number ",
        "conf/acud.toml",
    ),
    (
        "[analysis]\ntemperature = 3\n",
        "HOME/acud.toml:2: [analysis] temperature must be between 0 and 2",
        "conf/acud.toml",
    ),
    ("[display]\nenvironment = ['A', 5]\n", "HOME/acud.toml:2: [display] environment[1] must be a text", "conf"),
    ("[redaction]\npatterns = ['(?=x)']\n", "HOME/acud.toml:1: [redaction]: the regular expression", ""),
    ("[wake]\nroutes = ['webhook']\n", "HOME/acud.toml:", "conf/acud.toml"),
    ("[wake]\ncarry = ['main']\n", "HOME/acud.toml:", "conf/acud.toml"),
    ("[wake]\nwebhook_secret_file = '/nowhere'\n", "cannot read /nowhere", "wake.webhook_secret_file"),
    ("[a]\nb = = 1\n", "HOME/acud.toml:2 is not valid TOML: ", "mend the line named"),
    ("[a]\nb = '''", "HOME/acud.toml:2 is not valid TOML: ", "mend the line named"),
])  # fmt: skip
def test_the_place_the_setting_the_reason_and_the_next_step(tmp_path: Path, text: str, message: str, hint: str) -> None:
    said, step = find_refusal(tmp_path, text)
    assert said.startswith(message)
    assert hint in step


def test_a_variable_is_named_instead_of_a_line(tmp_path: Path) -> None:
    said, step = find_refusal(tmp_path, "[vision]\nbackend = 'ocr'\n", ACU_VISION_BACKEND="orc")
    assert said.startswith("ACU_VISION_BACKEND: [vision] backend must be one of auto, ocr, ")
    assert said.endswith(", not 'orc'")
    assert "add a table [backends.orc]" in step
    said, step = find_refusal(tmp_path, "", AGENT_TEMPERATURE="hot")
    assert step == "it sets analysis.temperature"
    assert said == "AGENT_TEMPERATURE='hot': [analysis] temperature must be a number between 0 and 2"
    said, _ = find_refusal(tmp_path, "[vision]\nbackend = 'ocr'\n", ACU_WAKE_ROUTES="webhook")
    assert "ACU_WAKE_ROUTES" in said


def test_what_is_no_text_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "acud.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        config.load(tmp_path / "acud.toml", {})
    with pytest.raises(ConfigError, match="cannot read"):
        config.load(tmp_path, {})
