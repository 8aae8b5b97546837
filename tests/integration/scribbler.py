"""A client that draws without pause: `python -m tests.integration.scribbler DISPLAY AUTH_FILE`."""

from __future__ import annotations

import sys

import numpy as np

from acud.x11.connection import Connection


def main(display: str, auth_file: str) -> None:
    """Fill small random boxes, now and then several at once, until killed."""
    random = np.random.default_rng(5)
    with Connection(display, auth_file) as connection:
        gc = connection.root.create_gc()
        while True:
            for _ in range(int(random.choice([1, 1, 1, 4]))):
                gc.change(foreground=int(random.integers(1 << 24)))
                x, y, w, h = (int(v) for v in random.integers((0, 0, 1, 1), (640, 480, 60, 40)))
                connection.root.fill_rectangle(gc, x, y, w, h)
            connection.sync()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
