"""docs/packaging.md names the licence of everything that is not under a plain permissive one, and every extra."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "packaging.md").read_text(encoding="utf-8")
LICENCES = PAGE[PAGE.index("## Licences") :]


def test_every_extra_has_its_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name for name in project["optional-dependencies"] if f"| `acud[{name}]` |" not in LICENCES} == set()


def test_py_vapid_says_itself_that_it_is_under_the_mpl() -> None:
    found = metadata.distribution("py-vapid")
    text = next(file for file in found.files or () if file.name == "LICENSE")
    assert found.metadata["License"] == "MPL-2.0"
    assert text.read_text().startswith("Mozilla Public License Version 2.0")
    assert "py-vapid MPL-2.0" in LICENCES


def test_the_libraries_in_av_are_as_the_page_says() -> None:
    bundled = {file.name.split("-")[0].split(".")[0] for file in metadata.distribution("av").files or ()}
    assert {"libx264", "libx265"} <= bundled, "without them it is no longer under the GPL: say so on the page"
