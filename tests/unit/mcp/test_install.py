"""`acud mcp install`: the host's own file, everything else in it kept."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from acud_cli.__main__ import run
from acud_cli.mcp import HOST_NAMES
from acud_mcp.hosts import HOSTS, read_skill
from acud_mcp.server import TOOLS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ACU_HOME", str(tmp_path / "acu"))
    monkeypatch.delenv("ACU_WORKSPACE", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", [name for name, host in HOSTS.items() if host.form == "json"])
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
    entry = document["acud"]
    command = entry["command"] if host.one_command else [entry["command"], *entry["args"]]
    assert command == [sys.executable, "-m", "acud_cli", "mcp", "--caps", "core", "--autostart"]
    assert entry[host.renamed.get("env", "env")] == {"ACU_HOME": str(home / "acu")}
    assert file.stat().st_mode & 0o777 == 0o640
    assert (home / ".openclaw/skills/acud/SKILL.md").exists() == (name == "openclaw")


def test_a_dry_run_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "install", "cursor", "--dry-run"]) == 0
    assert not (home / ".cursor").exists()
    text = capsys.readouterr().out
    assert json.loads(text[text.index("{") :])["mcpServers"]["acud"]["args"] == ["-m", "acud_cli", "mcp"]


def test_every_host_can_be_named() -> None:
    assert set(HOST_NAMES) == set(HOSTS)


CODEX = """# mine
model = "m"  # kept

[mcp_servers.other]
command = "x"
"""


def test_codex_keeps_its_comments_and_a_second_time_changes_nothing_else(home: Path) -> None:
    file = home / HOSTS["codex"].file
    file.parent.mkdir()
    file.write_text(CODEX)
    assert run(["mcp", "install", "codex"]) == 0
    once = file.read_text()
    assert once.startswith(CODEX)
    servers = tomllib.loads(once)["mcp_servers"]
    assert servers["other"] == {"command": "x"}
    assert servers["acud"]["args"] == ["-m", "acud_cli", "mcp"]
    assert servers["acud"]["env"] == {"ACU_HOME": str(home / "acu")}
    assert run(["mcp", "install", "codex"]) == 0
    assert file.read_text() == once
    file.write_text(once + "\n[after]\nkept = true  # too\n")
    assert run(["mcp", "install", "codex", "--read-only"]) == 0
    assert tomllib.loads(file.read_text())["mcp_servers"]["acud"]["args"][-1] == "--read-only"
    assert "kept = true  # too" in file.read_text()


@pytest.mark.parametrize("text", [
    "nonsense = ", "mcp_servers = 5", "mcp_servers = {}", 'x = """\n[mcp_servers.acud]\n"""', "[[mcp_servers]]\nx = 1",
])  # fmt: skip
def test_toml_that_cannot_be_added_to_is_left_alone(home: Path, text: str) -> None:
    file = home / HOSTS["codex"].file
    file.parent.mkdir()
    file.write_text(text)
    assert run(["mcp", "install", "codex"]) == 8
    assert file.read_text() == text


@pytest.mark.parametrize("text", [
    "", "# mine\nGOOSE_MODEL: m  # kept\n", "extensions: {}\nother: 1",
    "extensions:\n  memory:\n    type: builtin\n    env:\n        acud: 1\nother: 1\n",
    "extensions:\n    # a comment\n    memory:\n        type: builtin  # kept\nother: 1\n",
    'extensions:\n  memory: {type: builtin}\n  acud: {"cmd": "old"}\nother: [1]\n',
])  # fmt: skip
def test_goose_keeps_the_rest_of_its_file(home: Path, text: str) -> None:
    file = home / HOSTS["goose"].file
    file.parent.mkdir(parents=True)
    file.write_text(text)
    before = yaml.safe_load(text) or {}
    assert run(["mcp", "install", "goose"]) == 0
    once = file.read_text()
    after = yaml.safe_load(once)
    entry = after["extensions"].pop("acud")
    assert (entry["cmd"], entry["args"]) == (sys.executable, ["-m", "acud_cli", "mcp"])
    assert (entry["type"], entry["envs"]) == ("stdio", {"ACU_HOME": str(home / "acu")})
    before.setdefault("extensions", {}).pop("acud", None)
    assert after == before
    assert once.count("#") == text.count("#")
    assert run(["mcp", "install", "goose"]) == 0
    assert file.read_text() == once


@pytest.mark.parametrize(
    "text", ["extensions: [1]\n", "extensions: *x\n", "{a: 1}\n", "extensions:\n  acud:\n    cmd: mine\n"]
)
def test_yaml_that_cannot_be_added_to_is_left_alone(home: Path, text: str) -> None:
    file = home / HOSTS["goose"].file
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert run(["mcp", "install", "goose"]) == 8
    assert file.read_text() == text


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


PREFIXES = ("wait_", "smart_", "desktop_", "display_", "memory_", "health_", "gui_", "task_")


def test_the_skill_file_names_every_tool_and_no_other() -> None:
    text = read_skill()
    _, head, body = text.split("---\n", 2)
    assert [line.partition(": ")[0] for line in head.splitlines()] == ["name", "description"]
    assert head.splitlines()[1].partition(": ")[2].startswith('"')  # a colon inside would end a plain YAML value
    named = set(re.findall(r"`([a-z_]+)", body))
    tools = {tool.name for tool in TOOLS}
    assert tools <= named
    assert {name for name in named - tools if name.startswith(PREFIXES)} <= {"wait_id", "task_id"}
