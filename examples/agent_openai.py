# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents==0.24.0"]
# ///
"""An agent of the OpenAI Agents SDK that waits with acud: uv run examples/agent_openai.py 'WHAT TO DO'

OPENAI_API_KEY is your key; OPENAI_BASE_URL and MODEL name another server that speaks the same API.
"""

import asyncio
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStdioParams
from openai import AsyncOpenAI


async def main(task: str) -> None:
    set_tracing_disabled(True)  # traces would go to the vendor
    params = MCPServerStdioParams(command="acud", args=["mcp"], env=dict(os.environ))
    # The SDK gives a call 5 s by itself. With 60 s, acud's calls may block for their 45 s.
    async with MCPServerStdio(params, client_session_timeout_seconds=60, cache_tools_list=True) as acud:
        model = OpenAIChatCompletionsModel(os.environ.get("MODEL", "gpt-5.1-mini"), AsyncOpenAI())
        agent = Agent("watcher", instructions="Wait with acud; never poll.", model=model, mcp_servers=[acud])
        print((await Runner.run(agent, task)).final_output)


asyncio.run(main(" ".join(sys.argv[1:])))
