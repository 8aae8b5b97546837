"""The parts of acud that an installation may leave out: each extra, and the modules that its packages bring.

The one place where acud asks whether a package is there. Code that needs an extra imports its packages in rooms that
nothing else loads, behind `require`.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from shutil import which

from acud.base.errors import NotInstalled

EXTRAS: dict[str, tuple[str, ...]] = {
    "actions": ("dbus_fast", "heroicons", "jeepney", "lucide", "qtawesome", "resvg_py"),
    "fleet": ("nacl", "nats", "nkeys", "uvloop"),
    "keyring": ("keyring",),
    "ocr": ("onnxruntime", "rapidocr"),
    "openvino": ("openvino", "rapidocr"),
    "otel": ("requests", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "push": ("cryptography", "dbus_fast", "http_ece", "py_vapid"),
    "record": ("av",),
    "redact": ("dbus_fast", "mnemonic", "stdnum"),
    "web": ("h11", "prometheus_client", "starlette", "uvicorn", "websockets"),
}
"""In pyproject.toml by the names of their distributions; what they are for is in docs/install.md."""

OF_FEATURES = {
    "actions": "actions", "agent": "actions", "grounding": "actions", "recording": "record", "scene": "actions"
}  # fmt: skip
"""The extra of each feature that needs one as a whole."""


@cache
def is_installed(extra: str) -> bool:
    """Return whether every package of `extra` is installed; imports no package."""
    return all(map(_is_found, EXTRAS[extra]))


def has_rapidocr() -> bool:
    """Return whether acud's own engine for text is there: `ocr` and `openvino` each bring it."""
    return is_installed("ocr") or is_installed("openvino")


def can_read() -> bool:
    """Return whether anything here reads text off pixels: acud's own engine, or the program tesseract."""
    return has_rapidocr() or which("tesseract") is not None


def find_missing() -> list[str]:
    """Return the extras that are not there. `ocr` and `openvino` read the same text: one of them is enough."""
    enough = {"ocr", "openvino"} if has_rapidocr() else set()
    return [extra for extra in EXTRAS if not is_installed(extra) and extra not in enough]


def is_feature_installed(feature: str) -> bool:
    """Return whether the extra of `feature` is there, if it needs one."""
    return feature not in OF_FEATURES or is_installed(OF_FEATURES[feature])


def require(extra: str, need: str) -> None:
    """Raise NotInstalled where `extra` is missing."""
    if not is_installed(extra):
        raise not_installed(extra, need)


def not_installed(extra: str, need: str) -> NotInstalled:
    """Return the error for `need`, the beginning of a sentence, where `extra` is missing."""
    return NotInstalled(f"{need} needs acud[{extra}], which is not installed", hint=install_command(extra))


def install_command(extra: str) -> str:
    return f'pip install "acud[{extra}]", then acud daemon restart'


def _is_found(module: str) -> bool:
    package = module.rpartition(".")[0]
    return (not package or _is_found(package)) and find_spec(module) is not None
