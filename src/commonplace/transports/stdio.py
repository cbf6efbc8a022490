"""stdio: one client, the owner of this machine. Nothing but protocol goes to stdout."""

from mcp.server.runner import serve_dual_era_loop
from mcp.server.stdio import stdio_server

from commonplace.transports.mcp import DialectServer


async def serve(dialect: DialectServer) -> None:
    """Until the client closes its end."""
    async with stdio_server() as (incoming, outgoing):
        await serve_dual_era_loop(dialect.server, incoming, outgoing, lifespan_state={}, init_options=dialect.options)
