"""What every store promises about the tree of addresses: written once, run against each."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.errors import StoreFailed
from commonplace.domain.event import EventKind
from commonplace.domain.memory import Change, Memory
from commonplace.domain.outline import Stem
from commonplace.domain.path import Amendment, Path, Place
from commonplace.ports import Transaction
from tests.storage.samples import NOW, House, Spoilt, ending

pytestmark = pytest.mark.anyio


def root(house: House, domain: str = "core") -> Place:
    return Place(house.home, domain)


def below(house: House, memory: Memory) -> Place:
    return Place(house.home, parent=memory.number)


async def put(house: House, place: Place, name: str, memory: Memory, priority: int = 0, disclosure: str = "") -> Path:
    path = Path(place, name, memory.number, priority, disclosure, NOW)
    return replace(path, number=await house.store.write(lambda tx: tx.paths.add(path)))


async def tree(house: House) -> tuple[list[Memory], list[Path]]:
    """core://a, core://a/b, core://a/b/c, notes://z (an alias of b)."""
    a, b, c = [await house.keep(text) for text in ("text a", "text b", "text c")]
    paths = [
        await put(house, root(house), "a", a, 2),
        await put(house, below(house, a), "b", b, 1, "told"),
        await put(house, below(house, b), "c", c),
        await put(house, root(house, "notes"), "z", b, 0, "alias"),
    ]
    return [a, b, c], paths


async def test_a_path_is_found_where_it_was_put(house: House) -> None:
    (a, *_), (first, second, *_) = await tree(house)
    read = house.store.read
    assert await read(lambda tx: tx.paths.at(root(house), "a")) == first
    assert await read(lambda tx: tx.paths.at(below(house, a), "b")) == second
    assert await read(lambda tx: tx.paths.at(root(house), "b")) is None
    assert await read(lambda tx: tx.paths.at(root(house), "A")) is None
    assert await read(lambda tx: tx.paths.at(Place(house.elsewhere, "core"), "a")) is None
    assert await read(lambda tx: tx.paths.at(Place(house.elsewhere, parent=a.number), "b")) is None


async def test_a_name_is_taken_once_at_a_place(house: House) -> None:
    (a, b, _), _ = await tree(house)
    for place in (root(house), below(house, a)):
        name = "a" if place.parent is None else "b"
        with pytest.raises(StoreFailed):
            await put(house, place, name, b)
    elsewhere = await put(house, Place(house.elsewhere, "core"), "a", b)
    assert await house.store.read(lambda tx: tx.paths.at(Place(house.elsewhere, "core"), "a")) == elsewhere


async def test_branches_are_listed_by_priority_and_name_as_far_as_they_may_be_seen(house: House) -> None:
    a = await house.keep("parent")
    kept = {name: await house.keep(f"text {name}" + "x" * 500) for name in ("late", "b", "a")}
    for name, memory in kept.items():
        await put(house, below(house, a), name, memory, 5 if name == "late" else 1)
    foreign = await house.keep("of ben", home=house.elsewhere, author=house.author(house.ben))
    (over,) = await house.keep_all(["over"], ephemeral=ending(timedelta(0)))
    await put(house, below(house, a), "0foreign", foreign)
    await put(house, below(house, a), "0over", replace(foreign, number=over))
    found = await house.store.read(lambda tx: tx.paths.under(below(house, a), house.ours, 10))
    assert [(one.path.name, one.memory, len(one.glimpse)) for one in found] == [
        ("a", kept["a"].id, 400),
        ("b", kept["b"].id, 400),
        ("late", kept["late"].id, 400),
    ]
    assert len(await house.store.read(lambda tx: tx.paths.under(below(house, a), house.ours, 2))) == 2
    assert await house.store.read(lambda tx: tx.paths.count_under(below(house, a), house.ours)) == 3
    assert await house.store.read(lambda tx: tx.paths.count_under(below(house, a), house.all)) == 4
    assert len(await house.store.read(lambda tx: tx.paths.below(house.home, a.number))) == 5


async def test_paths_lead_to_and_from_a_memory(house: House) -> None:
    (a, b, c), (pa, pb, pc, pz) = await tree(house)

    def work(tx: Transaction) -> None:
        paths = tx.paths
        assert paths.to(house.home, b.number) == [pz, pb]
        assert paths.below(house.home, a.number) == [pb]
        assert paths.to(house.elsewhere, b.number) == []
        assert list(paths.trees_with(b.number)) == [house.home]
        assert paths.trees_with(999) == []
        assert paths.ways(house.home, [c.number]) == [pc, pz, pb, pa]
        assert paths.ways(house.home, [a.number]) == [pa]
        assert paths.ancestors(house.home, c.number) == {a.number, b.number}
        assert paths.ancestors(house.home, a.number) == frozenset()
        assert set(paths.descendants(house.home, [b.number], 10)) == {b.number, c.number}
        assert len(paths.descendants(house.home, [a.number], 2)) == 2

    await house.store.write(work)


async def test_rooted_is_what_a_root_leads_to_without_a_certain_path(house: House) -> None:
    (a, b, c), (pa, pb, pc, pz) = await tree(house)

    def rooted(tx: Transaction) -> list[bool]:
        paths = tx.paths
        return [
            paths.is_rooted(house.home, c.number),
            paths.is_rooted(house.home, c.number, without=pz.number),
            paths.is_rooted(house.home, c.number, without=pc.number),
            paths.is_rooted(house.home, a.number, without=pa.number),
            paths.is_rooted(house.elsewhere, c.number),
            paths.is_rooted(house.home, 999),
        ]

    assert await house.store.write(rooted) == [True, True, False, False, False, False]
    await house.store.write(lambda tx: tx.paths.remove(pb.number))
    assert await house.store.read(lambda tx: tx.paths.is_rooted(house.home, b.number, without=pz.number)) is False


@pytest.mark.parametrize(
    ("names", "largest"),
    [
        ([], 0),
        (["3", "12", "007"], 12),
        (["a1", "1a", "-5", "1_000", "٣", "1.5"], 0),
        (["0"], 0),
        (["9" * 15, "5"], 10**15 - 1),
        (["9" * 40, "5"], 5),
    ],
)
async def test_the_largest_title_is_that_of_plain_numbers(house: House, names: list[str], largest: int) -> None:
    memory = await house.keep("text")
    for name in names:
        await put(house, root(house), name, memory)
        await put(house, below(house, memory), name, memory)  # a store need not know about circles
    await put(house, root(house, "notes"), "99", memory)
    assert await house.store.read(lambda tx: tx.paths.largest_title(root(house))) == largest
    assert await house.store.read(lambda tx: tx.paths.largest_title(below(house, memory))) == largest


async def test_pages_and_stems_show_one_tree_as_far_as_it_may_be_seen(house: House) -> None:
    (a, b, c), paths = await tree(house)
    await house.store.write(lambda tx: tx.paths.add(Path(Place(house.elsewhere, "core"), "bens", a.number, 0, "", NOW)))
    first = await house.store.read(lambda tx: tx.paths.after(house.home, 0, house.ours, 3))
    assert [one.path for one in first] == paths[:3]
    rest = await house.store.read(lambda tx: tx.paths.after(house.home, first[-1].path.number, house.ours, 3))
    assert [one.path for one in rest] == paths[3:]
    stems = await house.store.read(lambda tx: tx.paths.stems(house.home, house.ours))
    assert sorted(stems, key=lambda one: one.name) == [
        Stem("core", None, "a", a.number, 2),
        Stem("", a.number, "b", b.number, 1),
        Stem("", b.number, "c", c.number, 0),
        Stem("notes", None, "z", b.number, 0),
    ]


async def test_labels_change_and_paths_go(house: House) -> None:
    (a, *_), (pa, *_) = await tree(house)
    await house.store.write(lambda tx: tx.paths.adjust(pa.number, 7, "now told"))
    changed = await house.store.read(lambda tx: tx.paths.at(root(house), "a"))
    assert changed == replace(pa, priority=7, disclosure="now told")
    await house.store.write(lambda tx: tx.paths.remove(pa.number))
    assert await house.store.read(lambda tx: tx.paths.to(house.home, a.number)) == []


async def test_paths_of_a_spoilt_transaction_were_never_there(house: House) -> None:
    memory = await house.keep("text")

    def spoilt(tx: Transaction) -> None:
        number = tx.paths.add(Path(root(house), "name", memory.number, 0, "", NOW))
        tx.paths.adjust(number, 3, "told")
        tx.paths.put_orphan(house.home, memory.number, "core://x", NOW)
        raise Spoilt

    with pytest.raises(Spoilt):
        await house.store.write(spoilt)
    assert await house.store.read(lambda tx: tx.paths.stems(house.home, house.ours)) == []
    assert await house.store.read(lambda tx: tx.paths.named(house.home, "name", 5)) == []
    assert await house.store.read(lambda tx: tx.paths.count_orphans(house.home, house.ours)) == 0


async def test_orphans_and_the_pathless_are_listed_and_counted(house: House) -> None:
    first, second, third = [await house.keep(text) for text in ("one", "two", "three")]
    await put(house, root(house), "third", third)

    def lose(tx: Transaction) -> None:
        tx.paths.put_orphan(house.home, first.number, "core://first", NOW)
        tx.paths.put_orphan(house.home, second.number, "core://second", NOW + timedelta(seconds=1))
        tx.paths.put_orphan(house.home, second.number, "core://again", NOW + timedelta(seconds=2))

    await house.store.write(lose)
    read = house.store.read
    assert await read(lambda tx: tx.paths.orphans(house.home, house.ours, 10)) == [
        (second.number, "core://again", NOW + timedelta(seconds=2)),
        (first.number, "core://first", NOW),
    ]
    assert [one[0] for one in await read(lambda tx: tx.paths.orphans(house.home, house.ours, 1, 1))] == [first.number]
    assert await read(lambda tx: tx.paths.count_orphans(house.home, house.ours)) == 2
    assert await read(lambda tx: tx.paths.count_orphans(house.elsewhere, house.all)) == 0
    assert await read(lambda tx: tx.paths.pathless(house.home, house.ours, 10)) == [second.number, first.number]
    assert await read(lambda tx: tx.paths.count_pathless(house.home, house.ours)) == 2
    assert await read(lambda tx: tx.paths.count_pathless(house.elsewhere, house.ours)) == 3
    await put(house, root(house), "found", first)
    assert await read(lambda tx: tx.paths.count_orphans(house.home, house.ours)) == 1
    await house.forget(second)
    assert await read(lambda tx: tx.paths.orphans(house.home, house.all, 10)) == []


async def test_the_latest_are_those_with_a_path_by_their_last_change(house: House) -> None:
    (a, b, c), _ = await tree(house)
    await house.keep("without a path")
    later, by = NOW + timedelta(hours=1), house.author()
    await house.store.write(lambda tx: tx.revise(a, Change(content="new"), by, later, house.prints("new")))
    assert await house.store.read(lambda tx: tx.paths.latest(house.home, house.ours, 2)) == [a.number, c.number]
    assert b.number in await house.store.read(lambda tx: tx.paths.latest(house.home, house.ours, 9))


async def test_what_a_change_did_to_a_path_is_kept_until_the_memory_goes(house: House) -> None:
    (_, b, _), (_, pb, _, _) = await tree(house)

    def amend(tx: Transaction) -> list[Amendment]:
        made = [(None, (1, "told")), ((1, "told"), (2, "")), ((2, ""), None)]
        changes = [(house.happened(tx, EventKind.ADJUSTED, b), before, after) for before, after in made]
        amendments = [Amendment(event, pb, before, after) for event, before, after in changes]
        for amendment in amendments:
            tx.paths.amend(amendment)
        return amendments

    kept = await house.store.write(amend)
    events = [one.event for one in kept]
    found = await house.store.read(lambda tx: tx.paths.amendments([*events, 1, 999]))
    assert [(one.event, one.before, one.after) for one in found] == [(one.event, one.before, one.after) for one in kept]
    assert {(one.path.place, one.path.name, one.path.memory, one.path.number) for one in found} == {
        (pb.place, "b", b.number, pb.number)
    }
    await house.forget(b)
    assert await house.store.read(lambda tx: tx.paths.amendments(events)) == []


async def test_a_memory_that_goes_takes_its_paths_along(house: House) -> None:
    (_, b, c), _ = await tree(house)
    await house.forget(b)
    stems = await house.store.read(lambda tx: tx.paths.stems(house.home, house.ours))
    assert [one.name for one in stems] == ["a"]
    assert await house.store.read(lambda tx: tx.paths.to(house.home, c.number)) == []
    assert await house.store.read(lambda tx: tx.paths.named(house.home, "b", 5)) == []


# Literal search


@pytest.mark.parametrize("passage", ["nam", "NAMED", "ed_", "d_漢", "漢字", "字", "e"])
async def test_names_are_found_by_any_part_of_them(house: House, passage: str) -> None:
    memory = await house.keep("text")
    named = await put(house, root(house), "named_漢字", memory)
    await put(house, root(house), "xx", memory)
    await put(house, Place(house.elsewhere, "core"), "named_漢字", memory)
    assert await house.store.read(lambda tx: tx.paths.named(house.home, passage, 10)) == [named]


@pytest.mark.parametrize("passage", ["%", "n%d", "_x", "n_m", '"', "NOT", "nam*"])
async def test_signs_in_a_passage_are_not_wild(house: House, passage: str) -> None:
    memory = await house.keep("some text named so")
    await put(house, root(house), "named", memory)
    assert await house.store.read(lambda tx: tx.paths.named(house.home, passage, 10)) == []
    assert await house.store.read(lambda tx: tx.paths.containing(passage, house.ours, 10)) == []


@pytest.mark.parametrize("passage", ["zebra", "ze", "斑馬", "馬", "%"])
async def test_texts_that_hold_a_passage_are_found_as_far_as_they_may_be_seen(house: House, passage: str) -> None:
    text = "a zebra, 斑馬, 100%"
    first, second = await house.keep(text), await house.keep(text)
    await house.keep("of ben: " + text, home=house.elsewhere)
    await house.keep_all(["over: " + text], ephemeral=ending(timedelta(0)))
    changed = await house.keep(text)
    await house.store.write(
        lambda tx: tx.revise(changed, Change(content="other"), changed.author, NOW, house.prints("other"))
    )
    read = house.store.read
    assert await read(lambda tx: tx.paths.containing(passage, house.ours, 10)) == [second.number, first.number]
    assert await read(lambda tx: tx.paths.containing(passage, house.ours, 1)) == [second.number]
    assert len(await read(lambda tx: tx.paths.containing(passage, house.all, 10))) == 3


async def test_standings_are_those_seen_by_their_best_priority(house: House) -> None:
    (a, b, c), _ = await tree(house)
    free = await house.keep("without a path")
    hidden = await house.keep("of ben", home=house.elsewhere)
    numbers = [one.number for one in (free, hidden, a, b, c)]
    found = await house.store.read(lambda tx: tx.paths.standings(house.home, numbers, house.ours))
    assert found == [(c.number, 0), (b.number, 0), (a.number, 2), (free.number, None)]
    assert await house.store.read(lambda tx: tx.paths.texts([a.number, 999])) == {a.number: "text a"}


# Where things came from


async def test_an_origin_is_known_as_long_as_its_memory_is_there(house: House) -> None:
    memory = await house.keep("brought")
    await house.store.write(lambda tx: tx.put_origin("elsewhere", "17", memory.number))
    assert await house.store.read(lambda tx: tx.origin("elsewhere", "17")) == memory.id
    assert await house.store.read(lambda tx: tx.origin("another", "17")) is None
    await house.forget(memory)
    assert await house.store.read(lambda tx: tx.origin("elsewhere", "17")) is None
