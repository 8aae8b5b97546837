"""The command line of acud."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Load the command line and run it. While it is loaded, Ctrl-C ends it at once, without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from acud_cli.__main__ import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
