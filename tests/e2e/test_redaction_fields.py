"""Password fields are black in what may leave, found by what the program itself tells of its widgets."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from tests.e2e.gui_support import SETTINGS, shown
from tests.fixtures.daemon import Daemon

RULES = '[redaction]\nrules = ["secure"]\n'


def test_a_password_field_is_black_in_a_redacted_picture_and_its_neighbour_is_not() -> None:
    with Daemon(settings=SETTINGS + RULES) as daemon, shown(daemon.client, "login") as display:
        whole = daemon.client.look(f"display:{display.name}")
        told = daemon.client.look(f"display:{display.name}", redacted=True)
        assert whole.hidden == ()
        (field,) = told.hidden
        assert field.rule == "secure"
        before, after = (np.asarray(Image.open(io.BytesIO(one.image)).convert("RGB")) for one in (whole, told))
        box = field.box
        inside = after[box.y : box.bottom, box.x : box.right]
        assert inside.size
        assert not inside.any()
        above = slice(0, box.y - 8)  # black boxes have a rim
        assert before[above].any()
        differs = (after[above] != before[above]).any(axis=2)
        assert differs.mean() < 0.03  # the other field's caret blinks, and its window may just have got the focus
        part = daemon.client.look(f"region:{box.x},{box.y},{box.w},{box.h}", display=display.name, redacted=True)
        assert not np.asarray(Image.open(io.BytesIO(part.image)).convert("RGB")).any()


def test_without_the_rule_nothing_is_hidden() -> None:
    with Daemon(settings=SETTINGS + "[redaction]\nrules = []\n") as daemon, shown(daemon.client, "login") as display:
        assert daemon.client.look(f"display:{display.name}", redacted=True).hidden == ()
