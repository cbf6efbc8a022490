"""Search to the letter: nothing in a passage means anything but itself."""

import asyncio
import tempfile
import unicodedata
from datetime import timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.domain.errors import Invalid
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from tests.engine.gardening import Gardener, another
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio


@pytest.fixture
def ann(engine: Engine, owner: Actor) -> Gardener:
    return Gardener(engine, owner)


@pytest.mark.parametrize("query", ["Nightingale", "nightingale", "NIGHTINGALE", "ightin", "e sings at", "ni", "T"])
async def test_a_passage_is_found_in_upper_and_lower_case(ann: Gardener, query: str) -> None:
    await ann.plant("core://bird", "The nightingale sings at dawn.")
    await ann.plant("core://cow", "moos")
    assert await ann.search(query) == ["core://bird"]


@pytest.mark.parametrize("query", ["nightingales", "nightin gale", "moo?", "*", "%", "_", "NOT cow", '"moos"', "x'y"])
async def test_what_does_not_stand_there_is_not_found(ann: Gardener, query: str) -> None:
    await ann.plant("core://bird", "The nightingale sings at dawn.")
    await ann.plant("core://cow", "moos")
    assert await ann.search(query) == []


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("it is 100% sure", "100%"),
        ("it is 100% sure", "0%"),
        ("it is 100% sure", "%"),
        ("snake_case_name", "e_c"),
        ("snake_case_name", "_n"),
        ("snake_case_name", "_"),
        ("2 * 3 ** 4", "* 3 *"),
        ("2 * 3 ** 4", "*"),
        ("she said \"yes\" and 'no'", '"yes"'),
        ("she said \"yes\" and 'no'", "'n"),
        ("she said \"yes\" and 'no'", '"'),
        ("a\\b\\c", "a\\b"),
        ("a\\b\\c", "\\"),
        ("col:value -not ^start (group) + {x}", "col:value -not ^start (group)"),
        ("NEAR(a b, 10) AND OR", "NEAR(a b, 10)"),
        ("first line\nsecond line", "line\nsecond"),
        ("see https://example.org/a/b?c=d", "https://example.org/a/b?c"),
        ("see https://example.org/a/b?c=d", "g/a"),
        ("see https://example.org/a/b?c=d", "/b"),
        ("a  b", "a  b"),
        ("🧠 and 🫀", "🧠"),
        ("🧠 and 🫀", "🧠 a"),
        ("semi;colon--dash", ";colon--"),
        ("ÉCOLE Straße", "école"),
        ("ÉCOLE Straße", "éc"),
        ("ÉCOLE Straße", "É"),
        ("ДА и НЕТ", "да"),
        ("ДА и НЕТ", "нет"),
        ("ελλάδα", "ΕΛΛ"),
    ],
)
async def test_signs_mean_themselves(ann: Gardener, content: str, query: str) -> None:
    await ann.plant("core://here", content)
    await ann.plant("core://elsewhere", "something quite different")
    assert await ann.search(query) == ["core://here"]


TEXT = "東京都庁の前で、우리학교는 좋다。今日はカラオケへ行く！我爱你们的城市ภาษาไทย"


@pytest.mark.parametrize(
    "query",
    [
        "東",
        "京",
        "庁",
        "の",
        "で",
        "前で",
        "京都",
        "、",
        "우",
        "교",
        "학교",
        "교는",
        "는",
        "ラ",
        "オケ",
        "へ行",
        "く！",
        "我",
        "市",
        "城市",
        "ภ",
        "ไท",
    ],
)
async def test_one_or_two_characters_are_found_where_they_stand(ann: Gardener, query: str) -> None:
    await ann.plant("core://here", TEXT)
    await ann.plant("core://elsewhere", "西部 고양이 ノ")
    assert await ann.search(query) == ["core://here"]


@pytest.mark.parametrize("query", ["東庁", "都京", "学", "교 좋", "아"])
async def test_one_or_two_characters_that_do_not_stand_there_are_not_found(ann: Gardener, query: str) -> None:
    await ann.plant("core://here", TEXT)
    assert await ann.search(query) == []


@pytest.mark.parametrize("word", ["é", "né", "née", "ế", "한", "한국", "한국어", "が", "がき"])
@pytest.mark.parametrize(("kept", "sought"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
async def test_composed_and_decomposed_spellings_find_each_other(
    ann: Gardener, word: str, kept: str, sought: str
) -> None:
    forms = {"NFC": unicodedata.normalize("NFC", word), "NFD": unicodedata.normalize("NFD", word)}
    await ann.plant("core://here", f"x{forms[kept]}y")
    assert await ann.search(forms[sought]) == ["core://here"]


async def test_a_very_long_passage_is_compared_to_its_end(ann: Gardener) -> None:
    await ann.plant("core://here", "a" * 300 + "THE END" + "b" * 300)
    await ann.plant("core://other", "a" * 300 + "another end" + "b" * 300)
    assert await ann.search("a" * 250 + "the end" + "b" * 100) == ["core://here"]


@pytest.mark.parametrize("query", ["", "   ", "\n", "a\x00b", "\ud800"])
async def test_a_query_that_says_nothing_is_refused(ann: Gardener, query: str) -> None:
    with pytest.raises(Invalid):
        await ann.search(query)


@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_a_limit_out_of_bounds_is_refused(ann: Gardener, limit: int) -> None:
    with pytest.raises(Invalid):
        await ann.search("x", limit=limit)


# Names


async def test_names_are_searched_as_well_and_what_is_below_them_comes_after(ann: Gardener) -> None:
    await ann.plant("core://dragon", "fire")
    await ann.plant("core://dragon/food", "sheep")
    await ann.plant("core://dragonfly", "an insect")
    await ann.plant("core://my_dragon", "a pet")
    await ann.plant("core://story", "once a dragon lived")
    await ann.plant("core://word", "dragonish")
    assert await ann.search("Dragon") == [
        "core://dragon",
        "core://dragonfly",
        "core://my_dragon",
        "core://story",
        "core://word",
        "core://dragon/food",
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("agent/style", ["core://agent/style", "core://agent/style/tone"]),
        ("gent/sty", ["core://agent/style", "core://agent/style/tone"]),
        ("core://agent/s", ["core://agent/style", "core://agent/style/tone"]),
        ("AGENT/STYLE/TONE", ["core://agent/style/tone"]),
        ("style/tone", ["core://agent/style/tone"]),
        ("agent/tone", []),
        ("/style", ["core://agent/style", "core://agent/style/tone"]),
        ("notes://agent", []),
    ],
)
async def test_a_slash_in_the_query_is_one_in_the_address(ann: Gardener, query: str, expected: list[str]) -> None:
    await ann.plant("core://agent", "1")
    await ann.plant("core://agent/style", "2")
    await ann.plant("core://agent/style/tone", "3")
    await ann.plant("core://style", "4")
    found = await ann.search(query)
    if query == "/style":
        assert found.pop(found.index("core://style")) == "core://style"
    assert found == expected


async def test_a_slash_at_the_end_asks_for_what_is_below(ann: Gardener) -> None:
    await ann.plant("core://agent", "1")
    await ann.plant("core://agent/style", "2")
    await ann.plant("core://agent2", "3")
    await ann.plant("core://agent2/x", "4")
    found = await ann.search("agent/")
    assert "core://agent/style" in found
    assert not {"core://agent2", "core://agent2/x"} & set(found)


async def test_short_names_in_any_script_are_found(ann: Gardener) -> None:
    await ann.plant("core://기억", "x")
    await ann.plant("core://a_b", "y")
    await ann.plant("core://axb", "z")
    assert await ann.search("기") == ["core://기억"]
    assert await ann.search("억") == ["core://기억"]
    assert await ann.search("_b") == ["core://a_b"]
    assert await ann.search("A_") == ["core://a_b"]


async def test_an_alias_is_not_a_second_hit_and_the_telling_address_is_shown(ann: Gardener) -> None:
    await ann.plant("core://plain", "text of the owl", 0, "plain")
    await ann.alias("notes://owl", "core://plain", 7, "owls")
    found = await ann.engine.literal.search(ann.actor, "owl", 10)
    (match,) = found.best
    assert found.total == 1
    assert str(match.address) == "notes://owl"
    assert match.path
    assert (match.path.priority, match.path.disclosure) == (7, "owls")


async def test_the_labels_shown_belong_to_the_address_shown(ann: Gardener) -> None:
    await ann.plant("core://a", "x", 0)
    await ann.plant("core://b", "y", 0)
    await ann.plant("core://a/same", "owl", 5, "below a")
    await ann.alias("core://b/same", "core://a/same", 3, "below b")
    (match,) = (await ann.engine.literal.search(ann.actor, "a/same", 10)).best
    assert str(match.address) == "core://a/same"
    assert match.path
    assert match.path.disclosure == "below a"
    (match,) = (await ann.engine.literal.search(ann.actor, "owl", 10)).best
    assert str(match.address) == "core://b/same"
    assert match.path
    assert match.path.disclosure == "below b"


# Order and number


async def test_a_whole_word_comes_before_a_part_and_then_priority_decides(ann: Gardener) -> None:
    await ann.plant("core://a", "catalogue", 0)
    await ann.plant("core://b", "a cat sat", 9)
    await ann.plant("core://c", "the cat", 1)
    await ann.engine.memories.remember(ann.actor, Draft("a cat without a path"))
    found = await ann.search("cat")
    assert found[:2] == ["core://c", "core://b"]
    assert found[2].startswith("memory://")
    assert found[3] == "core://a"


async def test_among_equals_the_latest_change_comes_first(ann: Gardener, clock: Clock) -> None:
    for name in "abc":
        await ann.plant(f"core://{name}", f"a cat named {name}")
        clock.advance(timedelta(seconds=1))
    await ann.write("core://a", "a cat renamed")
    assert await ann.search("cat") == ["core://a", "core://c", "core://b"]


async def test_the_total_counts_all_and_the_limit_shows_the_best(ann: Gardener) -> None:
    for n in range(30):
        await ann.plant(f"core://{n:02}", f"cat {n}", n)
    found = await ann.engine.literal.search(ann.actor, "cat", 3)
    assert [str(match.address) for match in found.best] == ["core://00", "core://01", "core://02"]
    assert (found.total, found.more) == (30, False)


# Where


async def test_a_domain_limits_the_search_to_what_can_be_reached_from_its_root(ann: Gardener) -> None:
    await ann.plant("core://owl", "in core")
    await ann.plant("core://owl/x", "below, in core")
    await ann.plant("notes://n", "an owl in notes")
    await ann.alias("notes://n/link", "core://owl/x")
    await ann.engine.memories.remember(ann.actor, Draft("an owl without a path"))
    assert await ann.search("owl", "notes") == ["notes://n"]
    assert sorted(await ann.search("owl", "core")) == ["core://owl", "core://owl/x"]
    assert await ann.search("below", "notes") == ["notes://n/link"]
    assert len(await ann.search("owl")) == 4
    assert await ann.search("owl", "game") == []


async def test_an_address_in_the_domain_is_shown_however_many_there_are_elsewhere(ann: Gardener) -> None:
    await ann.plant("core://0", "an owl")
    for n in range(1, 40):
        await ann.alias(f"core://{n}", "core://0")
    await ann.alias("notes://one", "core://0", 5)
    assert await ann.search("owl", "notes") == ["notes://one"]


# Who


async def test_nobody_finds_what_another_has_written(ann: Gardener) -> None:
    bob = await another(ann.engine, "bob")
    await bob.plant("core://secret_owl", "the owl of bob")
    await ann.plant("core://owl", "the owl of ann")
    assert await ann.search("owl") == ["core://owl"]
    assert await ann.search("secret") == []
    assert await bob.search("owl") == ["core://secret_owl"]


async def test_what_another_has_written_hides_nothing_of_ones_own(
    ann: Gardener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.engine.literal.MOST", 10)
    bob = await another(ann.engine, "bob")
    await ann.plant("core://mine", "an owl, and 梟")
    for n in range(12):
        await bob.plant(f"core://{n}", f"owl number {n}, 梟")
    for query in ("owl", "ow", "梟"):
        found = await ann.engine.literal.search(ann.actor, query, 10)
        assert [str(match.address) for match in found.best] == ["core://mine"]
        assert (found.total, found.more) == (1, False)


async def test_what_has_ended_or_changed_is_not_found(ann: Gardener, clock: Clock) -> None:
    await ann.engine.memories.remember(ann.actor, Draft("a passing owl", ttl=timedelta(hours=1)))
    memory = await ann.plant("core://a", "an owl that stays")
    assert len(await ann.search("owl")) == 2
    clock.advance(timedelta(hours=1))
    assert await ann.search("owl") == ["core://a"]
    await ann.write("core://a", "a hawk that stays")
    assert await ann.search("owl") == []
    assert await ann.search("hawk") == ["core://a"]
    await ann.prune("core://a")
    assert await ann.search("hawk") == [f"memory://{memory.id}"]
    await ann.engine.memories.forget(ann.actor, Reference(memory.id))
    assert await ann.search("hawk") == []


async def test_letters_and_marks_may_be_written_apart_in_one_place_and_together_in_another(ann: Gardener) -> None:
    for name, text in {
        "two": "\u00e9A\u0301",
        "three": "voil\u00e0 le re\u0301sum\u00e9",
        "kana": "か\u3099ぎ",
        "hangul": "한\u1112\u1161\u11ab",
    }.items():
        await ann.plant(f"core://{name}", text)
    await ann.plant("core://other", "re\u0301sumer")
    assert await ann.search("\u00e9\u00c1") == ["core://two"]
    assert await ann.search("R\u00e9sum\u00e9") == ["core://three"]
    assert await ann.search("がぎ") == ["core://kana"]
    assert await ann.search("한한") == ["core://hangul"]
    assert await ann.search("resum") == [], "with its marks it is another passage, however they are written"


async def test_parts_of_syllables_are_found_as_they_are_written(ann: Gardener) -> None:
    await ann.plant("core://parts", "ㅎㅏㄴ ㄱㅏㅇ, ㅋㅋ")
    await ann.plant("core://whole", "한강")
    for passage in ("ㅎ", "ㅏ", "ㄱ", "ㅏㄴ", "ㅎㅏ", "ㅎㅏㄴ", "ㅋ", "ㅋㅋ"):
        assert await ann.search(passage) == ["core://parts"], passage
    assert await ann.search("한") == ["core://whole"]


LETTERS = "abAe é\u0301漢字のカ한글ㅎㅏก\u0e31%_*\"'\\/\n🧠"
TEXTS = st.text(LETTERS, min_size=1, max_size=12).filter(str.strip)
QUERIES = st.text(LETTERS, min_size=1, max_size=5).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(QUERIES, min_size=1, max_size=12), st.randoms())
@settings(max_examples=40, deadline=None)
def test_what_is_found_is_what_a_plain_comparison_finds(texts: list[str], queries: list[str], chance: Random) -> None:
    parts = [text[chance.randrange(len(text)) :][: chance.randint(1, 4)] for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder), texts, queries + [part for part in parts if part.strip()]))


async def compare(folder: Path, texts: list[str], queries: list[str]) -> None:
    engine = build(Settings(data_dir=str(folder)), model=Embedder(), clock=Clock(), zone=ZoneInfo("UTC"))
    actor = (await engine.access.local_owner()).through("test")
    kept = {(await engine.memories.remember(actor, Draft(text))).id: text for text in texts}
    for query in queries:
        found = {match.memory.id for match in (await engine.literal.search(actor, query, 100)).best}
        assert found == {one for one, text in kept.items() if holds(text, query)}, query
    await engine.close()


def holds(text: str, passage: str) -> bool:
    return unicodedata.normalize("NFC", passage).casefold() in unicodedata.normalize("NFC", text).casefold()
