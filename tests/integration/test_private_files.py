"""What of an instance is open to others: found, named with the command that mends it, and not started on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base import private_files
from acud.base.errors import Refused
from acud.base.paths import Paths, resolve
from acud_cli import daemon_process, doctor
from tests.fixtures.open_instance import open_instance, put


@pytest.fixture
def paths() -> Iterator[Paths]:
    with open_instance() as made:
        yield made


def test_an_instance_that_is_not_there_is_not_open(paths: Paths) -> None:
    assert list(private_files.deviations(resolve({"ACU_HOME": str(paths.home / "nowhere")}))) == []


def test_a_directory_that_can_be_read_is_closed_at_the_start_and_told(paths: Paths) -> None:
    paths.home.chmod(0o755)
    paths.evidence.mkdir(0o755)
    found = private_files.check_instance(paths)
    assert [(one.path, one.fix, one.grave) for one in found] == [
        (paths.home, f"chmod 700 {paths.home}", False),
        (paths.evidence, f"chmod 700 {paths.evidence}", False),
    ]


@pytest.mark.parametrize("name", ["home", "run", "evidence", "recordings", "displays", "spool"])
def test_a_directory_that_can_be_written_to_is_refused(paths: Paths, name: str) -> None:
    folder: Path = getattr(paths, name)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    with pytest.raises(Refused, match=f"{folder} can be written to by every user") as refused:
        private_files.check_instance(paths)
    assert f"chmod 700 {folder}" in refused.value.hint


def test_a_directory_above_that_everybody_can_write_to_is_refused(paths: Paths) -> None:
    paths.home.parent.chmod(0o777)
    with pytest.raises(Refused, match="above ACU_HOME"):
        private_files.check_instance(paths)
    paths.home.parent.chmod(0o1777)
    assert private_files.check_instance(paths) == []


@pytest.mark.parametrize(("name", "text"), [
    ("request.key", "k"), ("web-token", "t"), ("displays/100/Xauthority", "c"),
    ("acud.toml", '[backends.openrouter]\napi_key = "k"\n'),
])  # fmt: skip
def test_a_secret_that_others_can_get_at_is_refused(paths: Paths, name: str, text: str) -> None:
    file = put(paths.home / name, 0o644, text)
    closed = private_files.check_instance(paths)
    assert not [one for one in closed if one.grave], "ACU_HOME closes it"
    paths.home.chmod(0o755)
    with pytest.raises(Refused, match=f"{file} holds a secret and can be read by every user") as refused:
        private_files.check_instance(paths)
    assert f"chmod 600 {file}" in refused.value.hint
    file.chmod(0o600)
    assert not [one for one in private_files.check_instance(paths) if one.path == file]


def test_settings_without_a_secret_may_be_read(paths: Paths) -> None:
    put(paths.config, 0o644, '[vision]\nbackend = "ocr"\n')
    paths.home.chmod(0o755)
    assert [one.path for one in private_files.check_instance(paths)] == [paths.home]


def test_a_store_that_others_can_write_to_is_refused(paths: Paths) -> None:
    put(paths.database, 0o666)
    paths.home.chmod(0o755)
    with pytest.raises(Refused, match=r"data\.db can be written to by every user"):
        private_files.check_instance(paths)


def test_a_link_in_the_place_of_a_file_or_directory_is_refused(paths: Paths) -> None:
    for place in (paths.database, paths.evidence, paths.request_key):
        place.symlink_to(paths.home.parent)
        with pytest.raises(Refused, match=rf"{place} is (a link|not a directory)"):
            private_files.check_instance(paths)
        place.unlink()


def test_settings_may_be_a_link(paths: Paths) -> None:
    paths.config.symlink_to(put(paths.home.parent / "mine.toml", 0o644, "[daemon]\n"))
    assert private_files.check_instance(paths) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["data.db", "acud.toml", "request.key", "evidence"])
def test_what_belongs_to_somebody_else_is_refused(paths: Paths, name: str) -> None:
    place = paths.home / name
    place.mkdir() if name == "evidence" else put(place, 0o600, "")
    os.chown(place, 12345, 12345)
    with pytest.raises(Refused, match="belongs to uid 12345"):
        private_files.check_instance(paths)


def test_a_group_of_others_counts_as_others(paths: Paths) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    paths.home.chmod(0o770)
    os.chown(paths.home, 0, 54321)
    with pytest.raises(Refused, match="written to by group 54321"):
        private_files.check_instance(paths)


def test_the_daemon_says_what_and_how_to_mend_it(paths: Paths) -> None:
    paths.home.chmod(0o777)
    env = {"PATH": os.environ["PATH"], "ACU_HOME": str(paths.home)}
    done = subprocess.run(
        [sys.executable, "-m", "acud.supervisor"], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"acud: {paths.home} can be written to by every user (look at what is in it, then chmod 700 {paths.home})\n"
    )
    assert list(paths.home.iterdir()) == []


def test_the_doctor_names_each(paths: Paths) -> None:
    key = put(paths.home.parent / "hook-token", 0o644)
    paths.evidence.mkdir(0o755)
    put(paths.home / "web-token", 0o666)
    put(paths.config, 0o600, f'[wake]\nopenclaw_token_file = "{key}"\n')
    found = list(doctor.permission_findings(paths, {}))
    assert {(one.level, one.fix) for one in found} == {
        ("warning", f"chmod 700 {paths.evidence}"),
        ("warning", f"chmod 600 {paths.home / 'web-token'}"),
        ("warning", f"chmod 600 {key}"),
    }
    paths.home.chmod(0o777)
    assert [one.level for one in doctor.permission_findings(paths, {})].count("fault") == 2


def test_all_is_well_in_a_closed_instance(paths: Paths) -> None:
    put(paths.config, 0o600, "")
    assert [one.level for one in doctor.permission_findings(paths, {})] == ["ok"]


def test_a_link_laid_in_shared_memory_is_not_followed(paths: Paths) -> None:
    precious = put(paths.home.parent / "mine" / "precious", 0o600)
    paths.shm.symlink_to(precious.parent)
    try:
        from acud.supervisor import instance

        with pytest.raises(Refused, match="not a directory"):
            instance.remove_leftovers(paths)
        assert precious.read_text() == "x"
    finally:
        paths.shm.unlink()
        shutil.rmtree(paths.shm, ignore_errors=True)


def test_the_log_of_a_start_is_the_users_alone(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_process, "daemon_command", lambda **_: ["true"])
    words = daemon_process.LastWords(paths)
    words.path.parent.mkdir(parents=True, exist_ok=True)
    put(words.path, 0o644, "")
    daemon_process.start_process(paths, words, {}, debug=False).wait()
    assert words.path.stat().st_mode & 0o777 == 0o600
