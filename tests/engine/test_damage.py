"""A page of the file is lost: what does not stand on it is still found, and whoever asks is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.errors import StoreCorrupt
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from commonplace.storage.sqlite.store import FILE_NAME
from tests.damage import COUNT, lose_part, lose_table, reopened, written

pytestmark = pytest.mark.anyio


async def found(engine: Engine, owner: Actor) -> tuple[list[int], set[str]]:
    """Which memories come first for the word that only they have, and what was said of the file."""
    numbers, told = [], set()
    for number in range(COUNT):
        recalled = await engine.recall.recall(owner, Question(f"subject{number}", 1))
        told.add(recalled.reach.damage)
        if recalled.hits and recalled.hits[0].memory.content.startswith(f"subject{number} "):
            numbers.append(number)
    return numbers, told


@pytest.mark.parametrize(
    ("lose", "table", "fewest"),
    [
        (lose_part, "words_data", COUNT // 2),
        (lose_part, "vectors", COUNT),
        (lose_table, "vectors", COUNT),
        (lose_part, "memories", COUNT // 2),
        (lose_table, "uses", COUNT),
        (lose_table, "events", COUNT),
        (lose_table, "meta", COUNT),
    ],
)
async def test_the_rest_is_found_and_the_damage_told(
    engine: Engine, owner: Actor, folder: Path, lose: Callable[[Path, str], None], table: str, fewest: int
) -> None:
    await written(engine, owner, folder)
    lose(folder / FILE_NAME, table)
    async with reopened(folder) as engine:
        numbers, told = await found(engine, owner)
        assert len(numbers) >= fewest
        assert any("malformed" in words for words in told)
        assert "malformed" in engine.store.damage


async def test_without_its_words_a_memory_is_found_by_its_meaning(engine: Engine, owner: Actor, folder: Path) -> None:
    await written(engine, owner, folder)
    lose_table(folder / FILE_NAME, "words_data")
    async with reopened(folder) as engine:
        recalled = await engine.recall.recall(owner, Question("subject7 filler7", 1))
        assert recalled.hits[0].memory.content.startswith("subject7 ")
        assert recalled.reach.damage


async def test_what_happened_is_not_needed_to_see_what_there_is_now(engine: Engine, owner: Actor, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("one before"))
    await engine.recall.recall(owner, Question("anything"))  # from here on the index follows the events
    async with reopened(folder) as other:
        await written(other, owner, folder)
    lose_part(folder / FILE_NAME, "events")
    numbers, told = await found(engine, owner)
    assert len(numbers) == COUNT
    assert all("malformed" in words for words in told)


@pytest.mark.parametrize("table", ["events", "meta"])
async def test_a_list_needs_neither_what_happened_nor_the_marks_of_the_store(
    engine: Engine, owner: Actor, folder: Path, table: str
) -> None:
    await written(engine, owner, folder)
    lose_table(folder / FILE_NAME, table)
    async with reopened(folder) as engine:
        page = await engine.memories.page(owner, COUNT)
        assert (len(page.memories), page.total) == (COUNT, COUNT)
        assert "malformed" in engine.store.damage


async def test_a_list_leaves_nothing_out_in_silence(engine: Engine, owner: Actor, folder: Path) -> None:
    await written(engine, owner, folder)
    lose_part(folder / FILE_NAME, "memories")
    async with reopened(folder) as engine:
        await engine.recall.recall(owner, Question("anything"))
        with pytest.raises(StoreCorrupt):
            await engine.memories.page(owner, 100)


async def test_what_is_lost_of_the_vectors_does_not_keep_a_list_from_being_read(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    await written(engine, owner, folder)
    lose_table(folder / FILE_NAME, "vectors")
    async with reopened(folder) as engine:
        await engine.recall.recall(owner, Question("anything"))
        assert (await engine.memories.page(owner, 100)).total == COUNT


async def test_a_file_is_well_again_once_it_was_looked_at(engine: Engine, owner: Actor, folder: Path) -> None:
    await written(engine, owner, folder)
    sound = (folder / FILE_NAME).read_bytes()
    lose_table(folder / FILE_NAME, "words_data")
    async with reopened(folder) as engine:
        await engine.recall.recall(owner, Question("subject7"))
        assert "malformed" in engine.store.damage
        assert await engine.store.check() == engine.store.damage != ""
        (folder / FILE_NAME).write_bytes(sound)
        assert await engine.store.check() == engine.store.damage == ""
    async with reopened(folder) as engine:
        assert (await engine.recall.recall(owner, Question("subject7"))).reach.damage == ""
