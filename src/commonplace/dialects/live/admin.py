"""Admin : créer, lister, révoquer, modifier les tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from commonplace.dialects._dialect import Call, Whole
from commonplace.dialects.live import answers
from commonplace.dialects.live._live import live
from commonplace.dialects.live.parameters import permissions as read_permissions
from commonplace.dialects.live.parameters import separated
from commonplace.domain.access import Permission
from commonplace.domain.credential import Credential
from commonplace.domain.identifiers import CredentialId
from commonplace.engine.tokens import ALL, SCHEME, space_names

WARNING = "⚠️ Ce token ne sera PLUS JAMAIS affiché !"
_SHOWN = 16
_LEVELS = (Permission.READ, Permission.WRITE, Permission.ADMIN)
TokenHash = Annotated[str, Field(description="The hash of the token, or at least its first 16 characters")]


@live.overrules
async def admin_create_token(
    call: Call,
    name: Annotated[str, Field(description="Whose token it is, e.g. the name of an agent")],
    permissions: Annotated[str, Field(description="read, read,write or read,write,admin")],
    space_ids: Annotated[str, Field(description="The spaces it opens, separated by commas; empty: all")] = "",
    expires_in_days: Annotated[Whole, Field(description="0: never")] = 0,
) -> dict[str, Any]:
    """Make a token for an agent. It is shown this once."""
    allowed = read_permissions(permissions)
    made = await call.engine.tokens.create(call.actor, name, allowed, separated(space_ids), expires_in_days)
    return {
        "status": "created",
        "name": made.credential.name,
        "token": made.key,
        "permissions": _permissions(made.credential),
        "space_ids": space_names(made.credential),
        "expires_at": answers.instant(made.credential.expires_at) if made.credential.expires_at else None,
        "warning": WARNING,
    }


@live.oversees
async def admin_list_tokens(call: Call) -> dict[str, Any]:
    """List the tokens and keys: what they allow, never what they are."""
    found = await call.engine.tokens.all(call.actor)
    names = {credential.id: credential.name for credential, _ in found}
    shown = [_token(one, user.name, names) for one, user in found[: answers.MOST_LISTED]]
    return {"status": "ok", "tokens": shown, "total": len(found), "has_more": len(found) > len(shown)}


@live.overrules
async def admin_revoke_token(call: Call, token_hash: TokenHash) -> dict[str, Any]:
    """Revoke a token: from now on it opens nothing, nor does what was made with it."""
    gone = await call.engine.tokens.revoke(call.actor, token_hash)
    found = gone.credential
    answer = {"status": "ok", "name": found.name, "token_hash": _hash(found), "message": "Token révoqué"}
    if not gone.along:
        return answer
    along = [{"name": one.name, "token_hash": _hash(one)} for one in gone.along]
    message = f"Token révoqué, avec {len(along)} accès créé(s) par lui"
    return {**answer, "message": message, "revoked_along": along[: answers.MOST_LISTED], "along_total": len(along)}


@live.overrules
async def admin_update_token(
    call: Call,
    token_hash: TokenHash,
    space_ids: Annotated[str, Field(description="The spaces it opens from now on; * for all; empty: as before")] = "",
    permissions: Annotated[str, Field(description="What it allows from now on; empty: as before")] = "",
) -> dict[str, Any]:
    """Change which spaces a token opens and what it allows there."""
    allowed = read_permissions(permissions) if permissions.strip() else None
    named = None if not space_ids.strip() else [] if space_ids.strip() == ALL else separated(space_ids)
    changed = await call.engine.tokens.update(call.actor, token_hash, allowed, named)
    return {
        "status": "ok",
        "name": changed.name,
        "token_hash": _hash(changed),
        "permissions": _permissions(changed),
        "space_ids": space_names(changed),
        "message": "Token mis à jour",
    }


def _token(credential: Credential, user: str, names: Mapping[CredentialId, str]) -> dict[str, Any]:
    maker = {"made_with": names.get(credential.made_with)} if credential.made_with else {}
    return {
        "name": credential.name,
        "user": user,
        "kind": credential.kind,
        "hash": _hash(credential),
        "permissions": _permissions(credential),
        "space_ids": space_names(credential),
        "created_at": answers.instant(credential.created_at),
        "expires_at": answers.instant(credential.expires_at) if credential.expires_at else None,
        "revoked": credential.revoked_at is not None,
        **maker,
    }


def _hash(credential: Credential) -> str:
    return f"{SCHEME}{credential.hash[:_SHOWN]}..."


def _permissions(credential: Credential) -> list[str]:
    return [one.value for one in _LEVELS if one in credential.permissions]
