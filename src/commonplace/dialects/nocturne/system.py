"""The pages under system://: boot, index, recent."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.dialects._dialect import Call
from commonplace.dialects.nocturne._nocturne import located
from commonplace.dialects.nocturne.pages import cut_page, node_page, recent_page
from commonplace.domain.address import Address
from commonplace.domain.errors import CommonplaceError, Invalid, NotFound
from commonplace.domain.outline import Entry, Outline
from commonplace.engine.paths import Node
from commonplace.language.tokens import tokens

USUAL_RECENT = 10
MOST_RECENT = 100
BOOT_RECENT = 5
MOST_INDEXED = 3000
"""Entries on the index page; more would fill a model's whole attention."""
_LEAST_ROOM = 100


async def system_page(call: Call, address: Address) -> str:
    """The server's own pages."""
    match address.names:
        case ("boot",):
            return await boot(call)
        case ("index",):
            return await index(call)
        case ("recent",):
            return await recent(call, str(USUAL_RECENT))
        case ("recent", count):
            return await recent(call, count)
    known = "system://boot, system://index, system://recent, system://recent/N"
    raise NotFound("system page", f"{address} (there are: {known})")


async def recent(call: Call, count: str) -> str:
    wanted = int(count) if count.isascii() and count.isdigit() and len(count) < 6 else 0
    if not 1 <= wanted <= MOST_RECENT:
        raise Invalid("uri", f"system://recent/N takes a number from 1 to {MOST_RECENT}, not {count[:40]!r}")
    return recent_page(await call.engine.paths.recent(call.actor, wanted), call.actor.zone)


# Boot


@dataclass
class _Boot:
    """The core memories as far as they fit, and what became of the others."""

    room: int
    pages: list[str]
    failed: list[str]
    left_out: list[str]
    loaded: int = 0


async def boot(call: Call) -> str:
    """The core memories within the token budget, then what changed last."""
    latest = recent_page(await call.engine.paths.recent(call.actor, BOOT_RECENT), call.actor.zone)
    progress = _Boot(call.settings.boot_tokens - tokens(latest) - _LEAST_ROOM, [], [], [])
    uris = call.settings.core_memory_uris
    for uri in uris:
        await _load(call, uri, progress)
    head = ["# Core Memories", f"# Loaded: {progress.loaded}/{len(uris)} memories"]
    if not uris:
        head.append("# None are configured: set CORE_MEMORY_URIS, e.g. CORE_MEMORY_URIS=core://agent,core://my_user")
    head += _section("## Failed to load:", progress.failed)
    head += _section("## Left out to stay within the token budget:", progress.left_out)
    return "\n\n".join(["\n".join(head), *progress.pages, latest])


async def _load(call: Call, uri: str, progress: _Boot) -> None:
    try:
        node = await call.engine.paths.look(call.actor, located(call, uri))
    except CommonplaceError as error:
        progress.failed.append(f"- {uri}: {error.message}")
        return
    _show(call, node, progress)


def _show(call: Call, node: Node, progress: _Boot) -> None:
    page = node_page(node)
    cost = tokens(page)
    if cost <= progress.room:
        progress.pages.append(page)
        progress.room -= cost
        progress.loaded += 1
        if node.memory:
            call.engine.sight.saw(call.actor, node.memory)
        return
    if node.memory and progress.room > _LEAST_ROOM:
        progress.pages.append(cut_page(node, node.memory, progress.room - _LEAST_ROOM))
        progress.left_out.append(f'- {node.address}: shortened; read_memory("{node.address}") shows all of it')
    else:
        progress.left_out.append(f'- {node.address}: about {cost} tokens; read_memory("{node.address}")')
    progress.room = 0


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return ["", heading, *lines] if lines else []


# Index


async def index(call: Call) -> str:
    """Every path, by domain and first name."""
    outline = await call.engine.paths.outline(call.actor, MOST_INDEXED)
    lines = ["# Memory Index", f"# {outline.total} paths; the same [#id] twice is an alias; [★n] is the priority"]
    if outline.left_out:
        lines.append(f"# {outline.left_out} are left out; read_memory shows what lies below an entry")
    return "\n".join([*lines, *_entries(outline)])


def _entries(outline: Outline) -> list[str]:
    lines: list[str] = []
    domain = first = ""
    for entry in outline.entries:
        if entry.address.domain != domain:
            domain, first = entry.address.domain, ""
            lines += ["", f"## {domain}://"]
        if entry.address.names[0] != first:
            first = entry.address.names[0]
            lines += ["", f"### {first}"]
        lines.append(_entry(entry))
    return lines


def _entry(entry: Entry) -> str:
    again = f"  (children as at {entry.shown_at})" if entry.shown_at else ""
    deeper = f"  (+{entry.deeper} below)" if entry.deeper else ""
    return f"- {entry.address} [#{entry.memory}] [★{entry.priority}]{again}{deeper}"
