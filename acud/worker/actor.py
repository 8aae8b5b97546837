"""What runs inside an actor of Ray: judges of its own, asked by bytes. It may be on another machine than its worker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import cast

from acud import api_keys, config, paths
from acud.child_process import guarded
from acud.errors import ConfigError
from acud.evaluator.vision.judge import Judge
from acud.protocol import codec
from acud.protocol.jobs import VisionJob
from acud.worker.judging import Chain, chain


class Actor:
    """Holds a model for as long as it lives. `judge`: `module:function` that makes it, "" for `backends`, set up as
    this machine's own acud.toml says.
    """

    def __init__(self, backends: Sequence[str], judge: str) -> None:
        self._chain = Chain([made(judge)]) if judge else _own(backends)

    async def answer(self, job: bytes, number: int) -> bytes:
        """Return the encoded reply to question `number` of the encoded `job`."""
        found = codec.decode(job, VisionJob, limit=codec.MAX_REPLY_BYTES)
        return codec.encode(await self._chain.answer(found, number))

    async def ready(self) -> str:
        """Return this actor's process, once it is made."""
        return str(os.getpid())


def made(name: str) -> Judge:
    """Return what the function named `module:function` makes. Raises: ConfigError; Unavailable when it fails."""
    module, _, function = name.partition(":")
    try:
        make = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as fault:
        raise ConfigError(f"[ray] judge: there is no {name!r}: {fault}", hint="give module:function") from fault
    return cast(Judge, guarded(make, f"[ray] judge {name}"))


def _own(backends: Sequence[str]) -> Chain:
    settings = config.load(paths.resolve(os.environ).config, os.environ)
    return chain(backends, settings, api_keys.read_all(settings.backends(), os.environ))
