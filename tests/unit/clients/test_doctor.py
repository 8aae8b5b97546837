"""What the doctor sees from outside."""

from pathlib import Path, PurePosixPath

import pytest

from acud.base.paths import Paths, resolve
from acud_cli import doctor


def _paths(home: Path) -> Paths:
    return resolve({"ACU_HOME": str(home)})


@pytest.mark.parametrize(("installed", "level", "said"), [
    ({"pillow-simd": ["PIL/Image.py"], "pillow": ["pillow-12.1.1+simd.dist-info/METADATA"]}, "ok", "nothing else"),
    ({"pillow-simd": ["PIL/Image.py"], "pillow": ["PIL/Image.py"]}, "fault", "brought by pillow and pillow-simd"),
    ({"pillow": ["PIL/Image.py"]}, "fault", "brought by pillow; acud needs pillow-simd"),
    ({}, "fault", "no package here brings it"),
])  # fmt: skip
def test_there_is_one_pil(installed: dict[str, list[str]], level: str, said: str) -> None:
    found = doctor.pictures_finding(
        {name: [PurePosixPath(file) for file in files] for name, files in sorted(installed.items())}
    )
    assert found.level == level
    assert said in found.text
    assert "pip uninstall -y pillow pillow-simd" in found.fix or level == "ok"


def test_a_home_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    assert [found.level for found in doctor.home_findings(_paths(tmp_path / "new"))] == ["ok"]


def test_an_endpoint_of_a_fleet_has_the_settings_of_its_home(tmp_path: Path) -> None:
    (tmp_path / "acud.toml").write_text('[fleet]\nhost = "h1"\n')
    assert [found.text for found in doctor.settings_findings(_paths(tmp_path).of_fleet(), {})] == [
        str(tmp_path / "acud.toml")
    ]


def test_an_endpoint_that_does_not_run_is_named_with_what_starts_it(tmp_path: Path) -> None:
    of_fleet, of_daemon = (doctor.socket_finding(one) for one in (_paths(tmp_path).of_fleet(), _paths(tmp_path)))
    assert (of_fleet.level, of_fleet.text) == ("fault", "the endpoint of the fleet is not running")
    assert "acud fleet serve" in of_fleet.fix
    assert "acud daemon start" in of_daemon.fix


def test_a_home_open_to_others_is_a_warning_with_its_fix(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    found = next(doctor.home_findings(_paths(tmp_path)))
    assert (found.level, found.fix) == ("warning", f"chmod 700 {tmp_path}")


def test_a_home_that_is_a_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert next(doctor.home_findings(_paths(tmp_path / "file"))).level == "fault"


def test_settings_that_do_not_load_are_named(tmp_path: Path) -> None:
    (tmp_path / "acud.toml").write_text("[vision]\nbackned = 'ocr'\n")
    found = next(doctor.settings_findings(_paths(tmp_path), {}))
    assert found.level == "fault"
    assert "backned" in found.text


def test_unknown_variables_are_warnings(tmp_path: Path) -> None:
    found = list(doctor.settings_findings(_paths(tmp_path), {"ACU_DAEMON_PORT": "18790", "ACU_DEBUG": "1"}))
    assert [one.level for one in found] == ["ok", "warning"]
    assert "ACU_DAEMON_PORT" in found[1].text


def test_a_missing_program_names_its_package(tmp_path: Path) -> None:
    (tmp_path / "acud.toml").write_text("[display]\nwindow_manager = 'no-such-wm --flag'\n")
    found = {one.part: one for one in doctor.program_findings(_paths(tmp_path), {})}
    assert found["no-such-wm"].fix == "apt-get install no-such-wm"


def test_a_daemon_that_is_not_started_yet_is_no_fault(tmp_path: Path) -> None:
    found = doctor.socket_finding(_paths(tmp_path))
    assert (found.level, found.text, found.fix) == ("warning", "not started yet", "acud daemon start")


def test_findings_come_in_order_and_all_have_fixes(tmp_path: Path) -> None:
    found = list(doctor.outside_findings(_paths(tmp_path), {}))
    assert found[0].part == "installation"
    assert all(one.fix for one in found if one.level != "ok")
