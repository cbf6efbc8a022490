"""create_memory."""

import unicodedata

import anyio
import pytest

from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import children, content, plant

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@behaviour("nocturne.create_memory.example")
async def test_the_example_of_the_reference_works(local: ProseConversation) -> None:
    said = await local.call(
        "create_memory",
        parent_uri="core://",
        content="Bluesky 使用规则...",
        priority=2,
        title="bluesky_manual",
        disclosure="当我准备发 Bluesky 时",
    )
    assert said == "Success: Memory created at 'core://bluesky_manual'"
    page = await local.call("read_memory", uri="core://bluesky_manual")
    assert "Priority: 2\nDisclosure: 当我准备发 Bluesky 时\n" in page
    assert page.endswith("Bluesky 使用规则...")


@behaviour("nocturne.create_memory.content")
@pytest.mark.parametrize(
    "text",
    ["  # Markdown\n\n- a\n\t- b  \n\n", "한국어 e\u0301 🤖\u200d\r\nשלום \u202e", "=" * 60, "'; DROP TABLE paths; --"],
)
async def test_a_text_is_kept_to_the_letter(talk: ProseConversation, text: str) -> None:
    uri = await plant(talk, content=text)
    assert (await talk.call("read_memory", uri=uri)).endswith(f"{'=' * 60}\n\n{text}")


@behaviour("nocturne.create_memory.content")
async def test_empty_and_oversized_texts_are_refused(talk: ProseConversation) -> None:
    for empty in ("", " \n\t", "\u200b"):
        said = await talk.refused("create_memory", parent_uri="core://", content=empty, priority=1)
        assert said == "content: must not be empty."
    said = await talk.refused("create_memory", parent_uri="core://", content="x" * 1048577, priority=1)
    assert said == "content: is 1048577 bytes long; at most 1048576 (1 MB) are allowed."


@behaviour("nocturne.create_memory.title")
@pytest.mark.parametrize(
    "title", ["a-z_09", "机", "日記", "메모", "café", "Straße", "हिन्दी", "ที่นี่", "مذكرة", "עִבְרִית", "x" * 120, "-", "_"]
)
async def test_a_title_holds_letters_and_digits_of_any_script(talk: ProseConversation, title: str) -> None:
    above = await plant(talk)
    uri = await plant(talk, above, "found", title=title)
    assert uri == f"{above}/{unicodedata.normalize('NFC', title)}"
    assert await content(talk, uri) == "found"


@behaviour("nocturne.create_memory.title")
async def test_a_title_is_one_however_it_is_composed(talk: ProseConversation) -> None:
    above = await plant(talk)
    composed, decomposed = (unicodedata.normalize(form, "café_각") for form in ("NFC", "NFD"))
    await plant(talk, above, "one", title=decomposed)
    arguments = {"parent_uri": above, "content": "two", "priority": 1, "title": composed}
    assert "already exists" in await talk.refused("create_memory", **arguments)
    assert await content(talk, f"{above}/{decomposed}") == await content(talk, f"{above}/{composed}") == "one"


@behaviour("nocturne.create_memory.bad_title")
@pytest.mark.parametrize("title", ["a b", "a/b", "a.b", "a%b", "a:b", "a'b", "a\nb", "😀", "\u0301", "a\u202eb", "“a”"])
async def test_a_title_with_anything_else_is_refused(talk: ProseConversation, title: str) -> None:
    said = await talk.refused("create_memory", parent_uri="core://", content="x", priority=1, title=title)
    assert "may hold only letters and digits (of any script), '_' and '-'" in said


@behaviour("nocturne.create_memory.bad_title")
async def test_a_title_that_is_too_long_or_a_path_too_deep_is_refused(local: ProseConversation) -> None:
    arguments = {"content": "x", "priority": 1}
    said = await local.refused("create_memory", parent_uri="core://", **arguments, title="x" * 121)
    assert said == "title: is 121 characters long; at most 120 are allowed."
    uri = "core://"
    for _ in range(64):
        uri = await plant(local, uri, "x", title="d")
    assert "at most 64 names" in await local.refused("create_memory", parent_uri=uri, **arguments)


@behaviour("nocturne.create_memory.automatic_title")
async def test_a_title_left_out_is_the_largest_number_plus_one(talk: ProseConversation) -> None:
    above = await plant(talk)
    assert await plant(talk, above, title=None) == f"{above}/1"
    assert await plant(talk, above, title="") == f"{above}/2"
    await plant(talk, above, title="41")
    await plant(talk, above, title="x99")
    await plant(talk, above, title="99x")
    await plant(talk, above, title="٣٣٣")
    assert await plant(talk, above, title=None) == f"{above}/42"
    await talk.call("delete_memory", uri=f"{above}/42")
    assert await plant(talk, above, title=None) == f"{above}/42"
    assert await plant(talk, f"{above}/42", title=None) == f"{above}/42/1"


@behaviour("nocturne.create_memory.automatic_title")
async def test_automatic_titles_stay_apart_when_many_create_at_once(talk: ProseConversation) -> None:
    above = await plant(talk)
    made: dict[str, str] = {}

    async def create(number: int) -> None:
        made[await plant(talk, above, f"text {number}", title=None)] = f"text {number}"

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(create, number)
    assert set(made) == {f"{above}/{number}" for number in range(1, 21)}
    assert {uri: await content(talk, uri) for uri in made} == made
    assert set(await children(talk, above)) == set(made)


@behaviour("nocturne.create_memory.no_parent")
async def test_a_parent_that_does_not_exist_is_named(talk: ProseConversation) -> None:
    absent = f"core://{unique()}/x"
    said = await talk.refused("create_memory", parent_uri=absent, content="x", priority=1, title="y")
    assert said == f"Parent '{absent}' does not exist. Create it first, or choose one that system://index lists."


@behaviour("nocturne.create_memory.exists")
async def test_a_path_that_exists_is_refused_and_stays_as_it_is(talk: ProseConversation) -> None:
    uri = await plant(talk, content="first")
    title = uri.removeprefix("core://")
    said = await talk.refused("create_memory", parent_uri="core://", content="second", priority=1, title=title)
    assert said == (f"Path '{uri}' already exists. Choose another name, or change what is there with update_memory.")
    assert await content(talk, uri) == "first"


@behaviour("nocturne.create_memory.priority")
async def test_a_priority_is_not_negative(talk: ProseConversation) -> None:
    for wrong in (-1, 2**31, 10**30):
        said = await talk.refused("create_memory", parent_uri="core://", content="x", priority=wrong)
        assert said == f"priority: must be a whole number from 0 (highest) to 2147483647, not {wrong}."
    assert "Priority: 0" in await talk.call("read_memory", uri=await plant(talk, priority=0))


@behaviour("nocturne.create_memory.disclosure")
async def test_a_disclosure_is_bounded(talk: ProseConversation) -> None:
    long = "何" * 4000
    uri = await plant(talk, disclosure=f"  {long} ")
    assert f"Disclosure: {long}\n" in await talk.call("read_memory", uri=uri)
    arguments = {"parent_uri": "core://", "content": "x", "priority": 1}
    assert "at most 4000" in await talk.refused("create_memory", **arguments, disclosure=long + "x")


@behaviour("nocturne.create_memory.bare_parent")
async def test_a_bare_parent_is_in_core(talk: ProseConversation) -> None:
    above = await plant(talk)
    assert await plant(talk, above.removeprefix("core://"), title="x") == f"{above}/x"
