"""What programs on displays inherit of the daemon's environment: what is listed here, and what its settings name.

A program on a display shows what it inherits to whoever looks at the display, the model included; and no list of names
of secrets is ever complete (GITHUB_PAT, SENTRY_DSN, JWT …).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PASSED = frozenset(
    {
        # Who and where: environ(7), and what shells and login programs set.
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "BROWSER"),
        *("LANG", "LANGUAGE", "TZ", "TZDIR", "TERM", "COLORTERM", "TERMINFO", "TERMINFO_DIRS", "LD_LIBRARY_PATH"),
        # The session bus of the desktop that an added display belongs to; a managed display has its own.
        "DBUS_SESSION_BUS_ADDRESS",
        # How the network is reached. A proxy's own login is for every program that goes through it.
        *("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        # How programs draw.
        *("FONTCONFIG_FILE", "FONTCONFIG_PATH", "FREETYPE_PROPERTIES", "NO_AT_BRIDGE", "XLOCALEDIR", "XKB_CONFIG_ROOT"),
    }
)
"""Names of variables that programs inherit."""
PASSED_BEGINNINGS = ("LC_", "XDG_", "XCURSOR_", "GTK_", "GDK_", "QT_", "LIBGL_", "MESA_")
"""What a name of such a variable may begin with, too."""


def inherited(env: Mapping[str, str], chosen: Iterable[str] = ()) -> dict[str, str]:
    """Return what programs on displays inherit of `env`. `chosen`: more of it, as `NAME`, or set by `NAME=value`."""
    names, given = set(PASSED), {}
    for one in chosen:
        name, is_given, value = one.partition("=")
        names.add(name)
        if is_given:
            given[name] = value
    kept = {name: value for name, value in env.items() if name in names or name.startswith(PASSED_BEGINNINGS)}
    return kept | given
