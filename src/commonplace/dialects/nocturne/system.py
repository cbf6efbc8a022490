"""The pages under system://: boot, index, recent."""

from bisect import bisect_right
from collections.abc import Sequence

from commonplace.dialects._dialect import Call
from commonplace.dialects.nocturne._nocturne import located
from commonplace.dialects.nocturne.pages import cut_page, node_page, recent_page
from commonplace.domain.address import Address
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.memory import Memory
from commonplace.domain.outline import Entry, Outline
from commonplace.engine.paths import Node
from commonplace.language.tokens import tokens

USUAL_RECENT = 10
MOST_RECENT = 100
BOOT_RECENT = 5
MOST_INDEXED = 3000
"""Entries on the index page; more would fill a model's whole attention."""
MOST_NOTED = 20
"""Addresses on the boot page that failed or were left out."""
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
    raise NotFound("system page", str(address))


async def recent(call: Call, count: str) -> str:
    wanted = int(count) if count.isascii() and count.isdigit() and len(count) < 6 else 0
    if not 1 <= wanted <= MOST_RECENT:
        raise Invalid("uri", f"system://recent/N takes a number from 1 to {MOST_RECENT}, not {count[:40]!r}")
    return recent_page(await call.engine.paths.recent(call.actor, wanted), call.actor.zone)


# Boot


class _Boot:
    """The core memories as far as they fit, and what became of the others."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.nodes: list[Node] = []
        self.pages: list[str] = []
        self.failed: list[str] = []
        self.left_out: list[str] = []
        self.loaded = 0

    def take(self, page: str) -> None:
        self.pages.append(page)
        self.room -= tokens(page)

    def note(self, lines: list[str], line: str) -> None:
        """Lines take room too, as long as they are shown."""
        lines.append(line)
        if len(lines) <= MOST_NOTED:
            self.room -= tokens(line)


async def boot(call: Call) -> str:
    """The core memories within the token budget, then what changed last."""
    latest = await _latest(call)
    progress = _Boot(call.settings.boot_tokens - tokens(latest) - _LEAST_ROOM)
    uris = call.settings.core_memory_uris
    for uri in uris:
        await _look(call, uri, progress)
    for at, node in enumerate(progress.nodes):
        _show(call, node, progress, kept_back=sum(map(_cost_of_note, progress.nodes[at + 1 :][:MOST_NOTED])))
    head = ["# Core Memories", f"# Loaded: {progress.loaded}/{len(uris)} memories"]
    if not uris:
        head.append("# None are configured: set CORE_MEMORY_URIS, e.g. CORE_MEMORY_URIS=core://agent,core://my_user")
    head += _section("## Failed to load:", progress.failed)
    head += _section("## Left out or shortened to stay within the token budget:", progress.left_out)
    return "\n\n".join(["\n".join(head), *progress.pages, latest])


async def _latest(call: Call) -> str:
    """What changed last, in at most half of the room."""
    nodes = await call.engine.paths.recent(call.actor, BOOT_RECENT)
    shown = [recent_page(nodes[:count], call.actor.zone) for count in range(len(nodes), 0 if nodes else -1, -1)]
    short = "# Recently Modified Memories\n\n(left out to stay within the token budget; see system://recent)"
    return next((page for page in shown if tokens(page) <= call.settings.boot_tokens // 2), short)


async def _look(call: Call, uri: str, progress: _Boot) -> None:
    try:
        progress.nodes.append(await call.engine.paths.look(call.actor, located(call, uri)))
    except NotFound:
        progress.note(progress.failed, f"- {uri}: not found")
    except Invalid as error:
        progress.note(progress.failed, f"- {uri}: {error.reason}")


def _show(call: Call, node: Node, progress: _Boot, kept_back: int) -> None:
    """The whole page, or as much of the text as there is room for. Who has not seen all of it has not read it."""
    page, room = node_page(node), progress.room - kept_back
    kept = node.memory.content if node.memory else ""
    if tokens(page) > room and node.memory:
        kept = _beginning(kept, room - tokens(cut_page(node, node.memory, "")) - _cost_of_note(node))
        page = cut_page(node, node.memory, kept)
    if tokens(page) > room or (node.memory and not kept):
        progress.note(progress.left_out, _note(node, "left out"))
        return
    progress.take(page)
    if not node.memory or kept == node.memory.content:
        progress.loaded += 1
        saw(call, node.memory)
    if page != node_page(node):
        children_only = node.memory and kept == node.memory.content
        progress.note(progress.left_out, _note(node, "children left out" if children_only else "shortened"))


def _note(node: Node, what: str) -> str:
    return f'- {node.address}: {what}; read_memory("{node.address}") shows all of it'


def _cost_of_note(node: Node) -> int:
    return tokens(_note(node, "children left out"))


def _beginning(text: str, room: int) -> str:
    """As much as takes so many tokens."""
    some = text[: max(room, 0) * 4]
    return some[: bisect_right(range(len(some) + 1), room, key=lambda end: tokens(some[:end])) - 1] if some else ""


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    more = [f"- and {len(lines) - MOST_NOTED} more"] if len(lines) > MOST_NOTED else []
    return ["", heading, *lines[:MOST_NOTED], *more] if lines else []


def saw(call: Call, memory: Memory | None) -> None:
    """The session has read it, if what it asked for is shown to it."""
    if memory and call.shown:
        call.engine.sight.saw(call.actor, memory)


# Index


async def index(call: Call) -> str:
    """Every path, by domain and first name."""
    outline = await call.engine.paths.outline(call.actor, MOST_INDEXED)
    lines = ["# Memory Index", f"# {outline.total} paths; the same [#id] twice is an alias; [★n] is the priority"]
    if outline.left_out:
        lines.append(f"# {outline.left_out} are left out; read_memory shows what lies below an entry")
    return "\n".join([*lines, *(_entries(outline) or ["", "(no memories yet)"])])


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
