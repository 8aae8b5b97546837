"""Notes stay inside the workspace."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acud.base.errors import AcudError, NotFound, Refused
from acud_mcp.memory_tools import MAX_FILE_BYTES, Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (tmp_path / "ws-secret").mkdir()
    (tmp_path / "ws-secret" / "k.md").write_text("secret\n")
    return folder


def test_append_read_search(root: Path) -> None:
    notes = Workspace(root)
    notes.append("MEMORY.md", "the build takes ten minutes\n")
    notes.append("days/one.md", "the download was slow")
    assert notes.read("MEMORY.md") == ["the build takes ten minutes"]
    assert (root / "days" / "one.md").stat().st_mode & 0o777 == 0o600
    found = notes.search("slow DOWNLOAD", 10)
    assert [(one.path, one.line) for one in found] == [("days/one.md", 1)]


@pytest.mark.parametrize("name", [
    "../ws-secret/k.md", "/etc/passwd", "..", ".", "", ".git/x.md", "a/../../ws-secret/k.md", "x.sh", "a\0b.md",
    "x" * 5000,
])  # fmt: skip
def test_what_lies_elsewhere_is_refused(root: Path, name: str) -> None:
    notes = Workspace(root)
    with pytest.raises(AcudError):
        notes.read(name)
    with pytest.raises(AcudError):
        notes.append(name, "x")
    assert (root.parent / "ws-secret" / "k.md").read_text() == "secret\n"


def test_links_do_not_lead_out(root: Path) -> None:
    (root / "link.md").symlink_to(root.parent / "ws-secret" / "k.md")
    (root / "folder").symlink_to(root.parent / "ws-secret")
    notes = Workspace(root)
    for name in ("link.md", "folder/k.md"):
        with pytest.raises(Refused):
            notes.read(name)
        with pytest.raises(Refused):
            notes.append(name, "x")
    assert notes.search("secret", 10) == []


def test_what_is_no_plain_file_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    notes = Workspace(root)
    for name in ("pipe.md", "folder.md"):
        with pytest.raises(Refused):
            notes.read(name)
        with pytest.raises(Refused):
            notes.append(name, "x")


def test_a_note_does_not_grow_without_end(root: Path) -> None:
    (root / "big.md").write_bytes(b"x" * MAX_FILE_BYTES)
    with pytest.raises(Refused, match="grow"):
        Workspace(root).append("big.md", "x")


def test_missing_things_are_not_found(root: Path) -> None:
    with pytest.raises(NotFound):
        Workspace(root).read("none.md")
    with pytest.raises(NotFound):
        Workspace(root / "none")


@settings(deadline=None)
@given(st.text(alphabet="./ab~\\\0é%", max_size=12))
def test_no_name_reaches_outside(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "walls"
    (folder / "ws").mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(AcudError):
        Workspace(folder / "ws").append(name + ".md", "x")
    assert [path.name for path in folder.iterdir()] == ["ws"]
