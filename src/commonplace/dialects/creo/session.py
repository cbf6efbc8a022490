"""セッション管理: what a session did, how the server is, and the end of a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable
from typing import Annotated, TypeVar
from urllib.parse import quote, unquote

from pydantic import Field
from typing_extensions import TypedDict

from commonplace import __version__
from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo._creo import API_VERSION, creo
from commonplace.dialects.creo.answers import flat, instant, remaining
from commonplace.domain.doing import Level
from commonplace.domain.errors import NotFound, StoreFailed
from commonplace.domain.memory import Memory
from commonplace.engine.doings import Activity

MOST_ENDING = 20
MOST_TOOLS = 100
_PREFIX = "session:"
_CURRENT = "current"
_PAGE = 500
_MOST_LOOKED_AT = 10_000
_DAY = re.compile(r"/\d{4}-\d\d-\d\d\Z")
_UNREADABLE = "読めません"

T = TypeVar("T")

Id = Annotated[str, Field(description="Session id as get_status tells it (session:…), or `current`")]


class ToolUse(TypedDict):
    tool: str
    changes: int
    others: int


class SessionShown(TypedDict):
    id: str
    current: bool
    users: list[str]
    client: str | None
    startedAt: str | None
    lastActivityAt: str | None
    endedAt: str | None
    changes: dict[str, int]
    totalChanges: int
    refused: int
    failed: int
    tools: list[ToolUse]


class Counts(TypedDict):
    """None where the file cannot be read."""

    memories: int | None
    ephemeral: int | None
    openTodos: int | None


class EmbedderState(TypedDict):
    name: str
    ready: bool
    reason: str


class StorageState(TypedDict):
    writable: bool
    reason: str


class StatusUser(TypedDict):
    id: str
    name: str | None


class ServerStatus(TypedDict):
    status: str
    server: str
    version: str
    release: str
    uptimeSeconds: int
    user: StatusUser
    sessionId: str
    counts: Counts
    embedder: EmbedderState
    storage: StorageState


class Unpromoted(TypedDict):
    id: str
    remaining: str
    expiresAt: str


class SessionEnded(TypedDict):
    sessionId: str
    cleanedUpExpired: str
    cleanedUp: int
    ephemeralMemories: list[Unpromoted]
    total: int
    hasMore: bool


def session_id(name: str) -> str:
    """The id of a session: its name may hold anything, so it is written as in an address."""
    return _PREFIX + quote(name, safe="")


@creo.reads
async def get_session(call: Call, sessionId: Id) -> Answer[SessionShown]:
    """What one of your sessions did: changes by kind, tools, refusals, when it began and was last heard of."""
    try:
        found = await call.engine.doings.session(call.actor, _name(call, sessionId))
    except NotFound as error:
        raise NotFound("session", sessionId) from error
    answer = _shown(found)
    lines = [f"📊 セッション {answer['id']}" + (" (現在)" if found.current else "")]
    if answer["startedAt"]:
        lines.append(f"期間: {answer['startedAt']} 〜 {answer['lastActivityAt']}")
    counted = ", ".join(f"{kind} {count}" for kind, count in answer["changes"].items())
    lines.append(f"変更: {answer['totalChanges']}件" + (f" ({counted})" if counted else ""))
    return Answer(answer, text="\n".join(lines))


@creo.reads
async def get_status(call: Call) -> Answer[ServerStatus]:
    """Whether the server is well, who you are, the id of this session, and what you can see in figures."""
    await call.engine.embedding.until_chosen()
    name, counts = await _legible(_own_name(call)), await _counts(call)
    failure, trouble = call.engine.embedding.failure, await _trouble(call, counts)
    uptime = call.engine.clock.now() - call.engine.doings.began_at
    answer: ServerStatus = {
        "status": "degraded" if failure or trouble else "ok",
        "server": "creo-memories",
        "version": API_VERSION,
        "release": __version__,
        "uptimeSeconds": int(uptime.total_seconds()),
        "user": {"id": f"users:{call.actor.user}", "name": name},
        "sessionId": session_id(call.actor.session),
        "counts": counts,
        "embedder": {"name": call.engine.embedding.name, "ready": not failure, "reason": failure},
        "storage": {"writable": call.engine.store.writable and not call.engine.store.trouble, "reason": trouble},
    }
    return Answer(answer, text="\n".join(_standing(answer)))


@creo.destroys
async def end_session(call: Call, sessionId: Id) -> Answer[SessionEnded]:
    """End a session of yours: expired memories are removed, and those that will expire are listed to be kept or not."""
    name = _name(call, sessionId)
    try:
        await call.engine.doings.end_session(call.actor, name)
    except NotFound as error:
        raise NotFound("session", sessionId) from error
    swept = await call.engine.memories.sweep(call.actor)
    living, now = await _unpromoted(call), call.engine.clock.now()
    listed: list[Unpromoted] = [
        {"id": one.id, "remaining": remaining(one.ephemeral, now), "expiresAt": instant(one.ephemeral.ends_at)}
        for one in living[:MOST_ENDING]
        if one.ephemeral
    ]
    answer: SessionEnded = {
        "sessionId": session_id(name),
        "cleanedUpExpired": f"{swept}件の期限切れメモリを削除",
        "cleanedUp": swept,
        "ephemeralMemories": listed,
        "total": len(living),
        "hasMore": len(living) > len(listed),
    }
    return Answer(answer, text="\n".join(_farewell(answer)))


def _farewell(answer: SessionEnded) -> list[str]:
    lines = ["✅ セッションを終了しました", f'cleanedUpExpired: "{answer["cleanedUpExpired"]}"']
    if not answer["total"]:
        return lines
    lines += ["", f"未昇格の一時メモリが {answer['total']} 件あります:"]
    lines += [f"{n}. ID: {one['id']} ({one['remaining']})" for n, one in enumerate(answer["ephemeralMemories"], 1)]
    if answer["hasMore"]:
        lines.append(f"ほか {answer['total'] - len(answer['ephemeralMemories'])} 件")
    return [*lines, "", "永続化したいものがあれば update_memory({ id, ttl: null }) で昇格できます。"]


def _name(call: Call, written: str) -> str:
    """The name of a session from its id, percent-encoded or plain."""
    bare = written.strip().removeprefix(_PREFIX)
    return call.actor.session if bare == _CURRENT else unquote(bare)


def _shown(found: Activity) -> SessionShown:
    changes: Counter[str] = Counter()
    tools: dict[str, ToolUse] = {}
    for one in found.stretches:
        use = tools.setdefault(one.tool, {"tool": one.tool, "changes": 0, "others": 0})
        if one.change:
            changes[one.what] += one.count
            use["changes"] += one.count
        else:
            use["others"] += one.count
    return {
        "id": session_id(found.session),
        "current": found.current,
        "users": [f"users:{user}" for user, _ in found.users],
        "client": _client(found.session),
        "startedAt": instant(found.began_at) if found.began_at else None,
        "lastActivityAt": instant(found.last_at) if found.last_at else None,
        "endedAt": instant(found.ended_at) if found.ended_at else None,
        "changes": dict(changes),
        "totalChanges": changes.total(),
        "refused": sum(one.count for one in found.stretches if one.level is Level.WARNING),
        "failed": sum(one.count for one in found.stretches if one.level is Level.ERROR),
        "tools": list(tools.values())[:MOST_TOOLS],
    }


def _client(session: str) -> str | None:
    """A client that has no session of its own is known by its name and the day; one on stdio is this machine's."""
    if session.startswith("stdio/"):
        return "stdio"
    day = _DAY.search(session)
    return session[: day.start()].rpartition("/")[2] or None if day else None


def _standing(answer: ServerStatus) -> list[str]:
    reason, counts = answer["storage"]["reason"], answer["counts"]
    memories, ephemeral, todos = (_counted(counts[what]) for what in ("memories", "ephemeral", "openTodos"))
    return [
        f"{'✅' if answer['status'] == 'ok' else '⚠️'} {answer['server']} {API_VERSION}: {answer['status']}",
        f"セッション: {answer['sessionId']}",
        f"ユーザー: {_UNREADABLE if answer['user']['name'] is None else flat(answer['user']['name'], 80)}",
        f"メモリ: {memories} (一時 {ephemeral}), 未完Todo: {todos}",
        *([f"ストレージ: {reason}"] if reason else []),
    ]


def _counted(count: int | None) -> str:
    return _UNREADABLE if count is None else f"{count}件"


async def _trouble(call: Call, counts: Counts) -> str:
    """Where the store lies is for nobody to read here."""
    store = call.engine.store
    if store.damage and await _legible(store.check()) != "":  # looked at again: a backup may have been put back since
        return "part of the file is damaged; whoever runs the server can put back a backup"
    if None in counts.values():
        return "the store cannot be read"
    if not store.writable:
        return "the store can only be read"
    return "the last write failed" if store.trouble else ""


async def _counts(call: Call) -> Counts:
    return {
        "memories": await _legible(_total(call)),
        "ephemeral": await _legible(_total(call, ephemeral=True)),
        "openTodos": await _legible(_open_todos(call)),
    }


async def _legible(figure: Awaitable[T]) -> T | None:
    """Nothing where it cannot be read: then, if ever, it is asked how the server is."""
    try:
        return await figure
    except StoreFailed:
        return None


async def _own_name(call: Call) -> str:
    return (await call.engine.access.user(call.actor)).name


async def _total(call: Call, *, ephemeral: bool | None = None) -> int:
    return (await call.engine.memories.page(call.actor, 1, ephemeral=ephemeral)).total


async def _open_todos(call: Call) -> int:
    _, total = await call.engine.todos.urgent(call.actor, 1)
    return total


async def _unpromoted(call: Call) -> list[Memory]:
    """The caller's own memories that will end, those stored first in front."""
    found: list[Memory] = []
    for offset in range(0, _MOST_LOOKED_AT, _PAGE):
        page = await call.engine.memories.page(call.actor, _PAGE, offset=offset, ephemeral=True)
        found += [one for one in page.memories if one.author.user == call.actor.user]
        if offset + _PAGE >= page.total:
            break
    return found[::-1]
