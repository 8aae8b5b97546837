"""`acud display`: the displays that acud watches."""

from __future__ import annotations

import getpass
import shlex

import click

from acud.base.errors import NotFound
from acud.base.untrusted_text import quote
from acud.protocol.requests.displays import DisplayListReply, DisplayReply, TakeReply
from acud.types import DisplayInfo, DisplayNotification, MonitorInfo, WindowInfo, display_name
from acud_cli.formatting import FittedTable, count, duration, local_moment, plain, shorten
from acud_cli.options import DURATION, SIZE, WholeNumber, complete_displays, label_option, labels_of
from acud_cli.session import Session, pass_session, print_table, say, warn
from acud_cli.wait_options import print_notes


@click.group(short_help="Add, create, list, take over and remove displays.")
def display() -> None:
    """Add, create, list, take over and remove displays."""


@display.command("list", short_help="List the displays.")
@click.option("--all", "ended", is_flag=True, help="Ended ones too.")
@click.option("--windows", is_flag=True, help="Their windows as well.")
@pass_session
def list_displays(session: Session, *, ended: bool, windows: bool) -> None:
    """List the displays with size, frame rate, age of the newest frame and how pixels are taken.

    \b
    acud display list
    acud display list --windows
    """
    reply = session.client().display_list(ended=ended)
    session.show(reply, lambda: _print_list(reply, windows))


def _print_list(reply: DisplayListReply, windows: bool) -> None:
    if not reply.displays:
        say("no displays; make one with: acud display create, or add one with: acud display add :0")
        return
    table = FittedTable("display, state+, size, fps, age, windows, kind-, frame-, grab-")
    for one in reply.displays:
        table.add_row(*format_display_row(one))
    print_table(table)
    for one in reply.displays:
        if len(one.monitors) > 1:
            say(f"{one.name} monitors: {', '.join(_describe_monitor(monitor) for monitor in one.monitors)}")
    for one in reply.displays if windows else ():
        say(f"{one.name}: {count(len(one.windows), 'window')}")
        if one.windows:
            print_table(make_window_table(one.windows, one.focused))
        for notification in one.notifications:
            say(f"notification {format_notification(notification)}")
        if one.managed and one.notifications_fault:
            say(f"no notifications are read: {plain(one.notifications_fault)}")


@display.command("show", short_help="Show one display with its windows.")
@click.argument("name", metavar="NAME", shell_complete=complete_displays)
@pass_session
def show_display(session: Session, *, name: str) -> None:
    """Show the display NAME, also one that has ended, with its windows.

    \b
    acud display show :100
    """
    reply = session.client().display_list(ended=True)
    found = next((one for one in reply.displays if one.name == display_name(name)), None)
    if found is None:
        raise NotFound(f"no display {name}", hint="acud display list --all")
    session.show(found, lambda: _print_list(DisplayListReply((found,), reply.default), windows=True))


def format_display_row(one: DisplayInfo) -> list[str]:
    """Return a display's cells: name, state, size, fps, age, number of windows, kind, frame, grab path."""
    name = one.name + (" *" if one.is_default else "")
    state = f"{one.state}: {shorten(one.reason, 60)}" if one.reason else one.state.value
    state += (
        f", taken by {shorten(one.taken_by, 40)} until {local_moment(one.taken_until_utc_s)}" if one.taken_by else ""
    )
    age = "-" if one.frame_age_s is None else duration(one.frame_age_s)
    kind = "managed" if one.managed else "added"
    size = f"{one.width}x{one.height}" if one.width else "-"
    numbers = [f"{one.fps:.1f}", age, str(len(one.windows))]
    return [name, state, size, *numbers, kind, str(one.frame), one.grab_path or "-"]


def _describe_monitor(one: MonitorInfo) -> str:
    box = one.bounds
    return f"{plain(one.name)} {box.w}x{box.h}+{box.x}+{box.y}{' (primary)' if one.primary else ''}"


def format_notification(one: DisplayNotification) -> str:
    """Return a notification for a person: its number, its words as data, and the keys of its actions."""
    keys = f" actions: {', '.join(plain(key) for key, _ in one.actions)}" if one.actions else ""
    return f"{one.id} {quote(one.app)} {quote(one.title)} {quote(one.body)} {one.urgency.value}{keys}"


def make_window_table(windows: tuple[WindowInfo, ...], focused: int) -> FittedTable:
    """Return windows for a person; `focused` is the id of the one that has the focus (0: not known)."""
    table = FittedTable("title+, shown, size-, at-, program+-, id")
    for window in windows:
        box, focus = window.bounds, " (focus)" if window.window_id == focused else ""
        title = shorten(window.title, 60) + focus
        place, size = f"{box.x},{box.y}", f"{box.w}x{box.h}"
        shown = window.visibility if window.kind == "normal" else f"{window.visibility}, {window.kind}"
        table.add_row(title, shown, size, place, plain(window.wm_class), f"{window.window_id:#x}")
    return table


@display.command("add", short_help="Watch an existing X display.")
@click.argument("name")
@click.option("--auth-file", default="", metavar="FILE", help="Its Xauthority (default: $XAUTHORITY, ~/.Xauthority).")
@click.option("--owner", type=WholeNumber(0), default=None, metavar="UID", help="Who else may run its X server.")
@pass_session
def add_display(session: Session, *, name: str, auth_file: str, owner: int | None) -> None:
    """Watch the existing X display NAME, such as :0.

    Its X server has to run as your user or root; name another user with --owner. That user sees the cookie and all that
    acud types there.

    \b
    acud display add :0
    acud display add :0 --auth-file /run/user/1000/gdm/Xauthority
    """
    reply = session.client().display_add(name, auth_file=auth_file, owner=-1 if owner is None else owner)
    print_notes(reply.notes)
    session.show(reply, lambda: say(_describe_created("watching", reply)))


@display.command("create", short_help="Start a display of our own.")
@click.argument("size", type=SIZE, required=False)
@click.option("--window-manager", "--wm", default="", metavar="COMMAND", help="Instead of the one in the settings.")
@label_option
@click.option("--env", "as_env", is_flag=True, help="Print shell lines for eval.")
@pass_session
def create_display(
    session: Session, *, size: tuple[int, int] | None, window_manager: str, labels: tuple[str, ...], as_env: bool
) -> None:
    """Start a managed display of SIZE (such as 1280x720) with a window manager and a session bus of its own.

    SIZE is also the largest it can ever have. Programs started with the printed variables show there:

    \b
    eval "$(acud display create 1280x720 --env)"
    xterm &
    """
    width, height = size or (0, 0)
    reply = session.client().display_create(width, height, window_manager=window_manager, labels=labels_of(labels))
    if as_env and not session.json:
        _print_env(reply.display)
        return
    print_notes(reply.notes)
    session.show(reply, lambda: _print_created(reply))


def _print_created(reply: DisplayReply) -> None:
    say(_describe_created("created", reply))
    say(f'programs show there with: eval "$(acud display env {reply.display.name})"')


def _describe_created(verb: str, reply: DisplayReply) -> str:
    one = reply.display
    return f"{verb} {one.name}: {one.state}, {one.width}x{one.height}"


@display.command("env", short_help="Print a display's variables for a shell.")
@click.argument("name", default="", metavar="[NAME]", shell_complete=complete_displays)
@pass_session
def display_env(session: Session, *, name: str) -> None:
    """Print DISPLAY, XAUTHORITY and the session bus of the display NAME for eval (default: the only one, or what
    `screen` means).

    \b
    eval "$(acud display env :100)"
    """
    reply = session.client().display_list()
    found = _find_display(name, reply)
    session.show(_make_environment(found), lambda: _print_env(found))


def _find_display(name: str, reply: DisplayListReply) -> DisplayInfo:
    alone = reply.displays[0].name if len(reply.displays) == 1 else ""
    wanted = name or reply.default or alone
    found = next((one for one in reply.displays if one.name == wanted), None)
    if found is None:
        raise NotFound(f"no display {wanted}" if wanted else "no display is the default yet", hint="acud display list")
    return found


def _make_environment(one: DisplayInfo) -> dict[str, str]:
    values = {"DISPLAY": one.name, "XAUTHORITY": one.auth_file, "DBUS_SESSION_BUS_ADDRESS": one.bus_address}
    return {name: value for name, value in values.items() if value}


def _print_env(one: DisplayInfo) -> None:
    for name, value in _make_environment(one).items():
        say(f"export {name}={shlex.quote(value)}")


@display.command("take", short_help="Take a display over; agents only watch.")
@click.argument("name", default="", metavar="[NAME]", shell_complete=complete_displays)
@click.option(
    "--for", "for_s", type=DURATION, default=900.0, metavar="DURATION", help="At most so long (default: 15m)."
)
@click.option("--who", default="", help="Who takes it (default: your login name).")
@click.option("--note", default="", help="Told to agents that are refused.")
@click.option("--lease", default="", envvar="ACU_LEASE", metavar="ID", help="Yours: prolong it.")
@click.option("--env", "as_env", is_flag=True, help="Print the lease for eval; this shell may then act there.")
@pass_session
def take_display(session: Session, *, name: str, for_s: float, who: str, note: str, lease: str, as_env: bool) -> None:
    """Take the display NAME over: what agents do there is refused at once, and what is held down is released.

    Their waits and looks go on. It ends by itself, or with `acud display release`.

    \b
    eval "$(acud display take "$DISPLAY" --for 15m --env)"
    """
    reply = session.client().display_take(name, who=who or _own_login(), for_s=for_s, note=note, lease=lease)
    lines = _print_lease if as_env else _print_taken
    session.show(reply, lambda: lines(reply))


def _print_lease(reply: TakeReply) -> None:
    one = reply.display
    say(f"export ACU_LEASE={reply.lease}")
    warn(f"{one.name} is {one.taken_by}'s until {local_moment(reply.until_utc_s)}; acud display release {one.name}")


def _own_login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a uid without a name
        return ""


def _print_taken(reply: TakeReply) -> None:
    one = reply.display
    say(f"{one.name} is {one.taken_by}'s until {local_moment(reply.until_utc_s)}")
    say(f"act there with: export ACU_LEASE={reply.lease}")
    say(f"give it back with: acud display release {one.name} --lease {reply.lease}")


@display.command("release", short_help="Give a display back to agents.")
@click.argument("name", metavar="NAME", shell_complete=complete_displays)
@click.option("--lease", default="", envvar="ACU_LEASE", metavar="ID", help="What `acud display take` printed.")
@click.option("--force", is_flag=True, help="Also without its lease.")
@click.option("--note", default="", metavar="TEXT", help="What the agents are to know.")
@pass_session
def release_display(session: Session, *, name: str, lease: str, force: bool, note: str) -> None:
    """Give the display NAME back to agents.

    \b
    acud display release :100 --note "I signed in"
    """
    reply = session.client().display_release(name, lease=lease, force=force, note=note)
    session.show(reply, lambda: say(f"{reply.display.name} is the agents' again"))


@display.command("notification", short_help="Choose an action of a notification, or close it.")
@click.argument("name", metavar="NAME", shell_complete=complete_displays)
@click.argument("number", metavar="NUMBER", type=WholeNumber(1, 4_294_967_295))
@click.option("--action", metavar="KEY", default="", help="The action to choose (default: close it).")
@pass_session
def answer_notification(session: Session, *, name: str, number: int, action: str) -> None:
    """Close notification NUMBER of the managed display NAME, or choose an action of it.

    \b
    acud display show :100
    acud display notification :100 3 --action default
    """
    reply = session.client().notification_answer(name, number, action=action)
    verb = "answered" if action else "closed"
    session.show(reply, lambda: say(f"{verb} {format_notification(reply.notification)}"))


@display.command("remove", short_help="End or forget a display.")
@click.argument("name", metavar="NAME", shell_complete=complete_displays)
@click.option("--force", is_flag=True, help="Also while waits look at it.")
@pass_session
def remove_display(session: Session, *, name: str, force: bool) -> None:
    """End the managed display NAME with everything on it, or stop watching an added one.

    \b
    acud display remove :100
    acud display remove :100 --force
    """
    reply = session.client().display_remove(name, force=force)
    print_notes(reply.notes)
    verb = "ended" if reply.display.managed else "no longer watching"
    session.show(reply, lambda: say(f"{verb} {reply.display.name}"))
