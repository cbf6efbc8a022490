"""Where an action looks and where it puts things: domains, projects, sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc.parameters import collection
from commonplace.dialects.assoc.refusals import NAME_SESSION
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection, Kind, Scope
from commonplace.domain.errors import Invalid, NotFound, SessionRequired
from commonplace.domain.identifiers import CollectionId
from commonplace.engine.collections import session_ttl
from commonplace.engine.recall import Question, Recalled

USUAL_DOMAINS = ("global", "user")


async def session_of(call: Call, session_id: str | None) -> Collection:
    """The session that is named, or the one the caller's connection works in."""
    if session_id:
        standing = await call.engine.collections.get(call.actor, Kind.SESSION, collection(session_id, "sess_"))
        return standing.collection
    current = await call.engine.collections.current_session(call.actor)
    if current is None:
        known = await call.engine.collections.all(call.actor, Kind.SESSION)
        raise SessionRequired(tuple((one.collection.id, one.collection.name) for one in known))
    return current


async def project_of(call: Call, project_id: str | None, within: str = "") -> CollectionId:
    if not project_id:
        raise Invalid(f"{within}project_id", "ドメイン 'project' では必須です")
    standing = await call.engine.collections.get(call.actor, Kind.PROJECT, collection(project_id, "proj_"))
    return standing.collection.id


@dataclass(frozen=True, slots=True)
class Target:
    """Where something is put: a collection, None for its author's own; and of a session, when it ends."""

    domain: str
    home: CollectionId | None = None
    ends_at: datetime | None = None
    ttl: timedelta | None = None


async def target(call: Call, domain: str, project_id: str | None, session_id: str | None, within: str = "") -> Target:
    """The place that a domain means; in a session a memory lives no longer than that.

    `within` is what stands before the names of the ids where they are fields of an argument.
    """
    if domain == Kind.GLOBAL:
        return Target(domain, await call.engine.collections.everyones())
    if domain == Kind.PROJECT:
        return Target(domain, await project_of(call, project_id, within))
    if domain == Kind.SESSION:
        session = await session_of(call, session_id)
        return Target(domain, session.id, session.ends_at, session_ttl(session, call.engine.clock.now()))
    return Target(domain)


def went(put: Target) -> tuple[dict[str, str], str]:
    """For who puts something into a session, perhaps without naming one: which it was, as data and as words."""
    known = put.domain == Kind.SESSION and put.home
    return ({"session_id": known}, f" (session_id: {known})") if known else ({}, "")


def idle(domains: Sequence[str] | None, project_id: str | None, session_id: str | None) -> list[str]:
    """The ids that say nothing, because what is chosen leaves out the domain they belong to."""
    given = {"project": project_id, "session": session_id}
    return [f"{domain}_id" for domain, one in given.items() if one and domains and domain not in domains]


async def sessionless(call: Call, domains: Sequence[str] | None, session_id: str | None, remedy: str) -> str:
    """A remark for who names the domain session and is in none."""
    if "session" not in (domains or ()) or session_id or await call.engine.collections.current_session(call.actor):
        return ""
    return f" (現在のセッションがないため、sessionドメインには何もありません。{remedy})"


def elsewhere(domains: Sequence[str] | None, named: str = "include_domains") -> str:
    """For who names no domain, and may have forgotten that projects and sessions are not looked at then."""
    return "" if domains else f"検索したのは{'と'.join(USUAL_DOMAINS)}だけです。他は{named}で指定できます"


async def barring(call: Call, actor: Actor, question: Question, recalled: Recalled, conditions: Sequence[str]) -> str:
    """Why nothing can be found, where no threshold is the reason."""
    if recalled.hits or recalled.closest or recalled.reach.damage:  # what is damaged cannot be counted
        return ""
    if await call.engine.recall.possible(actor, question):
        return ""
    return await unmet(call, actor, question, conditions)


async def unmet(call: Call, actor: Actor, question: Question, conditions: Sequence[str]) -> str:
    """Nothing is there yet; or which conditions no memory meets: each by itself, else all of them together."""
    anything = Question(question.text, scope=question.scope, apart=question.apart)
    if not await call.engine.recall.possible(actor, anything):
        return f"検索した範囲にはまだ{'他の' if question.apart else ''}記憶がありません"
    alone = [name for name in conditions if not await _possible(call, actor, question, anything, name)]
    return f"{'と'.join(alone or conditions)}の条件に合う記憶はありません" if conditions else ""


async def _possible(call: Call, actor: Actor, question: Question, anything: Question, condition: str) -> bool:
    """By one condition alone; where to look is none of them, for that is what the actor is narrowed to."""
    field = _FIELDS.get(condition)
    by_it = replace(anything, **{field: getattr(question, field)}) if field else anything
    return await call.engine.recall.possible(actor, by_it)


_FIELDS = {
    "tags": "tags",
    "category": "categories",
    "start_time": "since",
    "end_time": "until",
    "filters.categories": "categories",
    "filters.importance_min": "importance_min",
    "filters.importance_max": "importance_max",
}
"""Of a question, by the names of the conditions."""
CHOOSE_SESSION = "user の create_session か switch_session でセッションを選んでください"


@dataclass(frozen=True, slots=True)
class Aim:
    """The caller, looking where he wants, and what has to be said of it."""

    actor: Actor
    unused: Sequence[str] = ()
    remark: str = ""
    elsewhere: str = ""
    """Where else he could look."""
    conditions: Sequence[str] = ()
    """The names of what narrows the search."""


async def aimed(call: Call, domain: str | None, project_id: str | None, session_id: str | None) -> Aim:
    """Everything the caller may see, or what is named."""
    if not (domain or project_id or session_id):
        return Aim(call.actor)
    named = [domain or ("project" if project_id else "session")]
    return Aim(
        await looking(call, named, [project_id] if project_id else [], session_id),
        idle(named, project_id, session_id),
        await sessionless(call, named, session_id, NAME_SESSION),
    )


@contextmanager
def still(domain: str) -> Iterator[None]:
    """For what ends between being chosen and being used: it is missed under its own name."""
    try:
        yield
    except NotFound as error:
        if error.what != "collection":
            raise
        raise NotFound(domain, error.name) from error


async def looking(
    call: Call,
    domains: Sequence[str] | None,
    projects: Sequence[str] = (),
    session_id: str | None = None,
    usual: Sequence[str] = USUAL_DOMAINS,
) -> Actor:
    """The caller, looking only there."""
    return await call.engine.collections.narrowed(
        call.actor, await where(call, domains, projects, session_id, usual=usual)
    )


async def where(
    call: Call,
    domains: Sequence[str] | None,
    projects: Sequence[str] = (),
    session_id: str | None = None,
    usual: Sequence[str] = USUAL_DOMAINS,
) -> Scope:
    """In what is named, else in what is usual and what was named by id."""
    chosen = (
        list(domains) if domains else [*usual, *(["project"] if projects else []), *(["session"] if session_id else [])]
    )
    named = [await project_of(call, one) for one in projects] if "project" in chosen else []
    if "session" in chosen:
        session = await call.engine.collections.current_session(call.actor)
        if session_id:
            session = await session_of(call, session_id)
        chosen = chosen if session else [domain for domain in chosen if domain != "session"]
        named += [session.id] if session else []
    return Scope(tuple(chosen) or ("none",), tuple(named))
