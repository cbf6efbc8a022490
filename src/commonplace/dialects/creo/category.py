"""カテゴリ管理."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import instant, quoted
from commonplace.domain import limits
from commonplace.domain.identifiers import is_uuid
from commonplace.domain.label import Category, Counted
from commonplace.engine.categories import Categorised

MOST_NAMED = 20
"""Categories that the words of an answer name, beside those that exist for everyone."""
_SHOWN = 40
_TABLES = ("category:", "categories:")

Id = Annotated[str, Field(description="Category id, like category:design or category:UUID")]
MemoryIdentifier = Annotated[str, Field(description="Memory id")]


class CategoryShown(TypedDict):
    """A category; builtIn ones exist for everyone and stay as they are."""

    id: str
    name: str
    description: str
    builtIn: bool
    createdAt: str | None


class CategoryListed(CategoryShown):
    memoryCount: int


class CategoryList(TypedDict):
    categories: list[CategoryListed]
    total: int
    hasMore: bool


class CategoryChanged(CategoryShown):
    updatedMemories: int


class CategoryDeleted(TypedDict):
    id: str
    name: str
    deleted: bool
    updatedMemories: int


class CategoriesOfMemory(TypedDict):
    """All categories of a memory; the first is the one that remember and update_memory speak of."""

    memory_id: str
    categories: list[CategoryShown]
    total: int
    hasMore: bool


class CategoriesPut(CategoriesOfMemory):
    changed: bool


@creo.reads
async def category_list(call: Call) -> Answer[CategoryList]:
    """All categories: the ten that exist for everyone, your own, and others that memories bear; with their counts."""
    survey = await call.engine.categories.all(call.actor)
    listed: list[CategoryListed] = [{**_shown(one.category), "memoryCount": one.memories} for one in survey.entries]
    body: CategoryList = {"categories": listed, "total": survey.total, "hasMore": survey.total > len(listed)}
    return Answer(body, text="\n".join([f"カテゴリは{survey.total}件あります", *_lines(survey.entries)]))


@creo.writes
async def category_create(
    call: Call,
    name: Annotated[str, Field(description="Its name, in any script; unique among your categories")],
    description: Annotated[str, Field(description="What it is for")] = "",
) -> Answer[CategoryShown]:
    """Make a category of your own."""
    made = await call.engine.categories.create(call.actor, name, description)
    return Answer(_shown(made), text=f"✅ カテゴリを作成しました: {_named(made)}")


@creo.writes
async def category_update(
    call: Call,
    id: Id,
    name: Annotated[str | None, Field(description="A new name; memories that you wrote follow")] = None,
    description: Annotated[str | None, Field(description="What it is for")] = None,
) -> Answer[CategoryChanged]:
    """Rename or describe a category of your own."""
    done = await call.engine.categories.change(call.actor, _id("id", id), name=name, description=description)
    followed = f"（メモリ{done.memories}件を更新）" if done.memories else ""
    body: CategoryChanged = {**_shown(done.category), "updatedMemories": done.memories}
    return Answer(body, text=f"✅ カテゴリを更新しました: {_named(done.category)}{followed}")


@creo.destroys
async def category_delete(call: Call, id: Id) -> Answer[CategoryDeleted]:
    """Delete a category of your own: it comes off the memories that you wrote, which stay otherwise as they are."""
    gone = await call.engine.categories.delete(call.actor, _id("id", id))
    name = gone.category.name
    body: CategoryDeleted = {
        "id": _written(gone.category),
        "name": name,
        "deleted": True,
        "updatedMemories": gone.memories,
    }
    words = f"✅ カテゴリを削除しました: {quoted(name, _SHOWN)}（メモリ{gone.memories}件から解除）"
    return Answer(body, text=words)


@creo.writes
async def category_attach(call: Call, memory_id: MemoryIdentifier, category_id: Id) -> Answer[CategoriesPut]:
    """Put a memory in a category. It becomes its first where there is none, else a further one."""
    memory, category = ids.memory("memory_id", memory_id), _id("category_id", category_id)
    done = await call.engine.categories.attach(call.actor, memory, category)
    words = "✅ カテゴリを付与しました" if done.changed else "カテゴリはすでに付与されています"
    return Answer(_put(done), text=f"{words}: {_all_named(done.categories)}")


@creo.writes
async def category_detach(call: Call, memory_id: MemoryIdentifier, category_id: Id) -> Answer[CategoriesPut]:
    """Take a memory out of a category. In place of its first comes the next one."""
    memory, category = ids.memory("memory_id", memory_id), _id("category_id", category_id)
    done = await call.engine.categories.detach(call.actor, memory, category)
    return Answer(_put(done), text="✅ カテゴリを解除しました" if done.changed else "カテゴリは付与されていません")


@creo.reads
async def category_get_by_memory(call: Call, memory_id: MemoryIdentifier) -> Answer[CategoriesOfMemory]:
    """All categories of a memory, its first one first."""
    found = await call.engine.categories.of(call.actor, ids.memory("memory_id", memory_id))
    words = f"カテゴリは{len(found.categories)}件あります"
    return Answer(_of(found), text=f"{words}: {_all_named(found.categories)}" if found.categories else words)


@creo.writes
async def category_replace_for_memory(
    call: Call,
    memory_id: MemoryIdentifier,
    category_ids: Annotated[list[str], Field(description="Category ids in order; an empty list takes all away")],
) -> Answer[CategoriesPut]:
    """Give a memory exactly these categories, in this order."""
    wanted = [_id("category_ids", one) for one in category_ids]
    done = await call.engine.categories.replace(call.actor, ids.memory("memory_id", memory_id), wanted)
    named = f": {_all_named(done.categories)}" if done.categories else "（なし）"
    return Answer(_put(done), text=f"✅ カテゴリを置き換えました{named}")


def _id(field: str, value: str) -> str:
    """The UUID of a category that a user made, or the name of any other."""
    written = value.strip()
    table = next((table for table in _TABLES if written.startswith(table)), "")
    rest = written.removeprefix(table)
    identifier = rest.strip("⟨⟩").lower()
    return identifier if is_uuid(identifier) else limits.label(field, rest)


def _written(category: Category) -> str:
    return f"category:{category.id or category.name}"


def _shown(category: Category) -> CategoryShown:
    return {
        "id": _written(category),
        "name": category.name,
        "description": category.description,
        "builtIn": category.is_built_in,
        "createdAt": instant(category.created_at) if category.created_at else None,
    }


def _of(found: Categorised) -> CategoriesOfMemory:
    shown = [_shown(category) for category in found.categories]
    return {"memory_id": found.memory.id, "categories": shown, "total": len(shown), "hasMore": False}


def _put(done: Categorised) -> CategoriesPut:
    return {**_of(done), "changed": done.changed}


def _named(category: Category) -> str:
    return f"{quoted(category.name, _SHOWN)} (category:{category.id})"


def _all_named(categories: Iterable[Category]) -> str:
    return "".join(quoted(category.name, _SHOWN) for category in categories)


def _lines(entries: Iterable[Counted]) -> list[str]:
    """A line each, as far as that is still read."""
    lines = [_line(one) for one in entries]
    most = MOST_NAMED + sum(one.category.is_built_in for one in entries)
    return lines if len(lines) <= most else [*lines[:most], f"…他{len(lines) - most}件"]


def _line(one: Counted) -> str:
    about = f"（{quoted(one.category.description, _SHOWN)[1:-1]}）" if one.category.description else ""
    return f"- {quoted(one.category.name, _SHOWN)}{about}: {one.memories}件"
