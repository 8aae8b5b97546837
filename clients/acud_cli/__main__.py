"""`acud`: runs a command; every fault becomes one line and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from acud.base.errors import AcudError, suggest
from acud_cli import exit_codes
from acud_cli.app import cli
from acud_cli.exit_codes import Exit
from acud_cli.formatting import plain


def main() -> NoReturn:
    """Run the command line of this process and end with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    try:
        result = cli.main(arguments, prog_name="acud", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as fault:
        return _report_help(fault, arguments)
    except click.ClickException as fault:
        return _print_fault(fault.format_message() + _suggest_choice(fault), Exit.USAGE, _usage_hint(fault), arguments)
    except (click.Abort, KeyboardInterrupt):
        return _print_fault("interrupted", Exit.DETACHED, "", arguments)
    except UnicodeEncodeError as fault:
        from acud.protocol.codec import refused_text

        refused = refused_text(fault)
        return _print_fault(refused.message, exit_codes.exit_of_fault(refused), refused.hint, arguments, refused)
    except AcudError as fault:
        return _print_fault(fault.message, exit_codes.exit_of_fault(fault), fault.hint, arguments, fault)
    except BrokenPipeError:
        _close_stdout()
        return Exit.OK
    except OSError as fault:
        return _print_fault(_os_fault(fault), Exit.ERROR, "", arguments)
    return int(result) if isinstance(result, int) else Exit.OK


def _print_fault(message: str, code: Exit, hint: str, arguments: list[str], fault: AcudError | None = None) -> int:
    if "--json" in arguments:
        from acud_cli.session import as_json

        name = fault.code if fault else code.name.lower()
        facts = fault.facts if fault else {}
        print(as_json({"error": {"code": name, "message": message, "hint": hint, "facts": facts}}))
    else:
        tail = f" ({plain(hint)})" if hint else ""
        print(f"acud: {plain(message)}{tail}", file=sys.stderr)
    return code


def _report_help(fault: click.exceptions.NoArgsIsHelpError, arguments: list[str]) -> int:
    """Show the commands to a caller that named none; as `click` does it, on standard error."""
    assert fault.ctx is not None
    if "--json" in arguments:
        return _print_fault(f"name a command of {fault.ctx.command_path}", Exit.USAGE, _usage_hint(fault), arguments)
    print(fault.ctx.get_help(), file=sys.stderr)
    return Exit.USAGE


def _suggest_choice(fault: click.ClickException) -> str:
    """Suggest the choice of an option whose spelling is close to a value, in words; click does so for names alone."""
    kind = fault.param.type if isinstance(fault, click.BadParameter) and fault.param is not None else None
    if not isinstance(kind, click.Choice):
        return ""
    near = suggest(fault.message.partition(" is not one of ")[0].strip("'"), map(str, kind.choices)).strip()
    return f" ({near})" if near else ""


def _usage_hint(fault: click.ClickException) -> str:
    if isinstance(fault, click.UsageError) and fault.ctx is not None:
        return f"{fault.ctx.command_path} --help"
    return "acud --help"


def _os_fault(fault: OSError) -> str:
    place = f"{fault.filename}: " if fault.filename else ""
    return f"{place}{fault.strerror or fault}"


def _close_stdout() -> None:
    # The reader went away (`acud events | head`): do not flush the buffered rest again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
