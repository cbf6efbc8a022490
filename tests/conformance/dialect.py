"""The tools and resources that the conformance suite calls by name, in the frame that real dialects stand in."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

import anyio
import mcp_types as types
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged
from pydantic import Field

from commonplace.dialects._dialect import Act, Body, Call, Dialect, Tool
from commonplace.domain.errors import CommonplaceError, Invalid
from tests.conformance.exchange import Shown, here, shown_by

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
PAUSE = 0.05
"""Seconds between the notifications of a tool, so that a client meets them one by one."""


def refusal(error: CommonplaceError) -> Body:
    return {"error": error.message}


conformance = Dialect("conformance", "Conformance", "1", "Fixtures of the conformance suite.", refusal)
shows = shown_by(conformance)


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, kind: str = "text/plain") -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=resource)


# Content


@conformance.reads
async def test_simple_text(call: Call) -> str:
    """A text."""
    return "This is a simple text response for testing."


@shows
async def test_image_content(call: Call) -> Shown:
    """An image."""
    return [image()]


@shows
async def test_audio_content(call: Call) -> Shown:
    """A sound."""
    return [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@shows
async def test_embedded_resource(call: Call) -> Shown:
    """A resource inside the answer."""
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@shows
async def test_multiple_content_types(call: Call) -> Shown:
    """A text, an image and a resource."""
    resource = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [text("Multiple content types test:"), image(), resource]


@conformance.reads
async def test_error_handling(call: Call) -> str:
    """Always refuses."""
    raise Invalid("test", "This tool intentionally returns an error for testing")


# Notifications


@conformance.reads
async def test_tool_with_progress(call: Call) -> str:
    """Says how far it is."""
    for done in (0, 50, 100):
        await call.progress(done, 100)
        await anyio.sleep(PAUSE)
    return "Done."


@conformance.reads
async def test_reconnection(call: Call) -> str:
    """Breaks off its own stream before it answers."""
    if (break_off := here().context.close_sse_stream) is not None:
        await break_off()
    await anyio.sleep(PAUSE)
    return "Answered all the same."


@conformance.reads
async def test_tool_with_logging(call: Call) -> str:
    """Logs to the client."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await here().log(words)
        await anyio.sleep(PAUSE)
    return "Done."


@conformance.reads
async def test_logging_tool(call: Call) -> str:
    """Logs to a client that may not have asked for it."""
    await here().log("Nobody asked for this")
    return "Done."


@conformance.writes
async def test_trigger_tool_change(call: Call) -> str:
    """Announces a change of the tools."""
    await here().announce(ToolsListChanged())
    return "Announced."


@conformance.writes
async def test_trigger_prompt_change(call: Call) -> str:
    """Announces a change of the prompts."""
    await here().announce(PromptsListChanged())
    return "Announced."


# Questions to the client, before 2026-07-28


@conformance.reads
async def test_sampling(call: Call, prompt: str) -> str:
    """Asks the client's model."""
    message = types.SamplingMessage(role="user", content=text(prompt))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    answer = await here().ask(types.CreateMessageRequest(params=params), types.CreateMessageResult)
    return f"LLM response: {answer.content}"


@conformance.reads
async def test_elicitation(call: Call, message: str) -> str:
    """Asks the client's user."""
    properties = {name: {"type": "string", "description": name} for name in ("username", "email")}
    return await _elicited(message, properties, list(properties))


@conformance.reads
async def test_elicitation_sep1034_defaults(call: Call) -> str:
    """Asks with a default for every kind of field."""
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _elicited("Check these", properties)


@conformance.reads
async def test_elicitation_sep1330_enums(call: Call) -> str:
    """Asks with every form of choice."""
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    properties = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **legacy},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _elicited("Choose", properties)


async def _elicited(message: str, properties: dict[str, Any], required: list[str] | None = None) -> str:
    schema = {"type": "object", "properties": properties, "required": required or []}
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    answer = await here().ask(types.ElicitRequest(params=params), types.ElicitResult)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


# Schemas


@conformance.reads
async def test_custom_headers(
    call: Call, region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]
) -> str:
    """Takes an argument that HTTP clients repeat in a header."""
    return region


class _Verbatim(Tool):
    """Lists a schema that no signature can express."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": False,
        }


async def json_schema_2020_12_tool(call: Call) -> str:
    """Tool with JSON Schema 2020-12 features"""
    return "Listed to be looked at."


conformance.tools["json_schema_2020_12_tool"] = _Verbatim(
    "json_schema_2020_12_tool", Act.READS, json_schema_2020_12_tool, None
)


# Resources


@conformance.resource("test://static-text", "static-text")
async def static_text(call: Call) -> str:
    """A text."""
    return "This is the content of the static text resource."


@conformance.resource("test://static-binary", "static-binary")
async def static_binary(call: Call) -> str:
    """An image; the server turns it into bytes, which the frame has no need of."""
    return PNG


@conformance.resource("test://watched-resource", "watched-resource")
async def watched_resource(call: Call) -> str:
    """Something to subscribe to."""
    return "Watched."


@conformance.resource("test://template/{id}/data", "template")
async def template(call: Call, variable: str) -> dict[str, Any]:
    """A family of resources."""
    number = variable.removesuffix("/data")
    return {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
