"""The six tools."""

from typing import Annotated

from pydantic import Field

from commonplace.dialects._dialect import Call, Prose, Whole
from commonplace.dialects.nocturne._nocturne import known_domain, located, nocturne
from commonplace.dialects.nocturne.pages import matches_page, node_page, placeless_page
from commonplace.dialects.nocturne.system import saw, system_page
from commonplace.domain import limits
from commonplace.domain.address import PLACELESS, SYSTEM, Address, address
from commonplace.domain.errors import Invalid
from commonplace.domain.memory import Draft, Memory
from commonplace.domain.patch import patched
from commonplace.engine.paths import Signpost

MOST_PLACELESS = 50
_FORGIVEN = "\nNote: old_string was not found to the letter, but in one place with other quotes, dashes or blanks."

Uri = Annotated[str, Field(description='The address, e.g. "core://agent"')]
Priority = Annotated[Whole, Field(description="0 is highest; the smaller, the sooner")]
Disclosure = Annotated[str | None, Field(description="When this memory should be recalled")]


@nocturne.reads
async def read_memory(
    call: Call, uri: Annotated[str, Field(description='e.g. "core://agent", "core://" or "system://boot"')]
) -> Prose:
    """Read a memory: its text, its metadata and its children.

    system://boot loads the core memories, system://index lists every path, system://recent/N what changed last.
    """
    return await page(call, uri)


@nocturne.writes
async def create_memory(
    call: Call,
    parent_uri: Annotated[str, Field(description='Where to put it, e.g. "core://agent"; "core://" for the root')],
    content: Annotated[str, Field(description="The text (Markdown)")],
    priority: Priority,
    title: Annotated[str | None, Field(description="Its name in the path; the next number when left out")] = None,
    disclosure: Disclosure = None,
) -> Prose:
    """Create a memory under a parent. A title holds letters and digits of any script, `_` and `-`."""
    parent = located(call, parent_uri, "parent_uri")
    name = title if title and title.strip() else None
    node = await call.engine.paths.plant(call.actor, parent, Draft(content), Signpost(priority, disclosure), name)
    saw(call, node.memory)
    return Prose(f"Success: Memory created at '{node.address}'")


@nocturne.writes
async def update_memory(
    call: Call,
    uri: Uri,
    old_string: Annotated[str | None, Field(description="Patch: the text to replace; must occur exactly once")] = None,
    new_string: Annotated[str | None, Field(description='Patch: what replaces it; "" deletes it')] = None,
    append: Annotated[str | None, Field(description="Text to add at the end, instead of a patch")] = None,
    priority: Annotated[Whole | None, Field(description="The new priority of this path")] = None,
    disclosure: Annotated[str | None, Field(description='The new disclosure of this path; "" removes it')] = None,
) -> Prose:
    """Change a memory you have read: patch or append its text, set its priority or disclosure."""
    _check_update(old_string, new_string, append, priority, disclosure)
    where = located(call, uri)
    memory = await _known(call, where)
    content, note = None, ""
    if old_string is not None and new_string is not None:
        patch = patched(memory.content, old_string, new_string)
        content, note = patch.content, _FORGIVEN if patch.forgiven else ""
        if not content.strip():
            raise Invalid("new_string", "would leave the memory without any text; delete_memory removes a path to it")
    elif append is not None:
        content = memory.content + append
    node = await call.engine.paths.edit(
        call.actor, where, memory, content=content, signpost=Signpost(priority, disclosure)
    )
    saw(call, node.memory)
    return Prose(f"Success: Memory at '{where}' updated{note}")


@nocturne.destroys
async def delete_memory(call: Call, uri: Uri) -> Prose:
    """Remove one path to a memory; the text is kept. Refused while children would be left without any path."""
    where = located(call, uri)
    if where.is_root:
        raise Invalid("uri", f"{where} is the root of a domain and cannot be deleted")
    node = await call.engine.paths.prune(call.actor, where)
    assert node.memory
    return Prose(f"Success: Memory '{where}' deleted.\n{await _what_is_left(call, node.memory)}")


@nocturne.writes
async def add_alias(
    call: Call,
    new_uri: Annotated[str, Field(description="The additional address")],
    target_uri: Annotated[str, Field(description="An address of the memory; memory://<id> for one without a path")],
    priority: Annotated[Whole, Field(description="The alias's own priority; 0 is highest")] = 0,
    disclosure: Disclosure = None,
) -> Prose:
    """Give a memory another address: not a copy, the same text and children, with its own priority and disclosure."""
    new, target = located(call, new_uri, "new_uri"), located(call, target_uri, "target_uri")
    if target.is_root:
        raise Invalid("target_uri", f"{target} is the root of a domain, not a memory")
    await call.engine.paths.alias(call.actor, new, target, Signpost(priority, disclosure))
    return Prose(f"Success: Alias '{new}' now points to the same memory as '{target}'")


@nocturne.reads
async def search_memory(
    call: Call,
    query: Annotated[str, Field(description="A literal substring, upper or lower case")],
    domain: Annotated[str | None, Field(description='Only in this domain, e.g. "core"')] = None,
    limit: Annotated[Whole, Field(description="How many at most, 1 to 100")] = 10,
) -> Prose:
    """Search texts and paths for a substring (not by meaning), best match first."""
    within = ""
    if domain and domain.strip():
        within = known_domain(call, limits.text("domain", domain).partition("://")[0].strip().lower(), "domain")
    return Prose(matches_page(query, await call.engine.literal.search(call.actor, query, limit, within)))


async def page(call: Call, uri: str) -> Prose:
    """What stands at an address. The session has seen it then."""
    where = address(uri)
    if where.domain == SYSTEM:
        return Prose(await system_page(call, where))
    where = located(call, uri)
    if where == Address(PLACELESS):
        memories, total = await call.engine.paths.pathless(call.actor, MOST_PLACELESS)
        lost, orphans = await call.engine.paths.orphans(call.actor, MOST_PLACELESS)
        return Prose(placeless_page(memories, total, lost, orphans))
    node = await call.engine.paths.look(call.actor, where)
    saw(call, node.memory)
    if node.memory and node.path is None:
        return Prose(node_page(node, await call.engine.paths.addresses(call.actor, node.memory)))
    return Prose(node_page(node))


async def _known(call: Call, where: Address) -> Memory:
    """The memory at an address, which the session must have seen as it is."""
    if where.is_root:
        raise Invalid("uri", f"{where} is the root of a domain, which has no text")
    memory = (await call.engine.paths.look(call.actor, where, most=1)).memory
    assert memory
    call.engine.sight.require(call.actor, memory, str(where))
    return memory


async def _what_is_left(call: Call, memory: Memory) -> str:
    others = await call.engine.paths.addresses(call.actor, memory)
    if others:
        return f"The memory is still at {', '.join(map(str, others[:5]))}."
    return f"That was its last path. The text is kept: memory://{memory.id} (add_alias gives it a path again)."


def _check_update(
    old: str | None, new: str | None, append: str | None, priority: int | None, disclosure: str | None
) -> None:
    for field, text in (("old_string", old), ("new_string", new), ("append", append)):
        limits.text(field, text or "")
    if (old is not None or new is not None) and append is not None:
        raise Invalid("append", "cannot be combined with old_string/new_string: patch or append, not both")
    if (old is None) != (new is None):
        missing = "old_string" if old is None else "new_string"
        raise Invalid(missing, 'is required: a patch needs both old_string and new_string ("" deletes the passage)')
    if append is not None and not append:
        raise Invalid("append", "must not be empty")
    if old is None and append is None and priority is None and disclosure is None:
        raise Invalid("update_memory", "there is nothing to change: give a patch, append, priority or disclosure")
