"""The chain of accessibility providers, with real distributions installed beside acud."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import AccessibleApp, Limits, Tree
from acud.base.errors import Unavailable
from acud.evaluator.accessibility.provider import AccessibilityChain, AtSpiProvider, load_installed

_CODE = """
import asyncio
from acud.accessibility.nodes import App, Node, Tree
from acud.base.errors import Unavailable

class Provider:
    name, priority = {name!r}, {priority}
    async def read(self, ask):
        {body}
    async def close(self):
        pass
"""
ASK = AccessibilityAsk(":1", limits=Limits(walk_s=0.2))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Installs distributions (as pip leaves them: a module and its `dist-info`) that name a provider."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def one(name: str, priority: int, body: str, code: str = _CODE) -> None:
        module = f"acud_test_{tmp_path.name.replace('-', '_')}_{name}"
        (tmp_path / f"{module}.py").write_text(code.format(name=name, priority=priority, body=body))
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[acud.accessibility_providers]\n{name} = {module}:Provider\n")

    yield one
    for module in [module for module in sys.modules if module.startswith("acud_test_")]:
        del sys.modules[module]


async def _chain(*more: object) -> AccessibilityChain:
    made, broken = await load_installed()
    return AccessibilityChain([*more, *made], broken)  # type: ignore[list-item]


@pytest.mark.asyncio
async def test_the_first_that_is_available_answers_and_the_others_are_named(install) -> None:
    install("low", 1, "return Tree((App('low', 1),))")
    install("high", 200, "raise Unavailable('no session')")
    chain = await _chain(AtSpiProvider(30))
    assert chain.names == ("high", "at-spi", "low")
    answer = await chain.read(ASK)  # AT-SPI has no bus
    assert (answer.provider, answer.tree) == ("low", Tree((AccessibleApp("low", 1),)))
    assert [fault.name for fault in answer.faults] == ["high", "at-spi"]
    assert answer.faults[0].reason == "no session"
    assert "no session bus" in answer.faults[1].reason
    await chain.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(("body", "words"), [
    ("raise KeyError('x')", "KeyError: 'x'"),
    ("await asyncio.sleep(60)", "did not answer in"),
    ("return []", "a list, not a Tree"),
    ("return Tree((App('a', 1),), (Node('n', 0, 0, 0, 'frame', '', 0, None),))", "before its parent"),
    ("raise asyncio.CancelledError", "CancelledError"),
])  # fmt: skip
async def test_whatever_goes_wrong_in_one_is_its_reason(install, body: str, words: str) -> None:
    install("odd", 1, body)
    chain = await _chain()
    with pytest.raises(Unavailable, match=words):
        await chain.read(ASK)
    await chain.close()


@pytest.mark.asyncio
async def test_one_that_cannot_be_loaded_is_named_with_every_answer(install) -> None:
    install("syntax", 1, "", "def (:\n")
    install("raises", 1, "", "raise SystemError('not here')\n")
    install("none", 1, "", "x = 1\n")
    install("good", 1, "return Tree()")
    answer = await (await _chain()).read(ASK)
    assert answer.provider == "good"
    assert {fault.name for fault in answer.faults} == {"syntax", "raises", "none"}
    assert all(fault.reason for fault in answer.faults)


@pytest.mark.asyncio
async def test_too_large_an_answer_is_cut_and_says_so(install) -> None:
    install("large", 1, "return Tree((App('a', 1),), (Node('n', 0, -1, 0, 'frame', '', 0, None),) * 50)")
    answer = await (await _chain()).read(AccessibilityAsk(":1", limits=Limits(max_nodes=7)))
    assert (len(answer.tree.nodes), answer.tree.truncated) == (7, "nodes")


def test_the_chain_waits_for_nobody_when_it_is_cancelled(install) -> None:
    install("slow", 1, "await asyncio.sleep(60)")

    async def run() -> None:
        chain = await _chain()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await chain.read(AccessibilityAsk(":1", limits=Limits(walk_s=60)))

    asyncio.run(run())


@pytest.mark.asyncio
async def test_without_any_provider_it_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="no accessibility provider"):
        await AccessibilityChain([]).read(ASK)
