"""What every store promises about links, the chain, events and people: written once, run against each."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.access import Holding, Permission, Right
from commonplace.domain.chain import forge
from commonplace.domain.credential import Credential, User
from commonplace.domain.errors import NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CredentialId, MemoryId, UserId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change
from commonplace.ports import Prints, Transaction
from tests.storage.samples import NOW, House, Spoilt, ending, new_id

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


# Links, chain, events


async def test_links_are_seen_from_both_ends_the_strongest_first(house: House) -> None:
    a, b, c = [await house.keep(text) for text in "abc"]
    weak = Link(a.id, b.id, LinkKind.SEMANTIC, 0.2, NOW)
    strong = Link(c.id, a.id, LinkKind.DERIVED_FROM, 0.9, NOW)
    nowhere = Link(a.id, MemoryId(new_id()), LinkKind.MANUAL, 1.0, NOW)

    def work(tx: Transaction) -> None:
        for link in (weak, strong, nowhere):
            tx.links.add(link)

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.links.of(a.id)) == [strong, weak]
    assert await house.store.read(lambda tx: tx.links.of(b.id)) == [weak]
    stronger = replace(weak, strength=0.95)
    await house.store.write(lambda tx: tx.links.add(stronger))
    assert await house.store.read(lambda tx: tx.links.of(a.id)) == [stronger, strong]


async def test_links_of_two_memories_are_seen_whichever_way_they_lead(house: House) -> None:
    a, b, c = [await house.keep(text) for text in "abc"]
    there, back = Link(a.id, b.id, LinkKind.MANUAL, 0.4, NOW), Link(b.id, a.id, LinkKind.SEMANTIC, 0.9, NOW)

    def work(tx: Transaction) -> None:
        for link in (there, back, Link(a.id, c.id, LinkKind.MANUAL, 1.0, NOW)):
            tx.links.add(link)

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.links.between(a.id, b.id)) == [back, there]
    assert await house.store.read(lambda tx: tx.links.between(b.id, a.id)) == [back, there]
    assert await house.store.read(lambda tx: tx.links.between(b.id, c.id)) == []


async def test_blocks_follow_each_other_and_stand_beside_their_texts(house: House) -> None:
    kept = [await house.keep(f"text {n}") for n in range(5)]
    witnesses = await house.store.read(lambda tx: tx.witnesses(-1, 10))
    assert [(w.block.index, w.block.memory, w.context) for w in witnesses] == [
        (n, memory.id, memory.content) for n, memory in enumerate(kept)
    ]
    assert [w.block.index for w in await house.store.read(lambda tx: tx.witnesses(1, 2))] == [2, 3]
    head = await house.store.read(lambda tx: tx.head())
    assert head == witnesses[-1].block == await house.store.read(lambda tx: tx.block(4))
    await house.store.write(
        lambda tx: tx.revise(kept[1], Change(content="other"), kept[1].author, NOW, house.prints("other"))
    )
    assert (await house.store.read(lambda tx: tx.witnesses(0, 1)))[0].context == "text 1"


async def test_a_memory_that_stays_without_a_block_is_noticed(house: House) -> None:
    await house.keep("sealed")
    await house.keep("will end", ephemeral=ending(HOUR))
    assert await house.store.read(lambda tx: tx.unsealed()) == 0
    await house.store.write(lambda tx: tx.add(house.drafted("bare"), house.prints("bare")))
    assert await house.store.read(lambda tx: tx.unsealed()) == 1


async def test_two_blocks_cannot_have_one_place(house: House) -> None:
    memory = await house.keep("first")
    twin = forge(MemoryId(new_id()), 1, "x", "t", 0.5, None)
    with pytest.raises(Exception, match=r"UNIQUE|exists|duplicate"):
        await house.store.write(lambda tx: tx.append(twin))
    head = await house.store.read(lambda tx: tx.head())
    assert head is not None
    assert head.memory == memory.id


async def test_events_are_numbered_without_gaps_even_after_failures(house: House) -> None:
    memory = await house.keep("one")

    def spoilt(tx: Transaction) -> None:
        house.happened(tx, EventKind.LINKED, memory)
        raise Spoilt

    for _ in range(3):
        with pytest.raises(Spoilt):
            await house.store.write(spoilt)
        await house.store.write(lambda tx: house.happened(tx, EventKind.REVISED, memory))
    events = await house.store.read(lambda tx: tx.events(0, 100))
    assert [event.number for event in events] == [1, 2, 3, 4]
    assert [event.kind for event in events] == [EventKind.REMEMBERED] + [EventKind.REVISED] * 3
    assert (events[0].memory, events[0].memory_number, events[0].collection, events[0].by, events[0].detail) == (
        memory.id,
        memory.number,
        house.home,
        memory.author,
        {"block": 0},
    )
    assert await house.store.read(lambda tx: [e.number for e in tx.events(2, 1)]) == [3]
    assert await house.store.read(lambda tx: tx.last_event()) == 4


# Who


async def test_a_user_holds_what_is_owned_common_or_granted(house: House) -> None:
    def granted(tx: Transaction) -> list[Holding]:
        tx.grant(house.ada, house.elsewhere, Right.READ, house.ben, NOW)
        tx.grant(house.ada, house.elsewhere, Right.WRITE, house.ben, NOW)
        return sorted(tx.holdings(house.ada), key=lambda h: h.number)

    common, home, elsewhere = await house.store.write(granted)
    assert (common.number, common.domain, common.owner, common.granted) == (house.common, "global", None, None)
    assert (home.number, home.owner, home.granted) == (house.home, house.ada, None)
    assert (elsewhere.number, elsewhere.owner, elsewhere.granted) == (house.elsewhere, house.ben, Right.WRITE)
    bens = await house.store.read(lambda tx: {h.number for h in tx.holdings(house.ben)})
    assert bens == {house.common, house.elsewhere}


async def test_a_user_has_a_home_and_is_found_by_name_and_id(house: House) -> None:
    expected = User(house.ada, "ada", "", NOW)
    assert await house.store.read(lambda tx: (tx.user_named("ada"), tx.user(house.ada))) == (expected, expected)
    assert await house.store.read(lambda tx: (tx.user_named("nobody"), tx.user(UserId("-")))) == (None, None)
    assert await house.store.read(lambda tx: tx.home(house.ada)) == house.home
    with pytest.raises(NotFound):
        await house.store.read(lambda tx: tx.home(UserId("-")))


async def test_credentials_are_found_by_hash_and_stay_revoked(house: House) -> None:
    permissions = frozenset({Permission.READ, Permission.WRITE})
    first = Credential(CredentialId(new_id()), house.ada, "phone", "hash-1", permissions, NOW, NOW + HOUR)
    second = Credential(CredentialId(new_id()), house.ben, "desk", "hash-2", frozenset(Permission), NOW + HOUR)

    def work(tx: Transaction) -> None:
        tx.add_credential(second)
        tx.add_credential(first)
        tx.revoke_credential(second.id, NOW + HOUR)
        tx.revoke_credential(second.id, NOW + 2 * HOUR)

    await house.store.write(work)
    revoked = replace(second, revoked_at=NOW + HOUR)
    assert await house.store.read(lambda tx: list(tx.credentials())) == [first, revoked]
    assert await house.store.read(lambda tx: tx.credential_by_hash("hash-2")) == revoked
    assert await house.store.read(lambda tx: tx.credential_by_hash("hash-3")) is None


# The rest


async def test_a_lease_has_one_holder_until_it_ends(house: House) -> None:
    async def lease(holder: str, at: timedelta) -> bool:
        return await house.store.write(lambda tx: tx.lease("sweep", holder, NOW + at, NOW + at + HOUR))

    assert await lease("a", timedelta(0))
    assert not await lease("b", HOUR / 2)
    assert await lease("a", HOUR / 2)  # its holder may prolong it
    assert not await lease("b", HOUR)
    assert await lease("b", 3 * HOUR / 2)
    assert not await lease("a", 3 * HOUR / 2)


async def test_meta_is_kept_and_replaced(house: House) -> None:
    await house.store.write(lambda tx: tx.set_meta("k", "1"))
    await house.store.write(lambda tx: tx.set_meta("k", "2"))
    assert await house.store.read(lambda tx: (tx.meta("k"), tx.meta("none"))) == ("2", None)


async def test_statistics_count_what_there_is(house: House) -> None:
    await house.keep("one")
    gone = await house.keep("two")
    await house.keep("short", ephemeral=ending(HOUR))
    await house.keep_all(["over"], ephemeral=ending(-HOUR, HOUR))
    await house.keep("blind", prints=Prints(["blind"], None, "fake/64", unembedded="no model"))
    await house.forget(gone)
    found = await house.store.read(lambda tx: tx.statistics(NOW))
    assert (found.memories, found.ephemeral, found.blocks, found.events) == (4, 1, 3, 6)
    assert (found.unembedded, found.unembedded_reason) == (1, "no model")
    assert found.bytes > 0
