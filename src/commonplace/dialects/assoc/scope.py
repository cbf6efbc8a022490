"""Where an action looks and where it puts things: domains, projects, sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc.parameters import collection
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection, Kind, Scope
from commonplace.domain.errors import Invalid, NotFound, SessionRequired
from commonplace.domain.identifiers import CollectionId
from commonplace.engine.collections import session_ttl

USUAL_DOMAINS = ("global", "user")


async def session_of(call: Call, session_id: str | None) -> Collection:
    """The session that is named, or the one the caller works in."""
    if session_id:
        standing = await call.engine.collections.get(call.actor, Kind.SESSION, collection(session_id, "sess_"))
        return standing.collection
    current = await call.engine.collections.current_session(call.actor)
    if current is None:
        raise SessionRequired
    return current


async def project_of(call: Call, project_id: str | None, within: str = "") -> CollectionId:
    if not project_id:
        raise Invalid(f"{within}project_id", "is required for the domain 'project'")
    standing = await call.engine.collections.get(call.actor, Kind.PROJECT, collection(project_id, "proj_"))
    return standing.collection.id


async def target(
    call: Call, domain: str, project_id: str | None, session_id: str | None, within: str = ""
) -> tuple[CollectionId | None, timedelta | None]:
    """The collection of a domain, None for the caller's own; and how long a memory lives there.

    `within` is what stands before the names of the ids where they are fields of an argument.
    """
    if domain == Kind.GLOBAL:
        return await call.engine.collections.everyones(), None
    if domain == Kind.PROJECT:
        return await project_of(call, project_id, within), None
    if domain == Kind.SESSION:
        session = await session_of(call, session_id)
        return session.id, session_ttl(session, call.engine.clock.now())
    return None, None


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
    named = [await project_of(call, one) for one in projects]
    if "session" in chosen:
        session = await call.engine.collections.current_session(call.actor)
        if session_id:
            session = await session_of(call, session_id)
        chosen = chosen if session else [domain for domain in chosen if domain != "session"]
        named += [session.id] if session else []
    return Scope(tuple(chosen) or ("none",), tuple(named))
