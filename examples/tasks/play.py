"""Play a task by hand, call by call, as an agent would: with acud's MCP tools alone. The calls are kept.

play.py start TASK SOCKET TRANSCRIPT     show the task, then serve calls on SOCKET until `end`
play.py SOCKET tools                     list the tools as an agent is told them
play.py SOCKET TOOL '{"argument": 1}'    call a tool; pictures are written to files, which are named
play.py SOCKET wake                      wait for the next wake (30 s)
play.py SOCKET end                       say whether the task is done; write TRANSCRIPT
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
from multiprocessing.connection import Client as Caller
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any

from mcp import types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.tasks.tasks import BY_NAME, Task, World, own_acud, playing


def link(world: World) -> Client:
    """Return a client of the world's `acud mcp` that is as patient as the hosts of most agents."""
    command, *words = [*world.acud, "mcp", "--block", "45"]
    return Client(StdioServerParameters(command=command, args=words, env=world.env), mode="legacy")


def text_of(result: types.CallToolResult) -> str:
    """Return the words that a model is shown of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


def wait_of(text: str) -> str:
    """Return the first wait's id in the words of a result, "" when there is none."""
    found = re.search(r"\bwait-[0-9a-z]+", text)
    return found[0] if found else ""


class Play:
    """One task being played. `calls` become the transcript: a wait's id stands there as `{wait N}`, N the number of
    the call that armed it, and a display's name as `{display N}`, since every run has others.
    """

    def __init__(self, task: Task, world: World, client: Client, pictures: Path) -> None:
        self.task = task
        self.world = world
        self.client = client
        self.pictures = pictures
        self.calls: list[dict[str, Any]] = []
        self.waits: dict[str, int] = {}
        self.woken = 0

    async def answer(self, word: str, text: str) -> str:
        """Do what was asked, and return what is to be shown."""
        if word == "tools":
            listed = (await self.client.list_tools()).tools
            return "\n\n".join(json.dumps(tool.model_dump(exclude_none=True)) for tool in listed)
        if word == "wake":
            told = await asyncio.to_thread(self.world.next_wake, self.woken, 30.0)
            self.woken += bool(told)
            if told:
                self.calls.append({"wake": self.woken})
            return told or "no wake came in 30 s"
        return await self._call(word, text or "{}")

    async def _call(self, tool: str, text: str) -> str:
        result = await self.client.call_tool(tool, json.loads(text))
        for wait, number in self.waits.items():
            text = text.replace(wait, f"{{wait {number}}}")
        for number, display in enumerate(self.world.displays):
            text = text.replace(display, f"{{display {number}}}")
        said = text_of(result)
        if wait_of(said):
            self.waits.setdefault(wait_of(said), len(self.calls))
        self.calls.append({"tool": tool, "arguments": json.loads(text)})
        pictures = [block for block in result.content if isinstance(block, types.ImageContent)]
        return "\n".join([*(["ERROR"] if result.is_error else []), said, *map(self._kept, pictures)])

    def _kept(self, picture: types.ImageContent) -> str:
        file = self.pictures.with_name(f"{self.pictures.stem}-{len(self.calls)}.{picture.mime_type.partition('/')[2]}")
        file.write_bytes(base64.b64decode(picture.data))
        return f"[picture: {file}]"

    def transcript(self) -> str:
        """Return the calls as JSON."""
        return json.dumps({"task": self.task.name, "calls": self.calls}, indent=1) + "\n"


async def serve(task: Task, world: World, listener: Listener, transcript: Path) -> None:
    """Serve the calls of one task until its end."""
    async with link(world) as client:
        play = Play(task, world, client, transcript)
        while True:
            with await asyncio.to_thread(listener.accept) as asked:
                word, text = asked.recv()
                if word == "end":
                    asked.send(f"{'DONE' if task.is_done(world) else 'NOT DONE'} after {len(play.calls)} steps")
                    break
                asked.send(await play.answer(word, text))
    await asyncio.to_thread(transcript.write_text, play.transcript(), "utf-8")


def main(*words: str) -> None:
    if words[:1] == ("start",):
        task = BY_NAME[words[1]]
        with playing(task, words[4:] or own_acud()) as world, Listener(words[2], "AF_UNIX") as listener:
            print(task.prompt.format(*world.displays), flush=True)
            asyncio.run(serve(task, world, listener, Path(words[3])))
        return
    if len(words) < 2:
        raise SystemExit(__doc__)
    with Caller(words[0], "AF_UNIX") as daemon:
        daemon.send((words[1], words[2] if len(words) > 2 else ""))
        print(daemon.recv())


if __name__ == "__main__":
    main(*sys.argv[1:])
