"""The peer: the smallest server that the SDK allows, which answers what it was taught to.

`python bare_server.py` speaks stdio, `python bare_server.py PORT` streamable HTTP. Whatever it takes is the price of
the protocol; whatever the program takes beyond it is its own.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

SCHEMA: dict[str, Any] = {"type": "object"}
TOOLS = ("learn", "echo", "other")

learnt: dict[str, Any] = {}


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=SCHEMA) for name in TOOLS])


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """`learn` keeps the answer that `echo` then gives, as an object and as text."""
    if params.name == "learn":
        learnt.clear()
        learnt.update((params.arguments or {})["answer"])
    text = types.TextContent(type="text", text=json.dumps(learnt, ensure_ascii=False))
    return types.CallToolResult(content=[text], structured_content=learnt)


server: Server[Any] = Server(
    "bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=lambda name: SCHEMA
)


async def on_stdio() -> None:
    from mcp.server.runner import serve_dual_era_loop
    from mcp.server.stdio import stdio_server

    options = server.create_initialization_options()
    async with stdio_server() as (incoming, outgoing):
        await serve_dual_era_loop(server, incoming, outgoing, lifespan_state={}, init_options=options)


def on_http(port: int) -> None:
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route

    manager = StreamableHTTPSessionManager(server)

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    health = Route("/health", lambda request: PlainTextResponse("ok"))
    app = Starlette(routes=[health, Mount("/mcp", manager.handle_request)], lifespan=running)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        on_http(int(sys.argv[1]))
    else:
        anyio.run(on_stdio)
