"""What goes wrong around a mirror: programs that hang, end or storm, registries that hang, buses that come back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits, Tree
from acud.base.errors import Unavailable
from acud.evaluator.accessibility import bus as bus_module
from acud.evaluator.accessibility import mirror as mirror_module
from acud.evaluator.accessibility.bus import AccessibilityBus, connect
from acud.evaluator.accessibility.listener import MUTE_S, STORM
from acud.evaluator.accessibility.mirror import Mirror
from acud.evaluator.accessibility.provider import AtSpiProvider
from tests.grounding.desktop import Desktop, end, missing
from tests.integration.mirror_rig import LONG_S, PATIENT, agreed, mirror_of, process_of

pytestmark = [pytest.mark.skipif(bool(missing("gtk3")), reason=missing("gtk3") or "-"), pytest.mark.asyncio]


async def until(mirror: Mirror, desktop: Desktop, is_so: Callable[[Tree], bool], limits: Limits = PATIENT) -> Tree:
    """Ask the mirror again and again until its tree is as wanted."""
    deadline = time.monotonic() + 60
    while True:
        tree = await mirror.tree(LONG_S, limits, desktop.windows(), ())
        if is_so(tree):
            return tree
        assert time.monotonic() < deadline, tree
        await asyncio.sleep(0.05)


def names(tree: Tree) -> set[str]:
    return {node.name for node in tree.nodes}


def shows(*titles: str) -> Callable[[Tree], bool]:
    return lambda tree: {*titles} <= names(tree)


async def test_an_application_that_ends_is_gone_at_the_next_ask(desktop: Desktop) -> None:
    one, _ = desktop.show("odd.py", "plain")
    desktop.show("odd.py", "hostile")
    mirror = mirror_of(desktop)
    await until(mirror, desktop, shows("Odd plain", "Odd hostile"))
    end(one)
    tree = await until(mirror, desktop, lambda tree: "Odd plain" not in names(tree))
    assert one.pid not in {app.pid for app in tree.apps}
    assert "Odd hostile" in names(tree)
    await mirror.close()


async def test_one_that_hangs_keeps_what_it_said_is_named_and_holds_nobody_up(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [time.monotonic()]
    monkeypatch.setattr(mirror_module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    hung, _ = desktop.show("odd.py", "hostile")
    desktop.show("odd.py", "plain")
    mirror = mirror_of(desktop)
    before, _ = await agreed(mirror, desktop, list)
    before = await until(mirror, desktop, shows("Odd plain", "Odd hostile"))
    os.kill(hung.pid, signal.SIGSTOP)
    few = Limits(walk_s=20, answer_s=5)  # the other one must answer in that time, whatever the machine does
    tree = await mirror.tree(0, few, desktop.windows())
    assert [(f.pid, "did not answer" in f.reason, "said before" in f.reason) for f in tree.failed] == [
        (hung.pid, True, True)
    ]
    assert names(tree) == names(before)
    read = mirror.read
    again = await mirror.tree(LONG_S, few, desktop.windows(), ())
    assert mirror.read == read  # it is left alone for a while
    assert again.failed == tree.failed
    now_s[0] += 1
    await mirror.tree(LONG_S, few, desktop.windows(), ())
    assert mirror.read == read + 1  # and asked again then
    now_s[0] += 2
    os.kill(hung.pid, signal.SIGCONT)
    tree = await until(mirror, desktop, lambda tree: not tree.failed)
    assert names(tree) == names(before)
    await mirror.close()


async def test_a_storm_is_muted_and_its_end_is_seen(desktop: Desktop) -> None:
    program, _ = desktop.show("odd.py", "storm")
    told = desktop.folder / "truth1.json"
    mirror = mirror_of(desktop)
    await until(mirror, desktop, lambda tree: "calm" in names(tree))
    listener = mirror._listener
    assert listener is not None
    heard, begun = listener.heard, time.monotonic()
    os.kill(program.pid, signal.SIGUSR2)
    trees, count, bound = 0, 0, 0.0
    # A bound for the long run: what comes while this process stands still before it can mute is heard as well.
    while time.monotonic() - begun < 3 or trees <= 3 or count <= 5000 or listener.heard - heard >= bound:
        assert time.monotonic() - begun < 200, (trees, count, listener.heard - heard, bound)
        tree = await mirror.tree(LONG_S, Limits(walk_s=5, answer_s=5), desktop.windows(), ())
        trees += any(name.startswith("storm") for name in names(tree))
        await asyncio.sleep(0.25)
        count = json.loads(told.read_text())["count"][0]  # each is several events
        # What is still on its way when a rule goes is heard, too.
        bound = min(count, 20 * STORM * ((time.monotonic() - begun) / MUTE_S + 2))
    os.kill(program.pid, signal.SIGUSR2)
    tree = await until(mirror, desktop, lambda tree: "over" in names(tree))
    assert not any(name.startswith("storm") for name in names(tree))
    await mirror.close()


async def test_a_hung_registry_is_unavailable_in_time_and_a_mirror_that_knows_goes_on(desktop: Desktop) -> None:
    desktop.show("odd.py", "plain")
    mirror, late = mirror_of(desktop), mirror_of(desktop)
    await until(mirror, desktop, shows("Odd plain"))
    registry = process_of(desktop, b"at-spi2-registryd")
    os.kill(registry, signal.SIGSTOP)
    begun = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer in 1 s"):
        await late.tree(0, Limits(walk_s=1))
    assert time.monotonic() - begun < 20
    assert "Odd plain" in names(await mirror.tree(LONG_S, PATIENT, desktop.windows(), ()))
    os.kill(registry, signal.SIGCONT)
    assert "Odd plain" in names(await late.tree(0, PATIENT, desktop.windows()))
    await late.close()
    await mirror.close()


async def test_a_bus_that_comes_back_is_used_again(desktop: Desktop) -> None:
    first, _ = desktop.show("odd.py", "plain")
    mirror = mirror_of(desktop)
    before = await until(mirror, desktop, shows("Odd plain"))
    end(first)
    end(desktop.bus)
    await asyncio.to_thread(Path(desktop.folder, "bus").unlink, missing_ok=True)
    with pytest.raises(Unavailable):
        await until(mirror, desktop, shows("Odd plain"))  # it says nothing of it until the bus is gone, too
    desktop.start_bus()
    # Its accessibility bus begins with the first ask. Before that, GTK would find the old one's address on the screen.
    await mirror.tree(LONG_S, PATIENT)
    desktop.show("odd.py", "hostile")
    after = await until(mirror, desktop, shows("Odd hostile"))
    assert "Odd plain" not in names(after)
    assert after.version > before.version
    await mirror.close()


async def test_a_wrong_session_bus_does_not_hide_what_the_display_itself_names(
    desktop: Desktop, tmp_path: Path
) -> None:
    desktop.show("odd.py", "plain")
    session = await connect(desktop.bus_address, "the session bus")
    (own,) = await session.call("org.a11y.Bus", "/org/a11y/bus", ("org.a11y.Bus", "GetAddress"))
    await session.close()
    mirror = Mirror(AccessibilityBus(f"unix:path={tmp_path}/gone", own, connect_s=30))
    assert "Odd plain" in names(await until(mirror, desktop, shows("Odd plain")))
    await mirror.close()
    both = Mirror(AccessibilityBus(f"unix:path={tmp_path}/gone", f"unix:path={tmp_path}/other"))
    with pytest.raises(Unavailable, match=r"the session bus does not answer.*; the accessibility bus does not answer"):
        await both.tree(0, PATIENT)


async def test_mirrors_end_when_nobody_asks(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_module, "AccessibilityBus", partial(AccessibilityBus, connect_s=30))
    desktop.show("odd.py", "plain")
    provider = AtSpiProvider(ttl_s=0.3)
    ask = AccessibilityAsk(":1", bus_address=desktop.bus_address, max_age_s=LONG_S, limits=PATIENT, changed=())
    await provider.read(ask)
    assert provider.displays == 1
    while provider.displays:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.05)
    tree = await provider.read(ask)  # begins anew
    assert tree.version >= 1
    await provider.close()
    await provider.close()
    assert provider.displays == 0
