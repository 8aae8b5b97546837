"""Print the types of the web API as TypeScript declarations, made from its OpenAPI document: `Api.Wait` and the like,
and `Api.Gets` and `Api.Posts`, the answer to each path. Types that a request brings may leave out what has a default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from acud_web import api, application
from acud_web.api.document import document

_PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def declarations(described: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the declarations for an OpenAPI document."""
    schemas = described["components"]["schemas"]
    operations = [node for ways in described["paths"].values() for node in ways.values()]
    brought = set[str]()
    for node in operations:
        brought |= _reached(node.get("requestBody", {}), schemas, brought)
    yield "declare namespace Api {"
    for name, schema in schemas.items():
        yield f"type {name} = {_type(schema, name in brought)};"
    for way, listed in (("get", "Gets"), ("post", "Posts")):
        yield f"interface {listed} {{"
        for path, ways in described["paths"].items():
            if way in ways:
                content = ways[way]["responses"].get("200", {}).get("content", {})
                answer = content.get("application/json", {}).get("schema")
                yield f"{json.dumps(path)}: {'unknown' if answer is None else _type(answer, False)};"
        yield "}"
    yield "}"


def _reached(node: Any, schemas: dict[str, Any], seen: set[str]) -> set[str]:
    """Return the names of the schemas that `node` leads to, and those `seen`."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return seen
    name = str(node.get("$ref", "")).rsplit("/", 1)[-1]
    if name and name not in seen:
        seen = _reached(schemas[name], schemas, seen | {name})
    for inner in node.values():
        seen = _reached(inner, schemas, seen)
    return seen


def _type(schema: dict[str, Any], is_brought: bool) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(_type(one, is_brought) for one in schema[several])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(one, is_brought) for one in schema['prefixItems'])}]"
        return f"({_type(schema.get('items', {}), is_brought)})[]"
    if "properties" in schema:
        fields = (
            f"{json.dumps(name)}{'?' if is_brought and name not in schema.get('required', ()) else ''}: "
            f"{_type(one, is_brought)}"
            for name, one in schema["properties"].items()
        )
        return f"{{ {'; '.join(fields)} }}"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"Record<string, {_type(inner, is_brought) if isinstance(inner, dict) else 'any'}>"
    kinds = schema.get("type", "any")
    return " | ".join(_PLAIN.get(one, "any") for one in ([kinds] if isinstance(kinds, str) else kinds))


if __name__ == "__main__":
    print("\n".join(declarations(document(application.ROWS, api.OPERATIONS))))
