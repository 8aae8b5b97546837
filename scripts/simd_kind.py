"""Prints which SIMD code the compiled core of the installed PIL holds: avx2, sse4 or none.

Reads machine code instead of trusting a version or a wheel's name: neither says how the core was compiled.
Counted are PSHUFB (66 0F 38 00; Intel SDM vol. 2B), which a build for baseline x86-64 like stock Pillow's
never uses, and three-byte VEX prefixes of 256-bit operations on opcode map 2 (C4, map 00010, L=1).
Measured on 12.1.1.post0 with gcc 12, PSHUFB and VEX: SSE4 364 and 1 with -O3, 35 and 1 with -O2; AVX2 0 and
2343 with -O3, 0 and 83 with -O2; stock Pillow 0 and 1 (chance).
"""

import importlib.util
import re
from pathlib import Path

PSHUFB = re.compile(rb"\x66\x0f\x38\x00")
VEX_256 = re.compile(
    rb"\xc4[\x02\x22\x42\x62\x82\xa2\xc2\xe2][\x05\x0d\x15\x1d\x25\x2d\x35\x3d\x45\x4d\x55\x5d\x65\x6d\x75\x7d]"
)
ENOUGH = 15


def simd_kind(core: Path) -> str:
    """Returns "avx2", "sse4" or "none" for a compiled PIL._imaging."""
    code = core.read_bytes()
    if len(VEX_256.findall(code)) >= ENOUGH:
        return "avx2"
    return "sse4" if len(PSHUFB.findall(code)) >= ENOUGH else "none"


def imaging_core() -> Path:
    """Returns the file of PIL._imaging of this environment. Raises: FileNotFoundError when there is none."""
    spec = importlib.util.find_spec("PIL._imaging")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("PIL._imaging")
    return Path(spec.origin)


if __name__ == "__main__":
    print(simd_kind(imaging_core()))
