"""`acud completion`: what makes Tab work."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(short_help="Print shell completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(acud completion bash)"       in ~/.bashrc
    zsh:   eval "$(acud completion zsh)"        in ~/.zshrc
    fish:  acud completion fish > ~/.config/fish/completions/acud.fish
    """
    kind = get_completion_class(shell)
    if kind is None:  # not reachable: the choice above names the three that click knows
        raise click.UsageError(f"no completion for {shell}")
    root = ctx.find_root().command
    print(kind(root, {}, "acud", "_ACUD_COMPLETE").source())
