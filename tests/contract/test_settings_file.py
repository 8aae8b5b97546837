"""conf/acud.toml holds every setting with its default, each with a reason; docs/differences.md names real variables."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

import msgspec

from acud import config
from acud.config.backends import BackendSettings
from tests.contract.named_in_texts import BACKENDS

ROOT = Path(__file__).parents[2]
FILE = ROOT / "conf" / "acud.toml"


def test_it_loads_as_the_defaults() -> None:
    assert config.load(FILE, {}) == config.Settings()


def test_it_has_every_key_in_the_order_of_the_code() -> None:
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    tables |= {f"backends.{name}": table for name, table in tables.pop("backends").items()}
    given = {section: list(keys) for section, keys in tables.items()}
    # A price has no value that means none: the comment shows one.
    wanted = {
        section.name: [key.name for key in msgspec.structs.fields(section.type) if key.name != "price"]
        for section in config.SECTIONS
    }
    assert given.pop("prices") == list(config.PRICES)
    assert given == wanted


def test_every_key_has_a_comment_before_it_or_before_its_block() -> None:
    bare = {
        "restart_window_s",
        "height",
        "engine",
        "jpeg_quality",
        "title",
        "input",
        "output",
        "as_of",
    }  # named by the comment of the key before
    common = {key.name for key in msgspec.structs.fields(BackendSettings)} - {"url", "model", "api_key", "tries"}
    section, lines = "", FILE.read_text(encoding="utf-8").splitlines()
    for before, line in itertools.pairwise(lines):
        section = line if line.startswith("[") else section
        if found := re.match(r"(\w+) = ", line):
            told = bare | (common if section.startswith("[backends.") and "ollama" not in section else set())
            assert before.startswith("#") or found[1] in told, line


def test_seed_names_stand_beside_their_keys() -> None:
    text = FILE.read_text(encoding="utf-8")
    named = {
        name
        for found in re.findall(r"\[((?:ACU_|AGENT_|OLLAMA_|OPENROUTER_|ANTHROPIC_)[A-Z_, ]+)\]", text)
        for name in found.split(", ")
    }
    assert named == set(config.SEED_NAMES)


def test_the_differences_page_names_variables_that_are_read() -> None:
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8").split("## Read there, not here")[0]
    known = config.environment_names().keys() | config.NOT_SETTINGS
    assert set(re.findall(r"`(ACU_[A-Z_]+)`", page)) <= known


def test_the_differences_page_tells_the_defaults_as_they_are() -> None:
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    defaults = config.Settings()
    for name in ("ACU_FRAME_MAX_DIM", "ACU_FRAME_JPEG_QUALITY", "ACU_VISION_MODEL", "ACU_DIFF_MAX_WIDTH"):
        section, key = config.SEED_NAMES[name]
        value = getattr(defaults.table(section), key)
        assert re.search(rf"`{name}`\s+{re.escape(str(value))}\b", page), name


def test_doctor_knows_every_variable_that_the_pages_name() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "conf").rglob("*.*")]
    texts = {page.name: page.read_text(encoding="utf-8", errors="replace") for page in pages if page.is_file()}
    texts["differences.md"] = texts["differences.md"].split("## Read there, not here")[0]
    named = {name for text in texts.values() for name in re.findall(r"\bACU_[A-Z0-9_]*[A-Z0-9]\b", text)}
    assert "ACU_LEASE" in named
    assert config.unknown_variables(dict.fromkeys(named, "x"), BACKENDS) == []
