"""Live : écrire, lire, rechercher des notes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from commonplace.dialects._dialect import Call, Whole
from commonplace.dialects.live import answers
from commonplace.dialects.live._live import live
from commonplace.dialects.live.parameters import SpaceId, moment, separated

Category = Literal["observation", "decision", "todo", "insight", "question", "progress", "issue"]


def agent_of(call: Call, named: str = "") -> str:
    """Who a note is from: as it says, else by the token, else by what the client calls itself."""
    token = call.actor.credential if call.actor.credential_id else ""
    return named.strip() or token or call.client.strip() or "agent"


@live.writes
async def live_note(
    call: Call,
    space_id: SpaceId,
    category: Annotated[Category, Field(description="What kind of thing the note says")],
    content: Annotated[str, Field(description="The note, at most 100,000 characters")],
    agent: Annotated[str, Field(description="Who writes it; by default the name of your token or client")] = "",
    tags: Annotated[str, Field(description="Tags separated by commas")] = "",
) -> answers.Written:
    """Write a note into a space while you work. Nothing is ever written over."""
    made = await call.engine.notes.write(
        call.actor, space_id, category, content, agent_of(call, agent), separated(tags)
    )
    return {
        "status": "created",
        "space_id": space_id,
        "filename": made.name,
        "category": made.category,
        "agent": made.agent,
        "size": made.size,
        "timestamp": answers.instant(made.at),
    }


@live.reads
async def live_read(
    call: Call,
    space_id: SpaceId,
    limit: Annotated[Whole, Field(description="At most so many notes, 1 to 500")] = 50,
    category: Annotated[str, Field(description="Only of this category")] = "",
    agent: Annotated[str, Field(description="Only from this agent")] = "",
    since: Annotated[str, Field(description="Only from this time on (ISO 8601)")] = "",
) -> answers.Notes:
    """Read the notes of a space, the newest first."""
    page = await call.engine.notes.page(
        call.actor, space_id, limit, category=category, agent=agent, since=moment(since)
    )
    return answers.notes(space_id, page)


@live.reads
async def live_search(
    call: Call,
    space_id: SpaceId,
    query: Annotated[str, Field(description="Text to look for, in any case")],
    limit: Annotated[Whole, Field(description="At most so many notes, 1 to 500")] = 20,
) -> answers.Notes:
    """Find the notes of a space that hold a text."""
    page = await call.engine.notes.search(call.actor, space_id, query, limit)
    return answers.notes(space_id, page)
