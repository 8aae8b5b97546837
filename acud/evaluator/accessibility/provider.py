"""Accessibility providers, in order of priority: AT-SPI, and those installed beside it.

The AT-SPI one keeps a mirror for each display's accessibility bus while requests for it come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from acud.accessibility.ask import AccessibilityAsk, AccessibilityProvider, ProvidedTree, ProviderFault
from acud.accessibility.nodes import Limits, Tree
from acud.base import log
from acud.base.errors import AcudError, Unavailable
from acud.base.extras import require
from acud.config import AccessibilitySettings

if TYPE_CHECKING:
    from acud.evaluator.accessibility.mirror import Mirror

MOST_MIRRORS = 32
"""The most mirrors; beyond it, the one with the oldest request is dropped."""
MAX_AGE_S = 30.0
"""What a mirror may still believe when nothing made it doubtful."""

BusKey = tuple[str, str]
"""The addresses of a display's session bus and of its own accessibility bus."""

GROUP = "acud.accessibility_providers"
_GRACE_S = 2.0
_LOAD_S = 10.0
_MAX_REASON = 500

Value = TypeVar("Value")


def display_limits(settings: AccessibilitySettings) -> Limits:
    """Return the bounds of a reading of a whole display. Readers that share a mirror share them: with others it would
    be read anew for each.
    """
    return Limits(
        settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s, actions=True, offscreen=True
    )


class AtSpiProvider:
    """Reads over D-Bus. Owns its mirrors: each is closed `ttl_s` after the last ask for it, `close` ends them all.

    Lives in one event loop.
    """

    name = "at-spi"
    priority = 100

    def __init__(self, ttl_s: float) -> None:
        self._ttl_s = ttl_s
        self._mirrors: dict[BusKey, Mirror] = {}
        self._timers: dict[BusKey, asyncio.TimerHandle] = {}
        self._asks: dict[BusKey, int] = {}
        self._closing: set[asyncio.Task[Any]] = set()

    @property
    def displays(self) -> int:
        return len(self._mirrors)

    async def read(self, ask: AccessibilityAsk) -> Tree:
        key = (ask.bus_address, ask.a11y_address)
        mirror = self._take_mirror(key)
        self._asks[key] = self._asks.get(key, 0) + 1
        self._end_oldest()
        try:
            return await mirror.tree(ask.max_age_s, ask.limits, ask.windows, ask.changed)
        finally:
            self._asks[key] -= 1
            self._end_later(key)

    def hold(self, key: BusKey, on_event: Callable[[], None]) -> None:
        """Keep the mirror of a display until `release`; `on_event` is called after each event of its programs, and must
        not raise. `key`: the addresses of its session bus and its own accessibility bus. Raises: NotInstalled.
        """
        self._take_mirror(key).event_callbacks.append(on_event)
        self._asks[key] = self._asks.get(key, 0) + 1
        self._end_oldest()

    def release(self, key: BusKey, on_event: Callable[[], None]) -> None:
        self._mirrors[key].event_callbacks.remove(on_event)
        self._asks[key] -= 1
        self._end_later(key)

    def ask_again_s(self, key: BusKey) -> float | None:
        """Return when the tree of a mirror that is held may be another, as `Mirror.ask_again_s` does."""
        return self._mirrors[key].ask_again_s()

    def _take_mirror(self, key: BusKey) -> Mirror:
        mirror = self._mirrors.pop(key, None) or _make_mirror(key)
        self._mirrors[key] = mirror  # the newest comes last
        return mirror

    async def sure(self, ask: AccessibilityAsk) -> Tree | None:
        """Return the tree of an existing mirror if it is as good as a fresh reading; else None. Raises: Unavailable, as
        `read` does.
        """
        mirror = self._mirrors.get((ask.bus_address, ask.a11y_address))
        if mirror is None:
            return None
        tree = await self.read(ask)
        return tree if mirror.is_sure else None

    async def close(self) -> None:
        for key in list(self._mirrors):
            self._end_mirror(key)
        await asyncio.gather(*self._closing)

    def _end_oldest(self) -> None:
        idle = [key for key in self._mirrors if not self._asks.get(key)]
        for key in idle[: max(0, len(self._mirrors) - MOST_MIRRORS)]:
            self._end_mirror(key)

    def _end_later(self, key: BusKey) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if key in self._mirrors and not self._asks[key]:
            self._timers[key] = asyncio.get_running_loop().call_later(self._ttl_s, self._end_mirror, key)

    def _end_mirror(self, key: BusKey) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        self._asks.pop(key, None)
        task = asyncio.ensure_future(self._mirrors.pop(key).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _make_mirror(key: BusKey) -> Mirror:
    require("actions", "reading widgets")
    from acud.evaluator.accessibility.bus import AccessibilityBus
    from acud.evaluator.accessibility.mirror import Mirror

    return Mirror(AccessibilityBus(*key))


class AccessibilityChain:
    """Asks providers in the order of their priority until one answers. Owns them: `close` closes each.

    `faults`: entry points that gave none; they are named with every answer.
    """

    def __init__(self, providers: Sequence[AccessibilityProvider], faults: Sequence[ProviderFault] = ()) -> None:
        self._providers = sorted(providers, key=lambda one: (-one.priority, one.name))
        self._broken = tuple(faults)

    @property
    def names(self) -> tuple[str, ...]:
        """The providers' names, the first to be asked first."""
        return tuple(one.name for one in self._providers)

    async def read(self, ask: AccessibilityAsk) -> ProvidedTree:
        """Return the tree of the first provider that is available. Raises: Unavailable when none is; the message names
        each with its reason.
        """
        faults = list(self._broken)
        for provider in self._providers:
            try:
                return ProvidedTree(await provider.read(ask), provider.name, tuple(faults))
            except Unavailable as fault:
                faults.append(ProviderFault(provider.name, str(fault)[:_MAX_REASON]))
        reasons = "; ".join(f"{fault.name}: {fault.reason}" for fault in faults)
        raise Unavailable(reasons or "there is no accessibility provider")

    async def close(self) -> None:
        for provider in self._providers:
            await provider.close()


class GuardedProvider:
    """An installed provider: every failure of it is logged and makes it unavailable."""

    def __init__(self, provider: AccessibilityProvider, entry: str) -> None:
        self.name = str(getattr(provider, "name", entry))[:64]
        self.priority = int(getattr(provider, "priority", 0))
        self._provider = provider
        self._log = log.logger("accessibility")

    async def read(self, ask: AccessibilityAsk) -> Tree:
        """See AccessibilityProvider. Its answer is bounded and checked."""
        try:
            tree = _check_tree(await _run_foreign(self._provider.read(ask), ask.limits.walk_s + _GRACE_S))
        except Unavailable as fault:
            self._log.warning("accessibility.provider_failed", provider=self.name, reason=fault.message)
            raise
        if len(tree.nodes) <= ask.limits.max_nodes:
            return tree
        return msgspec.structs.replace(tree, nodes=tree.nodes[: ask.limits.max_nodes], truncated="nodes")

    async def close(self) -> None:
        try:
            await _run_foreign(self._provider.close(), _GRACE_S)
        except Unavailable as fault:
            self._log.warning("accessibility.provider_failed", provider=self.name, reason=fault.message)


async def load_installed() -> tuple[list[AccessibilityProvider], list[ProviderFault]]:
    """Return the providers that are installed as entry points, and a fault for each that could not be made."""
    made: list[AccessibilityProvider] = []
    broken = []
    for entry in entry_points(group=GROUP):
        try:
            made.append(await _run_foreign(asyncio.to_thread(_load_provider, entry), _LOAD_S))
        except Unavailable as fault:
            broken.append(ProviderFault(entry.name, fault.message[:_MAX_REASON]))
    return made, broken


def _check_tree(tree: object) -> Tree:
    if not isinstance(tree, Tree):
        raise Unavailable(f"it answered a {type(tree).__name__}, not a Tree")
    if any(node.parent >= index for index, node in enumerate(tree.nodes)):
        raise Unavailable("it answered a tree in which a widget comes before its parent")
    return tree


async def _run_foreign(work: Coroutine[Any, Any, Value], within_s: float) -> Value:
    """Run foreign code and return its result. Raises: Unavailable for every exception of it."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(_retrieve_exception)
    try:
        done, _ = await asyncio.wait({task}, timeout=within_s)
    finally:
        task.cancel()
    if not done:
        raise Unavailable(f"it did not answer in {within_s:g} s")
    fault = asyncio.CancelledError("it gave up") if task.cancelled() else task.exception()
    if fault is not None:
        raise Unavailable(str(fault) if isinstance(fault, AcudError) else f"{type(fault).__name__}: {fault}") from fault
    return task.result()


def _retrieve_exception(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task whose caller stopped waiting, or asyncio logs it."""
    if not task.cancelled():
        task.exception()


def _load_provider(entry: EntryPoint) -> AccessibilityProvider:
    return GuardedProvider(entry.load()(), entry.name)
