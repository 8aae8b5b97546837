"""`python -m acud_web`: the web process, started and watched by the supervisor."""

from __future__ import annotations

import asyncio

from acud.base.errors import ProtocolError
from acud.base.extras import require
from acud.process import child_process
from acud.protocol.bootstrap import Bootstrap, WebOptions


def main(bootstrap: Bootstrap) -> None:
    """Serve by the options of `bootstrap`. Raises: NotInstalled; ProtocolError if it is for another kind of child."""
    if not isinstance(bootstrap.options, WebOptions):
        raise ProtocolError("the bootstrap of the web process holds options of another child")
    require("web", "the dashboard, like all of acud over HTTP,")
    from acud_web import process

    asyncio.run(process.serve(bootstrap, bootstrap.options))


if __name__ == "__main__":
    child_process.run(main)
