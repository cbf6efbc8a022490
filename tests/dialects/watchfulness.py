"""Looking at everything that someone is shown: every reading tool and resource of every dialect, and what is pushed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Tool
from commonplace.transports.switchboard import change
from tests.dialects.tenancy import Ledger, Who
from tests.dialects.tenants import Person
from tests.dialects.walking import DIALECTS, Pools, answered, ids_for, is_id, parameters, read, reading, value

TRAIL = ("creo.get_logs", "creo.search_logs", "creo.check_notifications", "creo.pushed", "nocturne.touched")
"""What tells of what was: it may name, by id and not by its words, what one was once allowed to see."""
_SEARCHED = ("query", "user_input", "text")
_NAMED = ("tags", "category", "sender", "threadId", "agent")
_WIDE = {"query", "user_input", "limit", "threshold", "depth", "include_domains", "margin_hours", "start_time"}
_TAKING = ("creo", "check_notifications")
"""It only looks, but nobody can look twice."""
_DRAWING = "visualize"


@dataclass(frozen=True)
class Curiosity:
    """What someone asks for: words that stand in texts, names that were given to them, ids."""

    hooks: Sequence[str] = ()
    names: Sequence[str] = ()
    pools: Pools = field(default_factory=dict)
    brief: bool = False
    """Whether one way of asking each thing is enough; pictures are left out then, which take long to draw."""

    @property
    def addresses(self) -> list[str]:
        return [*self.pools.get("uri", ()), *(f"memory://{one}" for one in self.pools.get("memory", ()))]

    @property
    def blocks(self) -> list[str]:
        return [*self.pools.get("memory", ()), *self.pools.get("block", ())]


@dataclass(frozen=True)
class Heard:
    """An answer, and what was said to get it."""

    source: str
    said: str
    words: str


async def everything(person: Person, about: Curiosity, after: int) -> AsyncIterator[Heard]:
    """All that there is to hear for one caller; of what is pushed, what came after an event."""
    for dialect in DIALECTS:
        for tool, arguments in questions(dialect, about):
            words = await answered(await person.call(dialect, tool.name), dialect, tool, arguments)
            yield Heard(f"{dialect}.{tool.name}", json.dumps(arguments, ensure_ascii=False), words)
        call = await person.call(dialect, "resource")
        for uri, words in await read(call, dialect, about.blocks, about.addresses):
            yield Heard(f"{dialect}.resource", uri, words)
    async for heard in _pushed(person, after):
        yield heard


def questions(dialect: str, about: Curiosity) -> Iterator[tuple[Tool, dict[str, Any]]]:
    """What to ask each tool that only looks."""
    taking = [(dialect_named(dialect).tools[_TAKING[1]], dict[str, Any]())] if dialect == _TAKING[0] else []
    for tool, chosen in [*reading(dialect), *taking]:
        if about.brief and tool.name == _DRAWING:
            continue
        general = _in_general(tool, chosen, brief=about.brief)
        for arguments in (*general, *_by_words(tool, chosen, about), *_by_id(tool, chosen, about)):
            yield tool, {**arguments, **chosen}


def _in_general(tool: Tool, chosen: Mapping[str, Any], *, brief: bool) -> Iterator[dict[str, Any]]:
    """What must be said, what widens the view, and each way in which something can be chosen."""
    names, required = parameters(tool, chosen)
    if any(map(is_id, required)):
        return
    schema = tool.input_schema["properties"]
    least, wide = _values(tool, required), _values(tool, required | (names & _WIDE))
    yield from [least, *([wide] if wide != least else [])]
    for name in () if brief else sorted(names):
        yield from ({**wide, name: one} for one in _ways(schema[name]))


def _by_words(tool: Tool, chosen: Mapping[str, Any], about: Curiosity) -> Iterator[dict[str, Any]]:
    names, required = parameters(tool, chosen)
    known = [name for name in required if is_id(name)]
    wide = _values(tool, required | (names & _WIDE), about.pools)
    if any(not ids_for(about.pools, name) for name in known):
        return
    for name in _SEARCHED:
        yield from ({**wide, name: word} for word in about.hooks if name in names)
    least = _values(tool, required, about.pools)
    for name in _NAMED:
        schema = tool.input_schema["properties"].get(name, {})
        yield from ({**least, name: _as(schema, word)} for word in about.names if name in names)


def _by_id(tool: Tool, chosen: Mapping[str, Any], about: Curiosity) -> Iterator[dict[str, Any]]:
    names, required = parameters(tool, chosen)
    for name in sorted(filter(is_id, names)):
        schema = tool.input_schema["properties"][name]
        others = _values(tool, (required | (names & _WIDE)) - {name}, about.pools)
        yield from ({**others, name: _as(schema, one)} for one in ids_for(about.pools, name))
    if "filters" in names:
        for one in about.pools.get("project", ()):
            yield {**_values(tool, required | (names & _WIDE), about.pools), "filters": {"project_ids": [one]}}


def _values(tool: Tool, names: set[str], pools: Pools | None = None) -> dict[str, Any]:
    schema = tool.input_schema["properties"]
    return {name: value(name, schema[name], 0, pools or {}) for name in sorted(names)}


def _ways(schema: Mapping[str, Any]) -> Sequence[Any]:
    kinds = schema.get("anyOf", [schema])
    return next((kind["enum"] for kind in kinds if "enum" in kind), ())


def _as(schema: Mapping[str, Any], one: str) -> Any:
    kinds = [kind.get("type") for kind in schema.get("anyOf", [schema])]
    return [one] if "array" in kinds else one


async def _pushed(person: Person, after: int) -> AsyncIterator[Heard]:
    """What comes over an open line, and the addresses of which a client is told that they have changed."""
    engine, actor = person.engine, await person.actor()
    if actor.limited_to is None:
        (stretch,) = (await engine.watches.told([(actor, after)], 1000)).values()
        yield Heard("creo.pushed", "", "\n".join(map(change, stretch.news)))
    call = await person.call("nocturne", "touched")
    for event in await engine.events.visible(actor, after):
        touched = await dialect_named("nocturne").touched(call, event)
        yield Heard("nocturne.touched", "", " ".join(touched))


def forbidden(ledger: Ledger, who: Who) -> tuple[set[str], set[str]]:
    """What must not stand in an answer, and what not even in one that tells of what was."""
    words = ledger.forbidden(who)
    return words, words - {word for word in ledger.met[who] if "-" in word}


def leaks(forbidden: tuple[set[str], set[str]], heard: Heard) -> set[str]:
    """What stands in an answer and must not; what was said may come back."""
    words = forbidden[heard.source in TRAIL]
    return {word for word in words if word in heard.words and word not in heard.said}
