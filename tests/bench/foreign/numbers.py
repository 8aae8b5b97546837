"""Numbers and words on strangers' pages in a real browser: is the number its label's, the text with its own blanks?"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from acud.types import Text, number_condition
from tests.bench.foreign.case import Case, Outcome, compare
from tests.fixtures.daemon import Daemon

_CARD = "border:1px solid #ccc;border-radius:8px;padding:12px;width:160px"
_STAT = f"""<div style="display:flex;gap:16px"><div style="{_CARD}"><div>Visitors</div><div style="font-size:30px">1,847
</div></div><div style="{_CARD}"><div style="font-size:30px">92</div><div>Orders</div></div></div>"""
_NEXT_CARD = f"""<div style="display:flex;gap:16px"><div style="{_CARD}">Errors</div><div style="{_CARD}"><div>30</div>
<div>Warnings</div></div></div>"""
_TABS = """<div style="display:flex;gap:16px"><span>Code</span><span>Issues</span><span>Pull requests <span style=
"background:#ddd;border-radius:10px;padding:1px 6px">30</span></span><span>Actions</span></div>"""
_TABLE = """<table style="width:600px"><tr><td>Shipping<td align=right>12.00</tr>
<tr><td>Total<td align=right>CHF 1'246.50
</tr></table><p>Unread 99+</p>"""


_BLANKS = """<p>Found: 10 0 items</p><p style="font-family:monospace">Please login</p>
<p style="letter-spacing:.3em">NOTABLE</p><p>Balance: −5</p><p>Stock: 1&#8239;000&#8239;000</p>"""


def _case(page: str, condition: str | Text, expected: str, title: str = "Page") -> Callable[[Daemon], Outcome]:
    def check(daemon: Daemon) -> Outcome:
        display = daemon.client.display_create().display
        env = {**os.environ, "DISPLAY": display.name, "XAUTHORITY": display.auth_file}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.html"
            style = "font:15px sans-serif;margin:24px"
            file.write_text(
                f'<meta charset="utf-8"><title>{title}</title><body style="{style}">{page}<p>Ready to read</p>'
            )
            command = [
                "chromium",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                f"--user-data-dir={folder}/profile",
            ]
            with subprocess.Popen([*command, f"file://{file}?t0=1795868505666"], env=env) as browser:
                try:
                    return _ask(daemon, display.name, condition, expected)
                finally:
                    browser.terminate()
                    browser.wait()
                    daemon.client.display_remove(display.name, force=True)

    return check


def _ask(daemon: Daemon, display: str, condition: str | Text, expected: str) -> Outcome:
    shown = daemon.client.wait_create(Text("Ready to read"), display=display, timeout_s=60.0)
    daemon.client.wait_result(shown.wait.wait_id, block_s=90.0)
    wanted = condition if isinstance(condition, Text) else number_condition(condition)
    armed = daemon.client.wait_create(wanted, display=display, timeout_s=10.0)
    verdict = daemon.client.wait_result(armed.wait.wait_id, block_s=30.0).wait.verdict
    return compare(str(verdict.answer), expected, f"{verdict.answer}: {verdict.detail}")


CASES = (
    Case("label-above", _case(_STAT, "Visitors >= 1,847", "yes")),
    Case("label-below", _case(_STAT, "Orders = 92", "yes")),
    Case("next-card", _case(_NEXT_CARD, "Errors >= 5", "unknown")),
    Case("tabs", _case(_TABS, "Issues >= 8", "unknown", title="Issues 30")),
    Case("table", _case(_TABLE, "Total > 1,200", "yes"), held_out=True),
    Case("blank-in-number", _case(_BLANKS, "Found = 100", "unknown")),
    Case("minus", _case(_BLANKS, "Balance < 0", "yes")),
    Case("thin-spaces", _case(_BLANKS, "Stock = 1000000", "yes"), held_out=True),
    Case("text-blank", _case(_BLANKS, Text("100 items"), "no")),
    Case("text-no-blank", _case(_BLANKS, Text("log in"), "no"), held_out=True),
    Case("text-tracking", _case(_BLANKS, Text("notable"), "yes"), held_out=True),
    Case("at-least", _case(_TABLE, "Unread > 99", "unknown"), held_out=True),
)
