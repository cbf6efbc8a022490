"""ログ: the audit trail."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import flat, instant, quoted
from commonplace.dialects.creo.session import session_id
from commonplace.domain.doing import Doing, Level
from commonplace.engine.doings import Trail

MOST_WORDED = 50
_SHOWN = 80
_LEVELS = {
    "debug": Level.INFO,
    "info": Level.INFO,
    "warn": Level.WARNING,
    "warning": Level.WARNING,
    "error": Level.ERROR,
}

Limit = Annotated[Whole, Field(description="How many at most, 1 to 500")]


class LogEntry(TypedDict):
    timestamp: str
    level: str
    tool: str
    what: str
    subject: str | None
    userId: str
    user: str
    credential: str
    sessionId: str | None
    times: int


class Logs(TypedDict):
    logs: list[LogEntry]
    total: int
    hasMore: bool


@creo.reads
async def get_logs(
    call: Call,
    limit: Limit = 50,
    level: Annotated[
        Literal["debug", "info", "warn", "warning", "error"], Field(description="Entries of this level and graver")
    ] = "info",
) -> Answer[Logs]:
    """What you did, newest first: who, when, by which tool, to which memory; refusals are warnings. Never a text."""
    return _answer(await call.engine.doings.latest(call.actor, limit, _LEVELS[level]), "📜 ログ")


@creo.reads
async def search_logs(
    call: Call,
    query: Annotated[str, Field(description="What stands in the tool, the act, an id, or a name; taken literally")],
    limit: Limit = 50,
) -> Answer[Logs]:
    """The entries of the log in which a text stands, newest first."""
    found = await call.engine.doings.search(call.actor, query, limit)
    return _answer(found, f"🔍 {quoted(query, _SHOWN)} のログ")


def _answer(trail: Trail, title: str) -> Answer[Logs]:
    logs = [_entry(one) for one in trail.doings]
    answer: Logs = {"logs": logs, "total": trail.total, "hasMore": trail.total > len(logs)}
    lines = [f"{title}: {trail.total}件", *(_line(one) for one in logs[:MOST_WORDED])]
    if left := trail.total - min(len(logs), MOST_WORDED):
        lines.append(f"ほか {left} 件")
    return Answer(answer, text="\n".join(lines))


def _entry(one: Doing) -> LogEntry:
    return {
        "timestamp": instant(one.at),
        "level": one.level.value,
        "tool": one.by.tool,
        "what": one.what,
        "subject": one.subject or None,
        "userId": f"users:{one.by.user}",
        "user": one.user_name,
        "credential": one.by.credential,
        "sessionId": session_id(one.by.session) if one.by.session else None,
        "times": one.times,
    }


def _line(one: LogEntry) -> str:
    subject = f" {flat(one['subject'], _SHOWN)}" if one["subject"] else ""
    times = f" ×{one['times']}" if one["times"] > 1 else ""
    who = f"{flat(one['user'], _SHOWN)} ({flat(one['credential'], _SHOWN)})"
    return f"[{one['timestamp']}] {one['level'].upper()} {one['tool']}: {one['what']}{subject}{times} — {who}"
