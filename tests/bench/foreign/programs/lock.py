"""Locks the screen as small lockers do: `lock.py slide|black`: one or two bare windows over all of it, and both grabs.

`black` is one window without a name. `slide` has a picture-like window below and a bar of its own for the password.
"""

from __future__ import annotations

import sys

from Xlib import X, display

if __name__ == "__main__":
    server = display.Display()
    screen = server.screen()
    width, height = screen.width_in_pixels, screen.height_in_pixels
    boxes = [(0, 0, width, height, 0x102030)]
    if sys.argv[1] == "slide":
        boxes.append((width // 2 - 150, height // 2 - 20, 300, 40, 0xE0E0E0))
    for left, top, wide, high, colour in boxes:
        window = screen.root.create_window(
            left, top, wide, high, 0, screen.root_depth, X.InputOutput, background_pixel=colour, override_redirect=True
        )
        window.map()
        window.configure(stack_mode=X.Above)
    server.sync()
    screen.root.grab_keyboard(True, X.GrabModeAsync, X.GrabModeAsync, X.CurrentTime)
    screen.root.grab_pointer(True, 0, X.GrabModeAsync, X.GrabModeAsync, X.NONE, X.NONE, X.CurrentTime)
    server.sync()
    while True:
        server.next_event()
