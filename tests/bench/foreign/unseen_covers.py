"""What hides, locks, rolls up or flickers in programs and window managers that acud's rules were not written on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import av
from PIL import Image

from acud.types import Change, NotOf, Stable, Text, Until, WaitInfo, WaitState, WindowTitle
from acud.types.actions import Click, Key, Point, WaitIdle, WindowDo, WindowVerb
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import PROGRAMS, SYSTEM_PYTHON, Missing, Screen, need, show, unseen, wait_for
from tests.fixtures.daemon import Daemon

_WORDS = "Uploading 7 files"
_GONE = Text("Uploading", gone=True)
_NOT = NotOf(Text("Uploading"))
_URXVT = ("urxvt", "-title", "Uploader", "-fn", "xft:DejaVu Sans Mono:size=16", "-geometry", "36x6+40+40", "-e")
_STILL = (*_URXVT, "sh", "-c", f"echo {_WORDS}; exec sleep 600")


def _blinker(toolkit: str, *times: str) -> tuple[str, ...]:
    need(module=toolkit)
    return (SYSTEM_PYTHON, str(PROGRAMS / "blinker.py"), toolkit, _WORDS, *times)


def _describe(wait: WaitInfo) -> str:
    return f"{wait.state} {wait.verdict.answer}: {wait.verdict.detail}"


def _lock(kind: str) -> tuple[str, ...]:
    return (sys.executable, str(PROGRAMS / "lock.py"), kind)


@contextmanager
def _show_words(daemon: Daemon, program: tuple[str, ...], manager: str) -> Iterator[tuple[Screen, int]]:
    """Give a screen on which the words show, and the program's pid."""
    need(program[0])
    with show(daemon, 1024, 768, manager) as screen:
        pid = screen.launch(*program)
        screen.find_window("Uploader")
        shown = screen.judge(Text("Uploading"), timeout_s=40.0)
        assert shown.state == WaitState.RESOLVED, shown.verdict.detail
        yield screen, pid


def _until_seen(screen: Screen, wait_id: str) -> None:
    """Return once the wait has seen the words: from then on it knows their place."""
    seen = wait_for(lambda: screen.client.wait_show(wait_id).wait, lambda wait: wait.verdict.answer == "no", 20.0)
    assert seen.verdict.answer == "no", _describe(seen)


def _judge_hidden(
    screen: Screen, wait_id: str, started: tuple[str, ...], title: str, until: Until, pid: int
) -> Outcome:
    """Something hides the words while a wait for their end goes on: no yes; and yes once they are really gone."""
    screen.launch(*started)
    if title:
        screen.find_window(title)
    screen.act(WaitIdle(0.5, 3.0))
    hidden = screen.judge(until, timeout_s=4.0)
    first = screen.client.wait_show(wait_id).wait
    printed = f"{_describe(first)}; armed then: {_describe(hidden)}"
    is_locked = str(PROGRAMS / "lock.py") in started  # under another cover a new wait cannot know what was there
    is_wrong = first.state == WaitState.RESOLVED or (is_locked and hidden.state == WaitState.RESOLVED)
    return Outcome(Answer.WRONG if is_wrong else Answer.RIGHT, printed)


def _hide(
    program: tuple[str, ...] | str, manager: str, hider: tuple[str, ...], title: str, until: Until, daemon: Daemon
) -> Outcome:
    shown = _blinker(program) if isinstance(program, str) else program
    need(hider[0])
    with _show_words(daemon, shown, manager) as (screen, pid):
        wait_id, _ = screen.arm(until, timeout_s=60.0)
        _until_seen(screen, wait_id)
        return _judge_hidden(screen, wait_id, hider, title, until, pid)


def _feh(daemon: Daemon) -> tuple[str, ...]:
    picture = daemon.home / "holiday.png"
    Image.effect_mandelbrot((640, 480), (-2.0, -1.5, 1.0, 1.5), 50).save(picture)
    return ("feh", "--fullscreen", "--title", "Holiday", str(picture))


def _hide_by_feh(manager: str, until: Until, daemon: Daemon) -> Outcome:
    return _hide(_STILL, manager, _feh(daemon), "Holiday", until, daemon)


def _hide_by_game(until: Until, daemon: Daemon) -> Outcome:
    """A game over the whole screen, as SDL opens it."""
    need(module="pygame")
    game = (
        "import pygame; pygame.display.init(); pygame.display.set_caption('Game'); s = pygame.display.set_mode((0, 0), "
        "pygame.FULLSCREEN); s.fill((20, 60, 30)); pygame.display.flip()\nwhile pygame.event.wait(): pass"
    )
    return _hide("wx", "openbox", (SYSTEM_PYTHON, "-c", game), "Game", until, daemon)


def _hide_by_verb(manager: str, do: tuple[str, ...], until: Until, daemon: Daemon) -> Outcome:
    """The window goes to another desktop, off the screen, or is minimised or rolled up: it is not gone."""
    with _show_words(daemon, _STILL, manager) as (screen, _):
        window = screen.find_window("Uploader")
        wait_id, _note = screen.arm(until, timeout_s=60.0)
        _until_seen(screen, wait_id)
        need(do[0])
        screen.run(*(word.replace("WINDOW", str(window)) for word in do), check=False)
        proof = {_DESKTOP: ("-root", "_NET_CURRENT_DESKTOP", "= 1"), _SHADE: ("-id", str(window), "SHADED")}.get(do)
        if proof and proof[-1] not in wait_for(
            lambda: screen.run("xprop", *proof[:-1]), lambda read: proof[-1] in read, 4.0
        ):
            raise Missing(f"{manager}, which does {do}")
        screen.act(WaitIdle(2.5, 5.0))
        first = screen.client.wait_show(wait_id).wait
        is_wrong = first.state == WaitState.RESOLVED
        return Outcome(Answer.WRONG if is_wrong else Answer.RIGHT, _describe(first))


def _hide_by_menu(daemon: Daemon) -> Outcome:
    """The root menu of the window manager opens over the words and stays: they are not gone."""
    with _show_words(daemon, _blinker("wx"), "fluxbox") as (screen, _):
        wait_id, _note = screen.arm(_GONE, timeout_s=30.0)
        _until_seen(screen, wait_id)
        screen.run("xdotool", "mousemove", "800", "600", "click", "3", check=False)
        screen.act(WaitIdle(0.5, 3.0))
        menu = screen.run("xdotool", "getmouselocation", check=False)
        screen.act(WaitIdle(2.0, 4.0))
        first = screen.client.wait_show(wait_id).wait
        return Outcome(
            Answer.WRONG if first.state == WaitState.RESOLVED else Answer.RIGHT,
            f"{first.state}: {first.verdict.detail} ({menu.strip()})",
        )


def _uncover(toolkit: str, daemon: Daemon) -> Outcome:
    """The words end under a cover; the cover closes: now it is a yes, and not before."""
    with _show_words(daemon, _blinker(toolkit), "icewm") as (screen, pid):
        wait_id, _ = screen.arm(_GONE, timeout_s=40.0)
        _until_seen(screen, wait_id)
        cover = screen.launch("urxvt", "-title", "Report", "-geometry", "150x60+0+0", "-e", "sleep", "600")
        screen.find_window("Report")
        screen.act(WaitIdle(0.5, 3.0))
        os.kill(pid, signal.SIGUSR1)
        screen.act(WaitIdle(1.0, 3.0))
        under = screen.client.wait_show(wait_id).wait
        os.kill(cover, signal.SIGTERM)
        end = screen.end(wait_id)
        printed = f"under it {under.state}: {under.verdict.detail}; after it {end.state}: {end.verdict.detail}"
        is_right = under.state == WaitState.WATCHING and end.state == WaitState.RESOLVED
        if under.state == WaitState.RESOLVED:
            return Outcome(Answer.WRONG, printed)
        return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, printed)


def _flicker(toolkit: str, times: tuple[str, str], until: Until, daemon: Daemon) -> Outcome:
    """The words are away for less than `hold_s` each time: never gone."""
    with _show_words(daemon, _blinker(toolkit, *times), "openbox") as (screen, _):
        wait = screen.judge(until, timeout_s=14.0)
        is_wrong = wait.state == WaitState.RESOLVED
        return Outcome(Answer.WRONG if is_wrong else Answer.RIGHT, f"{wait.state}: {wait.verdict.detail}")


def _really_gone(toolkit: str, daemon: Daemon) -> Outcome:
    """Beside it stands a clock that ticks: words that are really gone are gone."""
    with _show_words(daemon, _blinker(toolkit), "jwm") as (screen, pid):
        screen.launch("xclock", "-update", "1", "-geometry", "150x150+600+400")
        screen.find_window("xclock")
        wait_id, _ = screen.arm(_GONE, timeout_s=20.0)
        _until_seen(screen, wait_id)
        os.kill(pid, signal.SIGUSR1)
        end = screen.end(wait_id)
        is_right = end.state == WaitState.RESOLVED
        return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, f"{end.state}: {end.verdict.detail}")


def _stalled(toolkit: str, daemon: Daemon) -> Outcome:
    """The program paints READY and then stands still (SIGSTOP): the yes that was seen is told."""
    with _show_words(daemon, _blinker(toolkit), "openbox") as (screen, pid):
        target = "window:Uploader"
        screen.launch("urxvt", "-title", "Over it", "-geometry", "100x40+0+0", "-e", "sleep", "600")
        screen.find_window("Over it")
        wait_id, _ = screen.arm(Text("READY"), target=target, timeout_s=15.0)
        screen.judge(Stable(0.5), target=target, timeout_s=5.0)
        os.kill(pid, signal.SIGUSR2)
        screen.judge(Change(), target=target, timeout_s=3.0)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        end = screen.end(wait_id)
        os.kill(pid, signal.SIGCONT)
        printed = f"{end.state}: {end.verdict.answer}: {end.verdict.detail}"
        return Outcome(Answer.RIGHT if end.state == WaitState.RESOLVED else Answer.UNKNOWN, printed)


def _busy_reader(daemon: Daemon) -> Outcome:
    """A terminal scrolls fast beside the words: the end of a job is told while it still stands there, within 8 s."""
    with _show_words(daemon, _blinker("pygame"), "icewm") as (screen, pid):
        screen.launch(
            "urxvt", "-title", "Log", "-geometry", "90x16+20+510", "-e", "sh", "-c",
            'i=0; while :; do i=$((i+1)); echo "$i $(head -c 40 /dev/urandom | base64)"; sleep 0.03; done',
        )  # fmt: skip
        screen.find_window("Log")
        wait_id, _ = screen.arm(Text("READY"), timeout_s=20.0)
        screen.act(WaitIdle(0.2, 1.0))
        os.kill(pid, signal.SIGUSR2)
        end = screen.end(wait_id)
        is_right = end.state == WaitState.RESOLVED
        return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, f"{end.state}: {end.verdict.detail}")


def _count_out_of_view(daemon: Daemon) -> Outcome:
    """Twelve jobs are listed, eight fit: a count that is not reached says that the list goes on."""
    rows = [word for number in range(12) for word in (str(number), f"Job {number} FAILED")]
    need("yad")
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch(
            "yad", "--list", "--title=Jobs", "--width=400", "--height=260", "--column=No", "--column=State", *rows
        )
        screen.find_window("Jobs")
        wait = screen.judge(Text("FAILED", count=12), timeout_s=5.0)
        printed = f"{wait.state}: {wait.verdict.detail}"
        if wait.state == WaitState.RESOLVED:
            return Outcome(Answer.WRONG, printed)
        is_told = any(word in wait.verdict.detail for word in ("out of view", "scroll", "goes on", "out of sight"))
        return Outcome(Answer.RIGHT if is_told else Answer.UNKNOWN, printed)


def _map_again(program: tuple[str, ...], title: str, manager: str, until: Until, daemon: Daemon) -> Outcome:
    """A window that paints nothing new is minimised and restored right after arming: nothing has changed."""
    need(program[0])
    with show(daemon, 1024, 768, manager) as screen:
        screen.launch(*program)
        screen.find_window(title)
        screen.judge(Stable(1.0), timeout_s=15.0)
        wait_id, _ = screen.arm(until, target=f"window:{title}", timeout_s=7.0)
        screen.act(WindowDo(title, WindowVerb.MINIMISE), WaitIdle(0.3, 1.0))
        screen.act(WindowDo(title, WindowVerb.RESTORE), WaitIdle(0.3, 2.0))
        end = screen.end(wait_id)
        printed = f"{end.state}: {end.verdict.detail}"
        is_hedged = "could not be compared" in printed
        return Outcome(
            Answer.RIGHT if end.state == WaitState.TIMEOUT else Answer.UNKNOWN if is_hedged else Answer.WRONG, printed
        )


def _small_share(manager: str, daemon: Daemon) -> Outcome:
    """Of a covered window a tenth changes while others are read: a change of half of it does not hold."""
    need("xclock", "urxvt")
    with show(daemon, 1024, 768, manager) as screen:
        screen.launch("xclock", "-digital", "-update", "1", "-geometry", "400x300+60+60", "-padding", "100")
        screen.find_window("xclock")
        screen.launch("urxvt", "-title", "Over it", "-geometry", "100x36+0+0", "-e", "sleep", "600")
        screen.find_window("Over it")
        screen.act(WaitIdle(0.5, 3.0))
        for _ in range(3):
            screen.arm(Text("never there"), timeout_s=10.0)
        wait = screen.judge(Change(share=0.5), target="window:xclock", timeout_s=8.0)
        is_wrong = wait.state == WaitState.RESOLVED
        return Outcome(Answer.WRONG if is_wrong else Answer.RIGHT, f"{wait.state}: {wait.verdict.detail}")


def _large_share(daemon: Daemon) -> Outcome:
    """A viewer shows its next picture: a change of half of it holds."""
    need("feh")
    for number, colour in enumerate(("navy", "orange")):
        Image.new("RGB", (500, 400), colour).save(daemon.home / f"slide{number}.png")
    with show(daemon, 1024, 768, "openbox") as screen:
        screen.launch("feh", "--title", "Slides", *(str(daemon.home / f"slide{number}.png") for number in range(2)))
        screen.find_window("Slides")
        screen.judge(Stable(1.0), timeout_s=15.0)
        wait_id, _ = screen.arm(Change(share=0.5), target="window:Slides", timeout_s=15.0)
        screen.act(Click(Point(100, 100)), Key("Right"), target="window:Slides")
        end = screen.end(wait_id)
        is_right = end.state == WaitState.RESOLVED
        return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, f"{end.state}: {end.verdict.detail}")


def _record(shows: tuple[str, ...], for_s: float, daemon: Daemon) -> Outcome:
    """A screen that stood still for long is recorded for some seconds: the recording is as long."""
    need(shows[0])
    with show(daemon, 800, 600) as screen:
        screen.launch(*shows)
        screen.judge(Stable(6.0), timeout_s=30.0)
        made = daemon.client.record_start(screen.name).recording
        screen.judge(Text("never there"), timeout_s=for_s)
        ended = daemon.client.record_stop(made.recording_id).recording
        done = daemon.client.record_show(ended.recording_id)
        asked_s = ended.ended_utc_s - ended.created_utc_s
        files = sorted((daemon.paths.recordings / done.recording.folder).rglob("*.mp4"))
        seconds = 0.0
        for file in files:
            with av.open(str(file)) as held:
                seconds += (held.duration or 0) / 1e6
        printed = f"asked for {asked_s:.1f} s: told {done.recording.seconds:.1f} s; its files {seconds:.1f} s"
        is_right = abs(done.recording.seconds - asked_s) < 1.2 and (not seconds or abs(seconds - asked_s) < 1.6)
        return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _record_feh(daemon: Daemon) -> Outcome:
    return _record(_feh(daemon), 3.0, daemon)


_SHADE = ("wmctrl", "-i", "-r", "WINDOW", "-b", "add,shaded")
_DESKTOP = ("xdotool", "set_desktop", "1")

CASES: tuple[Case, ...] = (
    unseen("feh over urxvt, no manager", partial(_hide_by_feh, "", _GONE)),
    unseen("feh over urxvt, icewm, not", partial(_hide_by_feh, "icewm", _NOT)),
    unseen("an SDL game over wx", partial(_hide_by_game, _GONE)),
    unseen("a locker over urxvt", partial(_hide, _STILL, "openbox", _lock("black"), "", _GONE)),
    unseen("a locker with a bar over matplotlib, not", partial(_hide, "matplotlib", "icewm", _lock("slide"), "", _NOT)),
    unseen("a locker with a bar over urxvt", partial(_hide, _STILL, "fluxbox", _lock("slide"), "", _GONE)),
    unseen("another desktop of icewm", partial(_hide_by_verb, "icewm", _DESKTOP, _GONE)),
    unseen("another desktop of fluxbox", partial(_hide_by_verb, "fluxbox", _DESKTOP, _NOT)),
    unseen("another desktop of jwm", partial(_hide_by_verb, "jwm", _DESKTOP, _GONE)),
    unseen("minimised in xfwm4", partial(_hide_by_verb, "xfwm4", ("xdotool", "windowminimize", "WINDOW"), _GONE)),
    unseen(
        "the window's title is there, minimised",
        partial(_hide_by_verb, "icewm", ("xdotool", "windowminimize", "WINDOW"), WindowTitle("Uploader", gone=True)),
    ),
    unseen("rolled up in fluxbox", partial(_hide_by_verb, "fluxbox", _SHADE, _GONE)),
    unseen(
        "moved off the screen", partial(_hide_by_verb, "", ("xdotool", "windowmove", "WINDOW", "1200", "900"), _GONE)
    ),
    unseen("the root menu beside the words", _hide_by_menu),
    unseen("wx words end under a cover", partial(_uncover, "wx")),
    unseen("pygame words end under a cover", partial(_uncover, "pygame")),
    unseen("pygame words flicker", partial(_flicker, "pygame", ("3", "0.5"), _GONE)),
    unseen("matplotlib words flicker, not", partial(_flicker, "matplotlib", ("2.5", "0.45"), _NOT)),
    unseen("wx words are gone beside a clock", partial(_really_gone, "wx")),
    unseen("matplotlib stalls after READY", partial(_stalled, "matplotlib")),
    unseen("wx stalls after READY", partial(_stalled, "wx")),
    unseen("pygame READY beside a fast log", _busy_reader),
    unseen("a count of a list that goes on, yad", _count_out_of_view),
    unseen("xcalc is mapped again, fluxbox", partial(_map_again, ("xcalc",), "Calculator", "fluxbox", Change())),
    unseen(
        "xcalc is mapped again, icewm, share", partial(_map_again, ("xcalc",), "Calculator", "icewm", Change(share=0.5))
    ),
    unseen("galculator is mapped again, jwm", partial(_map_again, ("galculator",), "galculator", "jwm", Change())),
    unseen("a clock under a cover, share", partial(_small_share, "icewm")),
    unseen("feh's next slide, share", _large_share),
    unseen("a recording of a still xcalc", partial(_record, ("xcalc",), 2.0)),
    unseen("a recording of a still feh", _record_feh),
    unseen("a recording of a clock", partial(_record, ("xclock",), 3.0)),
    unseen("a recording of a ticking clock", partial(_record, ("xclock", "-update", "20"), 2.0)),
)
