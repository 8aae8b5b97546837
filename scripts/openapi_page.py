"""docs/openapi.md, made from the OpenAPI document: each operation with its parameters, bodies and types, to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def operations(document: dict[str, Any]) -> str:
    """Return the sections of the operations and of the types of an OpenAPI document."""
    found = [
        _operation(f"{way.upper()} {path}", node)
        for path, ways in sorted(document["paths"].items())
        for way, node in ways.items()
    ]
    types = [_type(name, node) for name, node in sorted(document["components"]["schemas"].items())]
    return "\n\n".join(["## Operations", *found, "## Types", *types])


def _operation(title: str, node: dict[str, Any]) -> str:
    told = f"{node['summary']}. {_prose(node.get('description', ''))}".strip()
    scope = f"Scope `{node['x-scope']}`." if node.get("x-scope") else "For anybody."
    return "\n\n".join([f"### `{title}`", f"{told} {scope}", *_parameters(node), *_bodies(node)])


def _parameters(node: dict[str, Any]) -> Iterator[str]:
    rows = [
        f"| `{one['name']}` | {one['in']} | {_shape(one['schema'])} "
        f"| {_default(one['schema'], one.get('required', False))} |"
        for one in node.get("parameters", ())
    ]
    if rows:
        yield "\n".join(["| parameter | in | type | default |", "|---|---|---|---|", *rows])


def _bodies(node: dict[str, Any]) -> Iterator[str]:
    if "requestBody" in node:
        yield f"Takes {_content(node['requestBody'])}."
    for status, answer in node["responses"].items():
        if status.isdigit() and int(status) < 400:
            yield f"Answers {status} {answer.get('description', '').lower()}: {_content(answer)}."


def _content(node: dict[str, Any]) -> str:
    kinds = [f"{_shape(one.get('schema', {}))} as `{kind}`" for kind, one in node.get("content", {}).items()]
    return " or ".join(kinds) or "nothing"


def _type(name: str, node: dict[str, Any]) -> str:
    told = [_prose(node["description"])] if node.get("description") else []
    if "properties" not in node:
        return "\n\n".join([f"### {name}", *told, f"Is {_shape(node)}."])
    asked = node.get("required", ())
    rows = [
        f"| `{one}` | {_shape(kind)} | {_default(kind, one in asked)} |" for one, kind in node["properties"].items()
    ]
    return "\n\n".join([f"### {name}", *told, "\n".join(["| field | type | default |", "|---|---|---|", *rows])])


def _shape(node: dict[str, Any]) -> str:
    """Return a schema in words, named types as links."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in node:
            return " or ".join(_shape(one) for one in node[several])
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    return _plain(node)


def _plain(node: dict[str, Any]) -> str:
    match node.get("type"):
        case "array" if "prefixItems" in node:
            return f"[{', '.join(_shape(one) for one in node['prefixItems'])}]".replace("[", "\\[", 1)
        case "array":
            return f"list of {_shape(node.get('items') or {})}"
        case "object":
            inner = node.get("additionalProperties")
            return f"map of {_shape(inner)}" if isinstance(inner, dict) else "object"
        case None:
            return "anything"
        case kind:
            return str(kind)


def _default(node: dict[str, Any], required: bool) -> str:
    if required:
        return "required"
    return f"`{_cell(json.dumps(node['default'], ensure_ascii=False))}`" if "default" in node else ""


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("<", "\\<")


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")
