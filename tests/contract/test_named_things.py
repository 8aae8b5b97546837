"""Every command line, setting, variable, file and test that anything names is there."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import msgspec
import pytest

from acud import config
from tests.contract.command_lines import DEEPER, TOP, faults
from tests.contract.named_in_texts import BACKENDS, ROOT, Said, code, everything, of_page

pytestmark = pytest.mark.timeout(600)  # takes every file of the tree apart, 10 s of a processor
SETTINGS = {one.name: {key.name for key in msgspec.structs.fields(one.type)} for one in config.SECTIONS}
BACKEND = {"kind"}.union(*(keys for name, keys in SETTINGS.items() if name.startswith("backends.")))
KEYS = set().union(*SETTINGS.values())
_SETTING = re.compile(r"(?<![\w\])(`\"'])\[([a-z][a-z_]*(?:\.[\w-]+)?)\](?![(\[\]])(?: ([a-z][a-z_0-9]*))?( =)?")
_PROSE = {"asks", "here", "in", "is", "says", "sets"}
"""Words that may follow a section's name in a sentence."""
_VARIABLE = re.compile(r"\bACU_[A-Z_]+[A-Z]\b")
_FILE = re.compile(
    r"(?<![\w./~$-])((?:[\w.*-]+/)*[\w.*-]+\.(?:py|sql)\b|(?:tests|docs|scripts|conf|acud|clients)/[\w./@*-]+)(?:::(\w+))?"
)
_DEFINED = re.compile(r"^ *(?:async def|def|class) (\w+)", re.MULTILINE)
_CHOSEN = re.compile(r"(?:pytest|scripts/test) [^`]*?-k '?(\w+)")
_FOREIGN = {
    "acud/supervisor/host_conditions/clocks.py",  # made by a diff of docs/contributing.md
    "acud/types/conditions/clock.py",
    "action_parser.py",  # UI-TARS
    "codes/ui_tars/action_parser.py",
    "codes/ui_tars/prompt.py",
    "re/_casefix.py",  # CPython
    "tests/unit/test_x.py",  # stands for any, in scripts/test
}


# ---- command lines -------------------------------------------------------------------------------------------------


def test_every_command_line_that_is_named_can_be_run() -> None:
    assert [fault for said in everything() for fault in faults(said)] == []


@pytest.mark.parametrize("text", [
    "acud wait show ID", "acud wait '\"Download complete\" is visible' --timeout 5m",
    "acud wait list|show|result ID", "acud wait --text", "acud events | head", "acud --fleet status",
    "acud web login --scope --display", "acud do click 100 200 --picture after.png",
])  # fmt: skip
def test_a_right_command_line_is_taken(text: str) -> None:
    assert faults(Said("x", text, code=True)) == []


@pytest.mark.parametrize("text", [
    "acud stauts", "acud wakes", "acud task lst", "acud wait list --nonsense", "acud wait --all list",
    "acud wait list extra", "acud wait --timeout soon x", "acud wake list|shwo", "acud events | acud wait list x",
    "acud wait list -n many",
])  # fmt: skip
def test_a_wrong_command_line_is_found(text: str) -> None:
    assert faults(Said("x", text, code=True))


@pytest.mark.parametrize(("text", "wrong"), [
    ("acud watches the pixels", False), ("acud wakes the agent, once", False),
    ("run acud status, or acud wait list --all.", False), ("acud web and the log tell", False),
    ("see acud list for it", True), ("say acud stauts to know", True), ("acud wake create makes one", True),
    ("free the port, then acud daemon restart --now", True), ("acud logs --level error says why", False),
])  # fmt: skip
def test_commands_in_prose(text: str, wrong: bool) -> None:
    assert bool(faults(Said("x", text))) == wrong


def test_advice_is_taken_by_the_word() -> None:
    assert faults(Said("x", "acud nonsense", advice=True))
    assert faults(Said("x", "try again; acud nonsense", advice=True))
    assert not faults(Said("x", "install acud with its extra", advice=True))


def test_the_commands_that_were_named_and_missing_are_there() -> None:
    assert "status" in TOP
    assert {"list", "show", "result", "cancel", "update", "create"} <= DEEPER


# ---- settings ------------------------------------------------------------------------------------------------------


def wrong_settings(said: Said) -> list[str]:
    return [
        f"{said.place}: {found[0]}"
        for found in _SETTING.finditer(said.text)
        if not _is_setting(found[1], found[2] or "", in_code=said.code, is_set=bool(found[3]))
    ]


def _is_setting(section: str, key: str, *, in_code: bool, is_set: bool) -> bool:
    if section == "prices":
        return True  # holds models
    if section.startswith("backends.") and section not in SETTINGS:
        return not key or key in BACKEND or (not in_code and key in _PROSE)
    if section not in SETTINGS:
        return not is_set and key not in KEYS  # another thing in brackets
    return not key or key in SETTINGS[section] or (not in_code and key in _PROSE)


def test_every_setting_that_is_named_is_there() -> None:
    assert [fault for said in everything() for fault in wrong_settings(said)] == []


def test_a_wrong_setting_is_found() -> None:
    assert not wrong_settings(Said("x", "[web] enabled = true, and [wake] says which"))
    assert wrong_settings(Said("x", "[wbe] enabled = true"))
    assert wrong_settings(Said("x", "set [otel] url"))
    assert wrong_settings(Said("x", "[otel] says", code=True))


def test_every_variable_that_is_named_is_read() -> None:
    """docs/differences.md also names those of others, and its own test tells them apart."""
    known = config.environment_names(BACKENDS).keys() | config.former_variables().keys() | config.NOT_SETTINGS
    known |= _read_by_name()
    named = {(said.place, name) for said in everything() for name in _VARIABLE.findall(said.text)}
    assert sorted(one for one in named if one[1] not in known and one[0] != "docs/differences.md") == []


def _read_by_name() -> set[str]:
    strings = (said for said in everything() if said.place.startswith(("acud/", "clients/")) and not said.code)
    return {said.text for said in strings if _VARIABLE.fullmatch(said.text)}


# ---- files and tests -----------------------------------------------------------------------------------------------


@cache
def tracked() -> frozenset[str]:
    """Return every file of the tree, each by all its ends, and every folder by all its parts."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    names = set()
    for path in listed.stdout.decode().splitlines():
        parts = path.split("/")
        names |= {
            "/".join(parts[first:last]) for first in range(len(parts)) for last in range(first + 1, len(parts) + 1)
        }
    return frozenset(names)


def wrong_files(said: Said) -> list[str]:
    """Return the files and tests in a text that are not in the tree."""
    return [
        f"{said.place}: {found[0]}" for found in _FILE.finditer(said.text) if not _is_there(found[1], found[2] or "")
    ]


def _is_there(name: str, test: str) -> bool:
    name = name.rstrip("./-")
    if name in _FOREIGN or ("*" in name and any(fnmatch(one, name) for one in tracked())):
        return True
    return name in tracked() and (not test or test in functions_of(name))


@cache
def functions_of(name: str) -> frozenset[str]:
    paths = (path for path in (ROOT / "tests").rglob(name.split("/")[-1]) if str(path).endswith(name))
    return frozenset(found for path in paths for found in _DEFINED.findall(path.read_text(encoding="utf-8")))


def test_every_file_and_test_that_is_named_is_there() -> None:
    own = [
        one
        for one in code(("tests",), holding="tests/")
        if "tests/" in one.text and not one.place.startswith("tests/contract/")
    ]
    assert [fault for said in [*everything(), *own] for fault in wrong_files(said)] == []


@pytest.mark.parametrize("page", sorted((ROOT / "acud").rglob("README.md")), ids=lambda page: page.parent.name)
def test_the_table_of_a_features_page_names_files_of_the_feature(page: Path) -> None:
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([\w./]+)`", row.split("|")[1])]
    assert named
    folder = page.parent.relative_to(ROOT)
    assert [name for name in named if str(folder / name) not in tracked()] == []


def test_every_file_and_folder_of_the_layout_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("\n## 8. Layout\n")[2]
    lines = [line[4:] for line in text.partition("\n### ")[0].splitlines() if line.startswith("    ")]
    folders: list[str] = []
    named = []
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.match(r"(?:[\w.]+(?:/|\.py) ?)+", line.strip())
        if names is None:
            continue  # goes on with the line above
        del folders[depth:]
        named += ["/".join([*folders, name]) for name in names[0].replace("/ ", " ").rstrip("/").split()]
        folders.append(names[0].split("/")[0])
    assert len(named) > 60
    assert [name for name in named if name not in tracked()] == []


def test_every_choice_of_tests_chooses_some() -> None:
    names = {
        test
        for path in (ROOT / "tests").rglob("test_*.py")
        for test in [path.stem, *_DEFINED.findall(path.read_text(encoding="utf-8"))]
    }
    named = {(said.place, word) for said in everything() for word in _CHOSEN.findall(said.text)}
    assert [one for one in named if not any(one[1] in name for name in names)] == []


def test_a_wrong_file_or_test_is_found() -> None:
    assert not wrong_files(
        Said("x", "see `tests/contract/test_pages.py::test_the_generated_pages_are_up_to_date`, `health.py`")
    )
    assert wrong_files(Said("x", "tests/contract/test_page.py"))
    assert wrong_files(Said("x", "`tests/contract/test_pages.py::test_nothing_of_this_name`"))
    assert wrong_files(Said("x", "scripts/nonsense"))
    assert not wrong_files(Said("x", "tests/e2e/test_faults_*.py"))
    assert wrong_files(Said("x", "tests/e2e/test_vaults_*.py"))


def test_pages_are_taken_apart() -> None:
    page = "Say `acud a`.\n\n    acud b        # acud c\n\n```sh\nx | acud d; acud e\n```\n\n```text\nacud f\n```\n"
    found = list(of_page("x", page))
    assert [one.text for one in found if one.code] == ["acud d", "acud e", "acud b", "acud a"]
    assert any("acud c" in one.text for one in found if not one.code)
    assert not any("acud f" in one.text for one in found)
