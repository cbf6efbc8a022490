import csv
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.bootstrap import build
from commonplace.dialects.assoc import formats
from commonplace.domain.access import Actor, Right
from commonplace.domain.collection import SESSION_LENGTH, Kind
from commonplace.domain.errors import Forbidden, Invalid
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.limits import MAX_METADATA_BYTES
from commonplace.domain.memory import Change, Draft
from commonplace.domain.record import Bundle, Record, RecordedLink, RecordedPlace
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.engine.test_collections import at, keep, project, user
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


@asynccontextmanager
async def another(folder: Path, clock: Clock) -> AsyncIterator[tuple[Engine, Actor]]:
    """An empty store beside the first."""
    engine = build(Settings(data_dir=str(folder)), model=Embedder(), clock=clock, zone=ZoneInfo("UTC"))
    try:
        yield engine, (await engine.access.local_owner()).through("test")
    finally:
        await engine.close()


async def furnish(engine: Engine, owner: Actor, clock: Clock) -> None:
    """Every domain, ties of several kinds, some of them used, a rewritten text, uses, an end."""
    home = await project(engine, owner)
    await project(engine, owner)
    session = (await engine.collections.found(owner, Kind.SESSION, "夜", length=SESSION_LENGTH)).collection
    first = await engine.memories.remember(
        owner, Draft("grey cats", tags=("動物",), keywords=("cat",), metadata={"a": [1, None]}, content_type="markdown")
    )
    clock.advance(timedelta(minutes=3, microseconds=7))
    second = await engine.memories.remember(owner, Draft("grey cats again"), associate=True)
    await engine.memories.remember(owner, Draft("ending", ttl=timedelta(days=3)))
    await keep(engine, owner, "ours", home)
    await keep(engine, owner, "tonight", session.id)
    await keep(engine, owner, "everyone's", await engine.collections.everyones())
    await engine.links.connect(owner, at(first), at(second), 0.25)
    await engine.memories.revise(owner, at(first), Change(content="grey cats, rewritten", importance=0.125))
    await engine.recall.recall(owner, Question("grey cats"))
    await engine.recall.flush_uses()
    while await engine.links.discover():
        continue


@pytest.mark.parametrize("domain", ["user", "project"])
async def test_a_key_limited_to_an_atlas_brings_nothing_into_what_it_does_not_open(
    engine: Engine, owner: Actor, domain: str
) -> None:
    atlas = (await engine.atlases.create(owner, Sketch("an atlas"))).collection.id
    limited, events = owner.within(frozenset({atlas})), await engine.events.last()
    places = (RecordedPlace(ABSENT, "project", "theirs"),)
    record = Record("", "grey cats", domain, NOW, NOW, place=ABSENT if domain == "project" else "")
    for bundle in (
        Bundle((record,), (), places),
        Bundle((), (), places),
        Bundle((replace(record, domain="user", place=""),)),
    ):
        report = await engine.archive.bring(limited, bundle)
        assert report.faults
        assert all(isinstance(fault.error, Forbidden) for fault in report.faults)
    assert await engine.events.last() == events
    assert await engine.store.read(lambda tx: tx.collections.get(CollectionId(ABSENT))) is None


async def test_a_bundle_comes_out_of_an_empty_store_as_it_went_in(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    await furnish(engine, owner, clock)
    bundle, total = await engine.archive.bundle(owner)
    assert total == len(bundle.records) == 6
    assert {link.kind for link in bundle.links} >= {"manual", "semantic"}
    assert any(link.used_at for link in bundle.links)
    assert len(bundle.places) == 3
    async with another(tmp_path / "other", clock) as (there, them):
        report = await there.archive.bring(them, bundle)
        assert (report.imported, report.skipped, report.faults) == (6, 0, [])
        assert (await there.archive.bundle(them))[0] == bundle
        await there.upkeep.once()
        assert (await there.archive.bundle(them))[0] == bundle, "nothing is added in the background"
        assert (await there.chain.verify(them)).valid


async def test_what_a_clock_that_ran_ahead_has_left_travels_as_it_is(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    clock.advance(timedelta(days=400))
    memory = await keep(engine, owner, "written ahead of time")
    await keep(engine, owner, "never touched again")
    clock.advance(timedelta(days=-400))
    await engine.memories.revise(owner, at(memory), Change(content="put right"))
    bundle, _ = await engine.archive.bundle(owner)
    async with another(tmp_path / "other", clock) as (there, them):
        report = await there.archive.bring(them, bundle)
        assert (report.imported, report.faults) == (2, [])
        assert dict(report.odd) == {
            1: ("created_at is in the future", "updated_at is before created_at"),
            2: ("created_at is in the future", "updated_at is in the future"),
        }
        assert (await there.archive.bundle(them))[0] == bundle


async def test_a_second_time_everything_is_known(engine: Engine, owner: Actor, clock: Clock, tmp_path: Path) -> None:
    await furnish(engine, owner, clock)
    bundle, _ = await engine.archive.bundle(owner)
    async with another(tmp_path / "other", clock) as (there, them):
        await there.archive.bring(them, bundle)
        events = await there.store.read(lambda tx: tx.last_event())
        report = await there.archive.bring(them, bundle)
        assert (report.imported, report.skipped) == (0, 6)
        assert await there.store.read(lambda tx: tx.last_event()) == events
        assert (await there.archive.bundle(them))[0] == bundle


async def test_a_deleted_memory_may_be_brought_again_under_another_id(engine: Engine, owner: Actor) -> None:
    memory = await keep(engine, owner, "phoenix")
    bundle, _ = await engine.archive.bundle(owner)
    await engine.memories.forget(owner, at(memory))
    for imported in (1, 0):
        report = await engine.archive.bring(owner, bundle)
        assert (report.imported, report.skipped) == (imported, 1 - imported)
    assert report.lines[0][1] != memory.id
    assert (await engine.chain.verify(owner)).valid


async def test_a_name_that_another_user_has_taken_is_no_obstacle(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    memory = await keep(engine, owner, "the owner's")
    bundle = Bundle((replace(record(), id=memory.id),))
    for actor in (anna, bert):
        for imported in (1, 0):
            assert (await engine.archive.bring(actor, bundle)).imported == imported
        assert (await engine.memories.page(actor, 9)).total == 1
    assert (await engine.memories.get(owner, at(memory))).content == "the owner's"


def record(**fields: object) -> Record:
    plain = Record(id="", content="brought", domain="user", created_at=NOW, updated_at=NOW)
    return replace(plain, **fields)  # type: ignore[arg-type]


FAULTY = (
    record(content=" "),
    record(content="\ud800"),
    record(id="x"),
    record(tags=("",)),
    record(keywords=("x" * 201,)),
    record(category="x" * 201),
    record(category="\x00"),
    record(author="\ud800"),
    record(content_type="\ud800"),
    record(importance=float("nan")),
    record(metadata={"a": "\ud800"}),
    record(metadata={"a": float("inf")}),
    record(metadata={"a": object()}),
    record(metadata={"a": "x" * 65_536}),
    record(metadata={"a": 2**70}),
    record(metadata={"a": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}),
    record(uses=-1),
    record(uses=2**60),
    record(domain="team"),
    record(domain="project"),
    record(domain="project", place=ABSENT),
    record(domain="session", place=ABSENT),
    record(created_at=datetime(1, 1, 1, tzinfo=UTC)),
    record(used_at=datetime(9999, 12, 31, tzinfo=UTC)),
    record(expires_at=NOW),
)


async def test_metadata_as_large_as_may_be_travels_with_the_name_of_its_author(engine: Engine, owner: Actor) -> None:
    full = {"a": "x" * (MAX_METADATA_BYTES - 9)}
    report = await engine.archive.bring(owner, Bundle((record(metadata=full, author="someone else"),)))
    assert (report.faults, report.imported) == ([], 1)
    assert (await engine.memories.page(owner, 1)).memories[0].metadata == {**full, "imported_author": "someone else"}


@pytest.mark.parametrize("faulty", FAULTY, ids=range(len(FAULTY)))
async def test_with_one_fault_anywhere_nothing_is_written(engine: Engine, owner: Actor, faulty: Record) -> None:
    place = RecordedPlace("01890a5d-ac96-774b-bcce-b302099a8058", "project", "new")
    before = await engine.store.read(lambda tx: tx.last_event())
    good = [record(content=f"good {number}") for number in range(60)]
    report = await engine.archive.bring(owner, Bundle((*good, faulty), places=(place,)))
    assert [fault.line for fault in report.faults] == [61]
    assert report.imported == 0
    assert (await engine.memories.page(owner, 9)).total == 0
    assert await engine.collections.all(owner, Kind.PROJECT) == []
    assert await engine.store.read(lambda tx: tx.last_event()) == before


@pytest.mark.parametrize(
    "bundle",
    [
        Bundle((record(),) * 10_001),
        Bundle((), links=(RecordedLink("a", "b", "manual", 1.0, NOW),) * 100_001),
        Bundle((), places=(RecordedPlace(ABSENT, "project", "p"),) * 1001),
        Bundle((), places=(RecordedPlace("x", "project", "p"),)),
        Bundle((), places=(RecordedPlace(ABSENT, "user", "p"),)),
        Bundle((), places=(RecordedPlace(ABSENT, "project", " "),)),
        Bundle((), places=(RecordedPlace(ABSENT, "project", "p", "\ud800"),)),
        Bundle((), places=(RecordedPlace(ABSENT, "session", "s"),)),
    ],
)
async def test_what_is_wrong_with_the_whole_is_told_as_such(engine: Engine, owner: Actor, bundle: Bundle) -> None:
    report = await engine.archive.bring(owner, bundle)
    assert {fault.line for fault in report.faults} == {0}
    assert (report.imported, report.lines) == (0, [])


async def test_writing_where_one_may_not_is_a_fault(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    seen, unseen = await project(engine, anna, bert=Right.READ), await project(engine, anna)
    for faulty, reason in (
        (record(domain="global"), "needs the permission 'admin'"),
        (record(domain="project", place=seen), "needs the permission 'project:write'"),
        (record(domain="project", place=unseen), f"no project '{unseen}'"),
        (record(domain="session", place=seen), f"no session '{seen}'"),
    ):
        places = (RecordedPlace(faulty.place, "project", "mine"),) if faulty.place else ()
        report = await engine.archive.bring(bert, Bundle((faulty,), places=places))
        assert reason in report.faults[0].error.message
    assert (await engine.memories.page(bert, 9)).total == 0


async def test_what_is_here_already_is_passed_over_also_where_one_may_not_write(engine: Engine, owner: Actor) -> None:
    reader = await user(engine, "reader")
    everyones = await engine.collections.everyones()
    await engine.memories.remember(owner, Draft("for everyone", home=everyones))
    mine = await engine.memories.remember(reader, Draft("for me"))
    bundle, _ = await engine.archive.bundle(reader)
    assert {one.content for one in bundle.records} == {"for everyone", "for me"}
    report = await engine.archive.bring(reader, bundle)
    assert (report.faults, report.imported, report.skipped) == ([], 0, 2)
    await engine.memories.forget(reader, Reference(mine.id))
    report = await engine.archive.bring(reader, bundle)
    assert (report.faults, report.imported, report.skipped) == ([], 1, 1)


async def test_ties_are_made_only_between_what_was_brought(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    hers, also_hers = await keep(engine, anna, "hers"), await keep(engine, anna, "also hers")
    links = (RecordedLink(hers.id, also_hers.id, "manual", 1.0, NOW), RecordedLink("", "", "manual", 1.0, NOW))
    assert (await engine.archive.bring(bert, Bundle((record(),), links=links))).imported == 1
    assert await engine.links.of(anna, at(hers)) == []


async def test_a_tie_that_is_there_stays_as_it_is(engine: Engine, owner: Actor) -> None:
    one, other = await keep(engine, owner, "one"), await keep(engine, owner, "other")
    await engine.links.connect(owner, at(one), at(other), 0.2)
    bundle, _ = await engine.archive.bundle(owner)
    await engine.links.connect(owner, at(one), at(other), 0.9)
    await engine.archive.bring(owner, bundle)
    assert [tie.strength for tie in await engine.links.of(owner, at(one))] == [0.9]


async def test_without_ties_of_its_own_a_bundle_is_tied_in_the_background(engine: Engine, owner: Actor) -> None:
    records = (record(content="grey cats on the roof"), record(content="grey cats on the roof again"))
    await engine.archive.bring(owner, Bundle(records))
    await engine.links.discover()
    bundle, _ = await engine.archive.bundle(owner)
    assert bundle.links


async def test_a_session_memory_is_brought_with_its_end(engine: Engine, owner: Actor, clock: Clock) -> None:
    place = RecordedPlace(ABSENT, "session", "s", ends_at=NOW + timedelta(hours=5))
    fleeting = record(domain="session", place=ABSENT, expires_at=NOW + timedelta(hours=5))
    assert (await engine.archive.bring(owner, Bundle((fleeting,), places=(place,)))).imported == 1
    (memory,) = (await engine.memories.page(owner, 9)).memories
    assert (memory.domain, memory.block) == ("session", None)
    clock.advance(timedelta(hours=5))
    assert (await engine.memories.page(owner, 9)).total == 0
    report = await engine.archive.bring(owner, Bundle((fleeting,), places=(place,)))
    assert (report.imported, report.lines[0][2]) == (0, "skipped: its time is over")


async def test_a_bundle_holds_no_more_than_can_travel(engine: Engine, owner: Actor, clock: Clock) -> None:
    for number in range(10):
        await keep(engine, owner, f"{number} " + "x" * 1_000_000)
        clock.advance(timedelta(seconds=1))
    bundle, total = await engine.archive.bundle(owner)
    assert (total, len(bundle.records)) == (10, 8)
    assert bundle.records[0].content.startswith("0 "), "the oldest are taken"
    rest, total = await engine.archive.bundle(owner, 8)
    assert (total, [one.content[0] for one in rest.records]) == (10, ["8", "9"])


# As text

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60)
labels = texts.map(str.strip).filter(bool)
moments = st.integers(0, 10**17).map(lambda n: NOW + timedelta(microseconds=n))
records = st.builds(
    Record,
    id=st.uuids().map(str),
    content=texts | st.sampled_from(("<!-- memory {", " -->\n", "=cmd", "'=x", "\r", "# Memories\n", '"', "a,b\r\n")),
    domain=st.just("user"),
    created_at=moments,
    updated_at=moments,
    tags=st.lists(labels, max_size=3, unique=True).map(tuple),
    keywords=st.lists(labels, max_size=3, unique=True).map(tuple),
    category=st.just("") | labels,
    importance=st.floats(0, 1),
    metadata=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts | st.lists(texts), max_size=3),
    content_type=st.just("text") | labels,
    uses=st.integers(0, 2**40),
    used_at=st.none() | moments,
    author=st.just("") | labels,
)


@given(st.lists(records, min_size=1, max_size=5), st.sampled_from(("json", "csv", "markdown")), st.booleans())
def test_any_memory_is_read_as_it_was_written(some: list[Record], form: str, named: bool) -> None:
    written = formats.written(form, Bundle(tuple(some), tied=True))
    brought = formats.read(written, form if named else None, NOW, UTC)
    bundle, faults = brought.bundle, brought.faults
    assert faults == []
    assert bundle.records == tuple(some)
    assert bundle.tied == (form == "json")


@given(st.lists(records, min_size=1, max_size=5))
def test_no_cell_can_be_taken_for_a_formula(some: list[Record]) -> None:
    sheet = csv.reader(io.StringIO(formats.written("csv", Bundle(tuple(some))), newline=""))
    assert not [cell for row in sheet for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]


@given(st.text(max_size=200), st.none() | st.sampled_from(("json", "csv", "markdown")))
def test_any_text_is_read_or_refused(data: str, form: str | None) -> None:
    said = ""
    try:
        formats.read(data, form, NOW, UTC)
    except Invalid as error:
        said = error.message
    assert len(said) < 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.sampled_from(formats.COLUMNS), json_values, min_size=1), min_size=1, max_size=3))
async def test_whatever_stands_in_an_entry_it_is_kept_or_refused(entries: list[dict[str, object]]) -> None:
    with TemporaryDirectory() as folder:
        async with another(Path(folder) / "data", Clock()) as (engine, owner):
            brought = formats.read(json.dumps(entries), "json", NOW, UTC)
            bundle, faults = brought.bundle, brought.faults
            report = await engine.archive.bring(owner, bundle)
            kept = (await engine.memories.page(owner, 99)).total
            assert kept == (0 if report.faults else report.imported)
            assert len(bundle.records) + len(faults) == len(entries)
            out, _ = await engine.archive.bundle(owner)
            formats.written("json", out)


async def test_what_lies_in_an_atlas_travels_as_its_bearers_own(engine: Engine, owner: Actor) -> None:
    atlas = await engine.atlases.create(owner, Sketch(name="maps"))
    await engine.memories.remember(owner, Draft("the way to the harbour", home=atlas.collection.id))
    bundle, _ = await engine.archive.bundle(owner)
    (record,) = bundle.records
    assert (record.domain, record.place, bundle.places) == ("user", "", ())
