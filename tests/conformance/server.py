"""The fixture dialect as a server process of the product: its engine, store, transports, guard and credentials."""

from __future__ import annotations

import argparse
from typing import Any

import anyio
import mcp_types as types
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from commonplace.bootstrap import build, log_to_stderr
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from commonplace.transports.serving import serve
from tests.conformance import inputs  # noqa: F401  (its tools register themselves)
from tests.conformance.dialect import conformance
from tests.conformance.exchange import Context, Exchange, within
from tests.conformance.prompts import complete, get_prompt, list_prompts
from tests.fakes import Embedder


def extend(server: DialectServer) -> None:
    """Lay what the suite asks for, and no dialect offers, over the product's own handlers."""
    low = server.server
    calls, reads = low.get_request_handler("tools/call"), low.get_request_handler("resources/read")
    assert calls is not None
    assert reads is not None

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
        exchange = Exchange(server, context, params)
        with within(exchange):
            return exchange.result(await calls.handler(context, params))

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> Any:
        result = await reads.handler(context, params)
        binary = params.uri == "test://static-binary"
        return _as_bytes(result) if binary and isinstance(result, types.ReadResourceResult) else result

    low.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    low.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    low.add_request_handler("prompts/list", types.PaginatedRequestParams, list_prompts)
    low.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    low.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)
    low.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=low.name))


def _as_bytes(result: types.ReadResourceResult) -> types.ReadResourceResult:
    contents: list[types.TextResourceContents | types.BlobResourceContents] = [
        types.BlobResourceContents(uri=one.uri, mime_type="image/png", blob=one.text.strip('"'))
        for one in result.contents
        if isinstance(one, types.TextResourceContents)
    ]
    return result.model_copy(update={"contents": contents})


async def _set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


async def _run(settings: Settings) -> None:
    engine = build(settings, model=Embedder())
    try:
        server = DialectServer(conformance, engine, settings)
        extend(server)
        await serve({conformance.name: server}, engine, settings, _quietly)
    finally:
        await engine.close()


async def _quietly() -> None:
    """Nobody reads a welcome here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--http-port", type=int, required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--owner-key", required=True)
    options = parser.parse_args()
    log_to_stderr("warning")
    anyio.run(_run, Settings(transport=("http",), dialect=conformance.name, timezone="UTC", **vars(options)))


if __name__ == "__main__":
    main()
