"""How long a call may block, by the host that makes it: a host gives up a call after some time, and its result is lost
then. A longer wait is answered by a further call.
"""

from __future__ import annotations

PATIENT_S = 45.0
"""For hosts that are known to wait for 60 s or more."""
SHORT_S = 4.0
"""For all others: the OpenAI Agents SDK gives up after 5 s by default, and has the name of all programs with the
official Python SDK, `mcp`. Progress does not lengthen that: few hosts heed it.
"""

PATIENT = frozenset(
    {
        "claude-code",  # no limit of its own
        "claude-ai",  # Claude Desktop: 60 s at the least
        "cursor-vscode",
        "cursor",  # its command line and SDK: the official TypeScript SDK's 60 s
        "visual studio code",  # 5 minutes
        "code-server",  # VS Code served to a browser
        "codex-mcp-client",  # tool_timeout_sec, 60 s
        "gemini-cli-mcp-client",  # 10 minutes
        "opencode",  # as long as progress is reported
        "goose",  # 5 minutes
        "openclaw-bundle-mcp",  # requestTimeoutMs, which `acud mcp install` writes: 60 s
    }
)
"""Names that hosts give themselves, in small letters."""


def block_limit_s(client: str, wanted_s: float | None) -> float:
    """Return how long a call of the client of that name ("": unknown) may block; `wanted_s` is what the user set."""
    if wanted_s is not None:
        return wanted_s
    return PATIENT_S if client.lower() in PATIENT else SHORT_S
