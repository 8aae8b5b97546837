"""Programs on displays inherit what is listed, and what the settings name; nothing with any other name."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.config import DisplaySettings, environment_names
from acud.supervisor.program_launcher import INHERITED_NAMES, INHERITED_PREFIXES, inherited_environment

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
        "COLOUR": "red",
        "PATH": "/opt:/bin",
        "EMPTY": "",
        "A": "b=c",
    }


@pytest.mark.parametrize("entry", ["", "=x", "1A", "A B", "A-B=c", "A=\0", "DISPLAY=:0", "XAUTHORITY"])
def test_what_names_no_variable_is_refused(entry: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="environment"):
        msgspec.convert({"environment": [entry]}, DisplaySettings)
