"""Prints the widgets that show, as python3-pyatspi (libatspi, with its cache off) reads them; for the system's Python.

`pyatspi_dump.py PID`: one JSON list of [depth, role number, name, x, y, w, h] of that process, in document order.
"""

from __future__ import annotations

import json
import sys

import pyatspi

FAR = 1 << 20


def walk(one, depth, out):
    one.clear_cache()
    states = one.getState()
    if not states.contains(pyatspi.STATE_SHOWING) or states.contains(pyatspi.STATE_DEFUNCT):
        return
    try:
        box = one.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
        place = [box.x, box.y, box.width, box.height]
    except NotImplementedError:
        place = [0, 0, 0, 0]
    if min(place[2:]) <= 0 or max(abs(value) for value in place) >= FAR:
        place = [0, 0, 0, 0]
    out.append([depth, int(one.getRole()), one.name or "", *place])
    for child in one:
        if child is not None:
            walk(child, depth + 1, out)


found = []
for app in pyatspi.Registry.getDesktop(0):
    if app is not None and app.get_process_id() == int(sys.argv[1]):
        for top in app:
            if top is not None:
                walk(top, 0, found)
print(json.dumps(found))
