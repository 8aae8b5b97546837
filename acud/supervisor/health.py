"""Checks the daemon's own health, part by part, and names the fix for each fault."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import zmq

from acud import __version__
from acud.base import private_files
from acud.base.extras import find_missing, install_command, is_installed
from acud.config import OtelSettings, key_variable
from acud.config.http_listeners import is_loopback
from acud.protocol.requests.daemon import Finding
from acud.store import damaged_log
from acud.supervisor import security_checks
from acud.supervisor.children import Child, ChildState
from acud.supervisor.freshness import explain_late_child, explain_stale_display, list_stale
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, WakeState

if TYPE_CHECKING:
    from acud.supervisor.app import App


Level = Literal["ok", "warning", "fault"]

_FIRST_CHOICE = "attachfd"
_JUDGE_FIXES = {
    "ollama": 'start ollama and pull the model, or set [vision] backend = "ocr"',
    "ocr": "acud logs --level error; run scripts/setup; where OpenVINO does not run, install acud[ocr]",
}


def findings(app: App) -> Iterator[Finding]:
    yield Finding("daemon", "ok", f"acud {__version__}, pid {os.getpid()}, libzmq {zmq.zmq_version()}")
    yield _check_store(app)
    yield from (
        Finding("store log", "fault", one.words(), damaged_log.RESCUE_FIX)
        for one in damaged_log.rescued_logs(app.paths.home)
    )
    yield _check_shared_memory(app)
    yield _check_descriptors()
    yield from (_check_display(app, watched) for watched in app.watched_displays.by_name.values())
    yield from (cookie for watched in app.watched_displays.by_name.values() for cookie in _check_cookie(watched))
    yield from security_checks.findings(app.settings, os.environ)
    yield from _check_limits(app)
    yield from (_check_child(child) for child in app.keeper.slots.values() if child.state is ChildState.FAILED)
    yield from (Finding("daemon", "warning", text, fix) for text, fix in find_unlisted_reasons(app))
    yield from _check_late(app)
    yield from _check_forking(app)
    yield from _check_web(app)
    yield from _check_traces(app)
    yield from _check_judges(app)
    yield from _check_keys(app)
    yield _check_redaction(app)
    for running in app.features.values():
        yield from running.findings()
    for name in app.switched_off:
        yield Finding(f"feature {name}", "ok", "switched off in [features]")
    for extra in find_missing():
        yield Finding(f"extra {extra}", "ok", f"not installed: {install_command(extra)}")


def _check_keys(app: App) -> Iterator[Finding]:
    """Yield the source of each key, never the key; a backend that is not named is not used."""
    named = {*app.settings.vision.chain(), *(name for running in app.features.values() for name in running.backends())}
    for name, key in app.keys.items():
        used = "" if name in named else "; used only by waits that name it as their judge"
        if key.fault:
            fix = f"mend the key in [backends.{name}] of acud.toml, or set {key_variable(name)}"
            yield Finding(f"key {name}", "warning", key.fault, fix)
        elif key.source:
            yield Finding(f"key {name}", "ok", f"from {key.source}{used}")


def _check_store(app: App) -> Finding:
    fault = app.journal.fault
    if fault is not None:
        return Finding("store", "fault", fault.message, fault.hint)
    return Finding("store", "ok", f"{app.paths.database}, SQLite {app.store.library_version}")


def _check_shared_memory(app: App) -> Finding:
    room = os.statvfs(app.paths.shm)
    free_mb = room.f_bavail * room.f_frsize / 1e6
    settings = app.settings
    ring_mb = settings.display.width * settings.display.height * 4 * settings.capture.slots / 1e6
    text = f"a ring of the default size takes {ring_mb:.0f} MB of {app.paths.shm.parent}"
    if free_mb < 2 * ring_mb:
        fix = "mount /dev/shm larger (docker: --shm-size)"
        return Finding("shared memory", "warning", f"{text}, which has {free_mb:.0f} MB free", fix)
    return Finding("shared memory", "ok", f"{text}, and there is room")  # changing figures are in acud metrics


def _check_descriptors() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = sum(1 for _ in Path("/proc/self/fd").iterdir())
    if used * 4 > soft * 3:
        text = f"{used} of {soft} file descriptors in use"
        return Finding("descriptors", "warning", text, "raise the limit (ulimit -n, LimitNOFILE=)")
    return Finding("descriptors", "ok", f"enough of {soft} file descriptors are free")


def _check_display(app: App, watched: WatchedDisplay) -> Finding:
    part = f"display {watched.name}"
    source = app.sources.by_name.get(watched.name)
    if watched.state is not DisplayState.UP or source is None:
        fix = "acud display create" if watched.managed else f"start the X server, or acud display remove {watched.name}"
        return Finding(part, "fault", watched.reason or watched.state.value, fix)
    stale = explain_stale_display(app, watched)
    if stale:
        return Finding(part, "fault", stale, "acud logs --level warning; a hung capture process is replaced by itself")
    text = f"{source.width}x{source.height}, grabs by {source.method}"
    if source.method != _FIRST_CHOICE and app.settings.capture.method == "auto":
        fix = "frames cost more; use an X server with MIT-SHM 1.2"
        return Finding(part, "warning", f"{text}: {source.method_reason}", fix)
    return Finding(part, "ok", text)


def _check_cookie(watched: WatchedDisplay) -> Iterator[Finding]:
    """Warn of an Xauthority that other users can read: it lets them see and use the display."""
    why = private_files.secret_exposure(Path(watched.auth_file)) if watched.auth_file else ""
    if why:
        text = f"its Xauthority {watched.auth_file} {why}"
        yield Finding(f"display {watched.name}", "warning", text, f"chmod 600 {watched.auth_file}")


def _check_limits(app: App) -> Iterator[Finding]:
    for display in app.displays.managed.living:
        if display.limit_note:
            fix = "raise [display] memory_mb or processes, or start less there"
            yield Finding(f"display {display.name}", "warning", f"was over its limit: {display.limit_note}", fix)


def _check_child(child: Child) -> Finding:
    fix = "acud logs --level error, then acud daemon restart"
    return Finding(f"{child.kind} {child.name}", "fault", f"given up after restarts: {child.reason}", fix)


def _check_forking(app: App) -> Iterator[Finding]:
    """Explain why captures or evaluators start slowly, if they do."""
    for module, server in app.keeper.forking.items():
        if not server.fault:
            continue
        kind = module.rpartition(".")[2]
        text = f"{kind} processes start slowly: there is no process to fork them from ({server.fault})"
        yield Finding("forks", "warning", text, "acud logs --level warning; it is started again with the next of them")


def _check_late(app: App) -> Iterator[Finding]:
    """Yield children that run and send nothing."""
    for child in app.keeper.slots.values():
        late = explain_late_child(app, child)
        if late:
            fix = f"it is replaced by itself after {app.keeper.patience_s(child):g} s of silence"
            yield Finding(f"{child.kind} {child.name}", "fault", late, fix)


def _check_web(app: App) -> Iterator[Finding]:
    web = app.web
    if web.fault:
        yield Finding("web", "fault", web.fault, web.fix)
    if web.url and not web.asks_for_token:
        yield Finding(
            "web", "warning", f"serves {web.url} without a token", "set [http_endpoints] allow_tokenless = false"
        )
    elif web.url:
        yield Finding("web", "ok", f"serves {web.url}, token in {web.token_file or 'the settings'}")
    if web.gateway_url:
        yield _check_gateway(app, web.gateway_url)


def _check_gateway(app: App, url: str) -> Finding:
    wanted = app.settings.web
    if not is_loopback(wanted.host) and not wanted.tls_cert:
        return Finding("dashboard", "warning", f"serves {url} without TLS", "set [web] tls_cert and tls_key")
    return Finding("dashboard", "ok", f"serves {url}; acud web login")


def _check_traces(app: App) -> Iterator[Finding]:
    """Yield where spans are sent, or which package for that is missing."""
    url, missing = app.settings.otel.url, _explain_missing_exporter(app.settings.otel)
    if missing:
        yield Finding("traces", "fault", missing, install_command("otel"))
    elif url:
        yield Finding("traces", "ok", f"spans of waits go to {url}")


def _check_redaction(app: App) -> Finding:
    remote = [judge.name for judge in app.pool.list_judges() if not judge.local]
    leaving = f"pictures leave for {', '.join(remote)}" if remote else "every judge is local"
    text = f"{app.redaction.describe_rules()}; {leaving}"
    if missing := app.redaction.find_missing_rules():
        words = f"{', '.join(missing)} need acud[redact]: texts keep what they hide, and no picture leaves; {text}"
        return Finding("redaction", "warning", words, install_command("redact"))
    if app.redaction.needs_reader(local=False, keeps_evidence=False):
        return Finding("redaction", "ok", text)
    fix = "set [redaction] ocr = true and give it rules, or keep to local backends"
    return Finding("redaction", "warning", f"text in pictures is not looked for: {text}", fix)


def _check_judges(app: App) -> Iterator[Finding]:
    vision = app.settings.vision
    if vision.backend != "auto" and vision.backends:
        text = f'backend = "{vision.backend}" stands alone: backends is not looked at'
        yield Finding("vision", "warning", text, 'set backend = "auto" for the chain, or remove backends')
    chosen = app.wait_runtime.judges.effective_judge()
    for judge in app.pool.list_judges():
        used = " (answers criteria now)" if judge.name == chosen else ""
        text = " ".join(f"{judge.state}{used} {judge.version} {judge.reason}".split())
        down = judge.state == "down"
        level: Level = "ok" if not down else "fault" if judge.name in (chosen, "ocr") else "warning"
        yield Finding(f"judge {judge.name}", level, text, _suggest_judge_fix(app, judge.name) if down else "")
    for script, packages in sorted(app.pool.missing_readers().items()):
        what = "text in letters that it can't read" if script == "unknown" else f"{script} text, which it can't read"
        yield Finding("ocr", "warning", f"the OCR met {what}", f"apt install {' '.join(packages)}; docs/ocr.md")


def _suggest_judge_fix(app: App, name: str) -> str:
    is_backend = name in app.settings.backends
    return _JUDGE_FIXES.get(
        name, f"check [backends.{name}] of acud.toml; docs/backends.md" if is_backend else "acud logs"
    )


def reasons(app: App) -> list[str]:
    found = [] if app.journal.fault is None else [f"store: {app.journal.fault.message}"]
    found += [f"store: {one.words()}" for one in damaged_log.rescued_logs(app.paths.home)]
    found += [
        f"display {watched.name} is {watched.state.value}: {watched.reason}"
        for watched in app.watched_displays.by_name.values()
        if watched.state is not DisplayState.UP
    ]
    found += [
        f"{child.kind} {child.name} was given up: {child.reason}"
        for child in app.keeper.slots.values()
        if child.state is ChildState.FAILED
    ]
    found += list_stale(app)
    missing = _explain_missing_exporter(app.settings.otel)
    found += [f"traces: {missing}"] if missing else []
    found += [f"web: {app.web.fault}"] if app.web.fault else []
    found += [reason for running in app.features.values() for reason in running.reasons()]
    return found + [text for text, _ in find_unlisted_reasons(app)]


def find_unlisted_reasons(app: App) -> list[tuple[str, str]]:
    """Return the reasons that no other finding of `acud doctor` covers, each with its fix."""
    found = [
        (f"wake route {name.value} fails: {reason}", "acud wake test; docs/wakes.md")
        for name, reason in app.delivery.find_failing().items()
    ]
    undelivered = app.store.outbox.counts().get(WakeState.UNDELIVERED, 0) if app.settings.wake.routes else 0
    if undelivered:
        found.append((f"{undelivered} wakes are undelivered: acud wake list", "acud wake retry"))
    if app.faults.count:
        words = f"{app.faults.count} requests met a fault of acud itself: acud logs --level error"
        found.append((words, "acud daemon restart; report it"))
    if app.journal.dropped:
        found.append((f"{app.journal.dropped} evaluations could not be recorded", "acud logs --level error"))
    if app.drain.reason:
        found.append((app.drain.reason, "acud daemon drain --cancel takes new work again"))
    return found


def _explain_missing_exporter(settings: OtelSettings) -> str:
    """Return why no traces can be sent though an endpoint is set; "" if nothing is wrong."""
    if not settings.url or is_installed("otel"):
        return ""
    return "[otel] endpoint is set, and the extra acud[otel] is not installed"
