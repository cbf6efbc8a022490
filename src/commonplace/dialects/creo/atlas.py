"""Atlas管理."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import instant, quoted
from commonplace.domain.atlas import Atlas, Felled
from commonplace.domain.team import Share
from commonplace.engine.atlases import KEPT, Sketch

MOST_LISTED = 1000
MOST_LISTED_BYTES = 500_000
"""Of all atlases in one answer: some clients take no message over 1 MiB."""
_NAMED = 20
"""How many atlases the words of an answer name; the object has all of them."""
_SHOWN = 60


def _without_default(schema: dict[str, Any]) -> None:
    """What stands for "left out" is nobody's business."""
    schema.pop("default", None)


AtlasId = Annotated[str, Field(description="Atlas id, like atlas:UUID")]


class AtlasShown(TypedDict):
    """An atlas as the caller sees it."""

    id: str
    name: str
    description: str
    parent_id: str | None
    metadata: dict[str, Any]
    permission: str
    memoryCount: int
    childrenCount: int
    createdAt: str
    createdBy: str | None
    updatedAt: NotRequired[str]


class AtlasList(TypedDict):
    atlas: list[AtlasShown]
    total: int
    hasMore: bool


class AtlasNode(AtlasShown):
    children: list[AtlasNode]


class TeamShare(TypedDict):
    teamId: str
    teamName: str
    permission: str
    inheritChildren: bool


class AtlasTree(TypedDict):
    tree: AtlasNode
    count: int
    total: int
    hasMore: bool
    sharedWith: list[TeamShare]


class AtlasDeleted(TypedDict):
    id: str
    name: str
    deleted: bool
    childrenMoved: int
    memoriesMoved: int
    movedTo: str


@creo.writes
async def create_atlas(
    call: Call,
    name: Annotated[str, Field(description="Its name, in any script")],
    description: Annotated[str, Field(description="What it is for")] = "",
    parent_id: Annotated[str | None, Field(description="The atlas to put it in; a root when left out")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Any JSON object")] = None,
) -> Answer[AtlasShown]:
    """Make an atlas: a place for memories, in a tree. Below another it belongs to the owner of that tree."""
    parent = None if parent_id is None else ids.atlas("parent_id", parent_id)
    made = await call.engine.atlases.create(call.actor, Sketch(name, description, metadata or {}), parent)
    return Answer(_shown(made), text=f"✅ Atlasを作成しました: {_named(made)}")


@creo.reads
async def list_atlas(
    call: Call,
    parent_id: Annotated[str | None, Field(description="Only what lies directly in this atlas")] = None,
) -> Answer[AtlasList]:
    """The atlases you see, yours and shared ones, the newest first: the roots, or those directly in one."""
    parent = None if parent_id is None else ids.atlas("parent_id", parent_id)
    found = await call.engine.atlases.all(call.actor, parent, MOST_LISTED)
    listed = _fitting([_shown(one) for one in found.atlases])
    lines = [f"- {_named(one)} [{_permission(one)}] メモリ{one.memories}件" for one in found.atlases[:_NAMED]]
    words = "\n".join([f"Atlasは{found.total}件あります", *lines, *_rest(found.total)])
    return Answer({"atlas": listed, "total": found.total, "hasMore": len(listed) < found.total}, text=words)


@creo.reads
async def get_atlas_tree(call: Call, atlas_id: AtlasId) -> Answer[AtlasTree]:
    """An atlas and everything below it that you see, nested; the upper levels first where there is too much."""
    grove = await call.engine.atlases.tree(call.actor, ids.atlas("atlas_id", atlas_id), MOST_LISTED)
    shown = _fitting([_shown(one) for one in grove.atlases])
    answer: AtlasTree = {
        "tree": _nested(shown),
        "count": len(shown),
        "total": grove.total,
        "hasMore": len(shown) < grove.total,
        "sharedWith": [_shared(share) for share in grove.shares],
    }
    return Answer(answer, text=_drawn(grove.atlases, grove.total))


@creo.writes
async def update_atlas(
    call: Call,
    id: AtlasId,
    name: Annotated[str | None, Field(description="A new name")] = None,
    description: Annotated[str | None, Field(description="A new description")] = None,
    parent_id: Annotated[
        str | None,
        Field(description="Move it into this atlas; null makes it a root", json_schema_extra=_without_default),
    ] = KEPT,
    metadata: Annotated[
        dict[str, Any] | None, Field(description="Laid over what it has; null takes an entry away")
    ] = None,
) -> Answer[AtlasShown]:
    """Rename or describe an atlas, or move it with all below it. What you leave out stays."""
    parent = ids.atlas("parent_id", parent_id) if parent_id else KEPT if parent_id == KEPT else None
    sketch = Sketch(name, description, metadata)
    changed = await call.engine.atlases.change(call.actor, ids.atlas("id", id), sketch, parent)
    return Answer(_shown(changed), text=f"✅ Atlasを更新しました: {_named(changed)}")


@creo.destroys
async def delete_atlas(call: Call, id: AtlasId) -> Answer[AtlasDeleted]:
    """Delete an atlas. Nothing in it is lost: it moves to the parent; of a root, each memory goes to its author."""
    gone = await call.engine.atlases.delete(call.actor, ids.atlas("id", id))
    answer: AtlasDeleted = {
        "id": f"atlas:{gone.atlas.id}",
        "name": gone.atlas.name,
        "deleted": True,
        "childrenMoved": gone.children,
        "memoriesMoved": gone.memories,
        "movedTo": _destination(gone),
    }
    where = "作成者のメモリへ、子Atlasはルートへ" if gone.rooted else "親Atlasへ"
    words = f"✅ Atlasを削除しました: {quoted(gone.atlas.name, _SHOWN)}"
    return Answer(answer, text=f"{words}（メモリ{gone.memories}件、子Atlas{gone.children}件: {where}移動）")


def _destination(gone: Felled) -> str:
    """A parent that the caller does not see is told without its id."""
    if gone.rooted:
        return "authors"
    return f"atlas:{gone.parent}" if gone.parent else "parent"


def _shown(atlas: Atlas) -> AtlasShown:
    found = atlas.collection
    shown: AtlasShown = {
        "id": f"atlas:{found.id}",
        "name": found.name,
        "description": found.description,
        "parent_id": f"atlas:{atlas.parent}" if atlas.parent else None,
        "metadata": dict(atlas.metadata),
        "permission": _permission(atlas),
        "memoryCount": atlas.memories,
        "childrenCount": atlas.children,
        "createdAt": instant(found.created_at),
        "createdBy": f"users:{atlas.created_by}" if atlas.created_by else None,
    }
    if atlas.updated_at:
        shown["updatedAt"] = instant(atlas.updated_at)
    return shown


def _permission(atlas: Atlas) -> str:
    return "owner" if atlas.owned else atlas.right.value


def _shared(share: Share) -> TeamShare:
    assert share.team
    return {
        "teamId": f"teams:{share.team.id}",
        "teamName": share.team.name,
        "permission": share.right.value,
        "inheritChildren": share.inherited,
    }


def _fitting(shown: Sequence[AtlasShown]) -> list[AtlasShown]:
    """The first of them, as many as an answer holds."""
    kept: list[AtlasShown] = []
    room = MOST_LISTED_BYTES
    for one in shown:
        room -= len(json.dumps(one, ensure_ascii=False).encode())
        if room < 0 and kept:
            break
        kept.append(one)
    return kept


def _nested(shown: Sequence[AtlasShown]) -> AtlasNode:
    """A tree of what comes with the upper ones first."""
    nodes: dict[str | None, AtlasNode] = {one["id"]: {**one, "children": []} for one in shown}
    top, *others = shown
    for one in others:
        nodes[one["parent_id"]]["children"].append(nodes[one["id"]])
    return nodes[top["id"]]


def _drawn(atlases: Sequence[Atlas], total: int) -> str:
    depths = {atlases[0].collection.id: 0}
    lines = [f"🗂 {_named(atlases[0])}（{total}件）"]
    for one in atlases[1:_NAMED]:
        depths[one.collection.id] = depths[one.parent] + 1 if one.parent else 1
        lines.append(f"{'  ' * depths[one.collection.id]}- {_named(one)} メモリ{one.memories}件")
    return "\n".join([*lines, *_rest(total)])


def _named(atlas: Atlas) -> str:
    return f"{quoted(atlas.collection.name, _SHOWN)} (ID: atlas:{atlas.collection.id})"


def _rest(total: int) -> list[str]:
    return [f"…他{total - _NAMED}件"] if total > _NAMED else []
