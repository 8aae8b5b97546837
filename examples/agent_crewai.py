# /// script
# requires-python = ">=3.11"
# dependencies = ["crewai==1.15.30", "crewai-tools[mcp]==1.15.30"]
# ///
"""An agent of CrewAI that waits with acud: uv run examples/agent_crewai.py 'WHAT TO DO'

OPENAI_API_KEY is your key; OPENAI_BASE_URL and MODEL name another server that speaks the same API.
"""

import os
import sys

from crewai import LLM, Agent, Crew, Task
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

server = StdioServerParameters(command="acud", args=["mcp"], env=dict(os.environ))
with MCPServerAdapter(server) as tools:
    llm = LLM(model=f"openai/{os.environ.get('MODEL', 'gpt-5.1-mini')}", base_url=os.environ.get("OPENAI_BASE_URL"))
    watcher = Agent(
        role="watcher", goal="Wait with acud; never poll.", backstory="You watch desktops.", tools=tools, llm=llm
    )
    task = Task(description=" ".join(sys.argv[1:]), expected_output="what was seen", agent=watcher)
    print(Crew(agents=[watcher], tasks=[task]).kickoff().raw)
