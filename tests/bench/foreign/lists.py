"""Lists that are scrolled inside their windows: does the verdict on a count say that more may be out of view?"""

from __future__ import annotations

from functools import partial

from acud.types import Answer as VerdictAnswer
from acud.types import Text, WaitInfo
from acud.types.actions import WaitIdle
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import SYSTEM_PYTHON, Pages, need, show, unseen
from tests.fixtures.daemon import Daemon

_SAID = "out of view"


def _compare(wait: WaitInfo, goes_on: bool) -> Outcome:
    said = _SAID in wait.verdict.detail
    answer = Answer.RIGHT if said is goes_on else Answer.WRONG
    is_judged = wait.verdict.answer != VerdictAnswer.UNKNOWN
    return Outcome(answer if is_judged else Answer.UNKNOWN, f"{wait.state}: {wait.verdict.detail}")


def _judge(command: tuple[str, ...], title: str, goes_on: bool, daemon: Daemon, module: str = "") -> Outcome:
    """A program lists more rows than show, or few: of those with "done" more are asked for than are there."""
    need(command[0], module=module)
    with show(daemon, 900, 640, "openbox") as screen:
        screen.launch(*command)
        screen.find_window(title)
        screen.act(WaitIdle(1.0, 6.0))
        wait = screen.judge(Text("done", count=60), timeout_s=4.0)
        return _compare(wait, goes_on)


def _page(goes_on: bool, rows: int, daemon: Daemon) -> Outcome:
    listed = "".join(f"<div style='padding:6px'>Job {n} done</div>" for n in range(rows))
    pane = f"<div style='height:300px;width:300px;overflow:auto;border:1px solid #888'>{listed}</div><p>End of page</p>"
    with Pages(pane) as pages, show(daemon, 900, 700) as screen:
        screen.browse(pages.url, title="Page")
        screen.judge(Text("End of page"), timeout_s=40.0)
        wait = screen.judge(Text("done", count=60), timeout_s=4.0)
        return _compare(wait, goes_on)


def _yad(rows: int) -> tuple[str, ...]:
    listed = tuple(f"Job {n} done" for n in range(rows))
    return ("yad", "--list", "--title=Jobs", "--width=300", "--height=300", "--column=Job", *listed)


def _tk(rows: int) -> tuple[str, ...]:
    program = (
        "import tkinter as t; r = t.Tk(); r.title('Jobs'); b = t.Listbox(r, height=8, font=('DejaVu Sans', 12)); "
        f"[b.insert('end', f'Job {{n}} done') for n in range({rows})]; b.pack(padx=20, pady=20); "
        "t.Button(r, text='Close').pack(pady=20); r.mainloop()"
    )
    return (SYSTEM_PYTHON, "-c", program)


def _less(rows: int) -> tuple[str, ...]:
    command = f"seq -f 'Job %g done' {rows} | less"
    return (
        "xterm", "-T", "Jobs", "-fa", "DejaVu Sans Mono", "-fs", "12", "-geometry", "40x12", "-e", "sh", "-c", command,
    )  # fmt: skip


_QT = (
    "import sys; from PyQt5.QtWidgets import *; a = QApplication(sys.argv); w = QListWidget(); "
    "w.addItems([f'Job {n} done' for n in range(50)]); w.setWindowTitle('Jobs'); w.resize(260, 240); w.show(); "
    "a.exec_()"
)

CASES: tuple[Case, ...] = (
    Case("Tk's list box goes on", partial(_judge, _tk(40), "Jobs", True, module="tkinter")),
    Case("Tk's list box has room", partial(_judge, _tk(3), "Jobs", False, module="tkinter")),
    Case("a page's pane goes on", partial(_page, True, 40)),
    Case("a page's pane has room", partial(_page, False, 4)),
    unseen("yad's list goes on", partial(_judge, _yad(40), "Jobs", True)),
    unseen("yad's list has room", partial(_judge, _yad(3), "Jobs", False)),
    unseen("less in xterm goes on", partial(_judge, _less(80), "Jobs", True)),
    unseen("Qt's list goes on", partial(_judge, (SYSTEM_PYTHON, "-c", _QT), "Jobs", True, module="PyQt5")),
)
