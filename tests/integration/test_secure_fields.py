"""Password fields by a mirror that is kept for scenes are those that a walk finds, at once and without reading anew."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits
from acud.config import AccessibilitySettings, RedactionSettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.ports import RedactedPixels, Withheld
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.features.redaction.secure_fields import SecureFields
from acud.protocol.questions import WidgetSources
from acud.types import Rect
from tests.grounding.desktop import Desktop, missing

pytestmark = [pytest.mark.skipif(bool(missing("gtk3")), reason=missing("gtk3") or "-"), pytest.mark.asyncio]
SETTINGS = AccessibilitySettings(walk_s=20, answer_s=5)
LIMITS = Limits(SETTINGS.max_depth, SETTINGS.max_nodes, SETTINGS.walk_s, SETTINGS.answer_s, actions=True)


def shot_of(desktop: Desktop) -> ViewPixels:
    screen = desktop.screen
    told = WidgetSources(desktop.bus_address, "", desktop.windows())
    pixels = np.zeros((screen.h, screen.w, 4), np.uint8)
    return ViewPixels(":1", 1, 1, 0, screen, pixels, "same", told=told)


class Rig:
    """Both ways to find the fields of one desktop: `walk` knows no mirror, `mirrored` shares one with scenes."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop
        self.mirrors = AtSpiProvider(60)
        self.none = AtSpiProvider(60)
        self.mirrored = SecureFields(SETTINGS, self.mirrors)
        self.walk = SecureFields(SETTINGS, self.none)

    async def warm(self) -> None:
        windows = self.desktop.windows()
        ask = AccessibilityAsk(":1", windows, self.desktop.bus_address, "", 30.0, LIMITS)
        await self.mirrors.read(ask)

    async def both(self, count: int) -> list[Rect]:
        """Return the fields once both say the same `count` of them."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            shot = shot_of(self.desktop)
            walked, mirrored = await self.walk.boxes(shot), await self.mirrored.boxes(shot)
            if len(walked) == count and mirrored == walked:
                return mirrored
            await asyncio.sleep(0.1)
        raise AssertionError((walked, mirrored))

    def read(self) -> int:
        """Return how often the mirror read an application."""
        (mirror,) = self.mirrors._mirrors.values()
        return mirror.read

    async def close(self) -> None:
        await self.walk.close()
        await self.mirrored.close()
        await self.mirrors.close()


async def test_without_a_mirror_the_bus_is_walked_and_none_is_begun(desktop: Desktop) -> None:
    desktop.show("odd.py", "plain")
    rig = Rig(desktop)
    await rig.both(1)
    assert rig.mirrors.displays == 0
    await rig.close()


async def test_a_warm_mirror_tells_the_same_fields_and_reads_nothing_anew(desktop: Desktop) -> None:
    desktop.show("odd.py", "plain")
    rig = Rig(desktop)
    await rig.both(1)
    await rig.warm()
    (field,) = await rig.both(1)
    read = rig.read()
    for _ in range(20):
        assert await rig.mirrored.boxes(shot_of(desktop)) == [field]
    assert rig.read() == read
    desktop.wait_for(lambda: len(desktop.windows()) == 1, "the window manager's list")
    (window,) = desktop.windows()
    move = ["xdotool", "windowmove", str(window.window_id), "300", "200"]
    await asyncio.to_thread(subprocess.run, move, env=desktop.env(), check=True, timeout=60)
    desktop.wait_for(lambda: desktop.windows()[0].bounds != window.bounds, "a moved window")
    (moved,) = await rig.both(1)
    assert (moved.x, moved.y) != (field.x, field.y)
    desktop.show("odd.py", "plain")  # a second window with a field
    await rig.both(2)
    await rig.close()


async def test_where_the_mirror_is_not_sure_the_bus_is_walked(desktop: Desktop) -> None:
    process, _ = desktop.show("odd.py", "plain")
    rig = Rig(desktop)
    await rig.both(1)
    await rig.warm()
    os.kill(process.pid, signal.SIGSTOP)
    hasty = Limits(walk_s=20, answer_s=0.2, actions=True)
    ask = AccessibilityAsk(":1", desktop.windows(), desktop.bus_address, "", 0.0, hasty)
    assert (await rig.mirrors.read(ask)).failed
    assert await rig.mirrors.sure(ask) is None
    hung = SecureFields(AccessibilitySettings(walk_s=20, answer_s=0.2), rig.mirrors)
    out = await RedactionRules(RedactionSettings(rules=("secure",)), None, hung).redact_shot(shot_of(desktop))
    assert isinstance(out, Withheld)
    assert out.reason.startswith("where password fields are is not known: ")
    assert out.reason.endswith("it did not answer for 0.2 s")
    await hung.close()
    os.kill(process.pid, signal.SIGCONT)
    assert await rig.mirrored.boxes(shot_of(desktop)) == await rig.walk.boxes(shot_of(desktop)) != []
    await rig.close()


async def test_no_picture_leaves_while_a_limit_cuts_widgets_off(desktop: Desktop) -> None:
    desktop.show("odd.py", "many", "40")
    desktop.show("odd.py", "plain")
    rig = Rig(desktop)
    await rig.both(1)
    few = SecureFields(AccessibilitySettings(walk_s=20, answer_s=5, max_nodes=20), rig.none)
    rules = RedactionRules(RedactionSettings(rules=("secure",)), None, few)
    out = await rules.redact_shot(shot_of(desktop))
    assert isinstance(out, Withheld)
    assert "widgets told ([accessibility] max_nodes)" in out.reason
    whole = RedactionRules(RedactionSettings(rules=("secure",)), None, rig.walk)
    assert isinstance(await whole.redact_shot(shot_of(desktop)), RedactedPixels)
    await few.close()
    await rig.close()
