"""What is not yours is as good as absent: the same is said about both, whatever is asked for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Act, Call, Tool
from commonplace.domain.errors import CommonplaceError
from tests.dialects.tenants import Person
from tests.dialects.walking import ANY, DIALECTS, POOL_OF, Pools, deeds, is_id, parameters, refused, value

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
_ELSEWHERE: Mapping[str, str] = {
    "session": "nobody/1",
    "uri": "core://absentquix",
    "space": "absentquix",
    "backup": "absentquix/2026-01-15T03-00-00",
    "block": "block_987654",
}
"""What is written otherwise than as a UUID."""
_NAMED_ANEW = {("space_create", "space_id"), ("add_alias", "new_uri")}
"""What is only to come into being under that name."""
_LETTING_IN = {("team_invite", "userId"), ("project", "user_id")}
"""Users are no secret: anyone may be let in."""
_CHANGED = ("content", "name", "append", "importance")
_MEANT = {"project_id": "project", "session_id": "session"}
"""Where a place is named, a text is meant to go there."""


@dataclass(frozen=True)
class Probe:
    """A call with one gap in it, for an id of some kind."""

    dialect: str
    tool: Tool
    reads: bool
    kind: str
    filled: Callable[[str], dict[str, Any]]


def probes(own: Pools) -> Iterator[Probe]:
    """Every parameter that takes an id, and every other place where one can stand."""
    for dialect in DIALECTS:
        for tool, act, chosen in deeds(dialect):
            names, _ = parameters(tool, chosen)
            for name in sorted(n for n in names if is_id(n) and (tool.name, n) not in _NAMED_ANEW | _LETTING_IN):
                yield _probe(dialect, tool, act, chosen, name, own)
    yield from _hidden(own)


def _probe(dialect: str, tool: Tool, act: Act, chosen: Mapping[str, Any], name: str, own: Pools) -> Probe:
    names, required = parameters(tool, chosen)
    schema = tool.input_schema["properties"]
    changed = [one for one in _CHANGED if one in names][:1] if act is Act.WRITES else []
    base = {n: value(n, schema[n], 0, own) for n in sorted(required | {*changed}) if n != name}
    base |= {n: _MEANT[name] for n in ("domain", "new_domain") if n in names and name in _MEANT}
    several = "array" in [kind.get("type") for kind in schema[name].get("anyOf", [schema[name]])]

    def filled(one: str) -> dict[str, Any]:
        return {**base, name: [one] if several else one, **chosen}

    return Probe(dialect, tool, not act.changes, ANY if name == ANY else POOL_OF[name], filled)


def _hidden(own: Pools) -> Iterator[Probe]:
    """Ids inside of something else."""
    mine = (own.get("memory") or [ABSENT])[0]
    gaps: list[tuple[str, str, str, Callable[[str], dict[str, Any]]]] = [
        ("creo", "remember", "memory", lambda one: {"content": "x", "metadata": {"derivedFrom": one}}),
        ("creo", "remember", "memory", lambda one: {"content": "x", "metadata": {"derivedFrom": [mine, one]}}),
        ("creo", "update_memory", "memory", lambda one: {"id": mine, "metadata": {"derivedFrom": one}}),
        ("creo", "subscribe_memories", "atlas", lambda one: {"filter": {"atlasId": one}}),
        ("creo", "create_shared_context", "team", lambda one: {"name": "x", "invite": [f"teams:{one}"]}),
        ("assoc", "search", "project", lambda one: {"type": "timerange", "filters": {"project_ids": [one]}}),
        ("assoc", "memory_manage", "project", lambda one: _import(domain="project", project_id=one)),
        ("assoc", "memory_manage", "place", lambda one: _import(domain="session", session_id=one)),
        ("nocturne", "read_memory", "memory", lambda one: {"uri": f"memory://{one}"}),
        ("nocturne", "update_memory", "memory", lambda one: {"uri": f"memory://{one}", "append": "x"}),
        ("nocturne", "delete_memory", "memory", lambda one: {"uri": f"memory://{one}"}),
        ("nocturne", "add_alias", "memory", lambda one: {"new_uri": "core://y", "target_uri": f"memory://{one}"}),
        ("nocturne", "create_memory", "memory", _below),
        ("greeum", "retrieve_memory", "block", lambda one: {"memory_id": one}),
        ("greeum", "update_memory", "block", lambda one: {"memory_id": one, "importance": 0.5}),
        ("greeum", "delete_memory", "block", lambda one: {"memory_id": one}),
        ("assoc", "memory", "block", lambda one: {"action": "get", "memory_id": one}),
        ("assoc", "memory", "block", lambda one: {"action": "delete", "memory_id": one}),
    ]
    for dialect, name, kind, filled in gaps:
        tool = dialect_named(dialect).tools[name]
        yield Probe(dialect, tool, not tool.act.changes and tool.act is not Act.SERVES, kind, filled)


def _below(one: str) -> dict[str, Any]:
    return {"parent_uri": f"memory://{one}", "content": "x", "priority": 1, "title": "y"}


def _import(**more: str) -> dict[str, Any]:
    return {"action": "import", "import_data": json.dumps([{"content": "x", **more}])}


async def differences(person: Person, own: Pools, foreign: Pools, *, only_reading: bool) -> AsyncIterator[str]:
    """Where something of another's is told from nothing."""
    for probe in probes(own):
        if only_reading and not probe.reads:
            continue
        nothing: dict[str, str] = {}
        for kind, one in _candidates(probe.kind, foreign):
            absent = _ELSEWHERE.get(kind, ABSENT)
            if absent not in nothing:
                nothing[absent] = await _outcome(person, probe, absent)
            told = await _outcome(person, probe, one)
            if told != nothing[absent]:
                yield f"{probe.dialect}.{probe.tool.name}({probe.filled(one)}): {told[:800]} != {nothing[absent][:800]}"


def _candidates(kind: str, foreign: Pools) -> Iterator[tuple[str, str]]:
    """Those of the kind that is meant, and one of each other kind that is written alike."""
    yield from ((kind, one) for one in foreign.get(kind, ()))
    if kind not in _ELSEWHERE:
        others = (other for other in foreign if other not in _ELSEWHERE and other not in (kind, "user"))
        yield from ((other, foreign[other][0]) for other in others if foreign[other])


async def _outcome(person: Person, probe: Probe, one: str) -> str:
    """What comes back, without the id; of what was done for once, only that it was."""
    call = await person.call(probe.dialect, probe.tool.name)
    words = await _said(call, probe, one)
    for form in (one, quote(one, safe=""), one.partition("/")[0]):  # a backup bears the name of its space
        words = words.replace(form, "<id>")
    return words


async def _said(call: Call, probe: Probe, one: str) -> str:
    try:
        probe.tool.act.require(call.actor)
        answer = await probe.tool(call, probe.filled(one))
    except CommonplaceError as error:
        return refused(probe.dialect, error)
    return f"{json.dumps(answer.value, ensure_ascii=False, default=str)} {answer.text}" if probe.reads else "done"
