"""Compares the daemon with docs/deviations.md: each deviation with its fix, for `acud doctor`."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from acud.config import Settings, http_listeners
from acud.protocol.requests.daemon import Finding
from acud.types import RouteName

_CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
_STATUS = Path("/proc/self/status")
_UNITS = "conf/systemd/acud-system.service, or acud.service"


def findings(settings: Settings, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the deviations, and the state of confinement and core dumps in any case."""
    yield from _check_account()
    yield _check_confinement(env)
    yield check_core_dumps(_CORE_PATTERN.read_text(encoding="utf-8", errors="replace").strip())
    yield from _check_limits(settings)
    yield from _check_listeners(settings)
    yield from _check_plain_http(settings)


def _check_account() -> Iterator[Finding]:
    """Warn of root: what is typed and launched on displays has the rights of this user."""
    if os.getuid() == 0:
        fix = f"run acud as a user of its own: {_UNITS}"
        yield Finding("account", "warning", "runs as root, and so does every program on its displays", fix)


def _check_confinement(env: Mapping[str, str]) -> Finding:
    """Check whether processes here may gain privileges and use every system call (proc(5): NoNewPrivs, Seccomp). That
    is normal for a daemon started by hand; a service that is not confined lacks lines of its unit.
    """
    status = _STATUS.read_text(encoding="ascii", errors="replace")
    closed = {
        line.split(":")[0]
        for line in status.splitlines()
        if line.startswith(("NoNewPrivs:", "Seccomp:")) and line.split()[1] != "0"
    }
    privileges = "no new privileges" if "NoNewPrivs" in closed else "programs may gain privileges (sudo)"
    calls = "system calls are filtered" if "Seccomp" in closed else "every system call is open"
    text = f"{privileges}, {calls}"
    if len(closed) == 2:
        return Finding("confinement", "ok", text)
    if "NOTIFY_SOCKET" in env:
        return Finding("confinement", "warning", f"a service that is not closed: {text}", f"take the unit {_UNITS}")
    return Finding("confinement", "ok", f"{text}; conf/systemd closes both")


def check_core_dumps(pattern: str) -> Finding:
    """Check whether keys and pictures could get into a core dump. `pattern`: the kernel's (core(5)). A program in it
    gets dumps whatever the process's limit is; systemd's keeps none for a process with the limit 0.
    """
    if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
        text = "a core dump would hold keys and screens: the limit of this process is not 0"
        return Finding("core dumps", "warning", text, "acud daemon restart, which sets it")
    program = pattern.removeprefix("|").split(" ")[0]
    if pattern.startswith("|") and not program.endswith("/systemd-coredump"):
        text = f"the kernel hands core dumps, with keys and screens in them, to {program} whatever the limit is"
        return Finding("core dumps", "warning", text, "sysctl kernel.core_pattern=core, or systemd-coredump")
    return Finding("core dumps", "ok", "none is kept")


def _check_limits(settings: Settings) -> Iterator[Finding]:
    wanted = settings.display
    allowed = [f"{wanted.memory_mb:g} MB"] if wanted.memory_mb else []
    allowed += [f"{wanted.processes} processes"] if wanted.processes else []
    if allowed:
        yield Finding("limits", "ok", f"{' and '.join(allowed)} for each managed display")
    else:
        text = "programs on a managed display may take all memory; [display] memory_mb and processes bound them"
        yield Finding("limits", "ok", text)


def _check_listeners(settings: Settings) -> Iterator[Finding]:
    """Warn of listeners that answer without a token, or take tokens over a network in the clear."""
    endpoints, web = settings.http_endpoints, settings.web
    if web.metrics_open and web.enabled:
        text = "/metrics answers every user of this machine without a token"
        yield Finding("metrics", "warning", text, "set [web] metrics_open = false")
    if endpoints.enabled and not http_listeners.is_loopback(endpoints.host):
        text = f"the HTTP endpoints listen on {endpoints.host} without TLS: its token crosses the network in the clear"
        yield Finding(
            "web", "warning", text, "set [http_endpoints] host to loopback, and put a proxy with TLS before it"
        )


def _check_plain_http(settings: Settings) -> Iterator[Finding]:
    for name, backend in settings.backends.items():
        if _is_plain_http(backend.url):
            yield _warn_of_plain_http(f"backend {name}", backend.url, "pictures and keys", f"[backends.{name}] url")
    wake = settings.wake
    if RouteName.OPENCLAW in wake.routes and _is_plain_http(wake.openclaw_url):
        yield _warn_of_plain_http(
            "wake openclaw", wake.openclaw_url, "wakes and the hook's token", "[wake] openclaw_url"
        )
    if RouteName.WEBHOOK in wake.routes and _is_plain_http(wake.webhook_url):
        yield _warn_of_plain_http("wake webhook", wake.webhook_url, "wakes, signed and readable,", "[wake] webhook_url")
    if _is_plain_http(settings.otel.url):
        yield _warn_of_plain_http("traces", settings.otel.url, "conditions and verdicts in spans", "[otel] endpoint")


def _warn_of_plain_http(part: str, url: str, what: str, setting: str) -> Finding:
    text = f"{what} go to {urlsplit(url).hostname} without TLS"
    return Finding(part, "warning", text, f"give {setting} an https URL, or bring it here over a tunnel")


def _is_plain_http(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and not http_listeners.is_loopback(parts.hostname or "")
