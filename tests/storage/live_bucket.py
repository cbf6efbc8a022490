"""Files as Live Memory itself writes them: naive quoting, offsets in times, keys of its own."""

import hashlib
import json
from pathlib import Path
from typing import Any

RULES = "# Rules\n\n- `progress.md`: progress, todos\n- `activeContext.md`: everything else\n"
TOKEN = "lm_token-of-bob-0123456789012345678901234567"
REVOKED = "lm_token-of-eve-0123456789012345678901234567"


def note(agent: str, category: str, text: str, at: str = "2026-02-20T18:05:12+00:00", tags: str = "[]") -> str:
    """A note with its head, each value between quotes as it is."""
    lines = [f'timestamp: "{at}"', f'agent: "{agent}"', f'category: "{category}"', f"tags: {tags}", 'space_id: "alpha"']
    return "---\n" + "\n".join(lines) + "\n---\n\n" + text


def token(key: str, name: str, permissions: list[str], spaces: list[str], **more: Any) -> dict[str, Any]:
    return {
        "hash": "sha256:" + hashlib.sha256(key.encode()).hexdigest(),
        "name": name,
        "permissions": permissions,
        "space_ids": spaces,
        "created_at": "2026-02-20T17:00:00+00:00",
        "expires_at": None,
        "last_used_at": "2026-02-20T19:00:00+00:00",
        "revoked": False,
        "email": f"{name}@example.org",
        **more,
    }


def original() -> dict[str, bytes]:
    """Two spaces, with everything in them that such a server leaves behind."""
    meta = {
        "space_id": "alpha",
        "description": "Projet de refonte",
        "owner": "cline-dev",
        "created_at": "2026-02-20T18:00:00+00:00",
        "last_consolidation": "2026-02-21T08:00:00+00:00",
        "consolidation_count": 3,
        "total_notes_processed": 42,
        "version": 1,
        "graph_memory": {"url": "https://graph.example.org", "memory_id": "m"},
    }
    tokens = [
        token(TOKEN, "bob", ["read", "write"], ["alpha"]),
        token(REVOKED, "eve", ["read", "write", "admin"], [], revoked=True),
        token("lm_odd", "odd", ["read"], ["no space id!"]),
    ]
    files = {
        "alpha/_meta.json": json.dumps(meta, indent=2),
        "alpha/_rules.md": RULES,
        "alpha/_synthesis.md": "What was said before.\n",
        "alpha/live/.keep": "",
        "alpha/bank/.keep": "",
        "alpha/live/20260220T180512_cline-dev_observation_a3f8b2c1.md": note(
            "cline-dev", "observation", "The build passes.\n\n---\n\nA rule below.", tags='["auth", "é"]'
        ),
        "alpha/live/20260220T180513_bob_decision_b3f8b2c1.md": note('bob "the" builder: 1', "decision", "We take S3."),
        "alpha/live/20260220T180514_ann_todo_c3f8b2c1.md": "no front matter at all",
        "alpha/live/20260220T180515_ann_whim_d3f8b2c1.md": note("ann", "whim", "an odd category"),
        "alpha/bank/progress.md": "# Progress\n\n- done\n",
        "alpha/bank/empty.md": "",
        "beta/_meta.json": json.dumps({"space_id": "beta", "description": "", "created_at": "yesterday"}),
        "beta/_rules.md": RULES,
        "_system/tokens.json": json.dumps({"version": 1, "tokens": tokens}),
        "_backups/alpha/2026-02-20T18-00-00/_meta.json": json.dumps(meta),
        "_backups/alpha/2026-02-20T18-00-00/_rules.md": RULES,
    }
    return {path: text.encode() for path, text in files.items()}


def laid_down(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def lying_in(folder: Path) -> dict[str, bytes]:
    """What lies there, but for what the program keeps for itself."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".commonplace")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
