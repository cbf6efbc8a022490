"""A dialect as an MCP server: listings, calls, resources; errors become answers here, once."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError

from commonplace import __version__
from commonplace.dialects._dialect import Act, Answer, Call, Dialect, Prose, Shelved, Tool
from commonplace.domain.access import Actor
from commonplace.domain.errors import CommonplaceError, Invalid, NotFound
from commonplace.domain.unicode import one_line
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.greeting import Greeting
from commonplace.transports.messages import ARGUMENTS
from commonplace.transports.sampling import Question, client_model
from commonplace.transports.subscriptions import Subscriptions
from commonplace.transports.watching import UNKNOWN, Watched, Watcher, logged, watching

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
ToolAnswer = types.CallToolResult | types.InputRequiredResult
ACTOR = "commonplace.actor"
"""Under this key an HTTP request carries who sent it."""
SESSION = "commonplace.session"
"""And under this the session of its transport, where that has its own."""
REASONS = "commonplace/reasons"
"""Who asks for it in the `_meta` of a call is told in that of the answer why its entries stand where they stand."""
_LIST_TTL_MS = 60_000
_READING = (Act.READS, Act.OVERSEES, Act.TELLS)
_LONGEST_NAME = 80
_NAMELESS = "unnamed"
_PROCESS_SESSION = secrets.token_hex(8)
_json = json.JSONEncoder(ensure_ascii=False).encode


class DialectServer:
    """One dialect over the engine, on whatever transport brings it requests."""

    def __init__(self, dialect: Dialect, engine: Engine, settings: Settings) -> None:
        self.dialect = dialect
        self._engine = engine
        self._settings = settings
        self._tools = dialect.offered(settings)
        self._subscriptions = Subscriptions(dialect, engine, settings)
        self._local: Actor | None = None
        self.watchers: list[Watcher] = [logged] if logger.isEnabledFor(logging.DEBUG) else []
        """Who is told of every call when it is over."""
        self.met = anyio.Event()
        """Set once a client has said something, be it the handshake."""
        self.greeted = anyio.Event()
        """Set once a client has asked for something: the handshake is over, loading may begin."""
        self.server: Server[Any] = Server(
            f"commonplace-{dialect.name}",
            version=__version__,
            title=dialect.title,
            instructions=dialect.instructions,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=_no_prompts,
            on_get_prompt=_no_prompt,
        )
        # Without the SDK's own spans: they carry messages of errors, and these may quote a memory (see tracing.py).
        self.server.middleware.clear()
        self.server.middleware.append(self._meet)
        if dialect.greeting:
            self.server.middleware.append(Greeting(dialect.greeting, self._greeting_call))

    @property
    def options(self) -> Any:
        return self.server.create_initialization_options(NotificationOptions())

    async def run_background(self) -> None:
        """Tell subscribers what changes, until cancelled."""
        await self._subscriptions.run()

    # Who

    async def _meet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        self.met.set()
        return result

    async def _actor(self, context: Context) -> Actor:
        self.greeted.set()
        return await self._caller(context)

    async def _caller(self, context: Context) -> Actor:
        """From the credential the request came with; without a network in between, the owner."""
        if context.request is not None:
            actor: Actor = context.request.scope[ACTOR]
            today = self._engine.clock.now().astimezone(actor.zone).date()
            return actor.through("", f"{actor.credential}/{_session(context, context.request, today)}")
        if self._local is None:
            self._local = await self._engine.access.local_owner()
        return self._local.through("", f"stdio/{_PROCESS_SESSION}")

    # Tools

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self._tools.get(name)
        return tool.input_schema if tool else None

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        allowed = [_listed(tool, self.dialect.apps.get(tool.name)) for tool in await self._allowed(context)]
        return types.ListToolsResult(tools=allowed, ttl_ms=_LIST_TTL_MS, cache_scope="private")

    async def _allowed(self, context: Context) -> list[Tool]:
        """Those that the caller's credential opens: it is told of no others."""
        actor = await self._actor(context)
        return [tool for tool in self._tools.values() if tool.act.allows(actor)]

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
        name = params.name if params.name in self._tools else UNKNOWN
        with watching(self.watchers, self.dialect.name, name, context.meta) as call:
            answer = await self._answer(context, params, call)
            call.refused = isinstance(answer, types.CallToolResult) and bool(answer.is_error)
            return answer

    async def _answer(self, context: Context, params: types.CallToolRequestParams, watched: Watched) -> ToolAnswer:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join([one.name for one in await self._allowed(context)])
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]}. This server has: {known}")
        call: Call | None = None
        try:
            call = await self._called(context, tool.name, params)
            tool.act.require(call.actor)
            self.dialect.heard(call)
            answer = await tool(call, _arguments(context, params))
            return _answered(answer, explained=bool((params.meta or {}).get(REASONS)))
        except Question as question:
            return question.result
        except CommonplaceError as error:
            if call:
                self._engine.doings.refused(call.actor, error)
            return _refused(self.dialect.refusal(error))
        except Exception as error:
            watched.failed = True
            if call:
                self._engine.doings.failed(call.actor, error)
            logger.exception("%s.%s failed", self.dialect.name, tool.name)
            return _refused(self.dialect.refusal(CommonplaceError()))

    async def _greeting_call(self, context: Context) -> Call:
        actor = (await self._caller(context)).through(f"{self.dialect.name}.instructions")
        return Call(self._engine, actor, self._settings)

    async def _called(self, context: Context, tool: str, params: types.CallToolRequestParams | None = None) -> Call:
        async def progress(done: int, total: int) -> None:
            await context.session.report_progress(done, total)

        self.met.set()  # not when it is answered: what the answer is made of may wait for it
        actor = (await self._actor(context)).through(f"{self.dialect.name}.{tool}")
        client, model = _client_name(context), client_model(context, params)
        return Call(self._engine, actor, self._settings, progress, client=client, model=model)

    # Resources

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = (params.cursor if params else None) or ""
        fixed = [
            types.Resource(uri=r.uri, name=r.name, description=r.description, mime_type=r.mime_type)
            for r in self.dialect.resources
            if not r.is_template and not cursor
        ]
        shelved, following = await self._shelved(context, cursor)
        return types.ListResourcesResult(
            resources=fixed + shelved,
            next_cursor=following or None,
            ttl_ms=0 if self.dialect.shelf else _LIST_TTL_MS,
            cache_scope="private",
        )

    async def _shelved(self, context: Context, cursor: str) -> tuple[list[types.Resource], str]:
        if self.dialect.shelf is None:
            return [], ""
        try:
            page, following = await self.dialect.shelf.page(await self._called(context, "resources"), cursor)
        except CommonplaceError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return [_shelved(entry) for entry in page], following

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(uri_template=form, name=r.name, description=r.description, mime_type=r.mime_type)
            for r in self.dialect.resources
            if r.is_template
            for form in (r.uri, *(alias for alias in r.aliases if "://" in alias))
        ]
        templates += [
            types.ResourceTemplate(uri_template=t.uri, name=t.name, description=t.description, mime_type="text/plain")
            for t in (self.dialect.shelf.templates(self._settings) if self.dialect.shelf else ())
        ]
        return types.ListResourceTemplatesResult(
            resource_templates=templates, ttl_ms=_LIST_TTL_MS, cache_scope="private"
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        value = await self._resource(context, str(params.uri))
        mime, words = (value.mime_type, value) if isinstance(value, Prose) else ("application/json", _json(value))
        text = types.TextResourceContents(uri=str(params.uri), mime_type=mime, text=words)
        return types.ReadResourceResult(contents=[text], ttl_ms=0, cache_scope="private")

    async def _resource(self, context: Context, uri: str, *, shown: bool = True) -> Any:
        try:
            return await self.dialect.read(replace(await self._called(context, "resource"), shown=shown), uri)
        except (LookupError, NotFound, Invalid) as error:
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri[:200]}", {"uri": uri[:200]}) from error
        except CommonplaceError as error:
            body = self.dialect.refusal(error)
            data = {"error": body} if isinstance(body, str) else dict(body)
            raise MCPError(types.INTERNAL_ERROR, str(error), data) from error
        except Exception as error:
            logger.exception("%s: reading %s failed", self.dialect.name, uri)
            raise MCPError(types.INTERNAL_ERROR, "The resource could not be read") from error

    # Being told

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self._resource(context, str(params.uri), shown=False)  # who may not read it may not hear of it
        await self._subscriptions.add(await self._actor(context), context, str(params.uri))
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscriptions.remove(context, str(params.uri))
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        for uri in params.notifications.resource_subscriptions or ():
            await self._resource(context, str(uri), shown=False)
        return await self._subscriptions.listen(await self._actor(context), context, params)


async def _no_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[], ttl_ms=_LIST_TTL_MS, cache_scope="public")


async def _no_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")


def _session(context: Context, request: Any, today: date) -> str:
    """Streamable HTTP names it in a header, SSE has its own; the modern era has none: there a client's day."""
    session: str = request.scope.get(SESSION) or request.headers.get("mcp-session-id") or ""
    return _shown(session) or f"{_client_name(context) or _NAMELESS}/{today:%Y-%m-%d}"


def _arguments(context: Context, params: types.CallToolRequestParams) -> Mapping[str, Any]:
    """As they were sent, even where the SDK could not read them."""
    sent: Mapping[str, Any] | None = context.request.scope.get(ARGUMENTS) if context.request is not None else None
    return sent or params.arguments or {}


def _client_name(context: Context) -> str:
    client = context.session.client_params
    return _shown(client.client_info.name) if client else _NAMELESS


def _shown(name: str) -> str:
    """What somebody else chose, so that it can be shown in a list, and typed as it is shown."""
    return one_line(name[:_LONGEST_NAME])


def _listed(tool: Tool, app: str | None) -> types.Tool:
    return types.Tool(
        _meta={"ui": {"resourceUri": app}} if app else None,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.act in _READING,
            destructive_hint=tool.act in (Act.DESTROYS, Act.SERVES, Act.GOVERNS, Act.OVERRULES),
            idempotent_hint=tool.act in (*_READING, Act.DESTROYS),
            open_world_hint=False,
        ),
    )


def _shelved(entry: Shelved) -> types.Resource:
    weight = None if entry.weight is None else types.Annotations(priority=entry.weight)
    return types.Resource(
        uri=entry.uri,
        name=entry.name,
        description=entry.description or None,
        mime_type="text/plain",
        annotations=weight,
    )


def _answered(answer: Answer[Any], *, explained: bool) -> types.CallToolResult:
    """The value twice, as an object and as text; a list, a string or null stands under `result` in the object."""
    value = answer.value
    if isinstance(value, Prose):
        return types.CallToolResult(content=[types.TextContent(type="text", text=value)])
    words = answer.text or (value if isinstance(value, str) else _json(value))
    texts = [words, *([answer.notice] if answer.notice else [])]
    structured = value if isinstance(value, dict) else {"result": value}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts],
        structured_content=structured,
        _meta={REASONS: list(answer.reasons())} if explained else None,
    )


def _refused(body: Mapping[str, Any] | Prose) -> types.CallToolResult:
    if isinstance(body, Prose):
        return types.CallToolResult(content=[types.TextContent(type="text", text=body)], is_error=True)
    text = types.TextContent(type="text", text=_json(body))
    return types.CallToolResult(content=[text], structured_content=dict(body), is_error=True)
