# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain==1.5.2", "langchain-openai==1.7.4", "langchain-mcp-adapters==0.3.2"]
# ///
"""An agent of LangGraph that waits with acud: uv run examples/agent_langgraph.py 'WHAT TO DO'

OPENAI_API_KEY is your key; OPENAI_BASE_URL and MODEL name another server that speaks the same API.
"""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


async def main(task: str) -> None:
    server = {"transport": "stdio", "command": "acud", "args": ["mcp"], "env": dict(os.environ)}
    tools = await MultiServerMCPClient({"acud": server}).get_tools()
    model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5.1-mini"))
    agent = create_agent(model, tools, system_prompt="Wait with acud; never poll.")
    answer = await agent.ainvoke({"messages": [{"role": "user", "content": task}]})
    print(answer["messages"][-1].content)


asyncio.run(main(" ".join(sys.argv[1:])))
