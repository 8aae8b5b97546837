"""`python -m acud_web`: the web process, started and watched by the supervisor."""

from __future__ import annotations

import asyncio

from acud.base.errors import ProtocolError
from acud.process import child_process
from acud.protocol.bootstrap import Bootstrap, WebOptions
from acud_web import process


def main(bootstrap: Bootstrap) -> None:
    """Serve by the options of `bootstrap`. Raises: ProtocolError if it is meant for another kind of child."""
    if not isinstance(bootstrap.options, WebOptions):
        raise ProtocolError("the bootstrap of the web process holds options of another child")
    asyncio.run(process.serve(bootstrap, bootstrap.options))


if __name__ == "__main__":
    child_process.run(main)
