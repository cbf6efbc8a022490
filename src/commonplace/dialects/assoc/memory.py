"""記憶操作: store, search, get, get_related, update, delete."""

from typing import Annotated, Any, Literal

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.answers import (
    CLOSEST,
    answering,
    bounded,
    changed,
    related,
    remark,
    stamp,
    unembedded,
    whole,
)
from commonplace.dialects.assoc.parameters import (
    HOW_CLOSE,
    Count,
    Domain,
    Share,
    Texts,
    counted,
    described,
    reference,
    renamed,
)
from commonplace.dialects.assoc.refusals import NAME_SESSION
from commonplace.domain import limits
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import MAX_CONTENT_BYTES, MAX_LABEL_CHARS, MAX_TAGS, Change, Draft, Memory
from commonplace.engine.links import DEEPEST, MOST_RELATED
from commonplace.engine.recall import MOST_RESULTS, Question
from commonplace.language.importance import importance as judged

LIMIT, THRESHOLD, DEPTH = 10, 0.7, 2
MOST_TIED = 100
_MOST = max(MOST_RESULTS, MOST_RELATED)
"""Of what a limit may be, by one action or another."""

actions = Actions("action")


@assoc.leaves_aside(actions.unused)
@assoc.serves
async def memory(
    call: Call,
    action: Annotated[
        Literal["store", "search", "get", "get_related", "update", "delete"], Field(description="What to do")
    ],
    memory_id: Annotated[str | None, described("Required for get, get_related, update, delete")] = None,
    content: Annotated[str | None, described("Text to 1 MiB (store, update)", maxLength=MAX_CONTENT_BYTES)] = None,
    query: Annotated[
        str | None, described("What to look for, in any language (search)", maxLength=limits.MAX_QUERY_CHARS)
    ] = None,
    domain: Annotated[
        Domain | None, described("Who shares it; required for store. Only admins write to global")
    ] = None,
    include_domains: Annotated[list[Domain] | None, described("Where to search (default: global and user)")] = None,
    project_id: Annotated[str | None, described("Project, for the domain project")] = None,
    session_id: Annotated[
        str | None, described("Session, for the domain session (default: this connection's current one)")
    ] = None,
    tags: Annotated[Texts, described("Tags of the memory; a filter when searching", maxItems=MAX_TAGS)] = None,
    category: Annotated[
        str | None, described("Category of the memory; a filter when searching", maxLength=MAX_LABEL_CHARS)
    ] = None,
    importance: Annotated[Share, described("Judged by the text when left out"), Field(ge=0, le=1)] = None,
    limit: Annotated[
        Count, counted("How many at most; has_more says whether there are more", LIMIT, minimum=1, maximum=_MOST)
    ] = None,
    threshold: Annotated[Share, described(HOW_CLOSE, THRESHOLD, minimum=0, maximum=1)] = None,
    depth: Annotated[
        Count, counted("How many steps of association (get_related)", DEPTH, minimum=1, maximum=DEEPEST)
    ] = None,
    associate_with: Annotated[
        Texts, described("Ids of memories to tie it to by hand (store, update)", maxItems=MOST_TIED)
    ] = None,
    dissociate_from: Annotated[
        Texts, described("Ids of memories to untie it from (update)", maxItems=MOST_TIED)
    ] = None,
    summarize: Annotated[bool | None, described("Add a short summary (search, get, get_related)")] = None,
) -> Reply:
    """Store, find, read, change and delete memories; follow their associations."""
    return await actions.run(call, action, locals())


@actions.writes
async def store(
    call: Call,
    *,
    content: str,
    domain: str,
    project_id: str | None = None,
    session_id: str | None = None,
    tags: list[str] | None = None,
    category: str = "",
    importance: float | None = None,
    associate_with: list[str] | None = None,
) -> Done:
    limits.content(content)
    target = await scope.target(call, domain, project_id, session_id)
    others = await _others(call, associate_with)
    draft = Draft(
        content,
        tags=tuple(tags or ()),
        category=category,
        importance=judged(content) if importance is None else importance,
        ttl=target.ttl,
        links=tuple((LinkKind.MANUAL, other.id) for other in others),
        home=target.home,
    )
    with scope.still(domain):
        kept = await call.engine.memories.remember(call.actor, draft, associate=True)
    session, where = scope.went(target)
    data = {
        "memory_id": kept.id,
        "domain": domain,
        **session,
        "created_at": stamp(kept.created_at),
        "tags": list(kept.tags),
        "category": kept.category,
        "importance": kept.importance,
        "expires_at": stamp(kept.ephemeral.ends_at) if kept.ephemeral else None,
        "associations": await _ties(call, kept),
    }
    message = f"記憶を保存しました (ID: {kept.id}){where}{unembedded(call.engine.embedding.failure)}"
    return Done(data, message, scope.idle([domain], project_id, session_id))


@actions.reads
async def search(
    call: Call,
    *,
    query: str,
    include_domains: list[str] | None = None,
    project_id: str | None = None,
    session_id: str | None = None,
    tags: list[str] | None = None,
    category: str | None = None,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
    summarize: bool = False,
) -> Done:
    question = Question(
        query,
        limit,
        limits.importance(threshold, "threshold"),
        await scope.where(call, include_domains, [project_id] if project_id else [], session_id),
        tags=limits.tags(tags or ()),
        categories=(limits.label("category", category),) if category else (),
        closest=CLOSEST,
    )
    recalled = await call.engine.recall.recall(call.actor, question)
    data: dict[str, Any] = {**await answering(call, recalled, query), "query": query}
    if summarize:
        data["summary"] = await call.engine.summaries.of(hit.memory.content for hit in recalled.hits)
    alone = await scope.sessionless(call, include_domains, session_id, NAME_SESSION)
    unused = scope.idle(include_domains, project_id, session_id)
    elsewhere = "" if project_id or session_id else scope.elsewhere(include_domains)
    conditions = [name for name, value in (("tags", tags), ("category", category)) if value]
    barring = await scope.barring(call, call.actor, question, recalled, conditions)
    words = remark(recalled, threshold, alone, elsewhere, barring)
    return Done(data, f"{data['count']}件の記憶が見つかりました{words}", unused)


@actions.reads
async def get(call: Call, *, memory_id: str, summarize: bool = False) -> Done:
    kept = call.engine.recall.used(await call.engine.memories.get(call.actor, reference(memory_id)))
    data = whole(kept, call.actor.user, await call.engine.collections.place_of(kept))
    if summarize:
        data["summary"] = await call.engine.summaries.of([kept.content])
    return Done(data, "記憶を取得しました")


@actions.reads
async def get_related(
    call: Call,
    *,
    memory_id: str,
    depth: int = DEPTH,
    limit: int = LIMIT,
    summarize: bool = False,
) -> Done:
    source = reference(memory_id)
    evoked = await call.engine.links.related(call.actor, source, depth=depth, limit=limit)
    listed = bounded([related(one) for one in evoked.related])
    data: dict[str, Any] = {
        "related_memories": listed,
        "count": len(listed),
        "has_more": evoked.more,
        "source_memory_id": str(source),
    }
    if summarize:
        data["summary"] = await call.engine.summaries.of(one.memory.content for one in evoked.related)
    return Done(data, f"{len(listed)}件の関連記憶が見つかりました")


@actions.writes
async def update(
    call: Call,
    *,
    memory_id: str,
    content: str | None = None,
    tags: list[str] | None = None,
    category: str | None = None,
    importance: float | None = None,
    associate_with: list[str] | None = None,
    dissociate_from: list[str] | None = None,
) -> Done:
    change = Change(
        content=content, tags=None if tags is None else tuple(tags), category=category, importance=importance
    )
    if not change.fields and not associate_with and not dissociate_from:
        some = "content, tags, category, importance, associate_with, dissociate_from"
        raise Invalid("content", f"更新する内容がありません。次のいずれかを指定してください: {some}{_moving(call)}")
    tied = [reference(other.id) for other in await _others(call, associate_with)]
    untied = [reference(other.id) for other in await _others(call, dissociate_from, "dissociate_from")]
    if both := [str(one) for one in tied if one in untied]:
        raise Invalid(
            "dissociate_from", f"{both[0]} が associate_with にもあります。どちらか一方だけを指定してください"
        )
    with renamed(other="associate_with"):
        done = await call.engine.links.revise(call.actor, reference(memory_id), change, tied=tied, untied=untied)
    later = "" if content is None else unembedded(call.engine.embedding.failure)
    words = "記憶を更新しました" if done.changed else "記憶はすでに指定された内容です。何も変更していません"
    return Done(changed(done.memory), f"{words} (ID: {done.memory.id}){later}{_moving(call)}")


def _moving(call: Call) -> str:
    """For who takes a domain for something that an update changes."""
    return "。ドメインを変えるには memory_manage の change_domain を使ってください" if "domain" in call.unused else ""


async def _ties(call: Call, kept: Memory) -> int:
    try:
        return len(await call.engine.links.of(call.actor, reference(kept.id)))
    except NotFound:  # someone has deleted it meanwhile; it was stored all the same
        return 0


async def _others(call: Call, ids: list[str] | None, parameter: str = "associate_with") -> list[Memory]:
    """The memories to tie or untie by hand, which the caller must see."""
    wanted = list(dict.fromkeys(ids or ()))
    if len(wanted) > MOST_TIED:
        raise Invalid(parameter, f"{len(wanted)}件あります。一度に指定できるのは{MOST_TIED}件までです")
    found = [await call.engine.memories.get(call.actor, reference(one)) for one in wanted]
    return list({memory.id: memory for memory in found}.values())  # one id may be written in several ways


@actions.destroys
async def delete(call: Call, *, memory_id: str) -> Done:
    gone = await call.engine.memories.forget(call.actor, reference(memory_id))
    return Done({"memory_id": gone.id}, f"記憶を削除しました (ID: {gone.id})")
