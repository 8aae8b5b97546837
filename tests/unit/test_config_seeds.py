"""Every variable of the installations that acud replaces, with their defaults: taken as the setting that it means, or
refused with a reason in docs/differences.md.
"""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from acud import config

ROOT = Path(__file__).parents[2]

TAKEN: list[tuple[str, str, str, Any]] = [
    ("ACU_VISION_BACKEND", "ollama", "vision.backend", "ollama"),
    ("ACU_VISION_BACKEND", "openrouter", "vision.backend", "openrouter"),
    ("ACU_VISION_BACKEND", "claude", "vision.backend", "claude"),
    ("ACU_VISION_BACKEND", "vllm", "vision.backend", "vllm"),
    ("ACU_VISION_BACKEND", "passthrough", "vision.backend", "passthrough"),
    ("ACU_VISION_MODEL", "minicpm-v", "backends.ollama.model", "minicpm-v"),
    ("ACU_VISION_SYSTEM_INSTRUCTIONS", "You judge screens.", "vision.system_instructions", "You judge screens."),
    ("ACU_VLLM_URL", "http://localhost:8000", "backends.vllm.url", "http://localhost:8000"),
    ("ACU_VLLM_MODEL", "ui-tars-1.5-7b", "backends.vllm.model", "ui-tars-1.5-7b"),
    ("ACU_CLAUDE_VISION_MODEL", "claude-sonnet-4-20250514", "backends.claude.model", "claude-sonnet-4-20250514"),
    (
        "ACU_OPENROUTER_VISION_MODEL",
        "anthropic/claude-haiku-4-5",
        "backends.openrouter.model",
        "anthropic/claude-haiku-4-5",
    ),
    ("ACU_GUI_AGENT_BACKEND", "direct", "grounding.backend", "direct"),
    ("ACU_GUI_AGENT_BACKEND", "uitars", "grounding.backend", "uitars"),
    ("ACU_GUI_AGENT_BACKEND", "claude_cu", "grounding.backend", "claude_cu"),
    ("ACU_GUI_AGENT_BACKEND", "omniparser", "grounding.backend", "omniparser"),
    ("ACU_UITARS_OLLAMA_MODEL", "0000/ui-tars-1.5-7b", "grounding.uitars_ollama_model", "0000/ui-tars-1.5-7b"),
    ("ACU_UITARS_KEEP_ALIVE", "5m", "grounding.uitars_keep_alive", "5m"),
    ("ACU_DIFF_MAX_WIDTH", "320", "wait.diff_max_width", 320),
    ("ACU_FRAME_MAX_DIM", "960", "vision.frame_max_dim", 960),
    ("ACU_FRAME_JPEG_QUALITY", "72", "vision.frame_jpeg_quality", 72),
    ("ACU_DEBUG", "0", "daemon.debug", False),
    ("ACU_DEBUG", "1", "daemon.debug", True),
    ("OLLAMA_URL", "http://localhost:11434", "backends.ollama.url", "http://localhost:11434"),
    ("OLLAMA_KEEP_ALIVE", "10m", "backends.ollama.keep_alive", "10m"),
    ("OPENROUTER_API_KEY", "k", "backends.openrouter.api_key", "k"),
    ("ANTHROPIC_API_KEY", "k", "backends.claude.api_key", "k"),
    ("AGENT_ENABLED", "true", "analysis.enabled", True),
    ("AGENT_ENABLED", "false", "analysis.enabled", False),
    ("AGENT_INTERVAL_MS", "30000", "analysis.interval_ms", 30000),
    ("AGENT_MODEL", "google/gemini-2.5-flash-lite", "analysis.model", "google/gemini-2.5-flash-lite"),
    ("AGENT_MAX_AGE_MS", "120000", "analysis.max_age_ms", 120000),
    ("AGENT_MAX_TOKENS", "300", "analysis.max_tokens", 300),
    ("AGENT_TEMPERATURE", "0.3", "analysis.temperature", 0.3),
    ("AGENT_PUSH_TO_FEED", "true", "analysis.push_to_feed", True),
    ("AGENT_LOG_VERBOSE", "false", "analysis.log_verbose", False),
]
ELSEWHERE = ("ACU_WORKSPACE",)
"""Taken by `acud mcp` (docs/mcp.md)."""
REFUSED = ("ACU_DAEMON_HOST", "ACU_DAEMON_PORT", "ACU_DAEMON_URL")


@pytest.mark.parametrize(("name", "text", "place", "value"), TAKEN)
def test_it_is_taken_as_what_it_meant(tmp_path: Path, name: str, text: str, place: str, value: object) -> None:
    section, _, key = place.rpartition(".")
    assert config.SEED_NAMES[name] == (section, key)
    given = getattr(config.load(tmp_path / "acud.toml", {name: text}).table(section), key)
    assert given == value
    plain = config.Settings()
    others = [field.name for field in config.SECTIONS if field.name != section]
    loaded = config.load(tmp_path / "acud.toml", {name: text})
    assert all(loaded.table(other) == plain.table(other) for other in others)


def test_all_together_are_taken(tmp_path: Path) -> None:
    config.load(tmp_path / "acud.toml", {name: text for name, text, _, _ in TAKEN})


def test_what_is_read_elsewhere_is_no_warning_and_what_is_refused_has_its_reason() -> None:
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8").split("## Read there, not here")[1]
    assert config.unknown_variables(dict.fromkeys(ELSEWHERE, "x")) == []
    for name in REFUSED:
        assert config.unknown_variables({name: "x"}) == [name]
        assert f"`{name}`" in page


def test_no_two_settings_have_one_name() -> None:
    places = [
        (section.name, key.name)
        for section in config.SECTIONS
        for key in msgspec.structs.fields(section.type)
        if key.name != "price"
    ]
    assert sorted(config.environment_names().values()) == sorted(places)  # a name that two have leaves one of them out


def test_a_setting_whose_plain_name_is_another_s_has_its_own(tmp_path: Path) -> None:
    env = {"ACU_GUI_AGENT_BACKEND": "direct", "ACU_GUI_AGENT_CHAT_BACKEND": "claude"}
    loaded = config.load(tmp_path / "acud.toml", env)
    assert (loaded.grounding.backend, loaded.gui_agent.backend) == ("direct", "claude")
