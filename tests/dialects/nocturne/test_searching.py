"""search_memory: by the letter."""

import pytest

from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import plant, pruned

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


async def _found(talk: ProseConversation, query: str, **more: int | str) -> list[str]:
    """The addresses of the hits, in order."""
    said = await talk.call("search_memory", query=query, **more)
    return [line[2:].partition("  ")[0] for line in said.splitlines() if line.startswith("- ")]


@behaviour("nocturne.search_memory.answer", "nocturne.search_memory.snippet")
async def test_hits_are_counted_and_shown_with_the_text_around(talk: ProseConversation) -> None:
    word = unique()
    uri = await plant(talk, content=f"{'before ' * 30}here {word} there{' after' * 30}", priority=4, disclosure="now")
    said = await talk.call("search_memory", query=word)
    assert said.startswith(f"Found 1 matches for '{word}':\n\n- {uri}  [#")
    assert "[★4]\n  When to recall: now\n  ..." in said
    assert f"here {word} there" in said
    assert len(said) < 500


@behaviour("nocturne.search_memory.snippet")
@pytest.mark.parametrize("odd", ["ß", "İ", "ﬁ"])
async def test_the_place_is_shown_in_texts_whose_letters_fold_to_several(local: ProseConversation, odd: str) -> None:
    await plant(local, content=f"{odd * 300} NADEL {odd * 300}")
    assert "NADEL" in await local.call("search_memory", query="nadel")


@behaviour("nocturne.search_memory.answer")
async def test_nothing_found_is_no_error(talk: ProseConversation) -> None:
    word = unique()
    assert await talk.call("search_memory", query=word) == f"No matching memories found for '{word}'."


@behaviour("nocturne.search_memory.substring")
async def test_any_part_of_a_word_is_found_in_any_case(talk: ProseConversation) -> None:
    word = unique()
    uri = await plant(talk, content=f"Some{word.upper()}thing Ünïcode{word}")
    for query in (word, word.title(), f"some{word}th", f"ME{word.upper()}", f"ünÏCODE{word}", f" ünïcode{word}"):
        assert await _found(talk, query) == [uri], query
    assert await _found(talk, f"{word}thang") == []
    assert await _found(talk, f"thing  ünïcode{word}") == []


@behaviour("nocturne.search_memory.short")
@pytest.mark.parametrize("query", ["猫", "猫が", "ね", "한", "고양", "แม", "q", "Q", "qx", "é", "É", "7", "☃", "-"])
async def test_one_or_two_characters_of_any_script_are_enough(local: ProseConversation, query: str) -> None:
    uri = await plant(local, content="黒い猫がねている 한국의 고양이 แมว oqxo É 37 ☃ -", title="a")
    for other in ("犬", "개와 말", "dog", "หมา"):
        await plant(local, content=other, title=None)
    assert await _found(local, query) == [uri]


@behaviour("nocturne.search_memory.literal")
@pytest.mark.parametrize(
    "query", ["50%", "a_b", "c*d", "%", "_", "*", "%%", '"', "'", '"quoted"', "(x) OR", "\\", "^", "--"]
)
async def test_every_sign_means_itself(local: ProseConversation, query: str) -> None:
    with_signs = '50% a_b c*d %% "quoted" it\'s (x) OR \\ ^ --'
    uri = await plant(local, content=with_signs, title="with")
    for without in ("50 percent", "axb", "cxxd", "plain quoted x OR"):
        await plant(local, content=without, title=None)
    assert await _found(local, query) == [uri]


@behaviour("nocturne.search_memory.paths")
async def test_names_and_whole_paths_are_searched_too(talk: ProseConversation) -> None:
    word = unique()
    above = await plant(talk, content="x", title=f"a_{word}")
    below = await plant(talk, above, "y", title="notion")
    assert await _found(talk, word.upper()) == [above, below]
    for query in (f"{word}/notion", f"{word}/not", f"a_{word}/n", f"core://a_{word}/notion"):
        assert await _found(talk, query) == [below], query
    assert await _found(talk, f"{word}/other") == []
    japanese = await plant(talk, content="z", title=f"記憶{word}")
    assert japanese in await _found(talk, f"憶{word}")


@behaviour("nocturne.search_memory.aliases")
async def test_an_alias_is_not_a_second_hit(talk: ProseConversation) -> None:
    word = unique()
    uri = await plant(talk, content=word, priority=3)
    alias = f"notes://other_{word}"
    await talk.call("add_alias", new_uri=alias, target_uri=uri, priority=5)
    said = await talk.call("search_memory", query=word)
    assert said.startswith("Found 1 matches")
    assert await _found(talk, word) == [alias]  # the address that shows why
    assert "[★5]" in said
    assert await _found(talk, word, domain="core") == [uri]


@behaviour("nocturne.search_memory.aliases")
async def test_each_path_shows_its_own_priority(talk: ProseConversation) -> None:
    word = unique()
    one, two = await plant(talk, title=f"one_{word}"), await plant(talk, title=f"two_{word}")
    uri = await plant(talk, one, title="same", priority=3)
    await talk.call("add_alias", new_uri=f"{two}/same", target_uri=uri, priority=8)
    said = await talk.call("search_memory", query=f"two_{word}/same")
    assert f"- {two}/same  " in said
    assert "[★8]" in said


@behaviour("nocturne.search_memory.order")
async def test_the_best_match_comes_first_then_the_priority(talk: ProseConversation) -> None:
    word = unique()
    part = await plant(talk, content=f"x{word}x", priority=0)
    second = await plant(talk, content=f"a {word} b", priority=2)
    first = await plant(talk, content=f"a {word} b", priority=1)
    inside = await plant(talk, content="x", title=f"x_{word}", priority=9)
    begun = await plant(talk, content="x", title=f"{word}_x", priority=9)
    named = await plant(talk, content="x", title=word, priority=9)
    assert await _found(talk, word) == [named, begun, inside, first, second, part]


@behaviour("nocturne.search_memory.domain")
async def test_a_domain_narrows_the_search(talk: ProseConversation) -> None:
    word = unique()
    core, writer = await plant(talk, content=word), await plant(talk, "writer://", word)
    assert set(await _found(talk, word)) == {core, writer}
    for domain in ("writer", "WRITER", "writer://", " writer "):
        assert await _found(talk, word, domain=domain) == [writer], domain
    assert await _found(talk, word, domain="game") == []
    assert len(await _found(talk, word, domain="")) == 2
    for domain in ("a b", "%", "/", "nowhere", "writer/"):
        assert "is not a known domain" in await talk.refused("search_memory", query=word, domain=domain), domain


@behaviour("nocturne.search_memory.limit")
async def test_ten_are_shown_unless_asked_otherwise_and_all_are_counted(talk: ProseConversation) -> None:
    word = unique()
    above = await plant(talk)
    for _ in range(12):
        await plant(talk, above, word, title=None)
    said = await talk.call("search_memory", query=word)
    assert said.startswith(f"Found 12 matches for '{word}': (the best 10 are shown)\n")
    assert len(await _found(talk, word)) == 10
    assert len(await _found(talk, word, limit=100)) == 12
    assert len(await _found(talk, word, limit=1)) == 1
    for wrong in (0, -1, 101):
        assert await talk.refused("search_memory", query=word, limit=wrong) == (
            f"limit: must be from 1 to 100, not {wrong}."
        )


@behaviour("nocturne.search_memory.empty")
@pytest.mark.parametrize("query", ["", " ", "\n\t"])
async def test_an_empty_query_is_an_error(talk: ProseConversation, query: str) -> None:
    assert await talk.refused("search_memory", query=query) == "query: must not be empty."


@behaviour("nocturne.search_memory.without_a_path")
async def test_memories_without_a_path_are_found_under_their_ids(talk: ProseConversation) -> None:
    word = unique()
    itself = await pruned(talk, await plant(talk, content=word))
    said = await talk.call("search_memory", query=word)
    assert f"- {itself}  [#" in said
    assert "(no path)" in said
    assert await _found(talk, word, domain="memory") == [itself]
    assert await _found(talk, word, domain="core") == []


@behaviour("nocturne.search_memory.answer")
async def test_a_query_is_repeated_on_one_line_and_not_at_length(talk: ProseConversation) -> None:
    said = await talk.call("search_memory", query=f"{unique()}\n- core://false  \u202e{'x' * 5000}")
    assert len(said.splitlines()) == 1
    assert len(said) < 400
