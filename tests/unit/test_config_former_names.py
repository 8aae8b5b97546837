"""A settings table that was renamed: its former name still works and is told of; both names at once are refused."""

from pathlib import Path

import pytest

from acud import config
from acud.base.errors import ConfigError
from acud.base.paths import resolve
from acud_cli import doctor


def _file(folder: Path, text: str) -> Path:
    path = folder / "acud.toml"
    path.write_text(text)
    return path


def test_the_former_name_of_a_table_works_and_is_told_of(tmp_path: Path) -> None:
    path = _file(tmp_path, "[relay]\nport = 4000\n")
    env = {"ACU_RELAY_HOST": "::1"}
    found = config.load(path, env).http_endpoints
    assert (found.port, found.host) == (4000, "::1")
    assert config.former_names(path, env) == [
        ("[relay]", "[http_endpoints]"),
        ("ACU_RELAY_HOST", "ACU_HTTP_ENDPOINTS_HOST"),
    ]
    assert config.unknown_variables(env) == []
    told = list(doctor.settings_findings(resolve({"ACU_HOME": str(tmp_path)}), env))
    assert [one.level for one in told] == ["ok", "warning", "warning"]
    assert "[relay] is the former name of [http_endpoints]" in told[1].text


def test_the_present_name_is_no_warning(tmp_path: Path) -> None:
    path = _file(tmp_path, "[http_endpoints]\nport = 4000\n")
    env = {"ACU_HTTP_ENDPOINTS_HOST": "::1"}
    assert config.load(path, env).http_endpoints.port == 4000
    assert config.former_names(path, env) == []


def test_a_fault_under_the_former_name_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"acud\.toml:3: \[http_endpoints\] port"):
        config.load(_file(tmp_path, "\n[relay]\nport = 65536\n"), {})


def test_both_names_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[relay\] and \[http_endpoints\] are both given"):
        config.load(_file(tmp_path, "[relay]\nport = 1\n[http_endpoints]\nport = 2\n"), {})
    with pytest.raises(ConfigError, match="ACU_RELAY_PORT and ACU_HTTP_ENDPOINTS_PORT are both set"):
        config.load(tmp_path / "absent", {"ACU_RELAY_PORT": "1", "ACU_HTTP_ENDPOINTS_PORT": "2"})


def test_a_variable_wins_over_the_table_whatever_each_is_called(tmp_path: Path) -> None:
    former = _file(tmp_path, "[relay]\nport = 1\n")
    assert config.load(former, {"ACU_HTTP_ENDPOINTS_PORT": "2"}).http_endpoints.port == 2
    present = _file(tmp_path, "[http_endpoints]\nport = 1\n")
    assert config.load(present, {"ACU_RELAY_PORT": "2"}).http_endpoints.port == 2
