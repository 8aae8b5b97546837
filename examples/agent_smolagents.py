# /// script
# requires-python = ">=3.11"
# dependencies = ["smolagents[mcp,openai]==1.26.0", "mcp<2"]
# ///
"""An agent of smolagents that waits with acud: uv run examples/agent_smolagents.py 'WHAT TO DO'

OPENAI_API_KEY is your key; OPENAI_BASE_URL and MODEL name another server that speaks the same API.
"""

import os
import sys

from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

server = StdioServerParameters(command="acud", args=["mcp"], env=dict(os.environ))
with MCPClient(server, structured_output=False) as tools:
    for argument in (argument for tool in tools for argument in tool.inputs.values()):
        argument["nullable"] = True  # smolagents takes every argument for a required one, whatever a tool says
    model = OpenAIServerModel(os.environ.get("MODEL", "gpt-5.1-mini"), os.environ.get("OPENAI_BASE_URL"))
    print(ToolCallingAgent(tools, model).run(" ".join(sys.argv[1:])))
