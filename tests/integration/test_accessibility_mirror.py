"""The mirror of a display's widgets: always what a fresh reading says, for less, with every toolkit."""

from __future__ import annotations

import asyncio
import shutil
import subprocess

import pytest
from msgspec.structs import replace

from tests.grounding.browser import firefox
from tests.grounding.desktop import chromium, missing
from tests.integration.mirror_rig import LONG_S, PATIENT, STEPS, Pixels, agreed, changing, mirror_of, page_of, said

UNSURE = ("gtk4", "PyQt5", "PyQt6", "chromium")
"""Toolkits that do not tell everything by events."""


def _needs(kind: str) -> None:
    browsers = {"chromium": chromium(), "firefox": firefox()}
    if kind in browsers and not (browsers[kind] and shutil.which("xdotool")):
        pytest.skip(f"no {kind} or no xdotool")
    if kind not in browsers and (lacking := missing(kind)):
        pytest.skip(lacking)


@pytest.mark.parametrize("kind", [*UNSURE, "firefox"])
def test_with_the_pixels_that_changed_it_says_what_a_fresh_reading_says(kind: str) -> None:
    """Also of what a page has out of sight, and to another asker who does not want that."""
    _needs(kind)
    whole = replace(PATIENT, offscreen=True)

    async def run() -> None:
        with changing(kind) as program:
            mirror, pixels = mirror_of(program.desktop), Pixels(program.desktop)
            held, truth = await agreed(mirror, program.desktop, pixels.changed, pixels.known, whole)
            assert said(held) == said(truth)
            assert (len(truth.showing().nodes) < len(truth.nodes)) == (kind in ("chromium", "firefox"))
            for step in STEPS:
                before = held
                assert program.step() == step
                held, truth = await agreed(mirror, program.desktop, pixels.changed, pixels.known, whole)
                assert said(held) == said(truth), (kind, step, set(page_of(held.nodes)) ^ set(page_of(truth.nodes)))
                near = await mirror.tree(LONG_S, PATIENT, program.desktop.windows(), [])
                assert page_of(near.nodes) == page_of(truth.showing().nodes)
                assert held.version > before.version or said(held) == said(before)
            await mirror.close()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["PyQt6", pytest.param("chromium", marks=pytest.mark.long)])
def test_where_nobody_knows_the_pixels_toolkits_that_do_not_tell_are_read_anew(kind: str) -> None:
    _needs(kind)

    async def run() -> None:
        with changing(kind) as program:
            mirror = mirror_of(program.desktop)
            await agreed(mirror, program.desktop, lambda: None)
            for step in STEPS:
                program.step()
                held, truth = await agreed(mirror, program.desktop, lambda: None)
                assert said(held) == said(truth), (kind, step, set(page_of(held.nodes)) ^ set(page_of(truth.nodes)))
            await mirror.close()

    asyncio.run(run())


def test_gtk_3_tells_everything_by_events() -> None:
    _needs("gtk3")

    async def run() -> None:
        with changing("gtk3") as program:
            mirror = mirror_of(program.desktop)
            await agreed(mirror, program.desktop, list)
            for step in STEPS:
                program.step()
                held, truth = await agreed(mirror, program.desktop, list)
                assert said(held) == said(truth), (step, set(page_of(held.nodes)) ^ set(page_of(truth.nodes)))
            await mirror.close()

    asyncio.run(run())


def test_nothing_is_read_while_nothing_changes_and_one_widget_when_one_does() -> None:
    _needs("gtk3")

    async def run() -> None:
        with changing("gtk3") as program:
            mirror = mirror_of(program.desktop)
            held, _ = await agreed(mirror, program.desktop, list)
            windows, read = program.desktop.windows(), mirror.read
            for _ in range(20):
                again = await mirror.tree(LONG_S, PATIENT, windows, ())
                assert (again.version, said(again)) == (held.version, said(held))
            assert mirror.read == read
            program.step()  # a label's text
            program.step()  # a check mark
            later, _ = await agreed(mirror, program.desktop, list)
            assert later.version > held.version
            assert {n.name for n in later.nodes} - {n.name for n in held.nodes} == {"After"}
            await mirror.tree(0, PATIENT, windows, ())
            assert mirror.read > read
            await mirror.close()

    asyncio.run(run())


def test_a_moved_window_is_placed_anew() -> None:
    _needs("gtk3")
    if not shutil.which("xdotool"):
        pytest.skip("no xdotool")

    async def run() -> None:
        with changing("gtk3") as program:
            mirror, desktop = mirror_of(program.desktop), program.desktop
            held, _ = await agreed(mirror, desktop, list)
            (window,) = desktop.windows()
            move = ["xdotool", "windowmove", str(window.window_id), "400", "300"]
            await asyncio.to_thread(subprocess.run, move, env=desktop.env(), check=True, timeout=60)
            desktop.wait_for(lambda: desktop.windows()[0].bounds != window.bounds, "a moved window")
            later, truth = await agreed(mirror, desktop, list)
            assert said(later) == said(truth)
            moved = desktop.windows()[0].bounds
            old, new = (next(n.box for n in tree.nodes if n.name == "Press") for tree in (held, later))
            assert old is not None
            assert new is not None
            assert (new.x - old.x, new.y - old.y) == (moved.x - window.bounds.x, moved.y - window.bounds.y)
            await mirror.close()

    asyncio.run(run())
