"""Wait without polling, in plain Python: python examples/plain_python.py TITLE [SECONDS]

It hands the condition to the daemon, does something else, and asks for the end once.
"""

import os
import sys

from acud.types import WindowTitle
from acud_client import Client

if len(sys.argv) < 2:
    sys.exit(str(__doc__).partition("\n")[0])
title, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 300.0
client = Client()
wait = client.wait_create(WindowTitle(title), display=os.environ.get("DISPLAY", ""), timeout_s=seconds).wait
print(f"armed {wait.wait_id}; this program is free now", flush=True)
end = client.wait_end(wait.wait_id).wait
print(f"{end.state}: {end.verdict.detail}")
