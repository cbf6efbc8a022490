"""共有作業メモリ: shared contexts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import Kept, bounded, flat, instant, kept, quoted
from commonplace.domain import limits
from commonplace.domain.collection import Member
from commonplace.domain.context import Context, Guest, Invitee
from commonplace.domain.identifiers import CollectionId
from commonplace.engine.contexts import MOST_LISTED

MOST_WORDED = 20
"""Entries that the words of an answer name; the object has all of them."""
_SHOWN = 80
_GUESTS = {"users": Guest.USER, "user": Guest.USER, "teams": Guest.TEAM, "team": Guest.TEAM}

Id = Annotated[str, Field(description="Shared context id, like shared_contexts:UUID")]
Invited = Annotated[
    list[str] | None,
    Field(description="Who may join: ids or names of users (users:UUID) and of your teams (teams:UUID)"),
]


class Participant(TypedDict):
    userId: str
    name: str
    role: Literal["owner", "participant"]
    joinedAt: str


class ContextShown(TypedDict):
    id: str
    name: str
    description: str
    ownerId: str
    ownerName: str
    joined: bool
    createdAt: str
    expiresAt: str | None
    memoryCount: NotRequired[int]
    participantCount: NotRequired[int]


class ContextMade(ContextShown):
    invited: int


class ContextJoined(ContextShown):
    alreadyJoined: bool
    invited: int


class ContextList(TypedDict):
    contexts: list[ContextShown]
    total: int
    hasMore: bool


class ContextOpened(ContextShown):
    participants: list[Participant]
    memories: list[Kept]
    total: int
    hasMore: bool


class ContextAddition(TypedDict):
    contextId: str
    memoryId: str
    alreadyAdded: bool
    memoryCount: int


class ContextLeft(TypedDict):
    contextId: str
    left: bool
    ended: bool
    returnedMemories: int


@creo.writes
async def create_shared_context(
    call: Call,
    name: Annotated[str, Field(description="What it is called")],
    description: Annotated[str, Field(description="What it is for")] = "",
    ttlSeconds: Annotated[
        Whole | None, Field(description="Seconds after which it ends by itself, 60 to 2592000; without it, it stays")
    ] = None,
    invite: Invited = None,
) -> Answer[ContextMade]:
    """Open a place where several agents read and write together. You own it; others join by invitation."""
    if ttlSeconds is not None:
        limits.within("ttlSeconds", ttlSeconds, 60, 2_592_000)
    length = None if ttlSeconds is None else timedelta(seconds=ttlSeconds)
    made = await call.engine.contexts.create(call.actor, name, description, length, _invitees(invite))
    shown: ContextMade = {**_shown(made.context), "invited": made.invited}
    words = f"✅ 共有コンテキストを作成しました: {quoted(made.context.collection.name, _SHOWN)} (ID: {shown['id']})"
    return Answer(shown, text=words + _guests(made.invited) + _end(shown))


@creo.reads
async def list_shared_contexts(call: Call) -> Answer[ContextList]:
    """The shared contexts you are in, newest first, then those you are invited to (joined: false)."""
    found = await call.engine.contexts.all(call.actor)
    listed = [_shown(one) for one in found[:MOST_LISTED]]
    answer: ContextList = {"contexts": listed, "total": len(found), "hasMore": len(found) > len(listed)}
    inside = sum(one.joined for one in found)
    waiting = f" (招待: {len(found) - inside}件)" if inside < len(found) else ""
    lines = [f"📋 参加中の共有コンテキスト: {inside}件{waiting}"]
    lines += [_line(number, one) for number, one in enumerate(listed[:MOST_WORDED], 1)]
    return Answer(answer, text="\n".join(lines + _more(len(found), MOST_WORDED)))


@creo.reads
async def get_shared_context(call: Call, contextId: Id) -> Answer[ContextOpened]:
    """A shared context you are in: who takes part, when it ends, and its memories, newest first (at most 100)."""
    opened = await call.engine.contexts.get(call.actor, _id(contextId))
    memories = await kept(call, opened.page.memories)
    bounded(memories)
    people = opened.context.members
    shown: ContextOpened = {
        **_shown(opened.context),
        "participants": [_participant(one) for one in people[:MOST_LISTED]],
        "memories": memories,
        "total": opened.page.total,
        "hasMore": opened.page.total > len(memories),
    }
    lines = [f"🤝 {quoted(opened.context.collection.name, _SHOWN)} (ID: {shown['id']}){_end(shown)}"]
    lines.append("参加者: " + ", ".join(_person(one) for one in people[:MOST_WORDED]) + _others(len(people)))
    lines.append(f"メモリ: {opened.page.total}件")
    lines += [f"{n}. {quoted(m['content'], _SHOWN)} (ID: {m['id']})" for n, m in enumerate(memories[:MOST_WORDED], 1)]
    return Answer(shown, text="\n".join(lines + _more(opened.page.total, MOST_WORDED)))


@creo.writes
async def add_to_shared_context(
    call: Call,
    contextId: Id,
    memoryId: Annotated[str, Field(description="Memory id, like memories:UUID")],
) -> Answer[ContextAddition]:
    """Lend a memory to a shared context: it lives there until the context ends, then returns to where it was."""
    lent = await call.engine.contexts.add(call.actor, _id(contextId), ids.memory("memoryId", memoryId))
    answer: ContextAddition = {
        "contextId": _written(lent.context.collection.id),
        "memoryId": lent.memory.id,
        "alreadyAdded": not lent.anew,
        "memoryCount": lent.context.memories,
    }
    words = "✅ 共有コンテキストにメモリを追加しました" if lent.anew else "このメモリはすでに共有コンテキストにあります"
    return Answer(answer, text=f"{words} (ID: {lent.memory.id})")


@creo.writes
async def join_shared_context(call: Call, contextId: Id, invite: Invited = None) -> Answer[ContextJoined]:
    """Join a shared context you are invited to. Its owner may invite others with `invite`."""
    joined = await call.engine.contexts.join(call.actor, _id(contextId), _invitees(invite))
    answer: ContextJoined = {
        **_shown(joined.context),
        "alreadyJoined": not joined.anew,
        "invited": joined.invited,
    }
    words = "✅ 共有コンテキストに参加しました" if joined.anew else "すでに共有コンテキストに参加しています"
    named = f"{words}: {quoted(joined.context.collection.name, _SHOWN)} (ID: {answer['id']})"
    return Answer(answer, text=named + _guests(joined.invited) + _end(answer))


@creo.destroys
async def leave_shared_context(call: Call, contextId: Id) -> Answer[ContextLeft]:
    """Leave a shared context; what you lent stays in it. When its owner leaves it ends, and every memory goes home."""
    left = await call.engine.contexts.leave(call.actor, _id(contextId))
    answer: ContextLeft = {
        "contextId": _written(left.collection.id),
        "left": True,
        "ended": left.ended,
        "returnedMemories": left.returned,
    }
    words = f"✅ 共有コンテキストから離脱しました (ID: {answer['contextId']})"
    if left.ended:
        words += f"\nオーナーが離脱したため終了しました。メモリ{left.returned}件は元の場所に戻りました。"
    return Answer(answer, text=words)


def _id(value: str) -> CollectionId:
    return CollectionId(ids.bare("contextId", value, "shared_contexts", "shared_context"))


def _written(context: CollectionId) -> str:
    return f"shared_contexts:{context}"


def _invitees(invite: Sequence[str] | None) -> list[Invitee]:
    return [_invitee(one) for one in invite or ()]


def _invitee(written: str) -> Invitee:
    table, colon, rest = written.strip().rpartition(":")
    kind = _GUESTS.get(table) if colon else None
    return Invitee(rest.strip("⟨⟩") if kind else written, written, kind)


def _shown(context: Context) -> ContextShown:
    found = context.collection
    shown: ContextShown = {
        "id": _written(found.id),
        "name": found.name,
        "description": found.description,
        "ownerId": f"users:{found.owner}",
        "ownerName": context.owner_name,
        "joined": context.joined,
        "createdAt": instant(found.created_at),
        "expiresAt": instant(found.ends_at) if found.ends_at else None,
    }
    if context.joined:
        shown["memoryCount"] = context.memories
        shown["participantCount"] = len(context.members)
    return shown


def _participant(member: Member) -> Participant:
    return {
        "userId": f"users:{member.user}",
        "name": member.name,
        "role": "owner" if member.owner else "participant",
        "joinedAt": instant(member.since),
    }


def _person(member: Member) -> str:
    return flat(member.name, _SHOWN) + (" (owner)" if member.owner else "")


def _line(number: int, one: ContextShown) -> str:
    standing = f"メモリ {one['memoryCount']}件, 参加者 {one['participantCount']}人" if one["joined"] else "招待中"
    return f"{number}. {quoted(one['name'], _SHOWN)} ({standing}, ID: {one['id']})"


def _end(shown: ContextShown) -> str:
    return f"\n期限: {shown['expiresAt']}" if shown["expiresAt"] else ""


def _guests(count: int) -> str:
    return f"\n{count}件の招待を送りました" if count else ""


def _others(count: int) -> str:
    return f" ほか {count - MOST_WORDED}人" if count > MOST_WORDED else ""


def _more(total: int, told: int) -> list[str]:
    return [f"ほか {total - told} 件"] if total > told else []
