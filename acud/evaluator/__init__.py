"""The evaluator process: looks at frames and asks judges; holds nothing that a restart would lose."""

import sys

# Before httpx: it imports its command line if it can, with rich and pygments (5 MB, 60 ms). None is "not found".
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
