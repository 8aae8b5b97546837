"""JSON Schemas of arguments and results, made from the structs of the protocol and cut down to what a model needs.

Every listed word is in the model's context for a whole session, so limits that the daemon checks anyway, titles, and
defaults that mean "not given" are left out.
"""

from __future__ import annotations

from typing import Any

import msgspec

from acud_mcp.tool import Tool

Schema = dict[str, Any]

_KEPT = ("type", "enum", "default", "items")
_UNSAID: tuple[Any, ...] = ("", False, 0, 0.0, None, [], (), {})

GLOSSARY = {
    "target": "screen, display:NAME, window:TITLE, region:x,y,w,h, pty:SESSION, monitor:NAME",
    "timeout": "seconds",
    "wait_id": "id, or its beginning",
}
"""Words for arguments that several tools share; a tool's own `params` go first."""


def input_schema(tool: Tool) -> Schema:
    """Return the schema of the arguments of `tool`."""
    definition = _definition(tool.arguments_type)
    properties: Schema = {}
    for name, node in definition["properties"].items():
        if name not in tool.unlisted and not _is_tag(tool.arguments_type, name):
            properties[name] = _described(_slim(node, _components(tool.arguments_type)), name, tool)
    schema: Schema = {"type": "object", "properties": properties}
    required = [name for name in definition.get("required", ()) if name in properties]
    return schema | ({"required": required} if required else {})


def output_schema(tool: Tool) -> Schema:
    """Return the schema of the structured content of `tool`: its members, not what is inside them."""
    definition, components = _definition(tool.result_type), _components(tool.result_type)
    members = {
        name: {} if _may_be_null(node) else _shallow(_slim(node, components))
        for name, node in definition["properties"].items()
        if not _is_tag(tool.result_type, name) and (not tool.shows or name in tool.shows)
    }
    return {"type": "object", "properties": members}


def _components(kind: type[msgspec.Struct]) -> Schema:
    _, components = msgspec.json.schema_components((kind,), ref_template="{name}")
    return components


def _definition(kind: type[msgspec.Struct]) -> Schema:
    definition: Schema = _components(kind)[kind.__name__]
    return definition


def _is_tag(kind: type[msgspec.Struct], name: str) -> bool:
    return kind.__struct_config__.tag_field == name


def _may_be_null(node: Schema) -> bool:
    return {"type": "null"} in node.get("anyOf", ())


def _slim(node: Schema, components: Schema) -> Schema:
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _slim(components[node["$ref"]] | rest, components)
    if "anyOf" in node:
        return _slim_union(node, components)
    slim = {key: node[key] for key in _KEPT if key in node}
    if slim.get("default") in _UNSAID:
        slim.pop("default", None)
    if isinstance(slim.get("items"), dict):
        slim["items"] = _slim(slim["items"], components)
    elif slim.get("type") == "array":
        slim["items"] = {}
    return slim


def _slim_union(node: Schema, components: Schema) -> Schema:
    parts = [_slim(part, components) for part in node["anyOf"] if part != {"type": "null"}]
    return parts[0] if len(parts) == 1 else {}


def _shallow(node: Schema) -> Schema:
    if "enum" in node:
        return {"type": "string"}
    return {"type": node["type"]} if isinstance(node.get("type"), str) else {}


def _described(node: Schema, name: str, tool: Tool) -> Schema:
    words = tool.params.get(name, GLOSSARY.get(name, ""))
    return node | ({"description": words} if words else {})
