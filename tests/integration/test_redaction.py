"""What leaves an evaluator for a model elsewhere: real letters, the real engine, a loopback server that is not local.

0.0.0.0 reaches this machine, and is no loopback address: a backend there counts as one elsewhere.
"""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
from msgspec.structs import replace
from PIL import Image

from acud.base.errors import Unavailable
from acud.config import OcrSettings, RedactionSettings
from acud.evaluator.evidence import pixels_of
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.evaluator.ocr.rapid import RapidEngine
from acud.evaluator.ocr.reader import ScreenReader, TextReading
from acud.evaluator.ports import RedactedPixels, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction import evaluator
from acud.features.redaction.evaluator import RedactionRules
from acud.protocol.evaluation import JobResult
from acud.protocol.questions import Hide
from acud.types import Answer, Criteria, HiddenBox, Rect
from tests.fixtures.ink_engine import InkEngine
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask
from tests.integration.ollama_server import OllamaServer, serving_ollama
from tests.integration.secret_screen import COLOURS, HEIGHT, WIDTH, covered, draw, screen

CRITERIA = Criteria("the build has finished")
PATIENT = RedactionSettings(timeout_s=100)
PLAIN = ("build and wait", "was shipped", "in 42 seconds", "before the region", "after the region")


def shot_of(pixels: np.ndarray, **more: object) -> ViewPixels:
    return ViewPixels(":1", 1, 1, 0, Rect(0, 0, pixels.shape[1], pixels.shape[0]), pixels, "ab" * 8, **more)  # type: ignore[arg-type]


def redact(settings: RedactionSettings, text: TextReading | None, shot: ViewPixels) -> RedactedPixels | Withheld:
    return asyncio.run(RedactionRules(settings, text).redact_shot(shot))


@pytest.mark.parametrize(
    ("font", "size", "colours"),
    [("DejaVuSansMono.ttf", 11, COLOURS[1]), ("DejaVuSans.ttf", 12, COLOURS[0]), ("DejaVuSerif.ttf", 16, COLOURS[0])],
)
def test_secrets_are_hidden_to_the_letter_and_other_lines_are_not(font: str, size: int, colours: tuple) -> None:
    pixels, letters = draw(screen(size), font, size, colours)
    before = pixels.copy()
    text = TextReading(OcrSettings())
    out = redact(PATIENT, text, shot_of(pixels))
    text.close()
    assert isinstance(out, RedactedPixels)
    assert np.array_equal(pixels, before)
    assert out.shot.identity == "ab" * 8
    hidden: dict[str, list[bool]] = defaultdict(list)
    for letter, gone in zip(letters, covered(letters, [one.box for one in out.hidden]), strict=True):
        row = (letter.box.y - 6) // (size + 5)
        hidden[letter.secret or f"plain {row}"].append(gone)
    assert {name for name, gone in hidden.items() if name.isdigit() and not all(gone)} == set()
    kept = {row for row, parts in enumerate(screen(size)) if any(words in parts[0] for words in PLAIN)}
    assert {row for row in kept if any(hidden[f"plain {row}"])} == set()


class Broken(InkEngine):
    """An engine that fails."""

    def detect(self, parts: Sequence[Bgr]) -> list[list[Rect]]:
        raise Unavailable("the engine is broken")


class Words(InkEngine):
    """An engine that reads the same words in every line."""

    def recognise(self, crops: object) -> list[Reading]:
        return [Reading("a" * 40 + "!", 1.0) for _ in crops]  # type: ignore[attr-defined]


def test_nothing_leaves_where_the_text_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.zeros((40, 60, 4), np.uint8)
    pixels[12:24, 8:40] = 255
    shot = shot_of(pixels)
    none = redact(RedactionSettings(), None, shot)
    assert none == Withheld("this evaluator owns no OCR engine, so nothing can be hidden from a remote model")
    broken = TextReading(OcrSettings(), Broken)
    assert redact(RedactionSettings(), broken, shot) == Withheld("the text could not be read: the engine is broken")
    slow = TextReading(OcrSettings(), Words)
    late = redact(RedactionSettings(timeout_s=1e-9), slow, shot)
    assert isinstance(late, Withheld)
    assert "not read within" in late.reason
    monkeypatch.setattr(evaluator, "hide_in", lambda *_: re.search("(a+)+$", "a" * 40 + "!"))
    endless = redact(RedactionSettings(), slow, shot)
    assert isinstance(endless, Withheld)
    assert "took longer" in endless.reason
    unknown_windows = shot._replace(hide_fault="which windows are to be hidden is not known yet")
    assert redact(RedactionSettings(ocr=False), None, unknown_windows) == Withheld(unknown_windows.hide_fault)
    for reading in (broken, slow):
        reading.close()


def test_places_are_hidden_without_an_engine_only_where_reading_was_switched_off() -> None:
    pixels = np.full((40, 60, 4), 255, np.uint8)
    shot = shot_of(pixels, hide=(HiddenBox("window", Rect(-5, -5, 15, 15)), HiddenBox("region", Rect(50, 30, 99, 99))))
    out = asyncio.run(RedactionRules(RedactionSettings(ocr=False), None).redact_shot(shot, [Rect(20, 20, 4, 4)]))
    assert isinstance(out, RedactedPixels)
    expected = pixels.copy()
    expected[:10, :10] = expected[30:, 50:] = expected[20:24, 20:24] = 0
    assert np.array_equal(out.shot.pixels, expected)
    assert pixels.all()
    rules = RedactionSettings(ocr=False, rules=("card",))
    seen = asyncio.run(RedactionRules(rules, None).redact_shot(shot_of(pixels), [Rect(20, 20, 4, 4)]))
    assert isinstance(seen, RedactedPixels)
    assert seen.shot.pixels.all()


# ---- an evaluator and a server -------------------------------------------------------------------------------------


def elsewhere(server: OllamaServer) -> str:
    return f"http://0.0.0.0:{server.port}"


def arrived(server: OllamaServer) -> list[np.ndarray]:
    """Return the pictures that arrived, height x width x 3 BGR."""
    found = [message for body in server.asked for message in body["messages"] if "images" in message]
    data = [base64.b64decode(image) for message in found for image in message["images"]]
    return [simplejpeg.decode_jpeg(jpeg, colorspace="BGR") for jpeg in data]


def read(picture: np.ndarray) -> str:
    """Return the text of a picture as the real engine reads it."""
    pixels = np.zeros((*picture.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = picture
    return "\n".join(line.text for line in ScreenReader(RapidEngine()).read((), pixels))


def verdict_of(result: JobResult) -> tuple[Answer, str]:
    answered = result.answered[0].whole
    return answered.answer, answered.code


def test_only_redacted_pictures_arrive_and_neighbours_can_be_read(tmp_path: Path) -> None:
    lines = screen(7)
    pixels, _ = draw(lines, "DejaVuSansMono.ttf", 14, COLOURS[0])
    with (
        serving_ollama("minicpm-v:latest") as server,
        EvaluatorRig(
            tmp_path,
            owns_ocr=True,
            redaction=PATIENT,
            ollama_url=elsewhere(server),
            backend="ollama",
            frame_jpeg_quality=95,
        ) as rig,
        PaintedRing(tmp_path / "ring", WIDTH, HEIGHT) as ring,
    ):
        ring.pixels[:] = pixels
        ring.publish()
        rig.ready()
        result = rig.run(ring.job(ask(CRITERIA, keep_evidence=True)))
        assert verdict_of(result) == (Answer.YES, "")
        (picture,) = arrived(server)
        crop = rig.run(ring.job(ask(CRITERIA, force=True), crop=Rect(100, 20, 700, 60)))
        evidence = result.answered[0].evidence
    assert evidence is not None
    words = read(picture)
    squeezed = words.replace(" ", "")
    for _, secret, _ in lines:
        for part in (secret.replace(" ", "")[i : i + 6] for i in range(0, max(0, len(secret) - 5), 6)):
            assert len(part) < 4 or part not in squeezed
    for plain in PLAIN:
        assert plain.replace(" ", "") in squeezed
    # Evidence is kept in full unless the settings say otherwise, and is what the identity is of.
    kept = pixels_of((rig.evidence / evidence.name).read_bytes())
    assert np.array_equal(kept[:, :, :3], pixels[:, :, :3])
    assert crop.identity != result.identity


def test_boxes_follow_crop_and_scale_and_a_later_frame_is_not_taken(tmp_path: Path) -> None:
    with (
        serving_ollama("minicpm-v:latest") as server,
        EvaluatorRig(
            tmp_path,
            redaction=RedactionSettings(ocr=False, evidence="redacted"),
            ollama_url=elsewhere(server),
            backend="ollama",
            frame_max_dim=100,
        ) as rig,
        PaintedRing(tmp_path / "ring") as ring,
    ):
        ring.fill(Rect(0, 0, 320, 200), (255, 255, 255))
        ring.publish()
        hide = Hide((HiddenBox("window", Rect(120, 50, 100, 100)),), ring.frame)
        ring.fill(Rect(0, 0, 320, 200), (255, 0, 0))
        ring.publish()
        rig.ready()
        job = replace(ring.job(ask(CRITERIA, keep_evidence=True), crop=Rect(100, 0, 200, 200)), hide=hide, min_frame=1)
        result = rig.run(job)
        assert result.frame == 1
        (picture,) = arrived(server)
        evidence = result.answered[0].evidence
        again = ask(CRITERIA, wait_id="unkept", wants_picture=True)
        small = rig.run(replace(job, asks=(again,))).answered[0].picture
    assert evidence is not None
    assert small is not None
    assert (small.width, small.height) == (200, 200)
    pictured = np.asarray(Image.open(io.BytesIO(small.jpeg)))
    assert pictured[58:142, 28:112].max() < 60
    assert pictured[:40].min() > 200
    assert picture.shape == (100, 100, 3)
    assert picture[28:72, 13:57].max() < 60
    assert picture[:20].min() > 200
    assert picture[:, 65:].min() > 200
    kept = np.asarray(Image.open(rig.evidence / evidence.name))
    assert kept[50:150, 20:120].max() == 0
    assert kept[:50].min() == 255


def test_evidence_that_cannot_be_redacted_is_not_kept(tmp_path: Path) -> None:
    with (
        serving_ollama("minicpm-v:latest") as server,
        EvaluatorRig(
            tmp_path, redaction=RedactionSettings(evidence="redacted"), ollama_url=server.url, backend="ollama"
        ) as rig,
        PaintedRing(tmp_path / "ring") as ring,
    ):
        ring.publish()
        rig.ready()
        answered = rig.run(ring.job(ask(CRITERIA, keep_evidence=True))).answered[0]
    assert answered.whole.answer is Answer.YES
    assert answered.evidence is not None
    assert (answered.evidence.name, list(rig.evidence.iterdir())) == ("", [])
    assert "redaction" in answered.evidence.reason
