"""Saying all there is to say to every tool and resource of every dialect, and hearing everything that comes back."""

import itertools
import json
import tarfile
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Act, Answer, Call, Tool
from commonplace.dialects.assoc import manage, memory, project, search, user
from commonplace.domain.access import Actor
from commonplace.domain.errors import CommonplaceError
from commonplace.engine import Engine
from commonplace.settings import Settings

DIALECTS = ("creo", "assoc", "greeum", "nocturne", "live")
BAIT = "confidential"
"""Stands in every text, so that every search would find them all."""
CHOOSERS = ("action", "type")
Pools = Mapping[str, Sequence[str]]
"""Ids by what they are ids of."""

_POOLS = {
    "memory": (
        "memoryId",
        "memory_id",
        "targetMemoryId",
        "annotationMemoryId",
        "center_memory_id",
        "memory_ids",
        "associate_with",
    ),
    "atlas": ("atlasId", "atlas_id", "parent_id"),
    "context": ("contextId", "sharedContextId"),
    "team": ("teamId",),
    "user": ("userId", "ownerId", "sharedBy", "user_id"),
    "label": ("label_id", "labelIds"),
    "category": ("category_id", "category_ids"),
    "subscription": ("subscriptionId",),
    "session": ("sessionId",),
    "project": ("project_id",),
    "place": ("session_id",),
    "uri": ("uri", "parent_uri", "target_uri", "new_uri"),
    "space": ("space_id",),
    "backup": ("backup_id",),
}
POOL_OF = {name: pool for pool, names in _POOLS.items() for name in names}
ANY = "id"
"""A parameter that each tool means something else by."""
FITTING: Mapping[str, Any] = {
    "confirm": True,
    "limit": 50,
    "threshold": 0.0,
    "depth": 3,
    "fromDate": "2020-01-01T00:00:00Z",
    "toDate": "2030-01-01T00:00:00Z",
    "dueDate": "2030-01-01T00:00:00Z",
    "start_time": "2020-01-01T00:00:00Z",
    "end_time": "2030-01-01T00:00:00Z",
    "ttl": 3600,
    "ttlSeconds": 3600,
    "expiresInDays": 1,
    "color": "#FF0000",
    "query": BAIT,
    "user_input": BAIT,
    "metadata": {},
    "filter": {},
    "filters": {},
    "currentFocus": {"type": "idle"},
    "include_domains": ["global", "user", "project", "session"],
    "margin_hours": 87600,
    "tags": [BAIT],
    "content": "x",
}
_ACTIONS = {
    "memory": memory.actions,
    "memory_manage": manage.actions,
    "project": project.actions,
    "user": user.actions,
    "search": search.actions,
}
"""The tools of assoc that do one thing or another."""


async def _silent(done: int, total: int) -> None: ...


def call_by(engine: Engine, settings: Settings, actor: Actor, tool: str, session: str) -> Call:
    """A call of a tool, named `dialect.tool`, without a wire in between."""
    return Call(engine, actor.through(tool, session), settings, _silent)


# What is said


def is_id(name: str) -> bool:
    return name == ANY or name in POOL_OF


def ids_for(pools: Pools, name: str) -> Sequence[str]:
    if name == ANY:
        return list(itertools.chain.from_iterable(pools.values()))
    return pools.get(POOL_OF[name], ())


def value(name: str, schema: Mapping[str, Any], turn: int, pools: Pools) -> Any:
    """Something that fits a parameter, each turn another."""
    if name in FITTING:
        return FITTING[name]
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    kind = kinds[0]
    if is_id(name):
        ids = ids_for(pools, name) or ["x"]
        return _listed(kind, ids[turn % len(ids)])
    if "enum" in kind:
        return kind["enum"][turn % len(kind["enum"])]
    plain = {"string": "x", "integer": 5, "number": 0.5, "boolean": True, "array": ["x"], "object": {}}
    return plain.get(kind.get("type", ""), {})


def _listed(kind: Mapping[str, Any], one: str) -> Any:
    return [one] if kind.get("type") == "array" else one


def choices(tool: Tool) -> tuple[str | None, Sequence[Any]]:
    """The parameter that chooses what a tool does, and what there is to choose."""
    required = set(tool.input_schema.get("required", ()))
    chooser = next((name for name in CHOOSERS if name in required), None)
    return chooser, tool.input_schema["properties"][chooser]["enum"] if chooser else [None]


def said(tool: Tool, inside: Pools, outside: Pools) -> Iterator[dict[str, Any]]:
    """What is required, then what may help, then all there is; with what is inside, then with what is outside."""
    properties = tool.input_schema["properties"]
    required = set(tool.input_schema.get("required", ()))
    chooser, chosen = choices(tool)
    for choice, pools in itertools.product(chosen, ({**outside, **inside}, outside)):
        there = inside if pools is not outside else outside
        fitting = {n for n in properties if n not in POOL_OF or there.get(POOL_OF[n])}
        helpful = {n for n in fitting if n in POOL_OF or n in FITTING}
        alone = [required | {n} for n in sorted(helpful)]
        for named in (required, required | helpful, required | fitting, *alone):
            turns = [len(ids_for(pools, n)) for n in named if is_id(n)]
            for turn in range(max([2, *turns])):
                given = {n: value(n, properties[n], turn, pools) for n in sorted(named)}
                yield given | ({chooser: choice} if chooser else {})


def deeds(dialect: str) -> Iterator[tuple[Tool, Act, dict[str, Any]]]:
    """Everything that can be done: a tool, what that comes to, and what chooses it where a tool does several things."""
    for tool in dialect_named(dialect).tools.values():
        chooser, chosen = choices(tool)
        for choice in chosen:
            action = _action(tool, choice)
            yield tool, action.act if action else tool.act, {chooser: choice} if chooser else {}


def reading(dialect: str) -> Iterator[tuple[Tool, dict[str, Any]]]:
    """Everything that only looks."""
    return ((tool, chosen) for tool, act, chosen in deeds(dialect) if not act.changes)


def parameters(tool: Tool, chosen: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """What can be said to a tool that is to do this, and what must be."""
    action = _action(tool, next(iter(chosen.values()), None))
    if action is None:
        return set(tool.input_schema["properties"]) - set(chosen), set(tool.input_schema.get("required", ())) - set(
            chosen
        )
    needed = {name for name, one in action.parameters.items() if one.default is one.empty}
    return set(action.parameters), needed


def _action(tool: Tool, choice: Any) -> Any:
    """Where a tool does several things, one of them; tools of two dialects may have one name."""
    actions = _ACTIONS.get(tool.name)
    return actions.known.get(choice) if actions and choice else None


# What is heard


async def answered(call: Call, dialect: str, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Everything that comes back, good or bad; what is packed, unpacked."""
    try:
        tool.act.require(call.actor)
        answer: Answer[Any] = await tool(call, arguments)
    except CommonplaceError as error:
        call.engine.doings.refused(call.actor, error)
        return refused(dialect, error)
    return (
        f"{json.dumps(answer.value, ensure_ascii=False, default=str)} {answer.text} {answer.notice}{_unpacked(answer)}"
    )


def refused(dialect: str, error: CommonplaceError) -> str:
    return f"{error.message} {error.remedy} {dialect_named(dialect).refusal(error)}"


def _unpacked(answer: Answer[Any]) -> str:
    packed = answer.value.get("archive_base64") if isinstance(answer.value, dict) else None
    if packed is None:
        return ""
    with tarfile.open(fileobj=BytesIO(b64decode(packed)), mode="r:gz") as archive:
        files = [archive.extractfile(member) for member in archive.getmembers()]
        return " ".join([*archive.getnames(), *(file.read().decode() for file in files if file)])


async def read(
    call: Call, dialect: str, variables: Iterable[str], addresses: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Every resource, each family of them with these in its addresses; the listing, and the instructions."""
    found = dialect_named(dialect)
    uris = [one.uri for one in found.resources if not one.is_template]
    uris += [one.named(each) for one in found.resources if one.is_template for each in variables]
    heard = [(uri, await _resource(call, dialect, uri)) for uri in [*uris, *addresses]]
    if found.shelf:
        heard.append(("resources/list", repr(await found.shelf.page(call, ""))))
    if found.greeting:
        heard.append(("instructions", await found.greeting(call)))
    return iter(heard)


async def _resource(call: Call, dialect: str, uri: str) -> str:
    try:
        shown = await dialect_named(dialect).read(replace(call, shown=True), uri)
    except (CommonplaceError, LookupError) as error:
        return str(error)
    return json.dumps(shown, ensure_ascii=False, default=str)
