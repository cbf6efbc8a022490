"""The client's own model, where it lends it: asked on the connection of the call, or by having the call repeated."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from commonplace.domain.errors import ModelFailed
from commonplace.ports.completions import Completer, Completion

_MOST_TOKENS = 100_000
_OF_THE_CLIENT = "of the client"
_KEY = "model"
_SAMPLING = types.ClientCapabilities(sampling=types.SamplingCapability())

Context = ServerRequestContext[Any, Any]
Answer = types.CreateMessageResult | types.CreateMessageResultWithTools


class ClientModel:
    """The Completer port over `sampling/createMessage`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.name = "sampling"

    async def complete(self, system: str, user: str) -> Completion:
        asked = _question(system, user)
        try:
            with warnings.catch_warnings(action="ignore"):  # deprecated from 2026-07-28 on, and alive before it
                answer = await self._context.session.create_message(
                    asked.messages,
                    max_tokens=asked.max_tokens,
                    system_prompt=asked.system_prompt,
                    related_request_id=self._context.request_id,
                )
        except MCPError as error:
            raise ModelFailed(_OF_THE_CLIENT, str(error)[:300]) from error
        except ValidationError as error:
            raise ModelFailed(_OF_THE_CLIENT, "what it answered is no answer of a model") from error
        return _said(answer)

    async def check(self) -> float:
        began = time.perf_counter()
        await self._context.session.send_ping()
        return time.perf_counter() - began


class Question(Exception):
    """A call cannot be answered before the client's model is: the client asks it, and repeats the call."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("the client's model is to be asked")
        self.result = result


class RepeatedModel:
    """The Completer port where a server cannot ask.

    What was answered so far comes back with the call, question by question, so that the work goes again through the
    same ones. Nothing is trusted for that: an answer is as good or bad as the client's model likes anyway, and it
    counts only for the very question it was given to, which no note, rule or file may have changed meanwhile.
    """

    def __init__(self, params: types.CallToolRequestParams) -> None:
        self.name = "sampling"
        self._answers, asked = _state(params.request_state)
        given = (params.input_responses or {}).get(_KEY)
        self._last = (asked, given) if isinstance(given, Answer) else None

    async def complete(self, system: str, user: str) -> Completion:
        asked = _fingerprint(user)
        if self._last and self._last[0] == asked:
            self._answers[asked] = _said(self._last[1]).text
        if asked in self._answers:
            return Completion(self._answers[asked], 0)
        state = json.dumps({"answers": self._answers, "asked": asked}, ensure_ascii=False)
        request = types.CreateMessageRequest(params=_question(system, user))
        raise Question(types.InputRequiredResult(input_requests={_KEY: request}, request_state=state))

    async def check(self) -> float:
        return 0.0


def client_model(context: Context, params: types.CallToolRequestParams | None = None) -> Completer | None:
    """None where the client does not offer it, or cannot be asked."""
    session = context.session
    if not session.check_client_capability(_SAMPLING):
        return None
    if session.can_send_request:
        return ClientModel(context)
    modern = session.protocol_version in types.version.MODERN_PROTOCOL_VERSIONS
    return RepeatedModel(params) if modern and params else None


def _question(system: str, user: str) -> types.CreateMessageRequestParams:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=user))
    return types.CreateMessageRequestParams(messages=[message], max_tokens=_MOST_TOKENS, system_prompt=system)


def _said(answer: Answer) -> Completion:
    """What it cost is the client's own affair: the protocol does not say."""
    if answer.stop_reason == "maxTokens":
        raise ModelFailed(_OF_THE_CLIENT, "the answer was cut off at the longest length allowed")
    parts = answer.content if isinstance(answer.content, list) else [answer.content]
    texts = [part.text for part in parts if isinstance(part, types.TextContent)]
    if len(texts) != len(parts) or not texts:
        raise ModelFailed(_OF_THE_CLIENT, "it answered with something else than text")
    return Completion("".join(texts), 0)


def _fingerprint(user: str) -> str:
    """Of a question, but for the word between its parts, which is new every time."""
    boundary = user.partition(" ")[0]
    return hashlib.sha256(user.replace(boundary, "").encode(errors="replace")).hexdigest()


def _state(told: str | None) -> tuple[dict[str, str], str]:
    """The answers so far, and the question that the last one is for."""
    try:
        found = json.loads(told or "{}")
        answers = {key: value for key, value in found["answers"].items() if isinstance(value, str)}
        return answers, str(found["asked"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}, ""
