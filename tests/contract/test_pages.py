"""The reference pages say what the code says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acud.protocol import VERSION, codec
from acud.protocol.requests import REQUESTS
from scripts import reference
from tests.contract.test_promises_page import THREATS

ROOT = Path(__file__).parents[2]


GENERATED = [
    "llms.txt", "mcp.md",
    "pictures/architecture.svg", "pictures/concept-parts.svg", "pictures/concept-takeover.svg",
    "pictures/concept-verdict.svg", "pictures/concept-waiting.svg", "pictures/cost-dark.svg", "pictures/cost-light.svg",
]  # fmt: skip


def test_the_generated_pages_are_up_to_date() -> None:
    made = reference.pages()
    pages = {name: ROOT / "docs" / name for name in GENERATED}
    stale = [name for name, page in pages.items() if page.read_text(encoding="utf-8") != made[page]]
    assert not stale, "run scripts/docs"


def test_what_a_host_hears_first_is_up_to_date() -> None:
    assert reference.MCP_LISTING.read_text(encoding="utf-8") == reference.mcp_listing(), "run scripts/docs"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The reference pages as the site has them, and the documents for programs, by name."""
    return reference.site_files()


def test_the_reference_is_made_with_the_site_and_not_committed(made: dict[str, str]) -> None:
    assert made.keys() == {
        "cli.md", "mcp-tools.md", "metrics.md", "openapi.json", "openapi.md", "promises.md", "protocol.md",
        "scene.schema.json", "settings.md", "waiting-example.md",
    }  # fmt: skip
    for name, text in made.items():
        if name.endswith(".json"):
            assert json.loads(text)
            assert not (ROOT / "docs" / name).exists()
        else:
            committed = (ROOT / "docs" / name).read_text(encoding="utf-8")
            assert len(text.split()) > len(committed.split()) + 500
            assert [part for part in _GENERATED_PART.findall(committed) if part] == []
            assert "`scripts/site`" in committed, "the page says where the rest comes from"
    assert [attempt for attempt, _ in THREATS if attempt not in made["promises.md"]] == []


_GENERATED_PART = re.compile(r"^<!-- generated: .*? -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)


def test_the_protocol_page_names_version_and_limits() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert f"\nVersion {VERSION}. " in page
    assert f"({codec.MAX_MESSAGE_BYTES} bytes)" in page
    assert f"({codec.MAX_REPLY_BYTES} bytes)" in page


def test_every_request_has_a_section(made: dict[str, str]) -> None:
    assert re.findall(r"^### ([a-z_]+)$", made["protocol.md"], re.MULTILINE) == [spec.name for spec in REQUESTS]


def test_the_pages_name_every_exit_code(made: dict[str, str]) -> None:
    from acud_cli.exit_codes import MEANINGS

    for code, meaning in MEANINGS.items():
        assert re.search(rf"^ +{code:d}  {re.escape(meaning)}$", made["cli.md"], re.MULTILINE)
