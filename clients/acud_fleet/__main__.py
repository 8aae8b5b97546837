"""`python -m acud_fleet`: a host's fleet process, started and watched by the supervisor."""

from __future__ import annotations

from acud.base.errors import ProtocolError
from acud.base.extras import require
from acud.process import child_process
from acud.protocol.bootstrap import Bootstrap, FleetOptions


def main(bootstrap: Bootstrap) -> None:
    """Join by the options of `bootstrap`. Raises: NotInstalled; ProtocolError if it is for another kind of child."""
    if not isinstance(bootstrap.options, FleetOptions):
        raise ProtocolError("the bootstrap of the fleet process holds options of another child")
    require("fleet", "the fleet")
    import uvloop

    from acud_fleet import host

    uvloop.run(host.serve(bootstrap, bootstrap.options))


if __name__ == "__main__":
    child_process.run(main)
