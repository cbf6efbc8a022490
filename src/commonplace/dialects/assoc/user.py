"""ユーザー・セッション管理: who is calling, their projects, their sessions."""

from typing import Annotated, Any, Literal

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import answers
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.figures import figures
from commonplace.dialects.assoc.parameters import collection, described
from commonplace.domain import limits
from commonplace.domain.collection import SESSION_LENGTH, Kind
from commonplace.domain.memory import MAX_LABEL_CHARS

actions = Actions("action")


@assoc.leaves_aside(actions.unused)
@assoc.serves
async def user(
    call: Call,
    action: Annotated[
        Literal["get_current", "get_projects", "get_sessions", "create_session", "switch_session", "end_session"],
        Field(description="What to do"),
    ],
    session_name: Annotated[
        str | None, described("Name of the session (create_session)", maxLength=MAX_LABEL_CHARS)
    ] = None,
    session_id: Annotated[str | None, described("Required for switch_session and end_session")] = None,
    include_stats: Annotated[bool | None, described("Add figures (get_current, get_projects)", False)] = None,
) -> Reply:
    """Who you are; your projects; begin, switch and end sessions. A session's memories end with it, or after 24 h.

    The current session is this connection's, not the key's.
    """
    return await actions.run(call, action, locals())


@actions.reads
async def get_current(call: Call, *, include_stats: bool = False) -> Done:
    session = await _current(call)
    me = await call.engine.access.user(call.actor)
    data: dict[str, Any] = {
        "user_id": me.id,
        "name": me.name,
        "credential": call.actor.credential,
        "permissions": sorted(call.actor.permissions),
        "time_zone": str(call.actor.zone),
        "current_session": session,
        "created_at": answers.stamp(me.created_at),
    }
    if include_stats:
        data["stats"] = await figures(call, call.actor)
    return Done(data, "ユーザー情報を取得しました")


async def _current(call: Call) -> dict[str, Any] | None:
    session = await call.engine.collections.current_session(call.actor)
    if session is None:
        return None
    standing = await call.engine.collections.get(call.actor, Kind.SESSION, session.id)
    return answers.session(standing.collection, standing.memories, current=True)


@actions.reads
async def get_projects(call: Call, *, include_stats: bool = False) -> Done:
    listed = [answers.project(one) for one in await call.engine.collections.all(call.actor, Kind.PROJECT)]
    if not include_stats:
        listed = [{k: v for k, v in one.items() if k not in ("memory_count", "member_count")} for one in listed]
    return Done(answers.page("projects", listed), f"{len(listed)}件のプロジェクトに参加しています")


@actions.reads
async def get_sessions(call: Call) -> Done:
    current = await call.engine.collections.current_session(call.actor)
    listed = [
        answers.session(one.collection, one.memories, current is not None and one.collection.id == current.id)
        for one in await call.engine.collections.all(call.actor, Kind.SESSION)
    ]
    return Done(answers.page("sessions", listed), f"{len(listed)}件のセッションがあります")


@actions.writes
async def create_session(call: Call, *, session_name: str = "") -> Done:
    """It becomes the current one of this connection."""
    name = session_name.strip() or f"セッション {call.engine.clock.now().astimezone(call.actor.zone):%Y-%m-%d %H:%M}"
    limits.label("session_name", name)
    made = await call.engine.collections.found(call.actor, Kind.SESSION, name, length=SESSION_LENGTH)
    await call.engine.collections.switch_session(call.actor, made.collection.id)
    return Done(
        answers.session(made.collection, 0, current=True), f"セッションを作成しました (ID: {made.collection.id})"
    )


@actions.writes
async def switch_session(call: Call, *, session_id: str) -> Done:
    now = await call.engine.collections.switch_session(call.actor, collection(session_id, "sess_"))
    return Done(answers.session(now.collection, now.memories, current=True), "セッションを切り替えました")


@actions.destroys
async def end_session(call: Call, *, session_id: str) -> Done:
    ended = await call.engine.collections.end_session(call.actor, collection(session_id, "sess_"))
    data = {"session_id": ended.collection.id, "deleted_memories": ended.removed}
    return Done(data, f"セッションを終了しました。記憶{ended.removed}件を削除しました")
