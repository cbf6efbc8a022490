"""What the reference says of each tool: what it takes, what it answers, and whom it is for."""

from typing import Any

TEXT, COUNT, FLAG = "string", "integer", "boolean"
REQUIRED = object()

SPACE = {"space_id": (TEXT, REQUIRED)}
BACKUP = {"backup_id": (TEXT, REQUIRED)}
CONFIRM = {"confirm": (FLAG, False)}
PARAMETERS: dict[str, dict[str, tuple[str, Any]]] = {
    "space_create": {
        **SPACE,
        "description": (TEXT, REQUIRED),
        "rules": (TEXT, REQUIRED),
        "owner": (TEXT, ""),
    },
    "space_list": {},
    "space_info": SPACE,
    "space_rules": SPACE,
    "space_summary": SPACE,
    "space_export": SPACE,
    "space_delete": {**SPACE, **CONFIRM},
    "live_note": {
        **SPACE,
        "category": (TEXT, REQUIRED),
        "content": (TEXT, REQUIRED),
        "agent": (TEXT, ""),
        "tags": (TEXT, ""),
    },
    "live_read": {
        **SPACE,
        "limit": (COUNT, 50),
        "category": (TEXT, ""),
        "agent": (TEXT, ""),
        "since": (TEXT, ""),
    },
    "live_search": {**SPACE, "query": (TEXT, REQUIRED), "limit": (COUNT, 20)},
    "bank_read": {**SPACE, "filename": (TEXT, REQUIRED)},
    "bank_read_all": SPACE,
    "bank_list": SPACE,
    "bank_consolidate": SPACE,
    "backup_create": {**SPACE, "description": (TEXT, "")},
    "backup_list": {"space_id": (TEXT, "")},
    "backup_restore": {**BACKUP, **CONFIRM},
    "backup_download": BACKUP,
    "backup_delete": {**BACKUP, **CONFIRM},
    "admin_create_token": {
        "name": (TEXT, REQUIRED),
        "permissions": (TEXT, REQUIRED),
        "space_ids": (TEXT, ""),
        "expires_in_days": (COUNT, 0),
    },
    "admin_list_tokens": {},
    "admin_revoke_token": {"token_hash": (TEXT, REQUIRED)},
    "admin_update_token": {"token_hash": (TEXT, REQUIRED), "space_ids": (TEXT, ""), "permissions": (TEXT, "")},
    "system_health": {},
    "system_about": {},
}
"""The signatures: each parameter's type and its default."""
CATEGORIES = ["observation", "decision", "todo", "insight", "question", "progress", "issue"]

READ, WRITE, ADMIN, PUBLIC = "read", "write", "admin", "public"
NEEDS = {
    "space_create": WRITE,
    "space_list": READ,
    "space_info": READ,
    "space_rules": READ,
    "space_summary": READ,
    "space_export": READ,
    "space_delete": ADMIN,
    "live_note": WRITE,
    "live_read": READ,
    "live_search": READ,
    "bank_read": READ,
    "bank_read_all": READ,
    "bank_list": READ,
    "bank_consolidate": WRITE,
    "backup_create": WRITE,
    "backup_list": READ,
    "backup_restore": ADMIN,
    "backup_download": READ,
    "backup_delete": ADMIN,
    "admin_create_token": ADMIN,
    "admin_list_tokens": ADMIN,
    "admin_revoke_token": ADMIN,
    "admin_update_token": ADMIN,
    "system_health": PUBLIC,
    "system_about": PUBLIC,
}
"""The matrix at the end of the reference."""

INFO = {
    "status": 0,
    "space_id": 0,
    "description": 0,
    "owner": 0,
    "created_at": 0,
    "rules_size": 0,
    "live": {"notes_count": 0, "total_size": 0, "oldest_note": 0, "newest_note": 0},
    "bank": {"files_count": 0, "total_size": 0, "files": 0},
    "last_consolidation": 0,
    "synthesis_exists": 0,
}
NOTE = {"filename": 0, "timestamp": 0, "agent": 0, "category": 0, "tags": 0, "content": 0}
NOTES = {"status": 0, "space_id": 0, "notes": [NOTE], "total": 0, "has_more": 0}
LISTED_SPACE = {
    "space_id": 0,
    "description": 0,
    "owner": 0,
    "created_at": 0,
    "live_notes_count": 0,
    "bank_files_count": 0,
}
WHOLE_BANK = {
    "status": 0,
    "space_id": 0,
    "files": [{"filename": 0, "content": 0, "size": 0}],
    "total_size": 0,
    "file_count": 0,
}
ANSWERS: dict[str, dict[str, Any]] = {
    "space_create": {"status": 0, "space_id": 0, "description": 0, "rules_size": 0, "created_at": 0},
    "space_list": {"status": 0, "spaces": [LISTED_SPACE], "total": 0},
    "space_info": INFO,
    "space_rules": {"status": 0, "space_id": 0, "rules": 0},
    "space_summary": {**INFO, "rules": 0, **WHOLE_BANK},
    "space_export": {"status": 0, "space_id": 0, "archive_base64": 0, "archive_size": 0, "files_count": 0},
    "live_note": {
        "status": 0,
        "space_id": 0,
        "filename": 0,
        "category": 0,
        "agent": 0,
        "size": 0,
        "timestamp": 0,
    },
    "live_read": NOTES,
    "live_search": NOTES,
    "bank_read": {"status": 0, "space_id": 0, "filename": 0, "content": 0, "size": 0, "last_modified": 0},
    "bank_read_all": WHOLE_BANK,
    "bank_list": {
        "status": 0,
        "space_id": 0,
        "files": [{"filename": 0, "size": 0, "last_modified": 0}],
        "file_count": 0,
    },
    "bank_consolidate": {
        "status": 0,
        "space_id": 0,
        "notes_processed": 0,
        "bank_files_updated": 0,
        "bank_files_created": 0,
        "bank_files_unchanged": 0,
        "synthesis_size": 0,
        "llm_tokens_used": 0,
        "duration_seconds": 0,
    },
    "backup_create": {
        "status": 0,
        "backup_id": 0,
        "space_id": 0,
        "files_backed_up": 0,
        "total_size": 0,
        "description": 0,
    },
    "admin_create_token": {
        "status": 0,
        "name": 0,
        "token": 0,
        "permissions": 0,
        "space_ids": 0,
        "expires_at": 0,
        "warning": 0,
    },
    "system_health": {
        "status": 0,
        "services": {
            "s3": {"status": 0, "latency_ms": 0},
            "llmaas": {"status": 0, "model": 0, "latency_ms": 0},
        },
        "version": 0,
        "uptime_seconds": 0,
        "spaces_count": 0,
    },
    "system_about": {
        "status": 0,
        "name": 0,
        "version": 0,
        "description": 0,
        "tools_count": 0,
        "author": 0,
        "documentation": 0,
    },
}
"""The fields of the examples."""
MORE = {"space_list": {"has_more"}, "bank_consolidate": {"notes_remaining"}}
"""Fields beside them: whether a list that can grow is whole, and how many notes were left for the next time."""


def shape(value: Any) -> Any:
    """The fields of an answer, without what is in them; of a list, those of its first entry."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else 0
    return 0


def promised(tool: str) -> Any:
    return {**ANSWERS[tool], **dict.fromkeys(MORE.get(tool, ()), 0)}
