"""What a memory, a root, an index look like: Nocturne's prose."""

import re
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from commonplace.domain.address import Address
from commonplace.domain.memory import Memory
from commonplace.domain.path import Branch, Orphan
from commonplace.domain.unicode import one_line
from commonplace.engine.literal import Match, Matches
from commonplace.engine.paths import Node

RULE = "=" * 60
SNIPPET = 100
DISCLOSED = 500
"""Characters of a disclosure that lists show; the memory's own page shows all of it."""
_AROUND = 60
_MOST_ECHOED = 200


def node_page(node: Node, paths: Sequence[Address] = ()) -> str:
    """A memory with its metadata, its text and its children; for a root the children alone."""
    if node.memory is None:
        return "\n".join([RULE, f"DOMAIN: {node.address}", RULE, *_children(node, "TOP-LEVEL MEMORIES")])
    return "\n".join([*_head(node, node.memory, paths), "", node.memory.content, *_children(node, "CHILD MEMORIES")])


def cut_page(node: Node, memory: Memory, kept: str) -> str:
    """The beginning of a memory, where there is no room for the whole."""
    left = len(memory.content) - len(kept)
    hidden = [f"{left} more characters"] * bool(left) + [f"{node.total} children"] * bool(node.total)
    note = f'... (not shown: {" and ".join(hidden)}; read_memory("{node.address}") shows all)'
    return "\n".join([*_head(node, memory), "", kept, note])


def _head(node: Node, memory: Memory, paths: Sequence[Address] = ()) -> list[str]:
    path = node.path
    known = ", ".join(map(str, paths)) or "(none; add_alias gives it one)"
    return [
        RULE,
        "",
        f"MEMORY: {node.address}",
        f"Memory ID: {memory.number}",
        f"Priority: {path.priority if path else '(not set)'}",
        f"Disclosure: {one_line(path.disclosure) if path and path.disclosure else '(not set)'}",
        *([] if path else [f"Paths: {known}"]),
        "",
        RULE,
    ]


def _children(node: Node, heading: str) -> list[str]:
    if not node.branches:
        return [] if node.memory else ["", "(nothing here yet)"]
    lines = ["", RULE, f"{heading} (Use 'read_memory' with URI to access)", RULE, ""]
    for branch in node.branches:
        lines += child(node.address.child(branch.path.name), branch)
    if node.left_out:
        lines.append(f"... and {node.left_out} more; search_memory finds them, system://index counts them")
    return lines


def child(where: Address, branch: Branch) -> list[str]:
    told = f"When to recall: {disclosed(branch.path.disclosure)}"
    if not branch.path.disclosure:
        told = f"Snippet: {snippet(branch.glimpse)}"
    return [f"- URI: {where}", f"  Priority: {branch.path.priority}", f"  {told}"]


def recent_page(nodes: Sequence[Node], zone: ZoneInfo) -> str:
    """What changed last, with a request for a disclosure where there is none."""
    lines = ["# Recently Modified Memories", f"# Showing {len(nodes)} most recent entries, newest first", ""]
    for number, node in enumerate(nodes, 1):
        lines += recent(number, node, zone)
    return "\n".join(lines if nodes else [*lines, "(no memories yet)"])


def recent(number: int, node: Node, zone: ZoneInfo) -> list[str]:
    assert node.memory
    priority = f"  [★{node.path.priority}]" if node.path else ""
    told = node.path.disclosure if node.path else ""
    ask = f'(not set: give it one with update_memory("{node.address}", disclosure="..."))'
    return [
        f"{number}. {node.address}{priority}  modified: {stamp(node.memory.revised_at, zone)}",
        f"   When to recall: {disclosed(told) if told else ask}",
    ]


def placeless_page(memories: Sequence[Memory], total: int, lost: Sequence[Orphan], orphans: int) -> str:
    """Memories without a path: those that lost it, then all."""
    lines = [RULE, "MEMORIES WITHOUT A PATH (add_alias gives one a path: target_uri is its URI here)", RULE, ""]
    if lost:
        lines += [f"Orphans, which have lost their last path: {orphans}, newest first"]
        lines += [f"- URI: memory://{o.memory.id}  was: {o.last}\n  Snippet: {snippet(o.memory.content)}" for o in lost]
        if orphans > len(lost):
            lines.append(f"... and {orphans - len(lost)} more")
        lines += [""]
    lines += [f"All without a path: {total}, newest first"]
    lines += [f"- URI: memory://{memory.id}\n  Snippet: {snippet(memory.content)}" for memory in memories]
    if total > len(memories):
        lines.append(f"... and {total - len(memories)} more; search_memory finds them")
    return "\n".join(lines)


def matches_page(query: str, found: Matches) -> str:
    asked = query if query.isprintable() else one_line(query)
    asked = asked if len(asked) <= _MOST_ECHOED else asked[:_MOST_ECHOED] + "..."
    if not found.best:
        return f"No matching memories found for '{asked}'."
    count = f"more than {found.total}" if found.more else str(found.total)
    shown = f" (the best {len(found.best)} are shown)" if found.total > len(found.best) else ""
    lines = [f"Found {count} matches for '{asked}':{shown}", ""]
    for match in found.best:
        lines += _match(match, query)
    return "\n".join(lines)


def _match(match: Match, query: str) -> list[str]:
    path = match.path
    labels = f"  [★{path.priority}]" if path else "  (no path)"
    told = [f"  When to recall: {disclosed(path.disclosure)}"] if path and path.disclosure else []
    return [
        f"- {match.address}  [#{match.memory.number}]{labels}",
        *told,
        f"  {around(match.memory.content, query)}",
        "",
    ]


def around(content: str, query: str) -> str:
    """The text around the first place where the query stands; the beginning where it stands in the address only."""
    found = re.search(re.escape(query), content, re.IGNORECASE)
    if found is None:
        return snippet(content)
    start, end = max(found.start() - _AROUND, 0), found.end() + _AROUND
    before, after = "..." if start else "", "..." if end < len(content) else ""
    return f"{before}{one_line(content[start:end])}{after}"


def snippet(content: str) -> str:
    shown = one_line(content[: SNIPPET * 4])
    return shown if len(shown) <= SNIPPET and len(content) <= SNIPPET * 4 else shown[:SNIPPET] + "..."


def disclosed(disclosure: str) -> str:
    shown = one_line(disclosure)
    return shown if len(shown) <= DISCLOSED else shown[:DISCLOSED] + "..."


def stamp(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"
