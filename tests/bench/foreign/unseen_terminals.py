"""What terminal sessions print and take away again, in ways that acud's rules were not written on."""

from __future__ import annotations

import time
from functools import partial

from acud.protocol.requests.waits import WaitCreate
from acud.types import Policy, Text, WaitState, number_condition
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import need, unseen
from tests.fixtures.daemon import Daemon

_PATIENCE_S = 12.0


def _run(
    command: str, words: str, daemon: Daemon, is_there: bool = True, regex: bool = False, count: int = 1
) -> Outcome:
    """A wait on the session is armed, then a program writes: it resolves where the words were written."""
    need("tmux")
    name = f"s{time.monotonic_ns() % 10**9}"
    daemon.client.terminal_open(("sh",), name=name, rows=24, columns=80)
    script = daemon.home / f"{name}.sh"
    script.write_text(command)
    wait = daemon.client.wait_create(Text(words, regex=regex, count=count), f"pty:{name}", timeout_s=_PATIENCE_S).wait
    daemon.client.terminal_type(name, f". {script}\n", moment="now")
    end = daemon.client.wait_end(wait.wait_id).wait
    daemon.client.terminal_close(name)
    printed = f"{end.state}: {end.verdict.detail}"
    if (end.state == WaitState.RESOLVED) == is_there:
        return Outcome(Answer.RIGHT, printed)
    return Outcome(Answer.UNKNOWN if is_there and end.verdict.answer == "unknown" else Answer.WRONG, printed)


def _show_briefly(then: str, daemon: Daemon) -> Outcome:
    """Four lines stand for 0.4 s each, as a picture of a terminal shows them, before `then` takes them away."""
    need("tmux")
    name = f"b{time.monotonic_ns() % 10**9}"
    daemon.client.terminal_open(("sh",), name=name, rows=24, columns=80)
    script = daemon.home / f"{name}.sh"
    shown = "".join(f"printf 'STEP {number} PASSED'; sleep 0.4; {then}; sleep 0.9\n" for number in range(4))
    script.write_text(f"sleep 1; {shown}sleep 60\n")
    waits = [
        daemon.client.wait_create(Text(f"STEP {number} PASSED"), f"pty:{name}", timeout_s=_PATIENCE_S).wait.wait_id
        for number in range(4)
    ]
    daemon.client.terminal_type(name, f". {script}\n", moment="now")
    ends = [daemon.client.wait_end(wait_id).wait for wait_id in waits]
    daemon.client.terminal_close(name)
    is_right = all(end.state == WaitState.RESOLVED for end in ends)
    return Outcome(
        Answer.RIGHT if is_right else Answer.WRONG, "; ".join(f"{e.state}: {e.verdict.detail}" for e in ends)
    )


def _number(daemon: Daemon) -> Outcome:
    """A number scrolls off at once under 400 lines."""
    name = "figures"
    daemon.client.terminal_open(("sh",), name=name, rows=24, columns=80)
    wait = daemon.client.wait_create(number_condition("Passed >= 90"), f"pty:{name}", timeout_s=_PATIENCE_S).wait
    script = daemon.home / "figures.sh"
    script.write_text("echo; echo 'Passed: 97'; seq -f 'line %g' 400\n")
    daemon.client.terminal_type(name, f". {script}\n", moment="now")
    end = daemon.client.wait_end(wait.wait_id).wait
    daemon.client.terminal_close(name)
    is_right = end.state == WaitState.RESOLVED
    return Outcome(Answer.RIGHT if is_right else Answer.UNKNOWN, f"{end.state}: {end.verdict.detail}")


def _echo(command: str, words: str, after_s: float, daemon: Daemon, program: str = "sh") -> Outcome:
    """The wait of `terminal type` does not hold on the command's own echo."""
    need(program.split()[0])
    name = f"e{time.monotonic_ns() % 10**9}"
    daemon.client.terminal_open(tuple(program.split()), name=name)
    began_s = time.monotonic()
    reply = daemon.client.terminal_type(
        name, command, wait=WaitCreate(Text(words), timeout_s=after_s + 8.0), block_s=after_s + 12.0
    )
    took_s = time.monotonic() - began_s
    daemon.client.terminal_close(name)
    assert reply.wait is not None
    wait = reply.wait.wait
    printed = f"{wait.state}: {wait.verdict.detail}; after {took_s:.1f} s"
    is_resolved = wait.state == WaitState.RESOLVED
    if not is_resolved:
        return Outcome(Answer.UNKNOWN, printed)
    return Outcome(Answer.WRONG if took_s < after_s - 0.3 else Answer.RIGHT, printed)


def _gone(daemon: Daemon) -> Outcome:
    """`gone` looks at the screen alone: words that scrolled off are gone, words that stand are not."""
    name = "spinner"
    daemon.client.terminal_open(("sh", "-c", "echo Syncing mail; exec sleep 600"), name=name)
    wait = daemon.client.wait_create(
        Text("Syncing", gone=True), f"pty:{name}", timeout_s=4.0, policy=Policy(hold_s=0.3)
    ).wait
    end = daemon.client.wait_end(wait.wait_id).wait
    daemon.client.terminal_close(name)
    return Outcome(
        Answer.WRONG if end.state == WaitState.RESOLVED else Answer.RIGHT, f"{end.state}: {end.verdict.detail}"
    )


_BURST = "seq -f 'compiling unit %g' 3000; echo 'BUILD PASSED in 4 s'; seq -f 'linking unit %g' 9000\n"
_CLEARED = "sleep 1; echo 'BUILD PASSED'; clear; sleep 20\n"
_ALTERNATE = "sleep 1; printf '\\033[?1049hInstaller: BUILD PASSED'; sleep 0.2; printf '\\033[?1049l'; sleep 20\n"
_WRAPPED = "seq 200; printf 'x%.0s' $(seq 70); echo 'BUILD PASSED'; seq 300\n"
_REGION = "printf '\\033[2J\\033[5;10r\\033[10;1H'; sleep 1; echo 'BUILD PASSED'; seq 60; sleep 20\n"
_COLOURS = "sleep 1; printf '\\033[1mBUILD\\033[0m \\033[32mPASSED\\033[0m\\n'; seq 300\n"
_NEVER = "seq -f 'BUILD FAILED %g' 3000\n"
_TWICE = "seq 100; echo 'BUILD PASSED'; seq 500; echo 'BUILD PASSED'; seq 500\n"
_LESS = "(seq 400; echo 'BUILD PASSED'; seq 500) > $ACU_HOME/long; less $ACU_HOME/long\n"

CASES: tuple[Case, ...] = (
    unseen("a line in a burst of 12,000", partial(_run, _BURST, "BUILD PASSED")),
    unseen("a line before clear", partial(_run, _CLEARED, "BUILD PASSED")),
    unseen("a line whose history is erased", partial(_show_briefly, "printf '\\033[2J\\033[H\\033[3J'")),
    unseen("a line that is overwritten", partial(_show_briefly, "printf '\\r\\033[Knext'")),
    unseen("a line of the alternate screen", partial(_run, _ALTERNATE, "BUILD PASSED")),
    unseen(
        "a line before the alternate screen",
        partial(_show_briefly, "printf '\\033[?1049h'; sleep 1; printf '\\033[?1049l\\r\\033[K'"),
    ),
    unseen("a line that wraps and scrolls off", partial(_run, _WRAPPED, "BUILD PASSED")),
    unseen("a line of a scroll region", partial(_run, _REGION, "BUILD PASSED")),
    unseen("a line in colours", partial(_run, _COLOURS, "BUILD PASSED")),
    unseen("a line that never came", partial(_run, _NEVER, "BUILD PASSED", is_there=False)),
    unseen("a pattern for a line in a burst", partial(_run, _BURST, r"^BUILD PASSED in \d+ s$", regex=True)),
    unseen("two lines in two bursts", partial(_run, _TWICE, "BUILD PASSED", count=2)),
    unseen("a line that less does not show", partial(_run, _LESS, "BUILD PASSED", is_there=False)),
    unseen("a number that scrolls off", _number),
    unseen("the echo of sh", partial(_echo, "sleep 4; echo READY\n", "READY", 4.0)),
    unseen(
        "the echo of Python",
        partial(_echo, "import time; time.sleep(4); print('READY')\n", "READY", 4.0, program="python3 -q"),
    ),
    unseen("the echo of cat", partial(_echo, "READY\n", "READY", 0.0, program="cat")),
    unseen(
        "the echo of node",
        partial(_echo, "setTimeout(() => console.log('all READY'), 4000)\n", "all READY", 4.0, program="node"),
    ),
    unseen("gone looks at the screen", _gone),
)
