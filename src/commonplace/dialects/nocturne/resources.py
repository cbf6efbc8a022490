"""The memories as resources under their own addresses, and the pages of the system."""

import re
from collections.abc import Iterable, Sequence

from commonplace.dialects._dialect import EVERYTHING, Call, Prose, Shelved
from commonplace.dialects.nocturne import system
from commonplace.dialects.nocturne._nocturne import domains, nocturne
from commonplace.dialects.nocturne.tools import page
from commonplace.domain.address import Address, address
from commonplace.domain.errors import CommonplaceError, Invalid
from commonplace.domain.event import Event, EventKind
from commonplace.domain.path import Branch
from commonplace.settings import Settings

PAGE_SIZE = 100
_SCHEME = re.compile("[a-z][a-z0-9+.-]*")
_PAGES = ("system://boot", "system://index", "system://recent")
_RECENT_PAGES = tuple(f"system://recent/{count}" for count in range(1, system.MOST_RECENT + 1))
_PATHS_CHANGED = (EventKind.PLANTED, EventKind.PRUNED)


@nocturne.resource("system://boot", "boot")
async def boot(call: Call) -> Prose:
    """The core memories and what changed last."""
    return Prose(await system.boot(call))


@nocturne.resource("system://index", "index")
async def index(call: Call) -> Prose:
    """Every path, by domain and first name."""
    return Prose(await system.index(call))


@nocturne.resource("system://recent", "recent")
async def recent(call: Call) -> Prose:
    """The ten memories that changed last."""
    return Prose(await system.recent(call, str(system.USUAL_RECENT)))


@nocturne.resource("system://recent/{count}", "recent_count")
async def recent_count(call: Call, count: str) -> Prose:
    """The memories that changed last, as many as asked for."""
    return Prose(await system.recent(call, count))


class Tree:
    """Every path is a resource."""

    def templates(self, settings: Settings) -> Sequence[Shelved]:
        return [
            *(Shelved(f"{d}://{{+path}}", d, f"A memory in the domain {d}") for d in domains(settings)),
            Shelved("memory://{id}", "memory", "A memory by its id, with or without a path"),
        ]

    async def page(self, call: Call, cursor: str) -> tuple[Sequence[Shelved], str]:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19) and cursor:
            raise Invalid("cursor", "is not one that this server gave")
        branches, ways = await call.engine.paths.page(call.actor, int(cursor or 0), PAGE_SIZE)
        placed = [(branch, ways.of(branch.path)) for branch in branches]
        following = str(branches[-1].path.number) if len(branches) == PAGE_SIZE else ""
        return [_entry(branch, where) for branch, where in placed if where], following

    async def read(self, call: Call, uri: str) -> Prose:
        return await page(call, uri)

    def canonical(self, uri: str) -> str:
        try:
            return str(address(uri))
        except CommonplaceError:
            return uri


def _entry(branch: Branch, where: Address) -> Shelved:
    """Under its id where the domain is no scheme of URIs: for one bad entry clients refuse a whole listing."""
    uri = where.uri if _SCHEME.fullmatch(where.domain) else f"memory://{branch.memory}"
    return Shelved(uri, str(where), branch.path.disclosure, 1 / (1 + branch.path.priority))


async def touched(call: Call, event: Event) -> Iterable[str]:
    """Where the memory is and what shows it; after a removal for good nobody knows any more where it was.

    A path that leads to children makes and ends their addresses too, more than are worth counting.
    """
    if event.kind is EventKind.EMBEDDED:
        return ()
    if event.kind in (EventKind.FORGOTTEN, EventKind.EXPIRED):
        return (EVERYTHING,)
    if event.kind in _PATHS_CHANGED and await call.engine.paths.has_children(call.actor, event.memory_number):
        return (EVERYTHING,)
    where = await call.engine.paths.touched(call.actor, event)
    return (*_PAGES, *_RECENT_PAGES, f"memory://{event.memory}", *map(str, where))


nocturne.touched = touched
nocturne.shelf = Tree()
