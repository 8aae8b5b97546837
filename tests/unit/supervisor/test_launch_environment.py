"""Programs on displays inherit what is listed, and what the settings name; nothing with any other name."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.config import DisplaySettings, environment_names
from acud.supervisor.program_launcher import INHERITED_NAMES, INHERITED_PREFIXES, inherited_environment, is_chromium

STAY = (
    *("GITHUB_PAT", "GITHUB_TOKEN", "SENTRY_DSN", "JWT", "OPENROUTER_API_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"),
    *("DATABASE_URL", "ACU_WAKE_WEBHOOK_SECRET", "SSH_AUTH_SOCK", "LD_PRELOAD", "path", "PATHS", "MY_LC_ALL"),
)
PASS = ("PATH", "HOME", "LANG", "LC_TIME", "TZ", "XDG_DATA_DIRS", "QT_QPA_PLATFORM", "HTTPS_PROXY", "no_proxy")


@given(st.dictionaries(st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ_abc0", min_size=1), st.just("v")))
def test_a_variable_with_any_other_name_stays(env: dict[str, str]) -> None:
    kept = inherited_environment({**env, **dict.fromkeys(STAY, "secret"), **dict.fromkeys(PASS, "v")})
    assert kept.keys() >= set(PASS)
    assert not [name for name in kept if name not in INHERITED_NAMES and not name.startswith(INHERITED_PREFIXES)]
    assert "secret" not in kept.values()


def test_no_setting_of_acud_gets_through() -> None:
    assert inherited_environment(dict.fromkeys(environment_names(), "v")) == {}


def test_the_settings_name_more_or_set_it() -> None:
    env = {"JWT": "v", "COLOUR": "red", "PATH": "/bin"}
    assert inherited_environment(env, ("COLOUR", "ABSENT", "PATH=/opt:/bin", "EMPTY=", "A=b=c")) == {
        "COLOUR": "red", "PATH": "/opt:/bin", "EMPTY": "", "A": "b=c",
    }  # fmt: skip


@pytest.mark.parametrize("entry", ["", "=x", "1A", "A B", "A-B=c", "A=\0", "DISPLAY=:0", "XAUTHORITY"])
def test_what_names_no_variable_is_refused(entry: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="environment"):
        msgspec.convert({"environment": [entry]}, DisplaySettings)


def test_what_is_built_on_chromium_is_known_by_its_files_and_through_its_script(tmp_path: Path) -> None:
    folder, place = tmp_path / "lib" / "editor", tmp_path / "bin"
    place.mkdir()
    (folder / "bin").mkdir(parents=True)
    (folder / "chrome_100_percent.pak").write_bytes(b"")
    for path in (folder / "editor", folder / "bin" / "start", place / "other"):
        path.write_bytes(b"\x7fELF")
    (place / "wrapped").write_text(f'#!/bin/sh\nAPP=editor\nLIB={folder.parent}/$APP\nexec $LIB/editor "$@"\n')
    (place / "linked").symlink_to(folder / "bin" / "start")
    known = [is_chromium(str(path)) for path in (folder / "editor", place / "wrapped", place / "linked")]
    assert known == [True, True, True]
    assert not is_chromium(str(place / "other"))
