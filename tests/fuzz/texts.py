"""JSON and listings from files, browsers and the tools of other window systems."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click
import msgspec

from acud.archive import restore
from acud.base.errors import AcudError
from acud.base.patterns import compile_pattern
from acud.protocol.archive import BackupManifest, FileInBackup
from acud.protocol.events import Beat, Event
from acud.store import backup
from acud.types import Text, Until
from acud.waits.validation import check_leaf
from acud_cli import wait_options
from acud_cli.task import JsonValue
from acud_client.stream import parse_message
from acud_mcp import hosts
from acud_web.live.messages import MAX_MESSAGE_BYTES, parse_viewer_message
from tests.fuzz.decoder import Decoder, of_text
from tests.fuzz.files import into_file
from tests.fuzz.samples import packed, sample

_TITLES = ("a" * 300, "Loading 42 % - " * 20, " " * 300)
"""As long as a window's title may be."""


def _merged(text: str) -> None:
    for host in hosts.HOSTS.values():
        hosts.merge_entry(host, text, {"command": "acud"}, Path("config.json"))


def _argument(text: str) -> None:
    JsonValue().convert(text, None, None)
    wait_options.nested_condition(text)


def _pattern(text: str) -> None:
    """Take a client's pattern as a wait does, then search titles for it."""
    check_leaf(Text(text, regex=True))
    for title in _TITLES:
        compile_pattern(text, ignore_case=True, lines=True).search(title)


def _live(text: str) -> None:
    """Hear what a browser says over its WebSocket, as `acud_web.live.routes` does."""
    if len(text) <= MAX_MESSAGE_BYTES:
        parse_viewer_message(text)


def _note(path: Path) -> object:
    return backup.read_swap_note(path)


_UNTILS = [msgspec.json.encode(sample(one)) for one in get_args(Until)]

_MANIFEST = msgspec.json.encode(
    sample(BackupManifest) | {"files": [sample(FileInBackup) | {"path": name} for name in ("data.db", "evidence/a")]}
)

TEXTS = (
    Decoder("agent_hosts", of_text(_merged), lambda: [b'{"mcpServers": {"x": {"command": "y"}}}', b""]),
    Decoder("json_arguments", of_text(_argument), lambda: _UNTILS, (AcudError, click.UsageError)),
    Decoder("patterns", of_text(_pattern), lambda: [rb"Done|\d+ %", b"^a+b$", b"(?i)[ab]{2,5}x*"]),
    Decoder("manifests", restore.parse_manifest, lambda: [_MANIFEST]),
    Decoder("restore_notes", into_file(_note, "note"), lambda: [b'{"aside": "replaced-1"}']),
    Decoder(
        "live_messages",
        of_text(_live),
        lambda: [b'{"type": "ack", "frame": 7}', b'{"type": "want", "fps": 5}'],
        (msgspec.MsgspecError, RecursionError, UnicodeError),
    ),
    Decoder("event_stream", lambda data: parse_message([b"topic", data]), lambda: [packed(Event), packed(Beat)]),
)
