"""Tools that need something from the client, as of 2026-07-28: the call ends with questions and is made again."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from commonplace.dialects._dialect import Call
from tests.conformance.dialect import shows, text
from tests.conformance.exchange import Shown, here


def form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


def needs(state: str | None = None, **questions: types.InputRequest) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=questions, request_state=state)


@shows
async def test_input_required_result_elicitation(call: Call) -> Shown:
    """Asks the user for a name."""
    answer = here().answer_to("user_name", types.ElicitResult)
    if answer is None:
        return needs(user_name=form("What is your name?", "name"))
    return [text(f"Hello, {(answer.content or {}).get('name')}!")]


@shows
async def test_streaming_elicitation(call: Call) -> Shown:
    """Asks the user, on a stream that must carry no request."""
    return needs(user_name=form("What is your name?", "name"))


@shows
async def test_input_required_result_sampling(call: Call) -> Shown:
    """Asks the client's model."""
    answer = here().answer_to("capital_question", types.CreateMessageResult)
    if answer is None:
        return needs(capital_question=sample("What is the capital of France?", 100))
    return [text(f"The model says: {answer.content}")]


@shows
async def test_input_required_result_list_roots(call: Call) -> Shown:
    """Asks for the client's roots."""
    answer = here().answer_to("client_roots", types.ListRootsResult)
    if answer is None:
        return needs(client_roots=types.ListRootsRequest())
    return [text(f"Roots: {', '.join(str(root.uri) for root in answer.roots)}")]


@shows
async def test_input_required_result_request_state(call: Call) -> Shown:
    """Asks, and knows its own state again."""
    if here().answer_to("confirm", types.ElicitResult) is None or here().params.request_state != "asked":
        return needs("asked", confirm=form("Please confirm", "ok", "boolean"))
    return [text("state-ok")]


@shows
async def test_input_required_result_tampered_state(call: Call) -> Shown:
    """Asks with a state that must come back untouched."""
    if here().params.request_state is None:
        return needs("untouched", confirm=form("Please confirm", "ok", "boolean"))
    return [text("Nobody touched it.")]


@shows
async def test_input_required_result_multiple_inputs(call: Call) -> Shown:
    """Asks three things at once."""
    questions: types.InputRequests = {
        "user_name": form("What is your name?", "name"),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if questions.keys() - (here().params.input_responses or {}).keys():
        return types.InputRequiredResult(input_requests=questions, request_state="three")
    return [text("All answered.")]


@shows
async def test_input_required_result_multi_round(call: Call) -> Shown:
    """Asks twice, one after the other."""
    match here().params.request_state:
        case None:
            return needs("first", step1=form("Step 1: What is your name?", "name"))
        case "first":
            return needs("second", step2=form("Step 2: What is your favorite color?", "color"))
    return [text("Both answered.")]


@shows
async def test_input_required_result_capabilities(call: Call) -> Shown:
    """Asks only what the client said it can answer."""
    can = here().context.session.client_capabilities or types.ClientCapabilities()
    if can.elicitation is not None:
        return needs(name=form("What is your name?", "name"))
    if can.sampling is not None:
        return needs(greeting=sample("Generate a greeting", 50))
    return [text("Nothing to ask with.")]


@shows
async def test_missing_capability(call: Call) -> Shown:
    """Works only for clients that declare sampling."""
    can = here().context.session.client_capabilities
    if can is None or can.sampling is None:
        lacking: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling", lacking)
    return [text("The client can sample.")]
