"""acud in parts: what the base has in it, what runs with it alone, and what a missing extra is reported as."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
import venv
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from acud.base.errors import NotInstalled
from acud.base.extras import EXTRAS, OF_FEATURES, install_command
from acud.features.supervisors import FEATURES
from acud.types import Change, Text, WaitState, Widget
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
OWN_NEEDS = {one["name"]: one["requires-dist"] for one in PYPROJECT["tool"]["uv"]["dependency-metadata"]}
MOST_DEPENDENCIES, MOST_MB, MOST_MB_WITH_OCR = 16, 200, 350


class _Environment(NamedTuple):
    site: Path
    megabytes: float
    distributions: frozenset[str]

    @property
    def python(self) -> Path:
        return self.site.parents[2] / "bin" / "python"


def _add_needed(wanted: Iterable[Requirement], found: dict[str, set[str]]) -> None:
    """Add to `found` each distribution that `wanted` comes to, with its extras."""
    for one in wanted:
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in found and one.extras <= found[name]:
            continue
        extras = found.setdefault(name, {""})
        extras |= one.extras
        needs = map(Requirement, OWN_NEEDS.get(name, metadata.requires(name) or ()))
        _add_needed([need for need in needs if _applies(need, extras)], found)


def _applies(need: Requirement, extras: set[str]) -> bool:
    return need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)


def _make(folder: Path, wanted: Iterable[str], base: _Environment | None = None) -> _Environment:
    """Return a new environment with what `wanted` comes to: links to the files of this one, and to `base`."""
    venv.create(folder)
    site = next(folder.glob("lib/python3*/site-packages"))
    found: dict[str, set[str]] = {}
    _add_needed(map(Requirement, wanted), found)
    size, places = 0.0, [ROOT, ROOT / "clients"]
    known: frozenset[str] = frozenset()
    if base is not None:
        size, known = base.megabytes * 1e6, base.distributions
        places.append(base.site)
    names = found.keys() - known
    for file in (file for name in names for file in metadata.files(name) or () if file.parts[0] != ".."):
        place, real = site / file, file.locate().resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(real)
        size += real.stat().st_blocks * 512
        compiled = Path(cache_from_source(str(real)))
        if real.suffix == ".py" and compiled.exists():  # or each process would compile it anew
            (place.parent / "__pycache__").mkdir(exist_ok=True)
            (place.parent / "__pycache__" / compiled.name).symlink_to(compiled)
    (site / "acud.pth").write_text("".join(f"{place}\n" for place in places), encoding="utf-8")
    return _Environment(site, size / 1e6, known | names)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> _Environment:
    """What acud needs without an extra."""
    return _make(tmp_path_factory.mktemp("base"), PROJECT["dependencies"])


ROOMS = {
    "actions": (
        "acud.evaluator.accessibility.mirror", "acud.features.grounding.evaluator.cascade",
        "acud.features.actions.evaluator.observer", "acud.features.scene.evaluator.reader",
        "acud.supervisor.displays.notification_server",
    ),
    "fleet": ("acud_fleet.host", "acud.features.fleet.worker.service"),
    "keyring": ("keyring",),
    "ocr": ("acud.evaluator.ocr.rapid",),
    "openvino": ("acud.evaluator.ocr.rapid",),
    "otel": ("acud_web.trace_export",),
    "push": ("acud.delivery.web_push", "acud.delivery.desktop_notifications"),
    "record": (
        "acud.features.recording.download", "acud.features.recording.recorder.__main__",
        "acud.features.recording.replay.__main__",
    ),
    "redact": ("acud.features.redaction.secure_fields", "mnemonic", "stdnum"),
    "web": ("acud_web.process", "acud_client.exposition", "acud_mcp.http_server"),
}  # fmt: skip
"""What may import an extra's packages when it is imported; all other rooms load with the base."""
OF_THE_BASE = (
    "acud.supervisor.__main__", "acud.capture.__main__", "acud.evaluator.__main__", "acud.delivery.__main__",
    "acud.features.supervisors", "acud_cli", "acud_client", "acud_mcp.server", "acud_web.__main__",
    "acud_fleet.__main__",
    *(feature.module for feature in FEATURES if feature.name not in OF_FEATURES),
)  # fmt: skip


def _import(python: Path, rooms: Iterable[str]) -> None:
    words = "from importlib import import_module; import sys; [import_module(one) for one in sys.argv[1:]]"
    done = subprocess.run([python, "-c", words, *rooms], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_alone_is_whole(extra: str, base: _Environment, tmp_path: Path) -> None:
    made = _make(tmp_path, [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]], base)
    _import(made.python, ROOMS[extra])
    assert extra != "ocr" or made.megabytes <= MOST_MB_WITH_OCR
    assert not any((one.site / "cv2").exists() for one in (base, made))


def test_the_base_loads_without_any_extra(base: _Environment) -> None:
    _import(base.python, OF_THE_BASE)


def test_the_base_is_small(base: _Environment) -> None:
    assert len(PROJECT["dependencies"]) <= MOST_DEPENDENCIES
    assert base.megabytes <= MOST_MB


def test_a_daemon_on_the_base_waits_and_names_each_missing_extra(base: _Environment) -> None:
    settings = "[web]\nenabled = true\nport = 0\n[fleet]\nurl = 'nats://127.0.0.1:9'\n"
    with Daemon(settings, python=str(base.python)) as daemon:
        client = daemon.client
        display = client.display_create().display
        with closing(Painter(display)) as painter:
            wait = client.wait_create(Change(), display=display.name).wait
            painter.lamp(on=True)
            assert client.wait_result(wait.wait_id, block_s=100).wait.state is WaitState.RESOLVED
            if shutil.which("tesseract"):
                wait = client.wait_create(
                    Text("quick brown fox"), display=display.name, target="region:0,0,480,32"
                ).wait
                ends = partial(client.wait_result, wait.wait_id, block_s=9)
                until(lambda: ends().ended, "the text by tesseract")
                assert ends().wait.state is WaitState.RESOLVED
        found = {one.part: one for one in client.doctor().findings}
        for extra in EXTRAS:
            assert install_command(extra) in found[f"extra {extra}"].text
        redaction = found["redaction"]
        assert (redaction.level, redaction.fix) == ("warning", install_command("redact"))
        assert "seed, iban, id, secure need acud[redact]: texts keep what they hide" in redaction.text
        refused = {
            "actions": lambda: client.wait_create(Widget(role="button"), display=display.name),
            "record": lambda: client.record_start(display=display.name),
        }
        for extra, ask in refused.items():
            with pytest.raises(NotInstalled, match=rf"acud\[{extra}\], which is not installed") as fault:
                ask()
            assert fault.value.hint == install_command(extra)
        until(lambda: {"web", "fleet"} <= {one.part for one in client.doctor().findings}, "the children's reasons")
        found = {one.part: one for one in client.doctor().findings}
        assert "acud[web], which is not installed" in found["web"].text
        assert "acud[fleet], which is not installed" in found["fleet"].text
        answer = _list_tools(base.python, daemon.home)
        assert "desktop_look" in answer
        replay = subprocess.run(
            [base.python, "-m", "acud_cli", "replay", "rec-1"], env=daemon.env, capture_output=True, text=True
        )
        assert (replay.returncode, "acud[record], which is not installed" in replay.stderr) == (8, True), replay.stderr


def _list_tools(python: Path, home: Path) -> str:
    """Return what `acud mcp` on that interpreter answers to `tools/list` over standard input and output."""
    asked = (
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
    done = subprocess.run(
        [python, "-m", "acud_cli", "mcp"], input=lines, env={"ACU_HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr
