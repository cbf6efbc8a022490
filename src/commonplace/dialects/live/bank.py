"""Bank : lire, lister, lire tout, consolider."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.live import answers
from commonplace.dialects.live._live import live
from commonplace.dialects.live.note import agent_of
from commonplace.dialects.live.parameters import SpaceId


@live.reads
async def bank_read(
    call: Call, space_id: SpaceId, filename: Annotated[str, Field(description="A file of the bank, e.g. progress.md")]
) -> answers.OneFile:
    """Read one file of the bank."""
    file = await call.engine.bank.file(call.actor, space_id, filename)
    return {
        "status": "ok",
        "space_id": space_id,
        "filename": file.name,
        "content": file.content,
        "size": file.size,
        "last_modified": answers.instant(file.changed_at),
    }


@live.reads
async def bank_read_all(call: Call, space_id: SpaceId) -> dict[str, Any]:
    """Read the whole bank: what an agent does first."""
    files = await call.engine.bank.files(call.actor, space_id)
    return {"status": "ok", "space_id": space_id, **answers.bank(files)}


@live.reads
async def bank_list(call: Call, space_id: SpaceId) -> answers.Files:
    """List the files of the bank."""
    files = await call.engine.bank.files(call.actor, space_id)
    shown: list[answers.Filed] = [
        {"filename": file.name, "size": file.size, "last_modified": answers.instant(file.changed_at)} for file in files
    ]
    return {"status": "ok", "space_id": space_id, "files": shown, "file_count": len(files)}


@live.writes
async def bank_consolidate(call: Call, space_id: SpaceId) -> dict[str, Any]:
    """Work the notes into the bank by the rules of the space: your own, as an administrator all of them.

    The notes that were worked in are removed; a synthesis stays.
    """
    done = await call.engine.consolidation.run(call.actor, space_id, agent_of(call), call.progress, call.model)
    if not done.notes:
        message = "No new notes to consolidate"
        return {"status": "ok", "notes_processed": 0, "message": message}
    return {
        "status": "ok",
        "space_id": space_id,
        "notes_processed": done.notes,
        "notes_remaining": done.remaining,
        "bank_files_updated": done.updated,
        "bank_files_created": done.created,
        "bank_files_unchanged": done.unchanged,
        "synthesis_size": done.synthesis_size,
        "llm_tokens_used": done.tokens,
        "duration_seconds": round(done.seconds, 3),
    }
