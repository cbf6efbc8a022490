"""Space : créer, lister, inspecter, exporter, supprimer."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Annotated, Any

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.live import answers
from commonplace.dialects.live._live import live
from commonplace.dialects.live.parameters import SpaceId, confirmed
from commonplace.domain.tarball import packed
from commonplace.engine.snapshots import laid_out


@live.writes
async def space_create(
    call: Call,
    space_id: Annotated[str, Field(description="1 to 64 letters, digits, _ or -, first a letter or digit")],
    description: Annotated[str, Field(description="What the space is for, at most 500 characters")],
    rules: Annotated[
        str, Field(description="Markdown: which files the bank has and what belongs in them; never changed")
    ],
    owner: Annotated[str, Field(description="Who it belongs to, for information")] = "",
) -> answers.Created:
    """Make a space that agents share, with the rules of its bank."""
    made = await call.engine.spaces.found(call.actor, space_id, description, rules, owner)
    return {
        "status": "created",
        "space_id": made.collection.name,
        "description": made.collection.description,
        "rules_size": made.figures.rules_size,
        "created_at": answers.instant(made.collection.created_at),
    }


@live.reads
async def space_list(call: Call) -> answers.Listing:
    """List the spaces you may go into."""
    found = await call.engine.spaces.all(call.actor)
    shown = [answers.space(one) for one in found[: answers.MOST_LISTED]]
    return {"status": "ok", "spaces": shown, "total": len(found), "has_more": len(found) > len(shown)}


@live.reads
async def space_info(call: Call, space_id: SpaceId) -> dict[str, Any]:
    """Tell about one space: its notes, its bank, when it was last consolidated."""
    found = await call.engine.spaces.overview(call.actor, space_id)
    return {"status": "ok", **answers.info(found.space, found.bank)}


@live.reads
async def space_rules(call: Call, space_id: SpaceId) -> answers.Rules:
    """Read the rules of a space."""
    return {"status": "ok", "space_id": space_id, "rules": await call.engine.spaces.rules(call.actor, space_id)}


@live.reads
async def space_summary(call: Call, space_id: SpaceId) -> dict[str, Any]:
    """Load everything at once: what the space is, its rules, its whole bank."""
    found = await call.engine.spaces.overview(call.actor, space_id)
    return {"status": "ok", **answers.info(found.space, found.bank), "rules": found.rules, **answers.bank(found.bank)}


@live.reads
async def space_export(call: Call, space_id: SpaceId) -> answers.Archive:
    """Export a space as a tar.gz in base64: its notes, bank, rules and what is known of it."""
    files = laid_out(await call.engine.spaces.contents(call.actor, space_id))
    return await archive(call, space_id, files)


@live.overrules
async def space_delete(
    call: Call, space_id: SpaceId, confirm: Annotated[bool, Field(description="Must be true")] = False
) -> dict[str, Any]:
    """Delete a space and everything in it, for good. Its backups stay."""
    confirmed(confirm, f"space {space_id}")
    gone = await call.engine.spaces.dissolve(call.actor, space_id)
    return {"status": "deleted", "space_id": space_id, "files_deleted": len(gone)}


async def archive(call: Call, space_id: str, files: dict[str, bytes]) -> answers.Archive:
    """Files as the caller can take them home."""
    within = {f"{space_id}/{path}": data for path, data in files.items()}
    data = await asyncio.to_thread(packed, within, call.engine.clock.now())
    return {
        "status": "ok",
        "space_id": space_id,
        "archive_base64": b64encode(data).decode(),
        "archive_size": len(data),
        "files_count": len(files),
    }
