"""`acud mcp install`: the host's own file, everything else in it kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acud_cli.__main__ import run
from acud_mcp.hosts import HOSTS, skill_text
from acud_mcp.server import TOOLS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ACU_HOME", str(tmp_path / "acu"))
    monkeypatch.delenv("ACU_WORKSPACE", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", HOSTS)
def test_it_is_written_where_the_host_reads(home: Path, name: str) -> None:
    host = HOSTS[name]
    file = home / host.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"mine": {"é": 1}}')
    file.chmod(0o640)
    assert run(["mcp", "install", name, "--caps", "core", "--autostart"]) == 0
    document = json.loads(file.read_text())
    assert document["mine"] == {"é": 1}
    for section in host.section:
        document = document[section]
    assert document["acud"]["args"] == ["-m", "acud_cli", "mcp", "--caps", "core", "--autostart"]
    assert document["acud"]["env"] == {"ACU_HOME": str(home / "acu")}
    assert file.stat().st_mode & 0o777 == 0o640
    assert (home / ".openclaw/skills/acud/SKILL.md").exists() == (name == "openclaw")


def test_a_dry_run_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "install", "cursor", "--dry-run"]) == 0
    assert not (home / ".cursor").exists()
    text = capsys.readouterr().out
    assert json.loads(text[text.index("{") :])["acud"]["args"] == ["-m", "acud_cli", "mcp"]


@pytest.mark.parametrize("text", ["{ // comment\n}", "[]", '{"mcpServers": []}', "nonsense"])
def test_what_is_not_plain_json_is_left_alone(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude.json").write_text(text)
    assert run(["mcp", "install", "claude"]) == 8
    assert (home / ".claude.json").read_text() == text
    assert "--dry-run" in capsys.readouterr().err


def test_a_second_time_replaces_only_its_own_entry(home: Path) -> None:
    assert run(["mcp", "install", "vscode"]) == 0
    assert run(["mcp", "install", "vscode", "--read-only"]) == 0
    servers = json.loads((home / HOSTS["vscode"].file).read_text())["servers"]
    assert list(servers) == ["acud"]
    assert servers["acud"]["args"][-1] == "--read-only"


def test_the_skill_file_names_tools_that_exist() -> None:
    text = skill_text()
    _, head, body = text.split("---\n", 2)
    assert [line.partition(": ")[0] for line in head.splitlines()] == ["name", "description"]
    assert head.splitlines()[1].partition(": ")[2].startswith('"')  # a colon inside would end a plain YAML value
    named = set(re.findall(r"`((?:wait|smart|desktop|display|memory|health)_[a-z_]+)`", body))
    assert {"smart_wait", "wait_result", "wait_for_change", "desktop_look"} <= named
    assert named - {"wait_id"} <= {tool.name for tool in TOOLS}
