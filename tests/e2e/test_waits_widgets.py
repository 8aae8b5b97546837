"""Waits on widgets of real programs: GTK 3 and Qt tell of theirs, a terminal tells nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acud.types import Answer, DisplayInfo, NotOf, Then, Until, Verdict, WaitInfo, WaitState, widget_condition
from acud_client import Client
from tests.e2e.desktop import titled, until
from tests.e2e.gui_support import SETTINGS
from tests.fixtures.daemon import Daemon
from tests.grounding import desktop as programs

PROGRAM = Path(__file__).with_name("widget_program.py")


class Form:
    """`widget_program.py` on a display of its own."""

    def __init__(self, client: Client, display: DisplayInfo, kind: str) -> None:
        self._client = client
        self.display = display
        self.program = started(display, programs.SYSTEM_PYTHON, str(PROGRAM), kind)

    def does(self, line: str) -> None:
        assert self.program.stdin is not None
        self.program.stdin.write(f"{line}\n".encode())
        self.program.stdin.flush()

    def waits(self, condition: str | Until, target: str = "") -> str:
        """Arm a wait, and return its id."""
        wanted = widget_condition(condition) if isinstance(condition, str) else condition
        where = target or f"display:{self.display.name}"
        return self._client.wait_create(wanted, where, display=self.display.name, timeout_s=280).wait.wait_id

    def verdict(self, wait_id: str, answer: Answer, words: str = "") -> Verdict:
        """Return the wait's verdict, once it is this one; it watches on."""

        def find_verdict() -> Verdict | None:
            now = self._client.wait_show(wait_id).wait
            assert now.state is WaitState.WATCHING
            fits = now.verdict.answer is answer and words in now.verdict.detail and now.verdict.code != "not_judged"
            return now.verdict if fits else None

        return until(find_verdict, f"{answer} {words}")

    def end(self, wait_id: str) -> WaitInfo:
        """Return the wait, which comes true, with a picture."""
        ended = self._client.wait_end(wait_id, timeout_s=100).wait
        assert ended.state is WaitState.RESOLVED, ended.message
        assert ended.evidence is not None
        assert ended.evidence.name, ended.evidence.reason
        return ended


def started(display: DisplayInfo, *command: str, **env: str) -> subprocess.Popen[bytes]:
    own = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "DBUS_SESSION_BUS_ADDRESS": display.bus_address}
    switches = {"ACCESSIBILITY_ENABLED": "1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "LANG": "C.UTF-8"}
    whole = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": "/dev/null", **switches, **own, **env}
    return subprocess.Popen(command, env=whole, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


def end(program: subprocess.Popen[bytes]) -> None:
    program.kill()
    program.wait()
    if program.stdin is not None:
        program.stdin.close()


DAEMON_SETTINGS = SETTINGS


@contextmanager
def form_shown(daemon: Daemon, kind: str) -> Iterator[Form]:
    if missing := programs.missing(kind):
        pytest.skip(missing)
    form = Form(daemon.client, daemon.client.display_create(800, 600).display, kind)
    try:
        form.end(form.waits('button "Submit" disabled'))
        yield form
    finally:
        end(form.program)
        daemon.client.display_remove(form.display.name, force=True)


@pytest.fixture(scope="module")
def form(daemon: Daemon) -> Iterator[Form]:
    """For tests that leave it as it was."""
    with form_shown(daemon, "gtk3") as shown:
        yield shown


@pytest.fixture
def gtk(daemon: Daemon) -> Iterator[Form]:
    with form_shown(daemon, "gtk3") as form:
        yield form


@pytest.mark.parametrize("kind", ["gtk3", "PyQt6"])
def test_each_change_of_a_widget_ends_the_wait_for_it(daemon: Daemon, kind: str) -> None:
    with form_shown(daemon, kind) as form:
        steps = {
            "enable": ('button "Submit" enabled', "not enabled", 'button "Submit"'),
            "check": ('check box "Agree" checked', "not checked", "checked"),
            "progress 92": ("progress bar >= 90", "", "it is at 92 %"),
            "type Ada": ('entry "Name" = "Ada"', 'it reads ""', 'it reads "Ada"'),
            "dialog": ('dialog "Saving"', 'no dialog "Saving"', 'dialog "Saving" at '),
        }
        waits = {line: form.waits(condition) for line, (condition, _, _) in steps.items()}
        form.does("progress 5")
        for line, (_, before, after) in steps.items():
            form.verdict(waits[line], Answer.NO, before)
            form.does(line)
            assert after in form.end(waits[line]).verdict.detail
        gone, still = form.waits('dialog "Saving" gone'), form.waits(NotOf(widget_condition('button "Submit"')))
        form.verdict(gone, Answer.NO, "still there")
        form.does("close")
        form.end(gone)
        form.verdict(still, Answer.NO)
        end(form.program)
        form.end(still)


def test_widgets_are_stages_of_a_sequence(gtk: Form) -> None:
    wait = gtk.waits(
        Then(tuple(map(widget_condition, ('button "Submit" enabled', "progress bar >= 90", 'dialog "Saving"'))))
    )
    gtk.does("dialog")  # the last comes first, which does not count
    gtk.verdict(wait, Answer.NO, "not enabled")
    gtk.does("close")
    gtk.does("enable")
    gtk.verdict(wait, Answer.NO, "it is at ")
    gtk.does("progress 95")
    gtk.verdict(wait, Answer.NO, 'no dialog "Saving"')
    gtk.does("dialog")
    stages = gtk.end(wait).stages
    assert ["enabled" in stages[0].verdict.detail, "95 %" in stages[1].verdict.detail] == [True, True]


def test_a_value_of_a_password_field_is_not_compared(form: Form) -> None:
    wait = form.waits('password = "hunter2"')
    verdict = form.verdict(wait, Answer.UNKNOWN, "never read")
    assert verdict.code == "redaction"
    assert "hunter2" not in verdict.detail


def test_only_the_target_counts(form: Form) -> None:
    elsewhere = form.waits('button "Submit"', "region:0,0,5,5")
    form.verdict(elsewhere, Answer.NO, 'no button "Submit"')
    submit = form.end(form.waits('button "Submit"', "window:Form"))
    (place,) = form.end(form.waits('button "Submit"')).verdict.boxes
    (box,) = submit.verdict.boxes
    assert submit.evidence is not None
    assert submit.evidence.crop is not None
    corner = submit.evidence.crop
    assert (box.shift(corner.x, corner.y), box.w > 8) == (place, True), "in the window's picture, and on the display's"
    form.end(form.waits('button "Submit" gone', "region:0,0,5,5"))


def test_a_program_that_tells_nothing_is_unknown_with_its_cure(daemon: Daemon, form: Form) -> None:
    saving = form.waits('dialog "Saving" gone')  # it was never there, and nobody else is there who could show it
    form.end(saving)
    mute = started(form.display, programs.SYSTEM_PYTHON, str(PROGRAM), "gtk3", "Silent", NO_AT_BRIDGE="1")
    try:
        titled(daemon.client, form.display.name, "Silent")
        unseen, mixed = form.waits('button "Export" gone'), form.waits('button "Export"')
        for wait in (unseen, mixed):
            verdict = form.verdict(wait, Answer.UNKNOWN, "is not heard")
            assert verdict.code == "no_accessibility"
            assert "start it on this display so that it tells its widgets" in verdict.detail
            note = daemon.client.wait_show(wait).wait.note
            assert '"Silent"' in note
            assert "name the window that is meant as the target" in note
        form.end(form.waits('button "Export" gone', "window:Form"))
        form.does("dialog")
        gone = form.waits('dialog "Saving" gone')
        form.verdict(gone, Answer.NO, "still there")
        form.does("close")  # it was told, so its program is none of those that tell nothing
        form.end(gone)
    finally:
        end(mute)
    form.end(unseen)


def test_a_display_without_a_bus_is_unknown_with_its_cure(client: Client, view: DisplayInfo) -> None:
    wait = client.wait_create(widget_condition('"Submit"'), f"display:{view.name}").wait

    def find_verdict() -> Verdict | None:
        verdict = client.wait_show(wait.wait_id).wait.verdict
        return verdict if verdict.code != "not_judged" else None

    verdict = until(find_verdict, "an answer")
    assert verdict.code == "no_accessibility"
    assert "session_bus = true" in verdict.detail


def test_a_wait_outlives_evaluators_and_the_daemon(daemon: Daemon, gtk: Form) -> None:
    wait = gtk.waits('entry "Name" = "Ada"')
    gtk.verdict(wait, Answer.NO)
    for child in daemon.client.status().children:
        if child.kind == "evaluator":
            os.kill(child.pid, signal.SIGKILL)
    gtk.does("type A")
    gtk.verdict(wait, Answer.NO, 'it reads "A"')
    daemon.kill()
    daemon.start()
    gtk.verdict(wait, Answer.NO, 'it reads "A"')
    gtk.does("type Ada")
    gtk.end(wait)
