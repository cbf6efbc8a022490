"""Domain Shared Key管理: keys that open one atlas and what is below it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import instant, quoted
from commonplace.domain.access import Permission, Right
from commonplace.domain.credential import Credential
from commonplace.domain.identifiers import CredentialId

MOST_LISTED = 100
MOST_WORDED = 20
_SHOWN = 80
_HASH_SHOWN = 8
"""Enough to tell keys apart, nothing to guess one by."""
_STATES = {"active": "有効", "revoked": "無効", "expired": "期限切れ"}

Id = Annotated[str, Field(description="Shared key id, like domain_shared_key:UUID")]
State = Literal["active", "revoked", "expired"]
KeyPermission = Literal["read", "write"]


class SharedKey(TypedDict):
    id: str
    name: str
    permission: KeyPermission
    atlasIds: list[str]
    status: State
    hashPrefix: str
    createdAt: str
    expiresAt: str | None
    revokedAt: str | None


class NewSharedKey(SharedKey):
    key: str


class SharedKeys(TypedDict):
    keys: list[SharedKey]
    total: int
    hasMore: bool


class SharedKeyDeleted(TypedDict):
    id: str
    deleted: bool


@creo.writes
async def create_domain_shared_key(
    call: Call,
    name: Annotated[str, Field(description="What the key is called")],
    atlas_id: Annotated[
        str | None, Field(description="The atlas it opens, with all below; without it, the root atlases you own now")
    ] = None,
    permission: Annotated[KeyPermission, Field(description="What it allows there")] = "read",
) -> Answer[NewSharedKey]:
    """Make a key that opens an atlas you govern and what is below it, and nothing else. The key is shown this once."""
    atlas = None if atlas_id is None else ids.atlas("atlas_id", atlas_id)
    made = await call.engine.keys.share(call.actor, name, atlas, Right(permission))
    answer: NewSharedKey = {**_shown(made.credential, call.engine.clock.now()), "key": made.key}
    words = [
        f"✅ 共有キーを作成しました: {quoted(made.credential.name, _SHOWN)} (ID: {answer['id']})",
        f"キー: {made.key}",
        f"対象Atlas: {', '.join(answer['atlasIds'][:MOST_WORDED])}",
        "このキーは一度だけ表示されます。安全な場所に保管してください。",
    ]
    return Answer(answer, text="\n".join(words))


@creo.reads
async def list_domain_shared_keys(call: Call) -> Answer[SharedKeys]:
    """The shared keys you have made, newest first, with what they open; never the keys themselves."""
    found, now = await call.engine.keys.shared(call.actor), call.engine.clock.now()
    listed = [_shown(one, now) for one in found[:MOST_LISTED]]
    lines = [f"🔑 共有キー: {len(found)}件"]
    lines += [
        f"{number}. {quoted(one['name'], _SHOWN)} ({_STATES[one['status']]}, {one['permission']}, ID: {one['id']})"
        for number, one in enumerate(listed[:MOST_WORDED], 1)
    ]
    if len(found) > MOST_WORDED:
        lines.append(f"ほか {len(found) - MOST_WORDED} 件")
    return Answer({"keys": listed, "total": len(found), "hasMore": len(found) > len(listed)}, text="\n".join(lines))


@creo.destroys
async def revoke_domain_shared_key(call: Call, id: Id) -> Answer[SharedKey]:
    """From now on the key opens nothing, in connections that are open too. It stays in the list."""
    revoked = await call.engine.keys.revoke(call.actor, _id(id))
    answer = _shown(revoked, call.engine.clock.now())
    return Answer(answer, text=f"✅ 共有キーを無効化しました (ID: {answer['id']})")


@creo.destroys
async def delete_domain_shared_key(call: Call, id: Id) -> Answer[SharedKeyDeleted]:
    """Remove the key, revoked before or not: it opens nothing any more and is no longer listed."""
    gone = await call.engine.keys.delete(call.actor, _id(id))
    answer: SharedKeyDeleted = {"id": _written(gone), "deleted": True}
    return Answer(answer, text=f"✅ 共有キーを削除しました (ID: {answer['id']})")


def _id(value: str) -> CredentialId:
    return CredentialId(ids.bare("id", value, "domain_shared_key", "domain_shared_keys"))


def _written(credential: Credential) -> str:
    return f"domain_shared_key:{credential.id}"


def _shown(one: Credential, now: datetime) -> SharedKey:
    return {
        "id": _written(one),
        "name": one.name,
        "permission": "write" if Permission.WRITE in one.permissions else "read",
        "atlasIds": [f"atlas:{collection}" for collection in one.collections or ()],
        "status": _state(one, now),
        "hashPrefix": one.hash[:_HASH_SHOWN],
        "createdAt": instant(one.created_at),
        "expiresAt": instant(one.expires_at) if one.expires_at else None,
        "revokedAt": instant(one.revoked_at) if one.revoked_at else None,
    }


def _state(one: Credential, now: datetime) -> State:
    if one.revoked_at is not None:
        return "revoked"
    return "active" if one.is_valid(now) else "expired"
