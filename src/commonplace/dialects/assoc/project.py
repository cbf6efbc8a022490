"""プロジェクト管理: create, list, get, add_member, remove_member, update, delete."""

from typing import Annotated, Literal

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import answers, moves
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.parameters import Role, collection, described
from commonplace.domain.access import Right
from commonplace.domain.collection import MAX_DESCRIPTION_CHARS, Kind
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import MAX_LABEL_CHARS

actions = Actions("action")

_RIGHTS = {"editor": Right.WRITE, "viewer": Right.READ}


@assoc.leaves_aside(actions.unused)
@assoc.serves
async def project(
    call: Call,
    action: Annotated[
        Literal["create", "list", "get", "add_member", "remove_member", "update", "delete"],
        Field(description="What to do"),
    ],
    project_id: Annotated[str | None, described("Required for all actions but create and list")] = None,
    name: Annotated[str | None, described("Name of the project (create, update)", maxLength=MAX_LABEL_CHARS)] = None,
    description: Annotated[
        str | None, described("What the project is (create, update)", maxLength=MAX_DESCRIPTION_CHARS)
    ] = None,
    user_id: Annotated[str | None, described("Id or name of a user (add_member, remove_member)")] = None,
    role: Annotated[Role | None, described("editor reads and writes, viewer reads (add_member)")] = None,
    role_filter: Annotated[Role | None, described("Only projects where you have this role (list)")] = None,
) -> Reply:
    """Make projects, describe them, and choose who is in them."""
    return await actions.run(call, action, locals())


def _id(project_id: str) -> CollectionId:
    return collection(project_id, "proj_")


@actions.writes
async def create(call: Call, *, name: str, description: str = "") -> Done:
    made = await call.engine.collections.found(call.actor, Kind.PROJECT, name, description)
    return Done(answers.project(made), f"プロジェクトを作成しました (ID: {made.collection.id})")


@actions.reads
async def list_(call: Call, *, role_filter: str | None = None) -> Done:
    listed = [answers.project(one) for one in await call.engine.collections.all(call.actor, Kind.PROJECT)]
    chosen = [one for one in listed if role_filter in (None, one["role"])]
    return Done(answers.page("projects", chosen), f"{len(chosen)}件のプロジェクトがあります")


@actions.reads
async def get(call: Call, *, project_id: str) -> Done:
    standing = await call.engine.collections.get(call.actor, Kind.PROJECT, _id(project_id))
    members = await call.engine.collections.members(call.actor, Kind.PROJECT, _id(project_id))
    data = {**answers.project(standing), "members": [answers.member(one) for one in members[: answers.MOST_LISTED]]}
    return Done(data, "プロジェクトを取得しました")


@actions.writes
async def add_member(call: Call, *, project_id: str, user_id: str, role: str) -> Done:
    added = await call.engine.collections.add_member(call.actor, Kind.PROJECT, _id(project_id), user_id, _RIGHTS[role])
    data = {"project_id": _id(project_id), **answers.member(added)}
    return Done(data, f"メンバーを追加しました ({added.name}: {role})")


@actions.destroys
async def remove_member(call: Call, *, project_id: str, user_id: str) -> Done:
    gone = await call.engine.collections.remove_member(call.actor, Kind.PROJECT, _id(project_id), user_id)
    return Done({"project_id": _id(project_id), "user_id": gone.user}, f"メンバーを削除しました ({gone.name})")


@actions.writes
async def update(call: Call, *, project_id: str, name: str | None = None, description: str | None = None) -> Done:
    if name is None and description is None:
        raise Invalid("name", "更新する内容がありません。name か description を指定してください")
    changed = await call.engine.collections.describe(call.actor, Kind.PROJECT, _id(project_id), name, description)
    return Done(answers.project(changed), "プロジェクトを更新しました")


@actions.destroys
async def delete(call: Call, *, project_id: str) -> Done:
    """The memories go back to who wrote them."""
    gone = await call.engine.collections.dissolve(call.actor, Kind.PROJECT, _id(project_id))
    whose, words = await moves.returning(call, gone.authors)
    data = {"project_id": gone.collection.id, "moved_memories": gone.moved, **whose}
    return Done(data, f"プロジェクトを削除しました。記憶{gone.moved}件は作成者のuserドメインに移しました{words}")
