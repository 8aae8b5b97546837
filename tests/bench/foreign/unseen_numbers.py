"""Numbers in layouts, programs and languages that acud's rules were not written on."""

from __future__ import annotations

from functools import partial

from acud.base.errors import AcudError
from acud.types import Criteria, Text, Until, WaitState, number_condition
from acud.types.actions import WaitIdle
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import SYSTEM_PYTHON, Pages, Screen, need, show, unseen
from tests.fixtures.daemon import Daemon


def _decide(screen: Screen, condition: str, expected: str, is_sentence: bool) -> Outcome:
    """`expected`: yes, no or unknown, or some of them by |; an unknown where more could be known is one."""
    until: Until = Criteria(condition) if is_sentence else number_condition(condition)
    try:
        wait = screen.judge(until, timeout_s=6.0)
    except AcudError as fault:
        refused = Answer.RIGHT if "unknown" in expected else Answer.UNKNOWN
        return Outcome(refused, f"refused: {fault}")
    answer = str(wait.verdict.answer)
    printed = f"{answer}: {wait.verdict.detail}"
    if answer in expected.split("|"):
        return Outcome(Answer.RIGHT, printed)
    return Outcome(Answer.UNKNOWN if answer == "unknown" else Answer.WRONG, printed)


def _page(
    body: str, condition: str, expected: str, daemon: Daemon, title: str = "Page", is_sentence: bool = False
) -> Outcome:
    with Pages(f"{body}<p>End of page</p>", title) as pages, show(daemon) as screen:
        screen.browse(pages.url, title=title)
        shown = screen.judge(Text("End of page"), timeout_s=40.0)
        assert shown.state == WaitState.RESOLVED, shown.verdict.detail
        return _decide(screen, condition, expected, is_sentence)


def _program(
    command: tuple[str, ...], title: str, condition: str, expected: str, daemon: Daemon, module: str = ""
) -> Outcome:
    need(command[0], module=module)
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch(*command)
        screen.find_window(title)
        screen.act(WaitIdle(1.0, 6.0))
        return _decide(screen, condition, expected, is_sentence=False)


_TILES = """<div style="display:grid;grid-template-columns:repeat(3,150px);gap:6px">
<div><b>42</b><br>Open</div><div><b>7</b><br>Blocked</div><div><b>118</b><br>Closed</div></div>"""
_LIST = """<dl><dt>Requests</dt><dd>12,480</dd><dt>Failures</dt><dd>none</dd><dt>Latency</dt><dd>230 ms</dd></dl>"""
_PIVOT = """<table border=1 cellpadding=8><tr><th>Region<th>North<th>South<th>West</tr>
<tr><td>Orders<td>17<td>250<td>4</tr>
<tr><td>Returns<td>3<td>9<td>61</tr></table>"""
_QUOTES = """<div style="border:1px solid #999;width:220px;padding:10px"><div>ACME</div><small>Acme Holdings</small>
<div style="font-size:26px">€ 31,20</div></div><table style="margin-top:30px;width:640px"><tr><td>ACME<td>Volume
<td align=right>1,204,500</tr></table>"""
_NAV = """<nav style="display:flex;gap:26px"><span>Inbox</span><span>Drafts</span><span>Spam <sup>14</sup></span>
<span>Sent</span></nav>"""
_BELL = """<p>Alerts <span style="background:#c00;color:#fff;border-radius:9px;padding:1px 7px">9+</span></p>"""
_SWISS = """<table cellpadding=6><tr><td>Guthaben<td align=right>CHF 12’480.50</tr>
<tr><td>Gebühren<td align=right>0.00</tr></table>"""
_INDIAN = "<p>Revenue: ₹ 12,34,567</p>"
_NEGATIVE = "<p>Balance: −250.00 €</p>"
_FRACTION = "<p>Steps done: 3 / 12</p>"
_MILLIONS = "<p>Followers: 2.4M</p><p>Posts: 930</p>"
_RANGE = "<p>Guests: 4–6</p>"
_SPARK = """<div style="display:flex;gap:40px"><div>CPU<br><span style="font-size:28px">37%</span></div><div>Memory<br>
<span style="font-size:28px">81%</span></div><div>Disk<br><span style="font-size:28px">9%</span></div></div>"""
_BEFORE = """<table cellpadding=8><tr><td align=right>812<td>Subscribers</tr>
<tr><td align=right>15<td>Bounced</tr></table>"""
_PILL = "background:#ddd;border-radius:9px;padding:1px 7px"
_PILLS = f"""<div style="display:flex;gap:30px"><span><b style="{_PILL}">12</b>&nbsp; Open</span><span>
<b style="{_PILL}">3</b>&nbsp; Closed</span></div>"""
_INLINE = "<p>12 Open 3 Closed</p>"
_ORDERED = "<ol><li>Build<li>Tests<li>Deploy</ol>"
_CIRCLE = "border:1px solid #333;border-radius:50%;padding:4px 10px;margin-right:12px"
_WIZARD = f"""<div style="display:flex;gap:60px"><div><span style="{_CIRCLE}">1</span>Basket</div><div>
<span style="{_CIRCLE}">2</span>Payment</div><div><span style="{_CIRCLE}">3</span>Finish</div></div>"""
_GRID = """<table border=1 cellpadding=8><tr><td>12<td>Open issues</tr><tr><td>30<td>Closed issues</tr>
<tr><td>4<td>Drafts</tr></table>"""
_UNDER_HEADER = """<table border=1 cellpadding=8><tr><th>Queue<th>Waiting<th>Failed</tr>
<tr><td>mail<td>5<td>0</tr></table>"""
_TIME = "<p>Build #4711 finished at 14:05, Tests: 1,024 passed, 3 failed</p>"
_WORD = "<p>Errors: no errors in 12 files</p>"
_DEGREES = "<p>Kiel <b>21°C</b> Oslo <b>8°C</b></p>"
_YAD = ("yad", "--list", "--title=Stock", "--width=420", "--height=240", "--column=Item", "--column=On hand",
        "--column=On order", "Bolts", "1400", "20", "Nuts", "35", "900", "Washers", "8", "0")  # fmt: skip
_QUEUE = ("yad", "--list", "--title=Queue", "--width=420", "--height=240")
_YAD_IDS = (*_QUEUE, "--column=Ticket", "--column=Name", "4711", "Crash", "4698", "Slow start", "5120", "Typo")
_YAD_COUNTS = (*_QUEUE, "--column=Seen", "--column=Name", "14", "Crash", "0", "Slow start", "2", "Typo")
_ZENITY = ("zenity", "--info", "--title=Backup", "--text=Files copied: 1\u202f204\nErrors: 0\nTime left: 3 min")
_PLOT = (
    "import matplotlib; matplotlib.use('Qt5Agg'); from matplotlib import pyplot as p; p.figure('Plot'); "
    "p.bar(['Jan', 'Feb', 'Mar'], [120, 340, 90]); p.title('Total: 550'); p.show()"
)
_XMESSAGE = ("xmessage", "-title", "Quota", "-fn", "10x20", " Used: 1.5 GB \n Free: 512 MB \n")
_DIALOG = ("urxvt", "-title", "Setup", "-fn", "xft:DejaVu Sans Mono:size=14", "-e", "sh", "-c",
           "dialog --title Setup --msgbox 'Packages left: 12\nDownloaded: 88 of 100' 8 50; sleep 600")  # fmt: skip


def _now(daemon: Daemon) -> Outcome:
    """The reply to a new wait quotes what is read now."""
    with Pages(f"{_LIST}<p>End of page</p>") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Page")
        screen.judge(Text("End of page"), timeout_s=40.0)
        reply = daemon.client.wait_create(number_condition("Requests >= 20000"), display=screen.name, timeout_s=10.0)
        words = str(reply)
        return Outcome(Answer.RIGHT if "12,480" in words else Answer.UNKNOWN, words[-300:])


CASES: tuple[Case, ...] = (
    unseen("tiles, number above its label", partial(_page, _TILES, "Blocked >= 8", "no")),
    unseen("tiles, a yes", partial(_page, _TILES, "Closed >= 100", "yes")),
    unseen("a definition list whose value is a word", partial(_page, _LIST, "Failures >= 1", "unknown|no")),
    unseen("a definition list", partial(_page, _LIST, "Latency <= 250 ms", "yes")),
    unseen("a pivot table, row label alone", partial(_page, _PIVOT, "Orders > 200", "unknown")),
    unseen("a card and a row of another figure", partial(_page, _QUOTES, "ACME > 1000", "unknown")),
    unseen(
        "a card and a row, as a sentence", partial(_page, _QUOTES, "ACME goes above 480", "unknown", is_sentence=True)
    ),
    unseen("a badge of the next word", partial(_page, _NAV, "Drafts >= 1", "unknown|no")),
    unseen("a badge of nine and more", partial(_page, _BELL, "Alerts >= 9", "yes")),
    unseen("a badge of nine and more, asked for twelve", partial(_page, _BELL, "Alerts >= 12", "unknown")),
    unseen("Swiss thousands", partial(_page, _SWISS, "Guthaben > 12000", "yes")),
    unseen("Swiss thousands, no", partial(_page, _SWISS, "Gebühren > 0", "no")),
    unseen("Indian thousands", partial(_page, _INDIAN, "Revenue >= 1000000", "yes")),
    unseen("a minus sign", partial(_page, _NEGATIVE, "Balance > 0", "no")),
    unseen("a fraction", partial(_page, _FRACTION, "Steps done >= 10", "no")),
    unseen("millions", partial(_page, _MILLIONS, "Followers > 1000000", "yes")),
    unseen("a range", partial(_page, _RANGE, "Guests >= 6", "unknown")),
    unseen("gauges in a row", partial(_page, _SPARK, "Memory >= 80 %", "yes")),
    unseen("gauges in a row, the last", partial(_page, _SPARK, "Disk >= 80 %", "no")),
    unseen("badges before their words, in a row", partial(_page, _PILLS, "Open >= 10", "yes")),
    unseen("the other badge", partial(_page, _PILLS, "Closed >= 10", "no")),
    unseen("words of one line behind their numbers", partial(_page, _INLINE, "Open <= 5", "no|unknown")),
    unseen("a list whose entries are numbered", partial(_page, _ORDERED, "Tests >= 2", "unknown")),
    unseen("steps whose circles are numbered", partial(_page, _WIZARD, "Payment >= 2", "unknown")),
    unseen("counts left of their names in bordered cells", partial(_page, _GRID, "Open issues > 10", "yes")),
    unseen("yad's list of ids", partial(_program, _YAD_IDS, "Queue", "Crash > 1000", "unknown")),
    unseen("yad's list, counts first", partial(_program, _YAD_COUNTS, "Queue", "Crash >= 2", "yes")),
    unseen("numbers before their labels", partial(_page, _BEFORE, "Bounced > 100", "no")),
    unseen("numbers under their headers", partial(_page, _UNDER_HEADER, "Failed >= 1", "no")),
    unseen("several in a line", partial(_page, _TIME, "Tests >= 2000", "no")),
    unseen("a counted word between", partial(_page, _WORD, "Errors >= 1", "unknown|no")),
    unseen(
        "a title with a number", partial(_page, "<p>Unread</p>", "Unread >= 1", "unknown|no", title="Unread 17 - Mail")
    ),
    unseen("degrees of two towns", partial(_page, _DEGREES, "Oslo > 15", "no")),
    unseen("yad's list of two columns", partial(_program, _YAD, "Stock", "Nuts >= 500", "unknown")),
    unseen("zenity with a thin space", partial(_program, _ZENITY, "Backup", "Files copied >= 1000", "yes")),
    unseen(
        "a plot's title and its axis",
        partial(_program, (SYSTEM_PYTHON, "-c", _PLOT), "Plot", "Total >= 500", "yes", module="matplotlib"),
    ),
    unseen("sizes in xmessage", partial(_program, _XMESSAGE, "Quota", "Free >= 1 GB", "no")),
    unseen("dialog's box in urxvt", partial(_program, _DIALOG, "Setup", "Packages left <= 3", "no")),
    unseen("what is read now is quoted", _now),
)
