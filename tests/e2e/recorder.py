"""A program that writes down what reaches it: `recorder.py LOG [TITLE] [X Y W H] [REPAINTS]`.

Lines: `shown`, `press BUTTON X Y STATE`, `release BUTTON X Y`, `move X Y`, `key KEYCODE STATE`, `keyup KEYCODE`,
`painted COLOUR`. Places are of the root window. Each press repaints the window REPAINTS times (once), 50 ms apart.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from Xlib import X, display

_STEP_S = 0.05
_FIRST_COLOUR = 0x101010
_EVENTS = (
    X.ButtonPressMask | X.ButtonReleaseMask | X.ButtonMotionMask | X.KeyPressMask | X.KeyReleaseMask | X.ExposureMask
)


def main() -> None:
    """Record until the window or the display goes."""
    given = dict(enumerate(sys.argv[1:]))
    x, y, width, height = (int(given.get(at, size)) for at, size in zip(range(2, 6), (0, 0, 640, 480), strict=True))
    repaints = int(given.get(6, "1"))
    connection = display.Display()
    screen = connection.screen()
    window = screen.root.create_window(
        x, y, width, height, 0, X.CopyFromParent, event_mask=_EVENTS, background_pixel=_FIRST_COLOUR
    )
    window.set_wm_name(given.get(1, "Recorder"))
    window.set_wm_class("recorder", "Recorder")
    window.map()
    colour = _FIRST_COLOUR
    with Path(given[0]).open("a", buffering=1, encoding="utf-8") as log:
        while True:
            event = connection.next_event()
            if event.type == X.Expose:
                log.write("shown\n")
            elif event.type == X.ButtonPress:
                log.write(f"press {event.detail} {event.root_x} {event.root_y} {event.state}\n")
                for _ in range(repaints):
                    colour += 0x050505
                    window.change_attributes(background_pixel=colour)
                    window.clear_area()
                    connection.sync()
                    time.sleep(_STEP_S if repaints > 1 else 0)
                log.write(f"painted {colour:06x}\n")
            elif event.type == X.ButtonRelease:
                log.write(f"release {event.detail} {event.root_x} {event.root_y}\n")
            elif event.type == X.MotionNotify:
                log.write(f"move {event.root_x} {event.root_y}\n")
            elif event.type == X.KeyPress:
                log.write(f"key {event.detail} {event.state}\n")
            elif event.type == X.KeyRelease:
                log.write(f"keyup {event.detail}\n")


if __name__ == "__main__":
    main()
