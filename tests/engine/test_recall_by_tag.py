"""What a memory is tagged with and its category find it, in whatever way it came to them."""

from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from commonplace.language.tags import tags
from tests.engine.test_archive import another
from tests.engine.test_collections import at
from tests.engine.test_recovery import put_back
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

CALL = Draft("Call Hiroshi before noon about the shipment", tags=("logistics", "緊急"), category="operations")


async def found(engine: Engine, actor: Actor, query: str) -> list[str]:
    """The texts that these words find, and not chance."""
    hits = (await engine.recall.recall(actor, Question(query, threshold=0.7))).hits
    return [hit.memory.content for hit in hits if hit.reasons["lexical"] > 0]


@pytest.mark.parametrize("query", ["logistics", "緊急", "operations", "Hiroshi logistics", "operations 緊急 shipment"])
async def test_a_memory_is_found_by_its_tags_its_category_and_its_text_together(
    engine: Engine, owner: Actor, query: str
) -> None:
    await engine.memories.remember(owner, Draft("Dinner with Camille at the harbour", tags=("friends",)))
    await engine.memories.remember(owner, CALL)
    assert await found(engine, owner, query) == [CALL.content]


async def test_a_restored_version_is_found_by_the_tags_it_had(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, CALL)
    await engine.memories.revise(owner, at(memory), Change(tags=("customs",), category="abroad"))
    assert await found(engine, owner, "customs") == await found(engine, owner, "abroad") == [CALL.content]
    assert await found(engine, owner, "logistics") == []
    await engine.history.restore(owner, at(memory), 1)
    assert await found(engine, owner, "緊急") == await found(engine, owner, "operations") == [CALL.content]
    assert await found(engine, owner, "customs") == await found(engine, owner, "abroad") == []


async def test_a_session_that_is_taken_back_takes_its_tags_along(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner.through("test", "before"), CALL)
    session = owner.through("test", "s")
    await engine.memories.revise(session, at(memory), Change(tags=("customs",)))
    await engine.memories.remember(session, Draft("a parcel", tags=("customs",)))
    assert len(await found(engine, owner, "customs")) == 2
    await engine.undo.take_back(owner.through("test", "later"), "s")
    assert await found(engine, owner, "customs") == []
    assert await found(engine, owner, "logistics") == [CALL.content]


async def test_what_comes_back_from_a_backup_is_found_by_its_tags(engine: Engine, owner: Actor) -> None:
    gone, changed = [await engine.memories.remember(owner, CALL) for _ in range(2)]
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(gone))
    await engine.memories.revise(owner, at(changed), Change(tags=()))
    assert await found(engine, owner, "logistics") == []
    await put_back(engine, owner, "memories")
    assert await found(engine, owner, "logistics") == await found(engine, owner, "緊急") == [CALL.content] * 2


async def test_what_is_brought_from_elsewhere_is_found_by_its_tags(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    await engine.memories.remember(owner, CALL)
    bundle, _ = await engine.archive.bundle(owner)
    async with another(tmp_path / "other", clock) as (there, them):
        await there.archive.bring(them, bundle)
        assert await found(there, them, "logistics") == await found(there, them, "operations") == [CALL.content]


async def test_memories_follow_their_category_under_its_new_name(engine: Engine, owner: Actor) -> None:
    category = await engine.categories.create(owner, "operations")
    memory = await engine.memories.remember(owner, CALL)
    await engine.categories.create(owner, "abroad")
    await engine.categories.attach(owner, at(memory), "abroad")
    assert await found(engine, owner, "abroad") == [CALL.content]
    await engine.categories.change(owner, category.id, name="harbour")
    assert await found(engine, owner, "harbour") == await found(engine, owner, "abroad") == [CALL.content]
    assert await found(engine, owner, "operations") == []
    await engine.categories.delete(owner, category.id)
    assert await found(engine, owner, "harbour") == []
    assert await found(engine, owner, "abroad") == await found(engine, owner, "logistics") == [CALL.content]


async def test_a_label_is_its_owners_and_finds_nothing_for_others(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, CALL)
    label = await engine.labels.create(owner, "private")
    await engine.labels.attach(owner, at(memory), label.id)
    assert await found(engine, owner, "private") == []


async def test_tags_that_were_found_by_themselves_do_not_come_before_what_says_it(engine: Engine, owner: Actor) -> None:
    for text in ("The sprint review with the team is a long one", "My colleague is on leave until the release"):
        await engine.memories.remember(owner, Draft(text, tags=tuple(tags(text))))
    said = "The project ends in May"
    await engine.memories.remember(owner, Draft(said, tags=tuple(tags(said))))
    assert (await found(engine, owner, "when does the project end?"))[:1] == [said]
