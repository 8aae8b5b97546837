# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-ai-slim[openai,mcp]==2.68.0"]
# ///
"""An agent of pydantic-ai that waits with acud: uv run examples/agent_pydantic_ai.py 'WHAT TO DO'

OPENAI_API_KEY is your key; OPENAI_BASE_URL and MODEL name another server that speaks the same API.
"""

import os
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel

acud = MCPToolset(StdioTransport("acud", ["mcp"], env=dict(os.environ)), read_timeout=60)
agent = Agent(
    OpenAIChatModel(os.environ.get("MODEL", "gpt-5.1-mini")),
    toolsets=[acud],
    instructions="Wait with acud; never poll.",
)
print(agent.run_sync(" ".join(sys.argv[1:])).output)
