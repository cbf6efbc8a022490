"""What the actions answer with: the reference's fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from commonplace.dialects._dialect import Call
from commonplace.domain.access import Right
from commonplace.domain.collection import Collection, Kind, Member, Standing
from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Memory
from commonplace.engine.links import Related
from commonplace.engine.places import Place
from commonplace.engine.recall import Hit, Reach, Recalled

CLOSEST = 3
"""How many are shown where nothing reaches the threshold: the usual one asks for more than most answers have."""
MOST_LISTED = 500
MOST_LISTED_BYTES = 100_000
"""Of all texts in a list: hosts give a model little more than that of one answer, and `get` has each text whole."""
MOST_PLACES_NAMED = 5
_PLACES = {Kind.ATLAS: "アトラス", Kind.CONTEXT: "共有コンテキスト", Kind.SPACE: "スペース"}
_BYTES_OF_A_CHARACTER = 3


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def brief(memory: Memory) -> dict[str, Any]:
    """A memory in a list."""
    return {
        "memory_id": memory.id,
        "content": memory.content,
        "domain": memory.domain,
        "tags": list(memory.tags),
        "category": memory.category,
        "importance": memory.importance,
        "created_at": stamp(memory.created_at),
    }


def whole(memory: Memory, reader: UserId, lies: Place | None = None) -> dict[str, Any]:
    """The whole record. What lies in a user's domain is the reader's: nobody else sees it."""
    return {
        **brief(memory),
        "updated_at": stamp(memory.revised_at),
        "access_count": memory.uses,
        "metadata": dict(memory.metadata),
        "user_id": reader if memory.domain == "user" else None,
        "project_id": memory.collection if memory.domain == "project" and not lies else None,
        "session_id": memory.collection if memory.domain == "session" else None,
        **({"place": place(lies)} if lies else {}),
        "author_id": memory.author.user,
        "expires_at": stamp(memory.ephemeral.ends_at) if memory.ephemeral else None,
        "version": memory.version,
    }


def place(one: Place) -> dict[str, str]:
    return {"kind": one.kind.value, "id": one.id, "name": one.name}


def housed(places: Sequence[Place]) -> str:
    """For figures by domain: how much of it is in places that are no domain of their own, and in which."""
    if not places:
        return ""
    named = ", ".join(f"{_PLACES[one.kind]} {one.name!r} {one.memories}件" for one in places[:MOST_PLACES_NAMED])
    more = f" 他{len(places) - MOST_PLACES_NAMED}か所" if len(places) > MOST_PLACES_NAMED else ""
    return f" (うち{sum(one.memories for one in places)}件は次の場所にあります: {named}{more})"


def found(hit: Hit) -> dict[str, Any]:
    return {**brief(hit.memory), "score": round(hit.similarity, 4)}


async def answering(call: Call, recalled: Recalled, asked: str) -> dict[str, Any]:
    """What a search found, and beside it what comes closest where that is not close enough."""
    results = await _quoted(call, recalled.hits, asked)
    near = {"closest": await _quoted(call, recalled.closest, asked)} if recalled.closest else {}
    return {"results": results, "count": len(results), "has_more": recalled.more, **near}


async def _quoted(call: Call, hits: Sequence[Hit], asked: str) -> list[dict[str, Any]]:
    """Where the texts are too much for a list, what stands around the part that answers, of each that is long."""
    listed = [found(hit) for hit in hits]
    share = _share(listed)
    if share is None:
        return listed
    most = share // _BYTES_OF_A_CHARACTER
    texts = await call.engine.recall.to_the_point([hit.memory for hit in hits], asked, most)
    return [_excerpt(one, memory.content, share) for one, memory in zip(listed, texts, strict=True)]


def _excerpt(one: dict[str, Any], text: str, share: int) -> dict[str, Any]:
    if len(one["content"].encode()) <= share:
        return one
    return _cut({**one, "content": text, "truncated": True}, share)


def remark(recalled: Recalled, threshold: float, sessionless: str = "", elsewhere: str = "", barring: str = "") -> str:
    """What a caller should know of a search beside its results; why, and where else to look, if nothing was found."""
    words = _shortcoming(recalled.reach)
    if sessionless:  # rather than the threshold, that may be why nothing was found
        return words + sessionless
    if recalled.hits:
        return words
    if barring:
        return words + nothing_found(barring, elsewhere)
    told = [f"類似度{threshold}以上の記憶はありません"] if threshold > 0 else []
    if recalled.closest:
        told.append(f"最も近い{len(recalled.closest)}件をclosestに示します")
    elif threshold > 0:
        told.append("thresholdを下げると見つかることがあります")
    return words + nothing_found(*told, elsewhere)


def _shortcoming(reach: Reach) -> str:
    if reach.damage:
        return f" (ファイルの一部が壊れていて、そこの記憶は除きました。バックアップの復元が必要です: {reach.damage})"
    if reach.lexical_only:
        return f" (意味検索は使えません: {reach.lexical_only})"
    return "" if reach.whole else " (埋め込み待ちの記憶は、まだ語句でしか見つかりません)"


def nothing_found(*told: str) -> str:
    """What to say where nothing was found; nothing where there is nothing to say."""
    return f" ({'。'.join(filter(None, told))})" if any(told) else ""


def unembedded(failure: str) -> str:
    """What a caller should know of what was kept while the model is out of order."""
    return f" (意味検索にはまだ使えません。埋め込みは後で自動的に行われます: {failure})" if failure else ""


def related(one: Related) -> dict[str, Any]:
    return {
        **brief(one.memory),
        "strength": round(one.reached.strength, 4),
        "type": one.reached.kind.value,
        "depth": one.reached.depth,
        "path": list(one.path),
    }


def bounded(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Long texts of a list are cut so that the whole stays sendable; `get` has each whole."""
    share = _share(listed)
    return listed if share is None else [_cut(one, share) for one in listed]


def _share(listed: Sequence[dict[str, Any]]) -> int | None:
    """How many bytes of text each may have; None where nothing has to be cut."""
    if sum(len(one["content"].encode()) for one in listed) <= MOST_LISTED_BYTES:
        return None
    return MOST_LISTED_BYTES // len(listed)


def _cut(one: dict[str, Any], share: int) -> dict[str, Any]:
    text = one["content"].encode()
    if len(text) <= share:
        return one
    return {**one, "content": text[:share].decode(errors="ignore") + "…", "truncated": True}


def changed(memory: Memory) -> dict[str, Any]:
    """A memory after a change, without its text, which the caller has."""
    kept = {name: value for name, value in brief(memory).items() if name != "content"}
    return {**kept, "updated_at": stamp(memory.revised_at), "version": memory.version}


def page(name: str, listed: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A list that may grow, bounded, with its true length."""
    shown = listed[:MOST_LISTED]
    return {name: shown, "count": len(shown), "total": len(listed), "has_more": len(listed) > len(shown)}


def role(right: Right) -> str:
    return "viewer" if right is Right.READ else "editor"


def project(standing: Standing) -> dict[str, Any]:
    one = standing.collection
    return {
        "project_id": one.id,
        "name": one.name,
        "description": one.description,
        "owner_id": one.owner,
        "role": role(standing.right),
        "member_count": standing.members,
        "memory_count": standing.memories,
        "created_at": stamp(one.created_at),
    }


def member(one: Member) -> dict[str, Any]:
    return {
        "user_id": one.user,
        "name": one.name,
        "role": role(one.right),
        "owner": one.owner,
        "joined_at": stamp(one.since),
    }


def session(one: Collection, memories: int, current: bool) -> dict[str, Any]:
    return {
        "session_id": one.id,
        "session_name": one.name,
        "memory_count": memories,
        "current": current,
        "created_at": stamp(one.created_at),
        "expires_at": stamp(one.ends_at),
    }
