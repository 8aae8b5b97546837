"""Names that programs give to unfinished files, as data: one line for each form, with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from acud.waits.read_text import comparable


class PartialName(NamedTuple):
    """One form of a partial file's name, as a regular expression without regard to case.

    Its groups `name` and `ext` make the final name; `ext` alone is the end of a name not known yet; without groups the
    final name may be any.
    """

    form: re.Pattern[str]
    programs: str
    source: str


def _form(pattern: str, programs: str, source: str) -> PartialName:
    return PartialName(re.compile(pattern, re.DOTALL | re.IGNORECASE), programs, source)


PARTIAL_NAMES = (
    _form(r"[\w-]{8}(?P<ext>\.[^.]+)?\.part", "Firefox, before a name is chosen", "mozilla nsExternalHelperAppService"),
    _form(r"(?P<name>.+)\.[\w-]{8}(?P<ext>\.[^.]+)?\.part", "Firefox", "mozilla nsExternalHelperAppService"),
    _form(r"(?P<name>.+)\.part", "Firefox, yt-dlp, KIO, Transmission, JDownloader, HTTrack", "yt-dlp utils temp_name"),
    _form(r"(?P<name>.+)\.part-frag\d+(\.part)?", "yt-dlp", "yt-dlp FragmentFD"),
    _form(r"(?P<name>.+)\.ytdl", "yt-dlp, the state beside fragments", "yt-dlp FragmentFD"),
    _form(r"unconfirmed \d+\.crdownload", "Chromium, before a name is chosen", "chromium download_target_determiner"),
    _form(r"\.(org\.chromium\.|com\.google\.)[\w.]+", "Chromium, Chrome: its first bytes", "chromium base/files"),
    _form(r"(?P<name>.+)\.crdownload", "Chromium, Chrome, Edge, Brave, Vivaldi", "chromium download_target_determiner"),
    _form(r"(?P<name>.+)\.(op|wk|fdm|legacy)?download", "Safari, Opera, WebKitGTK, Free Download Manager", "WebKitGTK"),
    _form(r"(?P<name>.+)\.aria2", "aria2, the control file of a final name", "aria2c(1), CONTROL FILE"),
    _form(r"(?P<name>.+\..+)\.st", "axel, the state of a final name", "axel(1)"),
    _form(r"(?P<name>.+)\.[0-9a-f]{8}\.partial", "rclone", "rclone docs, --partial-suffix"),
    _form(r"(?P<name>.+)\.partial", "rclone, Internet Explorer, conda", "rclone docs, --partial-suffix"),
    _form(r"(?P<name>.+)\.incomplete", "huggingface_hub and others", "huggingface_hub file_download"),
    _form(r"(?P<name>.+)\.!(qb|ut|bt)", "qBittorrent, uTorrent, BitTorrent", "qBittorrent QB_EXT"),
    _form(r"(?P<name>.+)\.(bc|az)!", "BitComet, Vuze", "BitComet and Vuze options"),
    _form(r"(?P<name>.+)\.filepart", "WinSCP", "WinSCP docs, resume"),
    _form(r"(?P<name>.+)_\.gstmp", "gsutil", "gsutil copy_helper"),
    _form(r"\.(?P<name>.+)\.[a-z0-9]{6}", "rsync", "rsync receiver.c get_tmpname"),
    _form(r"\.syncthing\.(?P<name>.+)\.tmp", "Syncthing", "Syncthing docs, temporary files"),
    _form(r"\.(?P<name>.+)\.~[0-9a-f]+", "Nextcloud, ownCloud", "Nextcloud client propagatedownload"),
    _form(r"\.goutputstream-[a-z0-9]{6}", "GLib's programs", "glib glocalfileoutputstream.c"),
)


def final_names(partial: str) -> Iterator[str]:
    """Yield the final names that a partial name stands for; none for any other name."""
    for form in PARTIAL_NAMES:
        found = form.form.fullmatch(partial)
        if found is not None and "name" in form.form.groupindex:
            yield found["name"] + (found.groupdict().get("ext") or "")


def is_unnamed_partial(partial: str, final: str = "") -> bool:
    """Return whether `partial` has no final name yet, so that it may become `final`."""
    for form in PARTIAL_NAMES:
        found = form.form.fullmatch(partial)
        if found is not None and "name" not in form.form.groupindex:
            ext = found.groupdict().get("ext") or ""
            return not final or comparable(final).endswith(comparable(ext))
    return False
