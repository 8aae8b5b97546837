"""Waits on clipboards: texts and pictures of xclip and of acud, owners that hang, displays that end, every surface."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from acud.base.errors import InvalidRequest
from acud.base.png import encode
from acud.protocol.web import Scope
from acud.types import Answer, ClipboardText, DisplayInfo, Policy, WaitInfo, WaitState
from acud.types.actions import ClipboardSet
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import ended, shown, until
from tests.e2e.gateway_support import SETTINGS, Browser, served, token
from tests.e2e.mcp_support import stdio, value
from tests.e2e.recording import act
from tests.fixtures.daemon import Daemon
from tests.integration.test_input_clipboard import copy
from tests.integration.xserver import XServer

Copy = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(SETTINGS) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Client:
    return daemon.client


@pytest.fixture
def server(client: Client) -> Iterator[XServer]:
    """An X server that another program started, added to acud."""
    with XServer() as server:
        client.display_add(server.display, auth_file=server.auth_file)
        yield server


@pytest.fixture
def view(client: Client) -> Iterator[DisplayInfo]:
    made = client.display_create(320, 240).display
    yield made
    client.display_remove(made.name, force=True)


@pytest.fixture
def own_clipboard(server: XServer) -> Iterator[Copy]:
    """A function that has an xclip own the clipboard of `server` with a content; they end with the test."""
    owners: list[subprocess.Popen[bytes]] = []

    def own(content: str | bytes, *options: str) -> subprocess.Popen[bytes]:
        owners.append(copy(server, content, *options))
        return owners[-1]

    yield own
    for process in owners:
        process.kill()
        process.wait()


def arm(client: Client, display: str, leaf: ClipboardText, **more: Any) -> WaitInfo:
    return client.wait_create(leaf, display=display, timeout_s=120.0, **more).wait


def expect(client: Client, wait: WaitInfo, holds: Callable[[WaitInfo], bool]) -> WaitInfo:
    """Return the wait once it `holds`."""

    def look() -> WaitInfo | None:
        now = shown(client, wait.wait_id)
        return now if holds(now) else None

    return until(look, "the verdict")


def put(client: Client, display: str, text: str) -> None:
    act(client, ClipboardSet(text), display=display)


def test_a_text_that_is_copied_resolves_a_wait(client: Client, server: XServer, own_clipboard: Copy) -> None:
    wait = arm(client, server.display, ClipboardText("inv-2041"))
    assert expect(client, wait, lambda now: now.verdict.answer is Answer.NO).verdict.detail.startswith("nothing was")
    own_clipboard("something else")
    told = expect(client, wait, lambda now: "another text" in now.verdict.detail)
    assert told.verdict.detail == "the clipboard holds another text, of 14 characters"
    own_clipboard("Invoice\n  INV-2041\n")
    assert ended(client, wait.wait_id).verdict.detail == 'the clipboard holds "inv-2041"'
    again = arm(client, server.display, ClipboardText(r"^\s*INV-(\d+)$", regex=True))
    assert ended(client, again.wait_id).verdict.detail == 'the clipboard holds "INV-2041"'


def test_only_what_is_copied_after_the_arming_changes_it(client: Client, view: DisplayInfo) -> None:
    put(client, view.name, "before")
    wait = arm(client, view.name, ClipboardText("before", changed=True))
    other = arm(client, view.name, ClipboardText(changed=True))
    fresh = arm(client, view.name, ClipboardText("before"), policy=Policy(fresh=True))
    for one in (wait, other, fresh):
        expect(client, one, lambda now: now.verdict.answer is Answer.NO)
    put(client, view.name, "before")
    for one in (wait, other, fresh):
        assert ended(client, one.wait_id).state is WaitState.RESOLVED


def test_a_picture_is_no_text_and_is_a_copy(client: Client, server: XServer, own_clipboard: Copy) -> None:
    text = arm(client, server.display, ClipboardText("a"))
    anything = arm(client, server.display, ClipboardText(changed=True))
    process = own_clipboard(encode(np.zeros((9, 9, 3), np.uint8)), "-t", "image/png")
    assert ended(client, anything.wait_id).verdict.detail == "something was copied"
    assert expect(client, text, lambda now: "image/png" in now.verdict.detail).verdict.answer is Answer.NO
    process.kill()
    expect(client, text, lambda now: now.verdict.detail.startswith("nothing was copied"))


def test_an_owner_that_hangs_is_unknown_with_the_reason(client: Client, server: XServer, own_clipboard: Copy) -> None:
    process = own_clipboard("a")
    os.kill(process.pid, signal.SIGSTOP)
    wait = arm(client, server.display, ClipboardText("a"))
    told = expect(client, wait, lambda now: now.verdict.code == "unreadable")
    assert "gave no answer within 2 s" in told.verdict.detail
    os.kill(process.pid, signal.SIGCONT)
    assert ended(client, wait.wait_id).state is WaitState.RESOLVED


def test_a_display_that_ends_is_unknown(client: Client, view: DisplayInfo, server: XServer) -> None:
    wait = arm(client, server.display, ClipboardText("a"))
    expect(client, wait, lambda now: now.verdict.answer is Answer.NO)
    server.kill()
    assert expect(client, wait, lambda now: now.verdict.answer is Answer.UNKNOWN).verdict.code == "display_down"
    with pytest.raises(InvalidRequest, match="no text of the clipboard"):
        arm(client, view.name, ClipboardText())


def test_a_long_text_is_searched_to_a_bound_and_no_secret_is_quoted(
    client: Client, server: XServer, own_clipboard: Copy
) -> None:
    own_clipboard(f"token: ghp_{'a1B2' * 9}\n" + "x" * 70_000 + "end")
    wait = arm(client, server.display, ClipboardText("end"))
    assert expect(client, wait, lambda now: now.verdict.code == "incomplete")
    secret = ended(client, arm(client, server.display, ClipboardText(r"token: \w+", regex=True)).wait_id)
    assert "ghp_" not in secret.verdict.detail
    assert secret.state is WaitState.RESOLVED


def test_over_the_command_line_mcp_and_the_web(daemon: Daemon, client: Client, view: DisplayInfo) -> None:
    acud = CommandLine(daemon.home)
    put(client, view.name, "Invoice 7")
    for words in (("--clipboard", "invoice"), ("--clipboard-regex", r"\d")):
        assert acud.json("wait", *words, "--display", view.name)["wait"]["state"] == "resolved"
    acud.run("wait", "--clipboard-changed", "--display", view.name, "--detach")

    async def ask() -> None:
        async with stdio(daemon.home, "--block", "60") as connected:
            asked = {"clipboard": "invoice", "display": view.name}
            done = value(await connected.call_tool("smart_wait", asked))
            end = value(await connected.call_tool("wait_result", {"wait_id": done["wait_id"], "block": 60}))
            assert (end["status"], end["criteria"]) == ("resolved", 'clipboard "invoice"')
            value(await connected.call_tool("smart_wait", {"clipboard_changed": True, "display": view.name}))

    asyncio.run(ask())
    for scope, status in ((Scope.ACT, 200), (Scope.WAIT, 403)):
        with Browser(served(daemon), token(client, scope)[0]) as browser:
            wanted = {"type": "clipboard", "text": "Invoice"}
            assert browser.ask("POST", "/api/waits", json={"until": wanted, "display": view.name})[0] == status
