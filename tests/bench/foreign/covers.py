"""What hides a thing on strangers' screens, and what only flickers: is it called gone?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from acud.types import Change, NotOf, Text, Until, Verdict, WaitState
from acud.types.actions import Launch, WindowDo, WindowList, WindowVerb
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

_PATIENCE_S = 40.0
_SEEN = "Uploading"
_GONE, _NOT = Text(_SEEN, gone=True), NotOf(Text(_SEEN))
_XTERM = (
    "xterm", "-T", "Uploader", "-fa", "DejaVu Sans Mono", "-fs", "16", "-geometry", "36x8+20+20", "-e", "sh", "-c",
)  # fmt: skip
_STILL = (*_XTERM, f"echo {_SEEN} 7 files; exec sleep 600")
_BLINKS = (*_XTERM, f"while :; do clear; sleep 0.4; echo {_SEEN} 7 files; sleep 3; done")
_LABEL = (
    f"wm title . Uploader; wm geometry . 420x160+20+20; pack [label .l -text {{{_SEEN} 7 files}} -font {{Sans 18}}]"
)
_LAMP = (
    "proc on {} {.l configure -fg black; after 3000 off}; "
    "proc off {} {.l configure -fg [.l cget -bg]; after 400 on}; on"
)
_ZENITY = ("zenity", "--info", "--title=Uploader", f"--text=<span size='x-large'>{_SEEN} 7 files</span>")
_XMESSAGE = ("xmessage", "-title", "Uploader", "-fn", "10x20", f"\n   {_SEEN} 7 files   \n\n")
_COVER = ("xterm", "-T", "Report", "-geometry", "150x60+0+0", "-bg", "navy", "-e", "sleep 600")
_I3LOCK = ("i3lock", "-n", "-c", "335577")
_XSECURELOCK = ("env", "XSECURELOCK_SAVER=/bin/true", "xsecurelock")


def _tk(script: str) -> tuple[str, ...]:
    return ("sh", "-c", f"echo '{script}' | exec wish -")


_TK, _TK_BLINKS = _tk(_LABEL), _tk(f"{_LABEL}; {_LAMP}")
_TK_COVER = _tk("wm title . Report; wm geometry . 940x600+0+0; wm attributes . -topmost 1")


class _Screen:
    """A display with a window manager, on which programs are started."""

    def __init__(self, daemon: Daemon) -> None:
        self.client = daemon.client
        made = daemon.client.display_create(960, 640, window_manager="openbox").display
        self.name, self.env = made.name, {"DISPLAY": made.name, "XAUTHORITY": made.auth_file, "PATH": "/usr/bin:/bin"}

    def start(self, *command: str) -> None:
        self.client.desktop_action(Launch(command), display=self.name)

    def await_window(self, title: str, *, shown: bool = True) -> None:
        """Wait until a window of that title is shown, or is not."""
        self._await(lambda: self._is_shown(title) is shown, f"{title} to be {'there' if shown else 'away'}")

    def _is_shown(self, title: str) -> bool:
        found = self.client.desktop_action(WindowList(title), display=self.name).windows
        return bool(found) and found[0].visibility != "unmapped"

    def do(self, title: str, verb: WindowVerb) -> None:
        self.client.desktop_action(WindowDo(title, verb), display=self.name)

    def verdict(self, wait_id: str) -> tuple[WaitState, Verdict]:
        wait = self.client.wait_show(wait_id, evaluations=0).wait
        return wait.state, wait.verdict

    def await_verdict(self, wait_id: str, fits: Callable[[WaitState, Verdict], bool]) -> tuple[WaitState, Verdict]:
        self._await(lambda: fits(*self.verdict(wait_id)), "a verdict")
        return self.verdict(wait_id)

    def _await(self, found: Callable[[], bool], what: str) -> None:
        until_s = time.monotonic() + _PATIENCE_S
        while not found():
            if time.monotonic() > until_s:
                raise TimeoutError(f"{what} did not come")
            time.sleep(0.05)


@contextmanager
def _shown(daemon: Daemon, *command: str) -> Iterator[_Screen]:
    screen = _Screen(daemon)
    try:
        screen.start(*command)
        screen.await_window("Uploader")
        yield screen
    finally:
        daemon.client.display_remove(screen.name, force=True)


def _is_there(state: WaitState, verdict: Verdict) -> bool:
    return state is WaitState.WATCHING and _SEEN in verdict.detail and verdict.answer == "no"


def _arm(screen: _Screen, until: Until, target: str = "screen") -> str:
    wait = screen.client.wait_create(until, target, display=screen.name, timeout_s=300.0).wait.wait_id
    screen.await_verdict(wait, _is_there)
    return wait


def _judge(
    daemon: Daemon,
    command: tuple[str, ...],
    hide: Callable[[_Screen], None],
    until: Until = _GONE,
    code: str = "covered",
) -> Outcome:
    """Hide the text, look at the verdict once it is another one, then close its window."""
    with _shown(daemon, *command) as screen:
        wait = _arm(screen, until)
        hide(screen)
        state, verdict = screen.await_verdict(
            wait, lambda state, found: found.code == code or state is not WaitState.WATCHING
        )
        printed = f"{state}, {verdict.answer}({verdict.code}): {verdict.detail}"
        if state is not WaitState.WATCHING:
            return Outcome(Answer.WRONG, printed)
        if code == "covered":
            screen.do("Uploader", WindowVerb.CLOSE)
            state = screen.client.wait_result(wait, block_s=_PATIENCE_S).wait.state
            printed = f"{printed}; closed: {state}"
            return Outcome(Answer.RIGHT if state is WaitState.RESOLVED else Answer.WRONG, printed)
        return Outcome(Answer.RIGHT, printed)


def _cover(screen: _Screen, command: tuple[str, ...] = _COVER) -> None:
    screen.start(*command)
    screen.await_window("Report")


def _minimise(screen: _Screen) -> None:
    screen.do("Uploader", WindowVerb.MINIMISE)


def _lock(screen: _Screen, command: tuple[str, ...]) -> None:
    screen.start(*command)


def _judge_flicker(daemon: Daemon, command: tuple[str, ...]) -> Outcome:
    """The text is away 0.4 s of every 3.4 s; its window closes at last."""
    with _shown(daemon, *command) as screen:
        wait = _arm(screen, _GONE)
        time.sleep(8.0)  # two gaps
        state, verdict = screen.verdict(wait)
        if state is not WaitState.WATCHING:
            return Outcome(Answer.WRONG, f"{state}: {verdict.detail}")
        screen.do("Uploader", WindowVerb.CLOSE)
        ended = screen.client.wait_result(wait, block_s=_PATIENCE_S).wait
        return Outcome(Answer.RIGHT if ended.state is WaitState.RESOLVED else Answer.WRONG, f"{ended.state}")


def _judge_own_pixels(daemon: Daemon, command: tuple[str, ...]) -> Outcome:
    """A window on a target of its own is covered: its own pixels go on to be read."""
    with _shown(daemon, *command) as screen:
        wait = _arm(screen, _GONE, "window:Uploader")
        _cover(screen)
        time.sleep(3.0)
        state, verdict = screen.verdict(wait)
        is_right = state is WaitState.WATCHING and verdict.answer in ("no", "unknown")
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"{state}, {verdict.answer}: {verdict.detail}")


def _judge_unseen(daemon: Daemon, cover: Callable[[_Screen], None], until: Until, code: str) -> Outcome:
    """A window hides the text before the wait begins, so that it was never seen; then the cover goes."""
    with _shown(daemon, *_STILL) as screen:
        cover(screen)
        wait = screen.client.wait_create(until, "screen", display=screen.name, timeout_s=300.0).wait.wait_id
        state, verdict = screen.await_verdict(
            wait, lambda state, found: found.code == code or state is not WaitState.WATCHING
        )
        printed = f"{state}, {verdict.answer}({verdict.code}): {verdict.detail}"
        return Outcome(Answer.RIGHT if state is WaitState.WATCHING else Answer.WRONG, printed)


def _judge_region(daemon: Daemon, until: Until) -> Outcome:
    """Another program's window comes over a region."""
    with _shown(daemon, *_STILL) as screen:
        wait = screen.client.wait_create(
            until, "region:40,60,120,60", display=screen.name, timeout_s=300.0
        ).wait.wait_id
        screen.await_verdict(wait, lambda _, found: found.answer == "no")
        _cover(screen)
        state, verdict = screen.await_verdict(
            wait, lambda state, found: found.code == "covered" or state is not WaitState.WATCHING
        )
        printed = f"{state}, {verdict.answer}({verdict.code}): {verdict.detail}"
        return Outcome(Answer.RIGHT if state is WaitState.WATCHING else Answer.WRONG, printed)


_FULL = ("xterm", "-T", "Report", "-fullscreen", "-e", "sleep 600")
_TK_COVERS = partial(_cover, command=_TK_COVER)
_FULLY = partial(_cover, command=_FULL)
_OVERLAID = partial(
    _cover, command=_tk("wm overrideredirect . 1; wm title . Report; wm geometry . 960x640+0+0; . configure -bg navy")
)
CASES: tuple[Case, ...] = (
    Case("xterm: covered by an xterm", partial(_judge, command=_STILL, hide=_cover)),
    Case("Tk: covered by a window on top", partial(_judge, command=_TK, hide=_TK_COVERS, until=_NOT)),
    Case("xterm: minimised", partial(_judge, command=_STILL, hide=_minimise, until=_NOT)),
    Case("xterm: i3lock", partial(_judge, command=_STILL, hide=partial(_lock, command=_I3LOCK), code="locked")),
    Case("xterm: flickers", partial(_judge_flicker, command=_BLINKS)),
    Case("zenity: covered by an xterm", partial(_judge, command=_ZENITY, hide=_cover), held_out=True),
    Case("xmessage: minimised", partial(_judge, command=_XMESSAGE, hide=_minimise), held_out=True),
    Case("Tk: flickers", partial(_judge_flicker, command=_TK_BLINKS), held_out=True),
    Case("xmessage: its own pixels", partial(_judge_own_pixels, command=_XMESSAGE), held_out=True),
    Case("never seen under a full screen", partial(_judge_unseen, cover=_FULLY, until=_GONE, code="covered")),
    Case(
        "never seen under an overlay", partial(_judge_unseen, cover=_OVERLAID, until=_NOT, code="locked"), held_out=True
    ),
    Case("a region that changes under a cover", partial(_judge_region, until=Change()), held_out=True),
    Case(
        "Tk: xsecurelock",
        partial(_judge, command=_TK, hide=partial(_lock, command=_XSECURELOCK), code="locked"),
        held_out=True,
    ),
)
