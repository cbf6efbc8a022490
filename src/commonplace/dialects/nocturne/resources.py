"""The memories as resources under their own addresses, and the pages of the system."""

from collections.abc import Iterable, Sequence

from commonplace.dialects._dialect import EVERYTHING, Call, Prose, Shelved
from commonplace.dialects.nocturne import system
from commonplace.dialects.nocturne._nocturne import nocturne
from commonplace.dialects.nocturne.tools import page
from commonplace.domain.address import RESERVED, address
from commonplace.domain.errors import CommonplaceError, Invalid
from commonplace.domain.event import Event, EventKind
from commonplace.settings import Settings

PAGE_SIZE = 100
_SYSTEM_PAGES = ("system://boot", "system://index", "system://recent")


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
        domains = [domain.lower() for domain in settings.valid_domains if domain.lower() not in RESERVED]
        return [
            *(Shelved(f"{domain}://{{+path}}", domain, f"A memory in the domain {domain}") for domain in domains),
            Shelved("memory://{id}", "memory", "A memory by its id, with or without a path"),
        ]

    async def page(self, call: Call, cursor: str) -> tuple[Sequence[Shelved], str]:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19) and cursor:
            raise Invalid("cursor", "is not one that this server gave")
        branches, ways = await call.engine.paths.page(call.actor, int(cursor or 0), PAGE_SIZE)
        placed = [(branch.path, ways.of(branch.path)) for branch in branches]
        entries = [
            Shelved(where.uri, str(where), path.disclosure, 1 / (1 + path.priority)) for path, where in placed if where
        ]
        return entries, str(branches[-1].path.number) if len(branches) == PAGE_SIZE else ""

    async def read(self, call: Call, uri: str) -> Prose:
        return await page(call, uri)

    def canonical(self, uri: str) -> str:
        try:
            return str(address(uri))
        except CommonplaceError:
            return uri


async def touched(call: Call, event: Event) -> Iterable[str]:
    """Where the memory is and what shows it; after a removal for good nobody knows any more where it was."""
    if event.kind is EventKind.EMBEDDED:
        return ()
    if event.kind in (EventKind.FORGOTTEN, EventKind.EXPIRED):
        return (EVERYTHING,)
    where = await call.engine.paths.touched(call.actor, event)
    return (*_SYSTEM_PAGES, f"memory://{event.memory}", *map(str, where))


nocturne.touched = touched
nocturne.shelf = Tree()
