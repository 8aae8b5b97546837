"""Each deviation of docs/deviations.md, made to happen: `acud doctor` says the line that the page promises."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from acud.base.paths import Paths
from acud.protocol.requests.daemon import Finding
from acud_cli import doctor
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon
from tests.fixtures.open_instance import open_instance, put
from tests.integration.xserver import XServer

PAGE = (Path(__file__).parents[2] / "docs" / "deviations.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    level: str
    part: str
    says: str


def rows() -> dict[str, Row]:
    begin = PAGE.index("| deviation | level | part |")
    lines = PAGE[begin : PAGE.index("\n\n", begin)].splitlines()[2:]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name: Row(*rest) for name, *rest in cells}


ROWS = rows()


def is_told(row: Row, found: list[Finding]) -> bool:
    """Whether a finding of the row's part and level has its words, and a next step unless all is well."""
    return any(
        (one.part.startswith(row.part), one.level, row.says in one.text) == (True, row.level, True)
        and (one.level == "ok" or one.fix)
        for one in found
    )


# ---- seen from outside, with no daemon -------------------------------------------------------------------------------


@pytest.fixture
def paths() -> Iterator[Paths]:
    """An instance that nobody runs."""
    with open_instance() as made:
        yield made


def _opened(paths: Paths) -> None:
    paths.home.chmod(0o755)


def _key(paths: Paths) -> None:
    _opened(paths)
    put(paths.config, 0o644, '[backends.openrouter]\napi_key = "k"\n')


def _token(paths: Paths) -> None:
    _opened(paths)
    put(paths.home / "web-token", 0o644)


def _named(paths: Paths) -> None:
    token = put(paths.home.parent / "hook-token", 0o644)
    put(paths.config, 0o600, f'[wake]\nopenclaw_token_file = "{token}"\n')


def _cookie(paths: Paths) -> None:
    _opened(paths)
    put(paths.displays / "100" / "Xauthority", 0o644)


def _foreign(paths: Paths) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(put(paths.database, 0o600), 12345, 12345)


OUTSIDE: dict[str, Callable[[Paths], object]] = {
    "ACU_HOME can be read": _opened,
    "ACU_HOME can be written to": lambda paths: paths.home.chmod(0o777),
    "a directory above ACU_HOME can be written to": lambda paths: paths.home.parent.chmod(0o777),
    "a directory of the instance can be read": lambda paths: paths.evidence.mkdir(0o755),
    "a socket can be written to": lambda paths: put(paths.run / "control", 0o666),
    "acud.toml holds a key and can be read": _key,
    "a kept token or key can be read": _token,
    "a file of a secret that the settings name can be read": _named,
    "the Xauthority of a managed display can be read": _cookie,
    "a link lies in the place of a file": lambda paths: paths.database.symlink_to("/etc/hostname"),
    "something of the instance belongs to another user": _foreign,
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_seen_from_outside(name: str, paths: Paths) -> None:
    before = list(doctor.outside_findings(paths, {}))
    assert not is_told(ROWS[name], before)
    OUTSIDE[name](paths)
    assert is_told(ROWS[name], list(doctor.outside_findings(paths, {})))


SMALL = """
import os
from acud_cli import doctor
found = doctor.shared_memory_finding()
print(found.level, found.part, found.text, found.fix, sep="|")
"""


def test_a_small_shm() -> None:
    command = f"mount -t tmpfs -o size=40m none /dev/shm && exec {sys.executable} -c '{SMALL}'"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", command], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert is_told(ROWS["/dev/shm is too small"], [_finding(done.stdout.strip().split("|"))])


DUMPS = """
import resource
from acud.supervisor import security_checks
handed = ("|/usr/share/apport/apport -p%p", "|/lib/systemd/systemd-coredump %P")
for limit, pattern in ((1000, "core"), *((0, program) for program in handed), (0, "core")):
    resource.setrlimit(resource.RLIMIT_CORE, (limit, 1000 if limit else 0))
    found = security_checks.check_core_dumps(pattern)
    print(found.level, found.part, found.text, found.fix, sep="|")
"""


def test_core_dumps() -> None:
    # A process of its own: the limit can be lowered, and not raised again.
    done = subprocess.run([sys.executable, "-c", DUMPS], capture_output=True, text=True, check=True)
    raised, kept, *well = (line.split("|") for line in done.stdout.splitlines())
    assert is_told(ROWS["the limit of core dumps is not 0"], [_finding(raised)])
    assert is_told(ROWS["the kernel hands core dumps to a program that keeps them all"], [_finding(kept)])
    assert [one[0] for one in well] == ["ok", "ok"]


def _finding(words: list[str]) -> Finding:
    level, part, text, fix = words
    return Finding(part, level, text, fix)  # type: ignore[arg-type]


# ---- said by the daemon ----------------------------------------------------------------------------------------------

SETTINGS = """
[vision]
backend = "vllm"
[backends.vllm]
url = "http://192.0.2.1:8000"
model = "m"
[wake]
routes = ["openclaw", "webhook"]
openclaw_url = "http://192.0.2.2/hooks"
openclaw_token = "a-token-that-is-long-enough"
webhook_url = "http://192.0.2.3/wake"
webhook_secret = "a-secret-that-is-long-enough"
[otel]
endpoint = "http://192.0.2.4:4318"
[redaction]
ocr = false
[fleet]
url = "nats://192.0.2.5:4222"
host = "h1"
nkey_seed_file = "/nonexistent"
[web]
enabled = true
host = "0.0.0.0"
port = 0
allow_remote = true
allow_insecure = true
metrics_open = true
[http_endpoints]
enabled = true
host = "0.0.0.0"
port = 0
allow_remote = true
"""
DAEMON = (
    "the Xauthority of an added display can be read", "the service is not closed by its unit",
    "no limit for the programs of a display", "the dashboard serves other machines without TLS",
    "the HTTP endpoints listen beyond this machine", "figures are served without a token",
    "a fleet whose messages nobody checks", "a fleet without TLS", "a model on another machine over http",
    "OpenClaw on another machine over http", "a webhook on another machine over http",
    "traces go to another machine over http", "pictures leave, and text in them is not looked for",
)  # fmt: skip


def bound(path: str) -> socket.socket:
    """Return a socket such as systemd gives to a service."""
    systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    systemd.bind(path)
    return systemd


def test_a_daemon_that_falls_short_in_every_way_that_a_running_one_can() -> None:
    with tempfile.TemporaryDirectory(prefix="acud-test-", dir="/tmp") as folder:
        notify = str(Path(folder, "notify"))
        with (
            bound(notify),
            XServer() as server,
            Daemon(settings=SETTINGS + BARE, env={"NOTIFY_SOCKET": notify}) as daemon,
        ):
            Path(folder).chmod(0o755)
            cookie = shutil.copy(server.auth_file, Path(folder, "Xauthority"))
            Path(cookie).chmod(0o644)
            daemon.client.display_add(server.display, auth_file=str(cookie))

            def untold() -> set[str]:
                found = list(daemon.client.doctor().findings)
                return {name for name in DAEMON if not is_told(ROWS[name], found)}

            with contextlib.suppress(AssertionError):
                until(lambda: not untold(), "every line")
            assert untold() == set()


def test_endpoints_without_a_token() -> None:
    with Daemon(settings="[http_endpoints]\nenabled = true\nport = 0\nallow_tokenless = true\n" + BARE) as daemon:
        row = ROWS["the HTTP endpoints serve without a token"]
        until(lambda: is_told(row, list(daemon.client.doctor().findings)), "the line")
        account = is_told(ROWS["acud runs as root"], list(daemon.client.doctor().findings))
        assert account is (os.getuid() == 0)


def test_every_row_of_the_page_is_made_to_happen() -> None:
    others = {"/dev/shm is too small", "acud runs as root", "the HTTP endpoints serve without a token"}
    others |= {name for name in ROWS if "core dumps" in name}
    assert {*OUTSIDE, *DAEMON, *others} == ROWS.keys()
    assert all(re.fullmatch("ok|warning|fault", row.level) for row in ROWS.values())
