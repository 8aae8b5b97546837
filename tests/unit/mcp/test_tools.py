"""The table of tools: schemas from structs, few and terse; arguments to requests."""

import json
import shlex
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
import pytest

from acud.base.errors import InvalidRequest
from acud.base.paths import resolve
from acud.protocol.requests import BY_NAME, find_command
from acud.types import (
    AllOf,
    AnyOf,
    Budget,
    Change,
    Comparison,
    Criteria,
    Policy,
    Priority,
    ScreenNumber,
    Stable,
    Text,
    Then,
    Until,
    WindowTitle,
)
from acud.types.conditions.arguments import KINDS
from acud.types.conditions.kind import Argument
from acud.waits.validation import check_until
from acud_cli.app import cli
from acud_cli.wait import wait
from acud_cli.wait_options import find_condition
from acud_client.help_tables import CONDITIONS, OPTIONS
from acud_mcp.action_tool import Name
from acud_mcp.condition_arguments import Condition, make_condition, make_policy, require_condition
from acud_mcp.help_tool import TOPICS, tool_help
from acud_mcp.selection import CAPS, workspace_of
from acud_mcp.server import INSTRUCTIONS, TOOLS, describe_tool, select_tools
from acud_mcp.tool import (
    ImageResult,
    Options,
    TextResult,
    Tool,
    argument_schemas,
    describe_argument,
    input_schema,
    parse_arguments,
)
from acud_mcp.tool_calls import failure, result
from acud_mcp.wait_tools import SmartWait

MAX_TOOLS = 31
MAX_TOKENS = 3000
BYTES_PER_TOKEN = 4.3
"""These schemas make 4.31 bytes a token in o200k; `scripts/bench mcp` counts tokens."""

BY_TOOL = {tool.name: tool for tool in TOOLS}


def options(**given: Any) -> Options:
    return Options(resolve({"ACU_HOME": "/nowhere"}), **{"workspace": Path("/nowhere"), **given})


def wire(tool: Tool) -> dict[str, Any]:
    return describe_tool(tool)


def test_a_wait_takes_each_limit_of_a_budget() -> None:
    assert set(Budget.__struct_fields__) <= set(SmartWait.__struct_fields__)


def test_all_tools_fit_the_budget() -> None:
    listed = [wire(tool) for tool in select_tools(options())]
    assert len(listed) <= MAX_TOOLS
    assert len(json.dumps(listed, separators=(",", ":"))) / BYTES_PER_TOKEN <= MAX_TOKENS
    assert len(INSTRUCTIONS) <= 1200
    assert all(word in INSTRUCTIONS[:250] for word in ("smart_wait", "screenshots", "clicks"))  # all that Codex shows


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_whole(tool: Tool) -> None:
    listed = wire(tool)
    assert tool.toolset in CAPS
    assert len(listed["description"]) <= 200
    assert listed["annotations"]
    assert listed["inputSchema"]["type"] == "object"
    assert "outputSchema" not in listed  # with one, a picture could not come without the structure that hides it
    fields = set(tool.arguments_type.__struct_fields__)
    assert set(tool.aliases.values()) | set(tool.hidden) | set(tool.params) <= fields
    assert set(tool.shows) <= set((tool.result or find_command(tool.request).reply).__struct_fields__)
    assert not set(tool.aliases) & fields


def test_what_is_always_loaded() -> None:
    loaded = {tool.name for tool in TOOLS if wire(tool).get("_meta") == {"anthropic/alwaysLoad": True}}
    assert loaded == {"smart_wait", "wait_result", "gui_do", "scene"}


def test_annotations_say_what_differs_from_the_defaults() -> None:
    assert wire(BY_TOOL["desktop_look"])["annotations"] == {"readOnlyHint": True}
    own = {"destructiveHint": False, "openWorldHint": False}  # or Codex asks before each wait
    assert wire(BY_TOOL["smart_wait"])["annotations"] == own
    assert wire(BY_TOOL["wait_cancel"])["annotations"] == {"destructiveHint": True}
    assert wire(BY_TOOL["task_log_action"])["annotations"] == own
    assert wire(BY_TOOL["task_update"])["annotations"] == {"destructiveHint": True}  # an end takes the display away


TYPES = {"string", "number", "integer", "boolean", "array", "object"}


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in (*node.get("properties", {}).values(), *([node["items"]] if "items" in node else ())):
        yield from walk(inner)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_gemini_takes_the_schema(tool: Tool) -> None:
    for node in walk(input_schema(tool)):
        assert node.get("type") in TYPES, node
        assert set(node) <= {"type", "properties", "required", "items", "enum", "default", "description"}, node
        assert ("items" in node) == (node["type"] == "array"), node
        assert "enum" not in node or (node["type"] == "string" and all(isinstance(one, str) for one in node["enum"]))


# ---- help ----


async def describe(topic: str) -> str:
    tool = BY_TOOL["help"]
    assert tool.run is not None
    answer: TextResult = await tool.run(None, parse_arguments(tool, {"topic": topic}))  # type: ignore[arg-type]
    return answer.text


def test_every_condition_is_in_the_table_of_help() -> None:
    assert {row.name for row in CONDITIONS} | set(OPTIONS) == set(Condition.__struct_fields__)
    assert all(any(one in CONDITIONS for one in kind.arguments) for kind in KINDS)
    composites = {"all", "any", "not", "then"}
    assert {kind.__struct_config__.tag for kind in get_args(Until)} - composites == {
        kind.__struct_config__.tag for kind in KINDS
    }


@pytest.mark.parametrize("row", CONDITIONS, ids=lambda row: row.name)
def test_the_example_of_a_condition_makes_it(row: Argument) -> None:
    asked = parse_arguments(BY_TOOL["smart_wait"], row.example)
    assert isinstance(asked, SmartWait)
    images = dict.fromkeys((asked.image, asked.image_gone), b"")
    made = require_condition(asked, images)
    kind = next((kind for kind in KINDS if row in kind.arguments), Then)
    assert isinstance(made, kind)
    assert row.name in row.example


@pytest.mark.parametrize("row", CONDITIONS, ids=lambda row: row.name)
def test_people_and_agents_are_told_the_same(row: Argument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acud_cli.wait_options.png_of", lambda _: b"")
    monkeypatch.setattr("acud_cli.wait_options._make_absolute", lambda path: path)
    asked = parse_arguments(BY_TOOL["smart_wait"], row.example)
    assert isinstance(asked, SmartWait)
    # As below `acud`: a command keeps the help option of whoever reads its line first.
    above = click.Context(cli, info_name="acud", **cli.context_settings)
    typed = wait.make_context("wait", shlex.split(row.line), parent=above, resilient_parsing=False).params
    assert find_condition(typed) == require_condition(asked, dict.fromkeys((asked.image, asked.image_gone), b""))
    assert (typed["target"] or "screen") == asked.target


@pytest.mark.asyncio
async def test_help_tells_what_the_list_leaves_out() -> None:
    known = await describe("")
    for topic in TOPICS:
        assert topic in known
        assert len(await describe(topic)) > 200
    conditions = await describe("conditions")
    assert all(json.dumps(row.example) in conditions for row in CONDITIONS)
    actions = await describe("actions")
    assert all(f"- {name}: " in actions for name in typing.get_args(Name))
    with pytest.raises(InvalidRequest, match="no topic 'nothing'"):
        await describe("nothing")


@pytest.mark.asyncio
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_each_hidden_argument_has_words(tool: Tool) -> None:
    assert all(describe_argument(tool, name) for name in tool.hidden)
    text = tool_help(tool)
    assert all(f"- {name}" in text for name in argument_schemas(tool))
    assert tool.name == "help" or await describe(tool.name) == text


def test_a_tool_is_declared_with_its_request() -> None:
    named = {name for name, command in BY_NAME.items() if command.tool is not None}
    assert {tool.name for tool in TOOLS if tool.run is None} == named
    for tool in TOOLS:
        assert tool.request is None or tool.effect is find_command(tool.request).effect


def test_a_row_that_is_its_request_needs_no_more() -> None:
    row = Tool("display_remove", "admin", "", request=BY_NAME["display_remove"].request)
    assert input_schema(row) == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "force": {"type": "boolean"}},
        "required": ["name"],
    }
    assert parse_arguments(row, {"name": ":7", "force": None}) == BY_NAME["display_remove"].request(":7")  # type: ignore[call-arg]


def test_a_waits_priority_changes_nothing_else_of_its_policy() -> None:
    assert sorted(argument_schemas(BY_TOOL["smart_wait"])["priority"]["enum"]) == ["high", "low", "normal"]
    asked = parse_arguments(BY_TOOL["smart_wait"], {"criteria": "x", "priority": "high"})
    assert make_policy(asked, Policy()) == Policy(priority=Priority.HIGH)
    changed = parse_arguments(BY_TOOL["wait_update"], {"wait_id": "wait-" + "0" * 23, "priority": "low"})
    base = Policy(interval_s=7, confirm=3)
    assert make_policy(changed, base) == msgspec.structs.replace(base, priority=Priority.LOW)
    assert make_policy(parse_arguments(BY_TOOL["smart_wait"], {"criteria": "x"}), base) is None
    with pytest.raises(InvalidRequest, match="priority"):
        parse_arguments(BY_TOOL["smart_wait"], {"criteria": "x", "priority": "urgent"})


# ---- selection ----


def names(**given: Any) -> set[str]:
    return {tool.name for tool in select_tools(options(**given))}


def test_toolsets_single_tools_and_read_only() -> None:
    assert names(caps=("memory",)) == {"memory_search", "memory_read", "memory_append"}
    assert names(tools=("smart_wait",)) == {"smart_wait"}
    assert names(caps=("admin",), tools=("smart_wait",)) == {"health_check", "smart_wait"}
    assert names(tools=("smart_wait", "wait_status"), read_only=True) == {"wait_status"}
    assert "smart_wait" not in names(read_only=True)
    assert not any(name.startswith("memory") for name in names(workspace=None))


def test_an_agent_of_its_own_is_listed_where_a_model_is_set_or_it_is_named() -> None:
    assert "gui_agent" in names()
    absent = frozenset({"planner"})
    assert "gui_agent" not in names(absent=absent)
    assert "gui_agent" not in names(absent=absent, caps=("core",))
    assert names(absent=absent, tools=("gui_agent",)) == {"gui_agent"}


def test_tools_of_a_feature_that_is_off_are_not_listed() -> None:
    gone = names() - names(absent=frozenset({"scene", "tasks"}))
    assert gone == {"scene"} | {name for name in names() if name.startswith("task_")}


@pytest.mark.parametrize("given", [{"caps": ("nope",)}, {"tools": ("nope",)}])
def test_an_unknown_name_is_told_with_the_known_ones(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="nope") as caught:
        select_tools(options(**given))
    assert "known: " in caught.value.hint


def test_the_workspace_must_be_absolute() -> None:
    assert workspace_of({}) is None
    assert workspace_of({"ACU_WORKSPACE": "/w"}) == Path("/w")
    with pytest.raises(Exception, match="absolute"):
        workspace_of({"ACU_WORKSPACE": "w"})


# ---- arguments ----


def test_aliases_strings_and_nulls() -> None:
    taken = parse_arguments(
        BY_TOOL["smart_wait"], {"wake_when": "done", "timeout": "60", "change": "true", "text": None}
    )
    assert taken == SmartWait(criteria="done", timeout=60.0, change=True)


@pytest.mark.parametrize(("arguments", "words"), [
    ({"foo": 1}, "no argument 'foo'"), ({"criteria": 5}, "criteria must be a text"), ({"timeout": -1}, "timeout must "),
    ({"stable": float("nan")}, "stable must "),
])  # fmt: skip
def test_bad_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        parse_arguments(BY_TOOL["smart_wait"], arguments)


def test_conditions() -> None:
    assert make_condition(SmartWait(criteria="a")) == Criteria("a")
    assert make_condition(SmartWait(text="a", gone="b")) == AllOf((Text("a"), Text("b", gone=True)))
    number = make_condition(SmartWait(number="Errors = 0", text="a", whole_words=True, count=2))
    assert number == AllOf((Text("a", whole_words=True, count=2), ScreenNumber(Comparison.EQUAL, 0, "Errors")))
    with pytest.raises(InvalidRequest, match="no comparison"):
        make_condition(SmartWait(number="Errors"))
    both = make_condition(SmartWait(window="w", stable=2, any=True))
    assert both == AnyOf((WindowTitle("w"), Stable(2.0)))
    spinner = Text("a", whole_words=True), Text("a", whole_words=True, gone=True)
    assert make_condition(SmartWait(appears_then_goes="a", whole_words=True)) == Then(spinner)
    assert make_condition(SmartWait(change=True, then=("b",))) == Then((Change(), Text("b")))
    with pytest.raises(InvalidRequest, match="stands alone"):
        make_condition(SmartWait(appears_then_goes="a", text="b"))
    assert make_condition(SmartWait(baseline="t")) == Change(baseline="t")
    for blank in (SmartWait(text=" ", window="w"), SmartWait(criteria="  ")):
        with pytest.raises(InvalidRequest, match="blank"):
            check_until(require_condition(blank))
    with pytest.raises(InvalidRequest, match="nothing to wait for"):
        require_condition(SmartWait())


# ---- results ----


class Odd(msgspec.Struct):
    whole: float = 2.0
    part: float = 0.123456
    text: str = "\ud800"
    inner: tuple[float, ...] = (1.0,)


@pytest.mark.parametrize("client", ["openclaw-bundle-mcp", "mcp"])
def test_the_text_is_the_structured_content_indented_for_a_host_that_compares_them(client: str) -> None:
    shown = result(Odd(), client=client)
    assert shown["structuredContent"] == {"whole": 2, "part": 0.1235, "text": "?", "inner": [1]}
    block = shown["content"][0]
    assert block["type"] == "text"
    if client == "mcp":
        assert block["text"] == '{"whole":2,"part":0.1235,"text":"?","inner":[1]}'
    else:
        assert block["text"] == json.dumps(shown["structuredContent"], indent=2)


class Seen(msgspec.Struct):
    path: str = "/a/look.jpg"
    note: str = "it says: pay\nnow"
    untrusted: str = "beware"
    window: dict[str, Any] = {}


def test_a_picture_comes_with_lines_of_text_and_no_structure() -> None:
    shown = result(ImageResult(Seen(window={"id": 3, "title": 'a"b', "in": {"path": "x"}}), b"picture", "image/png"))
    assert "structuredContent" not in shown
    words, image = shown["content"]
    assert words["type"] == "text"
    assert image["type"] == "image"
    assert words["text"].splitlines() == [
        "path: /a/look.jpg", "untrusted: beware", 'note: "it says: pay\\nnow"', "window.id: 3", 'window.title: "a\\"b"',
        'window.in.path: "x"',
    ]  # fmt: skip


def test_an_error_is_one_short_line() -> None:
    block = failure("a\nb " + "x" * 5000)["content"][0]
    assert block["type"] == "text"
    assert block["text"].startswith("a b x")
    assert len(block["text"]) <= 600
