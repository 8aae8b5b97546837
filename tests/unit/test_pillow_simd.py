"""The PIL in use is pillow-simd with its SIMD code, and the lock can't bring in anything else."""

import re
import runpy
from importlib import metadata
from pathlib import Path

import PIL
import PIL._imaging
import pytest
from PIL import Image, features

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
SIMD = runpy.run_path(str(ROOT / "scripts/simd_kind.py"))


def test_the_version_is_the_simd_build() -> None:
    assert PIL.__version__ == metadata.version("pillow-simd") == "12.1.1.post0"


def test_the_files_of_pil_belong_to_pillow_simd() -> None:
    owned = {Path(str(file.locate())).resolve() for file in metadata.files("pillow-simd") or []}
    assert Path(PIL._imaging.__file__).resolve() in owned


def test_pillow_is_the_shim_and_has_no_code() -> None:
    shim = metadata.distribution("pillow")
    assert shim.version == "12.1.1+simd"
    assert shim.requires == ["pillow-simd==12.1.1.post0"]
    assert [file for file in shim.files or [] if ".dist-info" not in file.parts[0]] == []


def test_the_compiled_core_holds_simd_code() -> None:
    assert SIMD["simd_kind"](SIMD["imaging_core"]()) in {"sse4", "avx2"}


@pytest.mark.parametrize(("code", "kind"), [
    (b"\x66\x0f\x38\x00\xc1\x90" * 20, "sse4"), (b"\xc4\xe2\x7d\x00\xc1\x90" * 20, "avx2"),
    (b"\x66\x0f\xfe\xc1\xc3" * 20, "none"),
])  # fmt: skip
def test_the_kinds_are_told_apart_by_their_opcodes(tmp_path: Path, code: bytes, kind: str) -> None:
    core = tmp_path / "core.so"
    core.write_bytes(code)
    assert SIMD["simd_kind"](core) == kind


@pytest.mark.parametrize("feature", ["jpg", "zlib", "freetype2"])
def test_what_the_daemon_draws_and_stores_with_is_compiled_in(feature: str) -> None:
    assert features.check(feature)


def test_a_resize_keeps_a_plain_colour() -> None:
    frame = Image.new("RGBX", (64, 48), (10, 120, 250, 0))
    assert frame.resize((32, 24), Image.Resampling.BILINEAR).getpixel((16, 12)) == (10, 120, 250, 0)


def test_the_lock_names_no_address_and_no_path() -> None:
    assert re.findall(r"\w+://|^ *-(?!-hash=)|^[./]|@", LOCK, re.MULTILINE) == []


def test_every_pin_in_the_lock_has_hashes() -> None:
    pins = re.split(r"\n(?=\S)", LOCK.strip())
    assert pins
    assert [pin for pin in pins if not re.match(r"[\w.-]+==[^ ]+.*\\\n    --hash=sha256:", pin)] == []


def test_the_lock_holds_pillow_simd_and_no_stock_pillow() -> None:
    assert re.findall(r"^pillow.*?(?= \\)", LOCK, re.MULTILINE | re.IGNORECASE) == ["pillow-simd==12.1.1.post0"]
