"""What moving memories comes to: who sees them afterwards, and when they end. As data, and as words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc.answers import MOST_LISTED, stamp
from commonplace.dialects.assoc.scope import Target, went
from commonplace.domain.collection import Kind
from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Memory

MOST_NAMED = 5

Told = tuple[dict[str, Any], str]


async def consequence(call: Call, target: Target, memories: Iterable[Memory]) -> Told:
    if target.domain == Kind.SESSION:
        return _ending(target)
    if target.domain == Kind.USER:
        return await returning(call, Counter(memory.author.user for memory in memories))
    return {}, ""


def already(count: int) -> str:
    """Of how many nothing had to be moved."""
    return f" (すでにそこにある記憶: {count}件)" if count else ""


def _ending(target: Target) -> Told:
    """Nobody should lose what was meant to stay because it was tidied into a session."""
    session, _ = went(target)
    end = stamp(target.ends_at)
    told = f"(session_id: {target.home}。セッションの終了とともに、遅くとも {end} に削除されます)"
    return {**session, "expires_at": end}, f" {told}"


async def returning(call: Call, counts: Mapping[UserId, int]) -> Told:
    """Each goes to its author, whoever moves it: how many to whom, where others than the caller get any."""
    if counts.keys() <= {call.actor.user}:
        return {}, ""
    names = await call.engine.access.names(counts)
    shares = sorted((-count, names.get(user, user), user) for user, count in counts.items())
    told = ", ".join(f"{name!r} {-count}件" for count, name, _ in shares[:MOST_NAMED])
    more = f" 他{len(shares) - MOST_NAMED}人" if len(shares) > MOST_NAMED else ""
    listed = [{"user_id": user, "name": name, "memory_count": -count} for count, name, user in shares[:MOST_LISTED]]
    return {"recipients": listed}, f" (行き先は作成者のuserドメインで、移動後は本人だけが見られます: {told}{more})"
