"""A whole daemon with a judge elsewhere: what arrives there of terminals, hidden windows and regions.

0.0.0.0 reaches this machine, and is no loopback address: a backend there counts as one elsewhere.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import simplejpeg

from acud.evaluator.evidence import pixels_of
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader
from acud.types import Criteria, DisplayInfo, JudgeName, Rect, WaitState, WindowInfo
from acud_client import Client
from tests.e2e.desktop import Desk, ended, until
from tests.fixtures.daemon import Daemon
from tests.integration.ollama_server import OllamaServer, serving_ollama

CARD, KEY, PASSWORD = "4111 1111 1111 1111", "sk-ant-api03-Ab1dEf2hIj3kLm4nOp5q", "tr0ub4dor&3"
SHOWN = f"""Invoice for the oak chairs
card {CARD} visa
The tests have passed
export ANTHROPIC={KEY}
Password: {PASSWORD}
<private>
my street is Elm Grove
</private>
Nothing else to report"""

SETTINGS = """
[display]
window_manager = "none"
session_bus = false
[vision]
backend = "ollama"
frame_max_dim = 1280
frame_jpeg_quality = 95
[backends.ollama]
model = "eye"
url = "http://0.0.0.0:{port}"
[redaction]
windows = [{{ title = "^KeePass" }}]
regions = [{{ box = [600, 440, 100, 100] }}]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaServer]:
    with serving_ollama("eye:latest") as playing:
        yield playing


@pytest.fixture(scope="module")
def daemon(server: OllamaServer) -> Iterator[Daemon]:
    with Daemon(settings=SETTINGS.format(port=server.port)) as running:
        until(lambda: any(j.name == "ollama" for j in running.client.status().judges), "the judge's health")
        yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    return daemon.client.display_create(640, 480).display


@pytest.fixture
def desk(display: DisplayInfo) -> Iterator[Desk]:
    with Desk(display.name, display.auth_file) as working:
        yield working


def shown_elsewhere(client: Client, server: OllamaServer, display: DisplayInfo, target: str = "screen") -> np.ndarray:
    """Have `target` judged once; return the picture that arrived, height x width x 3 BGR."""
    before = len(server.asked)
    wait = client.wait_create(Criteria("all is well"), target, display=display.name, timeout_s=100).wait
    assert ended(client, wait.wait_id).state is WaitState.RESOLVED
    assert len(server.asked) == before + 1
    images = [image for m in server.asked[-1]["messages"] for image in m.get("images", ())]
    picture: np.ndarray = simplejpeg.decode_jpeg(base64.b64decode(images[0]), colorspace="BGR")
    return picture


def read(picture: np.ndarray) -> str:
    pixels = np.zeros((*picture.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = picture
    lines = ScreenReader(RapidEngine()).read((), pixels)
    return "".join(line.text for line in lines).replace(" ", "")


@pytest.mark.parametrize(("size", "dark"), [("9", False), ("11", True)])
def test_a_terminal_arrives_without_its_secrets(
    daemon: Daemon, server: OllamaServer, display: DisplayInfo, desk: Desk, tmp_path: Path, size: str, dark: bool
) -> None:
    page = tmp_path / "page"
    page.write_text(SHOWN, encoding="utf-8")
    look = ["-bg", "black", "-fg", "grey90"] if dark else ["-bg", "white", "-fg", "black"]
    command = f"printf '\\033[?25l'; cat {page}; printf '\\033]2;ready {size}\\007'; sleep 1000"
    desk.run("xterm", "-fa", "DejaVu Sans Mono", "-fs", size, *look, "-T", "starting", "-e", command)
    until(lambda: any(w.title == f"ready {size}" for w in windows(daemon.client, display)), "the terminal")
    words = read(shown_elsewhere(daemon.client, server, display))
    for secret in (CARD[:9], CARD[10:], KEY[:12], KEY[15:25], PASSWORD[:6], "ElmGrove", "private"):
        assert secret.replace(" ", "") not in words
    for plain in ("Invoicefortheoakchairs", "Thetestshavepassed", "Nothingelsetoreport"):
        assert plain in words


def test_a_window_is_black_wherever_it_goes_and_partly_covered(
    daemon: Daemon, server: OllamaServer, display: DisplayInfo, desk: Desk
) -> None:
    vault = desk.window(Rect(50, 60, 200, 150), 0x00FF00, "KeePass 2")
    desk.window(Rect(300, 60, 100, 100), 0x00FF00, "mail")
    before = shown_elsewhere(daemon.client, server, display)
    assert before[62:208, 52:248].max() < 60
    assert before[70:150, 310:390, 1].min() > 200
    desk.place(vault, Rect(20, 250, 200, 150))
    after = shown_elsewhere(daemon.client, server, display)
    assert after[252:398, 22:218].max() < 60
    lid = desk.window(Rect(120, 300, 200, 150), 0x0000FF, "editor")
    desk.raise_(lid)
    covered = shown_elsewhere(daemon.client, server, display)
    assert covered[252:298, 22:218].max() < 60
    assert covered[310:440, 230:310, 0].min() > 200
    own = shown_elsewhere(daemon.client, server, display, f"window:{vault}")
    assert own.max() < 60


def test_a_region_is_black_in_a_view_of_it(
    daemon: Daemon, server: OllamaServer, display: DisplayInfo, desk: Desk
) -> None:
    desk.window(Rect(500, 400, 140, 80), 0x00FF00, "clock")
    picture = shown_elsewhere(daemon.client, server, display, "region:540,420,100,60")
    assert picture[22:, 62:].max() < 60
    assert picture[:16, :, 1].min() > 200


def test_a_look_shows_what_would_leave(daemon: Daemon, display: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(0, 0, 640, 100), f"paid with {CARD}")
    desk.window(Rect(50, 160, 200, 150), 0x00FF00, "KeePass 2")
    picture = daemon.client.look("region:0,50,640,430", display=display.name, redacted=True)
    assert {one.rule for one in picture.hidden} >= {"window", "region"}
    assert Rect(50, 160, 200, 150) in [one.box for one in picture.hidden]
    pixels = pixels_of(picture.image)
    assert pixels[112:258, 52:248].max() == 0
    whole = daemon.client.look(display=display.name, redacted=True)
    assert {one.rule for one in whole.hidden} == {"card", "window", "region"}
    assert daemon.client.look(display=display.name).hidden == ()


def test_doctor_tells_the_rules(daemon: Daemon) -> None:
    (found,) = [f for f in daemon.client.doctor().findings if f.part == "redaction"]
    assert found.level == "ok"
    assert "private, pattern, key, card, seed, iban, id, code, password, secure, 1 windows, 1 regions" in found.text
    assert "pictures leave for ollama" in found.text


def test_a_wake_quotes_no_secret(daemon: Daemon, display: DisplayInfo, desk: Desk) -> None:
    desk.words(Rect(0, 0, 640, 100), f"Password: {PASSWORD}")
    seen = Criteria('"Password" is visible')
    wait = daemon.client.wait_create(seen, display=display.name, judge=JudgeName.OCR, timeout_s=100).wait
    assert "tr0ub" in ended(daemon.client, wait.wait_id).message
    (wake,) = daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
    assert "[REDACTED_PASSWORD]" in wake.text
    assert "tr0ub" not in wake.text
    assert 'the text "Password" is visible' in wake.text


def windows(client: Client, display: DisplayInfo) -> list[WindowInfo]:
    """Return the windows that the daemon knows of on `display`."""
    found = next(one for one in client.status().displays if one.name == display.name)
    return list(found.windows)
