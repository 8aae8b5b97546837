"""Managed displays on real X servers: up, used, ended."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import DisplayDown, InvalidRequest, NotFound, Refused, Unavailable
from acud.supervisor.displays import ManagedDisplay, numbers, proc_files
from acud.supervisor.displays.stop import ProcessEnd
from tests.fixtures.numbers import own_number
from tests.fixtures.retitled import WRITE_OVER
from tests.integration.displays_support import Host, environ, traces, xdpyinfo

_TCP_LISTEN = "0A"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with Host(tmp_path) as running:
        yield running


def script(path: Path, text: str) -> str:
    """Write an executable to stand in for a program; return its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def pid_of(display: ManagedDisplay, role: str) -> int:
    return next(process.pid for process in display.processes if process.role == role)


# ---- up ------------------------------------------------------------------------------------------------------------


def test_a_display_comes_up_whole(host: Host) -> None:
    display = host.create()
    assert (display.notes, display.depth, host.displays.find(display.name)) == ((), 24, display)
    assert [process.comm for process in display.processes] == ["Xvfb", "dbus-daemon", "openbox"]
    info = xdpyinfo(display.environment(os.environ))
    assert "640x480 pixels" in info.stdout
    assert {"Composite", "DAMAGE", "MIT-SHM"} <= set(info.stdout.split())
    names = subprocess.run(
        ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"],
        env=display.environment(os.environ), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert names.returncode == 0


def test_the_cookie_is_required(host: Host, tmp_path: Path) -> None:
    display = host.create()
    refused = xdpyinfo({"PATH": os.environ["PATH"], "DISPLAY": display.name, "XAUTHORITY": "/dev/null"})
    assert refused.returncode != 0
    assert "uthoriz" in refused.stderr
    assert Path(display.auth_file).stat().st_mode & 0o777 == 0o600
    assert display.places.folder.stat().st_mode & 0o777 == 0o700


def test_no_tcp_port_is_open(host: Host, tmp_path: Path) -> None:
    display = host.create()
    with socket.socket() as probe:
        listening = {line.split()[9] for line in _tcp(probe) if line.split()[3] == _TCP_LISTEN}
        assert str(os.fstat(probe.fileno()).st_ino) in listening
    held = (_target(link) for link in Path(f"/proc/{pid_of(display, 'x_server')}/fd").iterdir())
    assert not [one for one in held if one.startswith("socket:[") and one[8:-1] in listening]


def _tcp(probe: socket.socket) -> list[str]:
    """Let `probe` listen as well, and return what the kernel tells of TCP sockets (proc(5))."""
    probe.bind(("127.0.0.1", 0))
    probe.listen()
    return [line for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed meanwhile
        return ""


def test_four_at_once_get_numbers_of_their_own(host: Host) -> None:
    answers = [host.ask() for _ in range(4)]
    host.until(lambda: all(answers))
    displays = [answer[0] for answer in answers]
    assert len({display.name for display in displays if isinstance(display, ManagedDisplay)}) == 4
    cookies = {Path(display.auth_file).read_bytes() for display in host.displays.living}
    assert len(cookies) == 4


def test_more_than_may_start_at_once_take_turns_in_their_order(tmp_path: Path) -> None:
    with Host(tmp_path, starts_at_once=1, window_manager="none") as host:
        answers = [host.ask() for _ in range(3)]
        for n, answer in enumerate(answers):
            host.until(lambda answer=answer: bool(answer))  # type: ignore[misc]
            assert [bool(other) for other in answers] == [m <= n for m in range(3)]
        assert all(isinstance(answer[0], ManagedDisplay) for answer in answers)


def test_one_that_cannot_start_makes_room_for_the_next(tmp_path: Path) -> None:
    with Host(tmp_path, starts_at_once=1, x_server="false") as host:
        answers = [host.ask() for _ in range(3)]
        host.until(lambda: all(answers))
        assert all(isinstance(answer[0], DisplayDown) for answer in answers)


def test_the_limit_counts_those_that_start_and_leaves_nothing_begun(tmp_path: Path) -> None:
    with Host(tmp_path, max=2, window_manager="none") as host:
        answers = [host.ask() for _ in range(3)]
        host.until(lambda: all(answers))
        assert [type(answer[0]) for answer in answers] == [ManagedDisplay, ManagedDisplay, Refused]
        assert len(list(host.paths.displays.iterdir())) == 2


def test_a_number_is_taken_before_its_server_starts(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    fake = script(tmp_path / "Xlate", f'cat "/tmp/.X${{1#:}}-lock" >{seen}; exec Xvfb "$@"')
    with Host(tmp_path / "home", x_server=fake) as host:
        display = host.create("none")
        assert seen.read_text() == f"{os.getpid():10d}\n"
        lock = Path(f"/tmp/.X{display.places.number}-lock")
        assert lock.read_text() == f"{pid_of(display, 'x_server'):10d}\n"


def test_a_collision_that_only_the_server_sees(tmp_path: Path) -> None:
    # A server that takes the first number it is asked for as taken, whatever the files say.
    seen = tmp_path / "seen"
    fake = script(
        tmp_path / "Xfake",
        f'[ -e {seen} ] && exec Xvfb "$@"; touch {seen}; '
        'echo "Fatal server error: Cannot establish any listening sockets - Make sure an X server isn\'t running" >&2; '
        "exit 1",
    )
    first = own_number()
    with Host(tmp_path / "home", first=first, x_server=fake) as host:
        assert host.create("none").name == f":{first + 1}"
        host.until(lambda: traces(host.paths.displays / str(first), first) == [])


def test_a_silent_server_meets_the_deadline(tmp_path: Path) -> None:
    fake = script(tmp_path / "Xsilent", "sleep 600")
    first = own_number()
    with Host(tmp_path / "home", first=first, x_server=fake, start_deadline_s=0.5) as host:
        error = host.fail()
        assert isinstance(error, DisplayDown)
        assert re.search(r"no answer within 0\.\d+ s", error.message)  # the rest of its 0.5 s
    assert traces(host.paths.displays / str(first), first) == []


def test_a_server_that_fails_says_why(tmp_path: Path) -> None:
    fake = script(tmp_path / "Xbroken", "echo 'Fatal server error: no fonts' >&2; exit 3")
    with Host(tmp_path / "home", x_server=fake) as host:
        error = host.fail()
        assert "exit status 3: Fatal server error: no fonts" in error.message
        host.until(lambda: list(host.paths.displays.iterdir()) == [])


def test_no_server_installed(tmp_path: Path) -> None:
    with Host(tmp_path / "home", x_server="Xabsent") as host:
        error = host.fail()
        assert isinstance(error, Unavailable)
        assert "cannot start Xabsent" in error.message
        host.until(lambda: list(host.paths.displays.iterdir()) == [])


def test_no_room_for_a_display_folder(tmp_path: Path) -> None:
    with Host(tmp_path) as host:
        host.paths.displays.rmdir()
        error = host.fail()
        assert isinstance(error, Unavailable)
        assert "cannot make a display's folder" in error.message


def test_a_long_home_gets_a_short_bus_path(tmp_path: Path) -> None:
    with Host(tmp_path / ("x" * 100)) as host:
        display = host.create("none")
        assert display.notes == ()
        assert len(str(display.places.bus_socket)) < 90
        runtime = display.places.runtime
        host.end(display.name)
        assert not runtime.exists()
        runtime.parent.rmdir()


# ---- window manager ------------------------------------------------------------------------------------------------


def test_a_dead_window_manager_is_started_again_within_limits(host: Host) -> None:
    display = host.create()
    for times in (1, 2):
        old = pid_of(display, "window_manager")
        os.kill(old, signal.SIGKILL)
        host.until(lambda times=times: len(host.changed) == 2 * times)  # type: ignore[misc]
        assert pid_of(display, "window_manager") != old
        assert display.notes == ()
    os.kill(pid_of(display, "window_manager"), signal.SIGKILL)
    host.until(lambda: len(host.changed) == 5)
    assert "ended more than 2 times" in display.notes[0]
    assert [process.role for process in display.processes] == ["x_server", "session_bus"]


# ---- the end -------------------------------------------------------------------------------------------------------


def test_an_orderly_end_leaves_nothing(host: Host) -> None:
    display = host.create()
    number, folder = display.places.number, display.places.folder
    # Leaves its session and its parent, ignores SIGTERM, has no X connection.
    hidden = "setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" &"
    subprocess.run(["sh", "-c", hidden], env=display.environment(os.environ), check=True)
    host.until(lambda: len(traces(folder, number)) >= 3 + 1 + 3)
    assert Path(f"/tmp/.X{number}-lock").read_text() == f"{pid_of(display, 'x_server'):10d}\n"
    assert host.end(display.name) == ()
    assert traces(folder, number) == []
    with pytest.raises(NotFound):
        host.displays.end(display.name, lambda left: None)


def test_the_end_of_everything_stops_what_is_starting(tmp_path: Path) -> None:
    first = own_number()
    host = Host(tmp_path, first=first)
    host.create()
    answers = host.ask()
    host.loop.turn(0)
    with host:
        pass
    assert isinstance(answers[0], Unavailable)
    assert traces(host.paths.displays / str(first), first) == []
    assert traces(host.paths.displays / str(first + 1), first + 1) == []


@pytest.mark.parametrize("is_launched", [True, False])
def test_a_program_that_writes_over_its_environment_ends_with_its_display(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_launched: bool
) -> None:
    monkeypatch.setitem(ProcessEnd.__init__.__kwdefaults__, "ask_s", 0.2)
    display = host.create("none")
    log = display.places.log(f"{proc_files.LAUNCHED}python") if is_launched else tmp_path / "log"
    stays = (
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(600)"
    )
    own = [sys.executable, "-c", f"{WRITE_OVER}\n{stays}"]
    command = own if is_launched else ["sh", "-c", '"$0" "$@"; true', *own]
    with log.open("w") as output:
        environment = display.environment(os.environ)
        program = subprocess.Popen(command, env=environment, stdout=output, start_new_session=True)
    host.until(log.read_text)
    retitled = int(log.read_text())
    assert not any(item.startswith(proc_files.MARKER.encode()) for item in environ(retitled))
    assert proc_files.find_marked()[retitled] == str(display.places.folder)
    assert host.end(display.name) == ()
    assert proc_files.start_ticks(retitled) is None
    program.wait(30)


def test_a_process_that_gets_a_new_program_is_never_taken_for_one_without_mark(host: Host) -> None:
    # It replaces itself without end, so that a good part of all looks meet it in the middle of execve(2).
    again = """exec sh -c "$0" "$0\""""
    restless = subprocess.Popen(
        ["sh", "-c", again, again], env={**os.environ, proc_files.MARKER: "/nowhere/8"}, start_new_session=True
    )
    try:
        host.until_executed(restless.pid)
        looks = {proc_files.marked_folder(restless.pid) for _ in range(1000)}
        while len(looks) < 2:  # a busy machine lets it stand in one place for as long as these take
            looks.add(proc_files.marked_folder(restless.pid))
        while restless.pid not in (look := proc_files.look_for_marked()).unsettled:
            looks.add(look.folders.get(restless.pid, ""))
    finally:
        restless.kill()
        restless.wait()
    assert looks == {"/nowhere/8", None}


def test_a_window_manager_is_a_bare_name(host: Host) -> None:
    for strange in ("/bin/sh", "openbox --replace", "../x", "-x", "a;b"):
        with pytest.raises(InvalidRequest):
            host.ask(strange)


def test_a_dead_session_bus_is_noted(host: Host) -> None:
    display = host.create()
    os.kill(pid_of(display, "session_bus"), signal.SIGKILL)
    host.until(lambda: bool(host.changed))
    assert display.notes == ("the session bus ended: killed by SIGKILL",)
    assert display.bus_address == ""


def test_a_stopped_program_cannot_hold_up_the_end(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    # It ends as soon as it may go on; were it not let go on, it would be killed after that time.
    monkeypatch.setitem(ProcessEnd.__init__.__kwdefaults__, "ask_s", 20)
    display = host.create("none")
    sleeper = subprocess.Popen(["sleep", "600"], env=display.environment(os.environ), start_new_session=True)
    host.until_executed(sleeper.pid)
    sleeper.send_signal(signal.SIGSTOP)
    assert host.end(display.name) == ()
    assert sleeper.wait(30) == -signal.SIGTERM


def test_a_socket_stays_while_somebody_listens_there() -> None:
    number = own_number()
    path = numbers.socket_file(number)
    path.parent.mkdir(mode=0o1777, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        assert not numbers.clear(number)
        assert path.exists()
    assert numbers.clear(number)
    assert not path.exists()


def test_without_a_window_manager_the_display_is_up_with_a_note(host: Host) -> None:
    display = host.create("wm-that-is-nowhere")
    assert display.notes == ("no window manager: wm-that-is-nowhere is not installed",)
    assert xdpyinfo(display.environment(os.environ)).returncode == 0
