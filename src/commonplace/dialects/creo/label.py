"""ラベル管理."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import instant, quoted
from commonplace.domain.label import Label
from commonplace.engine.labels import Labelled

MOST_NAMED = 20
"""Labels that the words of an answer name; the object has all of them."""
_SHOWN = 40

Id = Annotated[str, Field(description="Label id, like label:UUID")]
MemoryIdentifier = Annotated[str, Field(description="Memory id")]


class LabelShown(TypedDict):
    """A label of the caller's own."""

    id: str
    name: str
    color: str | None
    createdAt: str


class LabelListed(LabelShown):
    memoryCount: int


class LabelList(TypedDict):
    labels: list[LabelListed]
    total: int
    hasMore: bool


class LabelDeleted(TypedDict):
    id: str
    name: str
    deleted: bool
    memoryCount: int


class LabelsOnMemory(TypedDict):
    """The caller's labels on a memory."""

    memory_id: str
    labels: list[LabelShown]
    total: int
    hasMore: bool


class LabelPut(LabelsOnMemory):
    label_id: str
    attached: bool
    changed: bool


@creo.writes
async def label_create(
    call: Call,
    name: Annotated[str, Field(description="Its name, in any script; unique among your labels")],
    color: Annotated[str, Field(description="HEX colour, like #FF0000 or #F00")] = "",
) -> Answer[LabelShown]:
    """Make a label: a word of your own to put on memories and to search by. Only you see it."""
    made = await call.engine.labels.create(call.actor, name, color)
    return Answer(_shown(made), text=f"✅ ラベルを作成しました: {_named(made)}")


@creo.reads
async def label_list(call: Call) -> Answer[LabelList]:
    """All your labels, with how many memories bear each."""
    uses = await call.engine.labels.all(call.actor)
    listed: list[LabelListed] = [{**_shown(use.label), "memoryCount": use.memories} for use in uses]
    lines = [f"- {_named(use.label)}: {use.memories}件" for use in uses[:MOST_NAMED]]
    words = "\n".join([f"ラベルは{len(listed)}件あります", *lines, *_rest(len(listed))])
    return Answer({"labels": listed, "total": len(listed), "hasMore": False}, text=words)


@creo.writes
async def label_update(
    call: Call,
    id: Id,
    name: Annotated[str | None, Field(description="A new name")] = None,
    color: Annotated[str | None, Field(description="A new HEX colour; an empty text takes it away")] = None,
) -> Answer[LabelShown]:
    """Rename a label or give it another colour; memories keep it."""
    changed = await call.engine.labels.change(call.actor, _id("id", id), name=name, color=color)
    return Answer(_shown(changed), text=f"✅ ラベルを更新しました: {_named(changed)}")


@creo.destroys
async def label_delete(call: Call, id: Id) -> Answer[LabelDeleted]:
    """Delete a label: it comes off all memories, which stay as they are."""
    gone = await call.engine.labels.delete(call.actor, _id("id", id))
    label = gone.label
    words = f"✅ ラベルを削除しました: {quoted(label.name, _SHOWN)}（メモリ{gone.memories}件から解除）"
    body: LabelDeleted = {
        "id": f"label:{label.id}",
        "name": label.name,
        "deleted": True,
        "memoryCount": gone.memories,
    }
    return Answer(body, text=words)


@creo.writes
async def label_attach(call: Call, memory_id: MemoryIdentifier, label_id: Id) -> Answer[LabelPut]:
    """Put a label on a memory that you may change. Doing it twice changes nothing."""
    label = _id("label_id", label_id)
    done = await call.engine.labels.attach(call.actor, ids.memory("memory_id", memory_id), label)
    words = "✅ ラベルを付与しました" if done.changed else "ラベルはすでに付与されています"
    return Answer(_put(done, label, attached=True), text=f"{words}: {_all_named(done.labels)}")


@creo.writes
async def label_detach(call: Call, memory_id: MemoryIdentifier, label_id: Id) -> Answer[LabelPut]:
    """Take a label off a memory that you may change. Doing it twice changes nothing."""
    label = _id("label_id", label_id)
    done = await call.engine.labels.detach(call.actor, ids.memory("memory_id", memory_id), label)
    words = "✅ ラベルを解除しました" if done.changed else "ラベルは付与されていません"
    return Answer(_put(done, label, attached=False), text=words)


@creo.reads
async def label_get_by_memory(call: Call, memory_id: MemoryIdentifier) -> Answer[LabelsOnMemory]:
    """Your labels on a memory."""
    found = await call.engine.labels.of(call.actor, ids.memory("memory_id", memory_id))
    words = f"ラベルは{len(found.labels)}件あります"
    return Answer(_on(found), text=f"{words}: {_all_named(found.labels)}" if found.labels else words)


def _id(field: str, value: str) -> str:
    return ids.bare(field, value, "label", "labels")


def _shown(label: Label) -> LabelShown:
    return {
        "id": f"label:{label.id}",
        "name": label.name,
        "color": label.color or None,
        "createdAt": instant(label.created_at),
    }


def _on(found: Labelled) -> LabelsOnMemory:
    labels = [_shown(label) for label in found.labels]
    return {"memory_id": found.memory.id, "labels": labels, "total": len(labels), "hasMore": False}


def _put(done: Labelled, label: str, *, attached: bool) -> LabelPut:
    return {**_on(done), "label_id": f"label:{label}", "attached": attached, "changed": done.changed}


def _named(label: Label) -> str:
    color = f", {label.color}" if label.color else ""
    return f"{quoted(label.name, _SHOWN)} (label:{label.id}{color})"


def _all_named(labels: Iterable[Label]) -> str:
    names = [quoted(label.name, _SHOWN) for label in labels]
    return "".join([*names[:MOST_NAMED], *_rest(len(names))])


def _rest(count: int) -> list[str]:
    return [f"…他{count - MOST_NAMED}件"] if count > MOST_NAMED else []
