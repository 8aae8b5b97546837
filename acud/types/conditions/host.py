"""Conditions on the daemon's machine: files, processes, desktop notifications."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from acud.base.errors import InvalidRequest
from acud.types.conditions.kind import (
    Argument,
    ConditionKind,
    FormField,
    KindForm,
    Refinement,
    SearchPattern,
    make_outcome,
    quote_words,
    strip_words,
)
from acud.types.displays import Seconds, ShortText

MOST_PID = 4_194_304  # of Linux on 64-bit machines: PID_MAX_LIMIT of include/linux/threads.h


class FileState(ConditionKind, frozen=True, tag="file", forbid_unknown_fields=True):
    """A file on the daemon's machine is there and complete, or, with `gone`, none is.

    `path` is absolute, or begins with `~/` (the home of the daemon's user). Its last part may be a pattern with `*`,
    `?` and `[…]`; the newest match counts. Complete: no partial download of it is there (`.part`, `.crdownload` …),
    nothing changed it for `still_s`, and no program has it open for writing. `newer`: only what was created or changed
    after `since_utc_s` (0: after the wait was armed) counts; None: yes for a pattern, no for a name.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    still_s: Seconds = 1.0
    gone: bool = False
    newer: bool | None = None
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0

    is_of_machine: ClassVar[bool] = True

    def describe(self) -> str:
        return f'the {self._write_noun()} "{self.path}" is {"gone" if self.gone else "there and complete"}'

    def abbreviate(self, *, detailed: bool) -> str:
        still = f", unchanged for {self.still_s:g} s" if detailed and self.still_s and not self.gone else ""
        return f"{self._write_noun()} {quote_words(self.path)}{' gone' if self.gone else still}"

    def _write_noun(self) -> str:
        return "new file" if self.newer and not self.gone else "file"

    def normalise(self) -> FileState:
        if self.gone and self.newer:
            raise InvalidRequest("a file that is gone is not newer", hint="leave newer or gone out")
        return self


class ProcessExit(ConditionKind, frozen=True, tag="process", forbid_unknown_fields=True):
    """The process `pid` of the daemon's machine has ended, one that `launch` started or any other.

    `start_ticks`: when it started, in clock ticks since boot, so that a later process with its number is not taken for
    it. 0: found out at arming; -1: no process had the number then, so it had ended.
    """

    pid: Annotated[int, Meta(ge=1, le=MOST_PID)]
    start_ticks: Annotated[int, Meta(ge=-1)] = 0

    is_of_machine: ClassVar[bool] = True
    can_recur: ClassVar[bool] = False

    def describe(self) -> str:
        return f"the process {self.pid} has ended"

    def abbreviate(self, *, detailed: bool) -> str:  # it has one form
        return f"end of process {self.pid}"


class NotificationText(ConditionKind, frozen=True, tag="notification", forbid_unknown_fields=True):
    """A desktop notification with `text` in its title or body (or matching it, with `regex`) is open on the managed
    display, or was given since the wait was armed (`since_utc_s`; 0: found out at arming).
    """

    extra: ClassVar[str] = "actions"

    text: ShortText
    regex: bool = False
    since_utc_s: Annotated[float, Meta(ge=0)] = 0.0

    def describe(self) -> str:
        return f'a notification with "{self.text}" was given'

    def abbreviate(self, *, detailed: bool) -> str:
        return f"notification {quote_words(self.text, regex=self.regex and detailed)}"

    def normalise(self) -> NotificationText:
        words = strip_words(self.text, "notification")
        return self if self.regex else replace(self, text=words)

    def find_pattern(self) -> SearchPattern | None:
        return SearchPattern(self.text, "notification", ((True, True),)) if self.regex else None


def parse_pid(text: str) -> int:
    """Return the number of a process. Raises: InvalidRequest."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:8]) <= MOST_PID and len(digits) < 8):
        raise InvalidRequest(f"{text[:40]!r} is no pid", hint="give the pid that launch returned")
    return int(digits)


FileState.arguments = (
    Argument(
        "file", FileState, ("still_s", "newer"),
        "file that is complete, or a new one of a pattern", {"file": "~/Downloads/*.pdf"},
        help="The file PATH is there and complete; for a pattern such as '*.pdf' a new one.",
        metavar="PATH", gives=Path,
    ),
    Argument("file_gone", partial(FileState, gone=True), help="No file PATH is there.", metavar="PATH", gives=Path),
)  # fmt: skip
FileState.refinements = (
    Refinement("still_s", help="With --file: nothing changed it for this long (default 1s)."),
    Refinement(
        "newer", help="With --file: only one created or changed from now on counts (default: of a pattern alone)."
    ),
)
ProcessExit.arguments = (
    Argument(
        "process", lambda pid: ProcessExit(parse_pid(pid)), (),
        "pid of a process that ends", {"process": "4711"}, help="The process PID has ended.", metavar="PID",
    ),
)  # fmt: skip
NotificationText.arguments = (
    Argument(
        "notification", NotificationText, ("regex",),
        "text of a desktop notification on a managed display", {"notification": "Export finished"},
        help="A desktop notification with the text T is given or open.",
    ),
    Argument(
        "notification_regex", partial(NotificationText, regex=True),
        help="One that matches the regular expression R.", metavar="R",
    ),
)  # fmt: skip
FileState.form = KindForm(
    "A file", (FormField("path", "Path on the host", "~/Downloads/*.pdf"), make_outcome("is complete", "is gone"))
)
ProcessExit.form = KindForm("A process ends", (FormField("pid", "Process id on the host"),))
NotificationText.form = KindForm(
    "A notification", (FormField("text", "Text"), FormField("regex", "regular expression"))
)
