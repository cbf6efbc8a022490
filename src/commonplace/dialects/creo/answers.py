"""A memory as creo shows it, and the words that several tools share."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NotRequired

from typing_extensions import TypedDict

from commonplace.dialects._dialect import Call
from commonplace.domain.collection import Kind
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Ephemeral, Memory
from commonplace.domain.unicode import normalised
from commonplace.engine.recall import Reach

MOST_LISTED_BYTES = 300_000
"""What the texts of one answer may take together."""
_UNITS = ((timedelta(days=1), "日"), (timedelta(hours=1), "時間"), (timedelta(minutes=1), "分"))
_REASON = 200
_GLANCE = 4
"""How many times what is shown of a text is looked at: the rest may be blanks."""


class End(TypedDict):
    """When an ephemeral memory ends."""

    ttl: int
    expiresAt: str
    remaining: str


class Kept(TypedDict):
    """A memory with all that is known about it."""

    id: str
    content: str
    contentType: str
    category: str | None
    tags: list[str]
    metadata: dict[str, Any]
    atlasId: str | None
    createdAt: str
    updatedAt: str
    author: str
    version: int
    ephemeral: NotRequired[End]
    truncated: NotRequired[bool]


async def kept(call: Call, memories: Iterable[Memory]) -> list[Kept]:
    """Memories that the caller has been allowed to see, as they are shown."""
    listed = list(memories)
    atlases = await atlases_of(call, listed)
    now = call.engine.clock.now()
    return [shown(memory, now, atlases) for memory in listed]


async def atlases_of(call: Call, memories: Iterable[Memory]) -> Mapping[int, CollectionId]:
    """The atlases that these memories lie in, by number."""
    homes = {memory.home for memory in memories if memory.domain == Kind.ATLAS.domain}
    return await call.engine.collections.of_kind(Kind.ATLAS, homes) if homes else {}


def shown(memory: Memory, now: datetime, atlases: Mapping[int, CollectionId]) -> Kept:
    """One memory; the atlases are those that `atlases_of` found."""
    atlas = atlases.get(memory.home)
    answer: Kept = {
        "id": memory.id,
        "content": memory.content,
        "contentType": memory.content_type,
        "category": memory.category or None,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "atlasId": f"atlas:{atlas}" if atlas else None,
        "createdAt": instant(memory.created_at),
        "updatedAt": instant(memory.revised_at),
        "author": f"users:{memory.author.user}",
        "version": memory.version,
    }
    if memory.ephemeral:
        answer["ephemeral"] = ending(memory.ephemeral, now)
    return answer


def ending(ephemeral: Ephemeral, now: datetime) -> End:
    return {
        "ttl": int(ephemeral.ttl.total_seconds()),
        "expiresAt": instant(ephemeral.ends_at),
        "remaining": remaining(ephemeral, now),
    }


def instant(at: datetime) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lifetime(ephemeral: Ephemeral, now: datetime) -> str:
    """`TTL 1時間, 残り 45分`."""
    return f"TTL {_length(ephemeral.ttl, exact=True)}, {remaining(ephemeral, now)}"


def remaining(ephemeral: Ephemeral, now: datetime) -> str:
    """`残り 45分`: in its largest unit, counting a second that has begun."""
    left = timedelta(seconds=math.ceil(ephemeral.remaining(now).total_seconds()))
    return f"残り {_length(left, exact=False)}"


def _length(time: timedelta, *, exact: bool) -> str:
    """In one unit, or, where that must be exact, in as many as it takes."""
    words = ""
    for unit, name in _UNITS:
        if time >= unit:
            words += f"{time // unit}{name}"
            time %= unit
            if not exact:
                return words
    seconds = int(time.total_seconds())
    return words if words and not seconds else f"{words}{max(seconds, 1)}秒"


def quoted(text: str, most: int) -> str:
    """What someone has written, in marks that show it is a quotation: one line, bounded, nothing that steers a page."""
    return f"「{flat(text, most).translate(_MARKS)}」"


def shortcoming(reach: Reach, things: str) -> str:
    """What a caller should know of a search that could not go everywhere."""
    if reach.damage:
        return f"（ファイルの一部が壊れていて、そこにある{things}は除きました。管理者に知らせてください）"
    if reach.lexical_only:
        return f"（意味検索は使えません: {flat(reach.lexical_only, _REASON)}）"
    return "" if reach.whole else f"（埋め込み待ちの{things}は、まだ語句でしか見つかりません）"


_MARKS = str.maketrans({"「": "『", "」": "』"})


# Spelling, not format: 👩‍👧 and می‌خواهم are other signs without them.
_JOINERS = "\u200c\u200d"


def flat(text: str, most: int) -> str:
    """A text on one line, without marks of control and format, cut where it is longer."""
    glance = text[: most * _GLANCE]
    line = " ".join("".join(_plain(char) for char in glance).split())
    short = normalised("NFC", line)
    return short if len(short) <= most and len(glance) == len(text) else short[: most - 1].rstrip() + "…"


def _plain(char: str) -> str:
    if char in _JOINERS:
        return char
    kind = unicodedata.category(char)
    if char.isspace() or kind in ("Zl", "Zp"):
        return " "
    return "" if kind[0] == "C" else char


def bounded(listed: Sequence[Kept]) -> bool:
    """Cut long texts of a list so that the whole stays sendable; whether any was cut. One alone is shown whole."""
    sizes = [len(one["content"].encode()) for one in listed]
    if len(listed) < 2 or sum(sizes) <= MOST_LISTED_BYTES:
        return False
    for one in listed:
        cut(one, MOST_LISTED_BYTES // len(listed))
    return True


def cut(memory: Kept, most: int) -> None:
    """Shorten a text to as many bytes, and say so."""
    text = memory["content"].encode()
    if len(text) > most:
        memory["content"] = text[:most].decode(errors="ignore") + "…"
        memory["truncated"] = True
