"""Prompts and completion, which no dialect of the product offers: handlers beside the frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from tests.conformance.dialect import embedded, image, text
from tests.conformance.inputs import form, needs

Context = ServerRequestContext[Any, Any]

PROMPTS: Mapping[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_prompts(context: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
    prompts = [
        types.Prompt(
            name=name,
            description=f"A fixture: {name}",
            arguments=[types.PromptArgument(name=one, description=one, required=True) for one in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=prompts, ttl_ms=60_000, cache_scope="public")


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return _said(text("This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            return _said(text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))
        case "test_prompt_with_embedded_resource":
            resource = embedded(given.get("resourceUri", ""), "Embedded resource content for testing.")
            return _said(resource, text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return _said(image(), text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            return _in_context(params)
    raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")


def _in_context(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    answer = (params.input_responses or {}).get("user_context")
    if not isinstance(answer, types.ElicitResult):
        return needs(user_context=form("What context should the prompt use?", "context"))
    return _said(text(f"In the context: {answer.content}"))


def _said(*contents: types.ContentBlock) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in contents])


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [word for word in ("test", "testing", "tests") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
