"""Backup : créer, lister, restaurer, télécharger, supprimer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.live import answers
from commonplace.dialects.live._live import live
from commonplace.dialects.live.parameters import SpaceId, confirmed
from commonplace.dialects.live.space import archive

BackupId = Annotated[str, Field(description="As backup_list shows it: space_id/2026-02-20T18-00-00")]
Confirm = Annotated[bool, Field(description="Must be true")]


@live.writes
async def backup_create(
    call: Call,
    space_id: SpaceId,
    description: Annotated[str, Field(description="What for, at most 500 characters")] = "",
) -> dict[str, Any]:
    """Copy a space as it is at this moment."""
    made = await call.engine.snapshots.create(call.actor, space_id, description)
    return {
        "status": "created",
        "backup_id": made.id,
        "space_id": made.space,
        "files_backed_up": made.files,
        "total_size": made.size,
        "description": made.description,
    }


@live.reads
async def backup_list(
    call: Call, space_id: Annotated[str, Field(description="Only of this space; by default of all you may see")] = ""
) -> answers.Backups:
    """List backups, the newest first."""
    found = await call.engine.snapshots.all(call.actor, space_id)
    shown = [answers.backup(one) for one in found[: answers.MOST_LISTED]]
    return {"status": "ok", "backups": shown, "total": len(found), "has_more": len(found) > len(shown)}


@live.overrules
async def backup_restore(call: Call, backup_id: BackupId, confirm: Confirm = False) -> dict[str, Any]:
    """Make a space again what a backup holds. There must be no space of that name: delete it first."""
    confirmed(confirm, f"backup {backup_id}")
    made, adopted = await call.engine.snapshots.restore(call.actor, backup_id)
    answer: dict[str, Any] = {
        "status": "ok",
        "backup_id": made.id,
        "space_id": made.space,
        "files_restored": made.files - len(adopted.left),
    }
    return {**answer, "not_restored": adopted.left[:20]} if adopted.left else answer


@live.reads
async def backup_download(call: Call, backup_id: BackupId) -> answers.Archive:
    """Get a backup as a tar.gz in base64."""
    found, files = await call.engine.snapshots.files_of(call.actor, backup_id)
    return {**await archive(call, found.space, files), "backup_id": found.id}


@live.overrules
async def backup_delete(call: Call, backup_id: BackupId, confirm: Confirm = False) -> dict[str, Any]:
    """Delete a backup for good."""
    confirmed(confirm, f"backup {backup_id}")
    gone = await call.engine.snapshots.delete(call.actor, backup_id)
    return {"status": "deleted", "backup_id": gone.id, "files_deleted": gone.files}
