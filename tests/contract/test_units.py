"""The systemd units say what the architecture asks of them (section 1)."""

from __future__ import annotations

import configparser
from pathlib import Path

UNITS = Path(__file__).parents[2] / "conf" / "systemd"


def _unit(name: str) -> configparser.ConfigParser:
    # Units repeat keys and hold %: neither strict nor interpolated.
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((UNITS / name).read_text(encoding="utf-8"))
    return parser


def test_the_daemon() -> None:
    service = _unit("acud.service")["Service"]
    assert service["ExecStart"].endswith("acud daemon run")
    assert (service["Type"], service["KillMode"]) == ("notify", "process")
    assert float(service["WatchdogSec"]) > 0


def test_a_display_of_a_headless_host() -> None:
    unit = _unit("acud-xvfb@.service")
    line = unit["Service"]["ExecStart"].split()
    assert {"-auth", "-noreset", "-nolisten"} <= set(line)
    assert "-ac" not in line
    assert unit["Unit"]["Before"] == "acud.service"
