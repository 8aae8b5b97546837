"""llama.cpp's own server, in a process that has its library: `program.py FOLDER PORT KEY CONTEXT [MMPROJ]`.

Writes the models into FOLDER where they are not there, then serves until it is ended.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import xllamacpp
from tiny_model import write


def serve(folder: Path, port: int, key: str, context: int, mmproj: str) -> None:
    """Serve the model under the name `eye`, to callers with `key`, with `context` tokens for each call."""
    params = xllamacpp.CommonParams()
    params.model.path = str(folder / "eye.gguf")
    params.model_alias = {"eye"}
    params.mmproj.path = mmproj
    params.mmproj_use_gpu = False
    params.port = port
    params.api_keys = [key]
    params.n_parallel = 2
    params.n_ctx = 2 * context
    params.cpuparams.n_threads = 1
    params.default_template_kwargs = {"enable_thinking": "true"}
    params.offline = True
    params.ui = False
    server = xllamacpp.Server(params)
    print("listening at", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not (place / "mmproj.gguf").exists():
        write(place)
    serve(place, int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), *(sys.argv[5:] or [""]))
