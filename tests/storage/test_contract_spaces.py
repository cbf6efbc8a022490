"""What every store promises about spaces: their files, what is to be written outside, what is known to stand there."""

from datetime import timedelta

import pytest

from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Memory
from commonplace.domain.space import FileKind, Mirrored, Place, SpaceFile
from commonplace.ports import Reading, Transaction
from tests.storage.samples import NOW, House, new_id

pytestmark = pytest.mark.anyio

NOTE, BANK, RULES = FileKind.NOTE, FileKind.BANK, FileKind.RULES


async def space(house: House, name: str = "alpha") -> int:
    identifier = CollectionId(new_id())
    return await house.store.write(lambda tx: tx.add_collection(identifier, "space", "project", name, house.ada, NOW))


async def put(house: House, where: int, name: str, content: str = "text", kind: FileKind = NOTE) -> SpaceFile:
    """A file that shows a memory; as the store gives it back."""
    drafted = house.drafted(content, home=where, category="issue", tags=("a", "b"))

    def work(tx: Transaction) -> None:
        memory = house.put(tx, drafted)
        size = len(content.encode())
        tx.spaces.put(SpaceFile(0, where, kind, name, content, "ann", NOW, NOW, size, memory.number))

    await house.store.write(work)
    found = await house.store.read(lambda tx: tx.spaces.file(where, kind, name))
    assert found
    return found


async def marks(house: House) -> list[str]:
    return [one.path for one in await house.store.read(lambda tx: tx.spaces.unmirrored(-1))]


async def cleared(house: House) -> None:
    def work(tx: Transaction) -> None:
        for one in tx.spaces.unmirrored(-1):
            tx.spaces.unmark(one.path)

    await house.store.write(work)


def memory_of(tx: Reading, house: House, file: SpaceFile) -> Memory:
    assert file.memory is not None
    (memory,) = tx.memories([file.memory], house.all.__class__(frozenset({file.space}), NOW))
    return memory


async def test_a_file_is_read_back_with_the_memory_it_shows(house: House) -> None:
    where = await space(house)
    file = await put(house, where, "n.md", "漢字")
    assert (file.content, file.category, file.tags, file.agent, file.version) == ("漢字", "issue", ("a", "b"), "ann", 1)
    plain = SpaceFile(0, where, RULES, "_rules.md", "rules", "", NOW, NOW, 5)
    await house.store.write(lambda tx: tx.spaces.put(plain))
    (rules,) = await house.store.read(lambda tx: tx.spaces.files(where, RULES))
    assert (rules.content, rules.memory, rules.version) == ("rules", None, 0)


async def test_every_way_in_which_a_file_changes_is_marked(house: House) -> None:
    where = await space(house)
    file = await put(house, where, "n.md")
    assert await marks(house) == ["alpha/live/n.md"]

    async def marked(change: Change) -> bool:
        await cleared(house)
        by = house.author()
        await house.store.write(lambda tx: tx.revise(memory_of(tx, house, file), change, by, NOW, None))
        return await marks(house) == ["alpha/live/n.md"]

    assert await marked(Change(content="longer text"))
    assert await marked(Change(tags=("c",)))
    assert await marked(Change(category="todo"))
    again = await house.store.read(lambda tx: tx.spaces.file(where, NOTE, "n.md"))
    assert again
    assert (again.size, again.tags, again.category) == (11, ("c",), "todo")
    await cleared(house)
    await house.store.write(lambda tx: tx.spaces.weigh(Place("alpha", NOTE, "n.md"), 99))
    assert await marks(house) == []  # how large it is does not change it
    await house.store.write(lambda tx: tx.erase(memory_of(tx, house, file), NOW))
    assert await marks(house) == ["alpha/live/n.md"]
    assert await house.store.read(lambda tx: tx.spaces.file(where, NOTE, "n.md")) is None


async def test_a_memory_that_is_moved_away_leaves_its_file(house: House) -> None:
    where = await space(house)
    file = await put(house, where, "n.md")
    await cleared(house)
    assert file.memory is not None
    number = file.memory
    await house.store.write(lambda tx: tx.collections.move(number, house.home))
    assert await marks(house) == ["alpha/live/n.md"]
    assert await house.store.read(lambda tx: tx.spaces.files(where, NOTE)) == []


async def test_a_mark_stays_where_the_file_changed_while_it_was_written(house: House) -> None:
    where = await space(house)
    await put(house, where, "n.md")
    (before,) = await house.store.read(lambda tx: tx.spaces.unmirrored(5))
    await house.store.write(lambda tx: tx.spaces.mark(before.path))
    now = Mirrored(before.path, "tag", "digest")
    await house.store.write(lambda tx: tx.spaces.settle(before.path, before.change, now))
    assert await marks(house) == [before.path]
    assert await house.store.read(lambda tx: tx.spaces.mirrored(before.path)) == now
    (after,) = await house.store.read(lambda tx: tx.spaces.unmirrored(5))
    await house.store.write(lambda tx: tx.spaces.settle(after.path, after.change, None))
    assert await marks(house) == []
    assert await house.store.read(lambda tx: tx.spaces.mirrored(before.path)) is None


async def test_what_was_begun_is_remembered_until_it_is_settled(house: House) -> None:
    def work(tx: Transaction) -> None:
        tx.spaces.mark("alpha/a.md")
        for digest in ("one", "two", "one"):
            tx.spaces.begin("alpha/a.md", digest)
        tx.spaces.mark("alpha/a.md")

    await house.store.write(work)
    mark = await house.store.read(lambda tx: tx.spaces.mark_of("alpha/a.md"))
    assert mark
    assert mark.begun == "one two"
    await house.store.write(lambda tx: tx.spaces.settle("alpha/a.md", mark.change, None))
    assert await house.store.read(lambda tx: tx.spaces.mark_of("alpha/a.md")) is None


async def test_marks_are_given_by_path_and_from_a_path_on(house: House) -> None:
    def work(tx: Transaction) -> None:
        for name in "cab":
            tx.spaces.mark(name)

    await house.store.write(work)
    assert await marks(house) == ["a", "b", "c"]
    assert await house.store.read(lambda tx: [one.path for one in tx.spaces.unmirrored(1, "a")]) == ["b"]
    assert await house.store.read(lambda tx: tx.spaces.count_unmirrored()) == 3


async def test_everything_can_be_marked_and_nothing_be_known(house: House) -> None:
    await put(house, await space(house), "n.md")
    await put(house, await space(house, "beta"), "b.md", kind=BANK)
    await cleared(house)
    await house.store.write(lambda tx: tx.spaces.know(Mirrored("alpha/live/n.md", "tag", "digest")))
    await house.store.write(lambda tx: tx.spaces.mark_all(["_meta.json"]))
    await house.store.write(lambda tx: tx.spaces.unknow_all())
    assert await marks(house) == ["alpha/_meta.json", "alpha/live/n.md", "beta/_meta.json", "beta/bank/b.md"]
    assert await house.store.read(lambda tx: tx.spaces.all_mirrored()) == []


async def test_what_was_brought_is_known_until_its_space_goes(house: House) -> None:
    where, _ = await space(house), await space(house, "alpha0")

    def work(tx: Transaction) -> None:
        for path in ("alpha/live/a.md", "alpha0/live/a.md", "_system/tokens.json"):
            tx.spaces.note_brought(path, "digest")
            tx.spaces.note_brought(path, "digest")

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.spaces.was_brought("alpha/live/a.md", "digest"))
    assert not await house.store.read(lambda tx: tx.spaces.was_brought("alpha/live/a.md", "other"))
    await house.store.write(lambda tx: tx.collections.remove(where))
    assert not await house.store.read(lambda tx: tx.spaces.was_brought("alpha/live/a.md", "digest"))
    assert await house.store.read(lambda tx: tx.spaces.was_brought("alpha0/live/a.md", "digest"))


async def test_a_lease_is_held_until_it_ends_or_is_given_back(house: House) -> None:
    async def lease(holder: str, after: int, term: int) -> bool:
        now = NOW + timedelta(seconds=after)
        return await house.store.write(lambda tx: tx.lease("work", holder, now, now + timedelta(seconds=term)))

    assert await lease("one", 0, 30)
    assert not await lease("two", 29, 30)
    assert await lease("one", 29, 30)
    assert not await lease("two", 31, 30)
    assert await lease("two", 59, 30)
    assert await lease("two", 60, 0)
    assert await lease("one", 60, 30)
