"""システム管理: health, figures, backup and restore, rebuilding, cleaning, moving domains. For administrators."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import moves, restoration, scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.answers import stamp
from commonplace.dialects.assoc.figures import figures
from commonplace.dialects.assoc.parameters import STATED, Domain, beginning, bounds, described, renamed
from commonplace.dialects.assoc.refusals import in_words
from commonplace.domain import limits
from commonplace.domain.access import require_whole
from commonplace.domain.backup import Backup, backup_name
from commonplace.domain.errors import Invalid, StoreCorrupt
from commonplace.domain.memory import MAX_TAGS
from commonplace.engine.memories import Reference
from commonplace.ports import UNFINISHED, Page, Statistics

if TYPE_CHECKING:
    from commonplace.engine.backups import Restored

MOST_MIGRATED = 1000
MOST_NAMED = 20
MOST_CATEGORIES = 100
_CRITERIA = "migration_config.filter_criteria"

actions = Actions("action")


class FilterCriteria(TypedDict, total=False):
    """Which memories of the source domain are moved; all conditions must hold."""

    tags: Annotated[list[str], bounds(maxItems=MAX_TAGS)]
    categories: Annotated[list[str], bounds(maxItems=MOST_CATEGORIES)]
    importance_min: Annotated[float, bounds(minimum=0, maximum=1)]
    importance_max: Annotated[float, bounds(minimum=0, maximum=1)]
    created_after: str
    created_before: str
    project_id: str
    session_id: str


class Migration(TypedDict, total=False):
    """From where to where."""

    source_domain: Domain
    target_domain: Domain
    filter_criteria: FilterCriteria
    project_id: str
    session_id: str


@assoc.leaves_aside(actions.unused)
@assoc.governs
async def admin(
    call: Call,
    action: Annotated[
        Literal["health_check", "system_stats", "backup", "restore", "reindex", "cleanup_orphans", "migrate_domain"],
        Field(description="What to do"),
    ],
    backup_path: Annotated[str | None, described("Name of the backup in the backup folder (backup, restore)")] = None,
    include_data: Annotated[
        list[Literal["memories", "projects", "sessions", "associations"]] | None,
        described("What a backup is for; what to put back beside what is newer (default: all: the store becomes it)"),
    ] = None,
    migration_config: Annotated[
        Migration | None,
        STATED,
        described("source_domain, target_domain, filter_criteria; project_id/session_id of the target"),
    ] = None,
    force: Annotated[bool | None, described("Really do what cannot be undone", False)] = None,
) -> Reply:
    """Health, figures, backup, restore, reindex, clean-up, moving a domain. What destroys needs force: true."""
    require_whole(call.actor)  # all of it concerns the whole store
    return await actions.run(call, action, locals())


@actions.governs
async def health_check(call: Call) -> Done:
    store, backups = call.engine.store, call.engine.backups
    damage = await store.check()
    statistics = await _legible_statistics(call)
    latest = await backups.latest()
    told = in_words(StoreCorrupt(store.location, damage)) if damage else ""
    writable = store.writable and not store.trouble
    waiting = await _unembedded(call, statistics) if statistics else ""
    troubles = [one for one in (told, store.trouble, backups.trouble, waiting) if one not in ("", UNFINISHED)]
    data = {
        "status": "healthy" if not troubles else "degraded",
        "storage": {"location": store.location, "writable": writable, "damage": damage},
        "embedding": {"model": call.engine.embedding.name, "pending": statistics.unembedded if statistics else None},
        "last_backup": _told(latest) if latest else None,
        "troubles": troubles,
        "checked_at": stamp(call.engine.clock.now()),
    }
    return Done(data, "システムは正常です" if not troubles else "注意が必要です: " + "; ".join(troubles))


async def _unembedded(call: Call, statistics: Statistics) -> str:
    """Why memories have no vectors, and which they are where their text is the reason."""
    refused = await call.engine.upkeep.refused(MOST_NAMED) if statistics.refused else ()
    names = f" (対象の記憶{statistics.refused}件: {', '.join(memory.id for memory in refused)})" if refused else ""
    return f"{statistics.unembedded_reason}{names}"


async def _legible_statistics(call: Call) -> Statistics | None:
    """None where the file is too damaged to be counted: how bad it is must be told all the same."""
    try:
        return await call.engine.upkeep.statistics()
    except StoreCorrupt:
        return None


@actions.governs
async def system_stats(call: Call) -> Done:
    statistics = await call.engine.upkeep.statistics()
    backups = await call.engine.backups.list(call.actor)
    latest = backups[-MOST_NAMED:]
    held = {one.name: one.memories for one in latest}
    visible = await figures(call, call.actor)
    data = {
        **asdict(statistics),
        "backups": len(backups),
        "latest_backups": list(held),
        "latest_backup_memories": held,
        "visible": visible,
    }
    return Done(data, "システム統計を取得しました")


@actions.overrules
async def backup(call: Call, *, backup_path: str = "", include_data: list[str] | None = None) -> Done:
    name = _name(call, backup_path) if backup_path else ""
    with renamed(include="include_data"):
        made = await call.engine.backups.create(call.actor, name, include_data)
    aim = "" if made.is_whole else f"。復元の対象は {', '.join(made.parts)} です (ファイルにはストア全体が入ります)"
    return Done({**_told(made), "includes": list(made.parts)}, f"バックアップを作成しました ({made.name}){aim}")


@actions.destroys
async def restore(call: Call, *, backup_path: str, include_data: list[str] | None = None, force: bool = False) -> Done:
    name = _name(call, backup_path)
    if not force:
        found = await call.engine.backups.get(call.actor, name)  # what is not there is missed first of all
        whole = include_data is None and found.is_whole
        what = await _replacing(call, found) if whole else "対象の種類をバックアップの内容に戻します"
        raise Invalid("force", f"restore は{what}。実行するには force: true を指定してください")
    with renamed(include="include_data"):
        done = await call.engine.backups.restore(call.actor, name, include_data)
    part = done.recovered
    data = {
        **_told(done.backup),
        **(restoration.data(part, done.includes) if part else _whole(done)),
        "includes": list(done.includes),
        "safety_backup": done.safety.name if done.safety else None,
    }
    told = restoration.words(part) if part else f": {_figures('復元前', done.before, done.contents.memories)}"
    before = f" (復元前の状態のバックアップ: {done.safety.name})" if done.safety else ""
    return Done(data, f"バックアップから復元しました ({done.backup.name}){told}{before}")


async def _replacing(call: Call, found: Backup) -> str:
    """With both figures: nobody should go back to a handful of memories unaware."""
    now = await call.engine.backups.size(call.actor)
    return f"ストア全体を置き換えます ({_figures('現在', now, found.memories)})"


def _figures(when: str, now: int | None, then: int | None) -> str:
    before, after = ("不明" if count is None else f"{count}件" for count in (now, then))
    return f"{when}の記憶 {before} → バックアップの記憶 {after}"


def _whole(done: Restored) -> dict[str, Any]:
    return {"restored_memories": done.contents.memories, "memories_before": done.before}


@actions.writes
async def reindex(call: Call) -> Done:
    before = await call.engine.upkeep.statistics()
    await call.engine.store.reindex()
    await call.engine.upkeep.forgive()  # whoever asks has mended it, or wants to know that it still fails
    embedded = await call.engine.upkeep.embed_missing()
    after = await call.engine.upkeep.statistics()
    data = {
        "memories": after.memories,
        "indexed": after.memories,
        "embedded_now": embedded,
        "pending_before": before.unembedded,
    }
    reason = call.engine.embedding.failure or after.unembedded_reason
    left = f" (うち{after.unembedded}件は埋め込み待ちです: {reason})" if after.unembedded else ""
    return Done(data, f"{after.memories}件の記憶の索引を作り直しました{left}")


@actions.destroys
async def cleanup_orphans(call: Call, *, force: bool = False) -> Done:
    """What has ended, sessions that are over, ties that have faded."""
    waste = await call.engine.cleaning.waste()
    data: dict[str, Any] = {**asdict(waste), "removed": False}
    if not any(asdict(waste).values()):
        return Done(data, "削除対象はありません。何も削除していません")
    if not force:
        return Done(data, "削除対象を数えました。削除するには force: true を指定してください")
    await call.engine.cleaning.clean()
    return Done({**data, "removed": True}, "孤立データを削除しました")


@actions.destroys
async def migrate_domain(call: Call, *, migration_config: Migration, force: bool = False) -> Done:
    config: Any = migration_config
    source, goal = config.get("source_domain"), config.get("target_domain")
    if not source or not goal:
        raise Invalid("migration_config", "source_domain と target_domain が必須です")
    if source == goal and goal in ("global", "user"):
        raise Invalid(
            "migration_config",
            f"source_domain と target_domain がどちらも {goal!r} です。別のドメインを指定してください",
        )
    criteria = config.get("filter_criteria") or {}
    chosen, stay = await _chosen(call, source, criteria), await _staying(call, source, criteria)
    ids = (config.get("project_id"), config.get("session_id"))
    target = await scope.target(call, goal, *ids, within="migration_config.")
    matched = chosen.total
    data = {"source_domain": source, "target_domain": goal, "matched_count": matched, "migrated_count": 0}
    if not force:
        what, words = await moves.consequence(call, target, chosen.memories)
        return Done(
            {**data, **what}, f"{matched}件が対象です。移行するには force: true を指定してください{words}{stay}"
        )
    wanted = [Reference(id=memory.id) for memory in chosen.memories]
    moved = await call.engine.collections.move(call.actor, wanted, target.home)
    what, words = await moves.consequence(call, target, moved)
    words += moves.already(len(wanted) - len(moved))
    left = f" (残り{matched - len(wanted)}件: もう一度実行してください)" if matched > len(wanted) else ""
    told = f"{len(moved)}件の記憶を{goal}ドメインに移しました{words}{left}{stay}"
    return Done({**data, **what, "migrated_count": len(moved)}, told)


async def _staying(call: Call, source: str, criteria: Any) -> str:
    """For who takes what is found under a domain for what is in it."""
    if criteria.get("project_id"):
        return ""
    found = await call.engine.collections.places(await scope.looking(call, [source]))
    return " (アトラス、共有コンテキスト、スペースにある記憶は対象外です)" if found else ""


async def _chosen(call: Call, source: str, criteria: Any) -> Page:
    for domain in ("project", "session"):
        if domain != source and criteria.get(f"{domain}_id"):
            raise Invalid(f"{_CRITERIA}.{domain}_id", f"source_domain が {domain!r} のときだけ指定できます")
    projects = [criteria["project_id"]] if criteria.get("project_id") else []
    where = await scope.where(call, [source], projects, criteria.get("session_id"))
    # What lies in an atlas, a context or a space was put there: it is found in the domain, but not carried off with it.
    looking = await call.engine.collections.narrowed(call.actor, replace(where, plain=True))
    since, until = (_time(call, criteria, name) for name in ("created_after", "created_before"))
    least, most = criteria.get("importance_min"), criteria.get("importance_max")
    limits.in_order(f"{_CRITERIA}.created_after", since, f"{_CRITERIA}.created_before", until)
    limits.in_order(f"{_CRITERIA}.importance_min", least, f"{_CRITERIA}.importance_max", most)
    return await call.engine.memories.page(
        looking,
        MOST_MIGRATED,
        tags=limits.labels(f"{_CRITERIA}.tags", criteria.get("tags") or (), MAX_TAGS),
        categories=limits.labels(f"{_CRITERIA}.categories", criteria.get("categories") or (), MOST_CATEGORIES),
        importance_min=None if least is None else limits.importance(least, f"{_CRITERIA}.importance_min"),
        importance_max=None if most is None else limits.importance(most, f"{_CRITERIA}.importance_max"),
        since=since,
        until=until,
    )


def _time(call: Call, criteria: Any, name: str) -> datetime | None:
    """After a day is from its beginning on, before a day is until its beginning."""
    return beginning(f"{_CRITERIA}.{name}", criteria[name], call.actor.zone) if criteria.get(name) else None


def _name(call: Call, path: str) -> str:
    """A name in the backup folder; a path is taken only if it leads there."""
    inside = PurePath(path)
    try:
        return backup_name(inside.name if inside.parent == PurePath(call.engine.backups.location) else path)
    except Invalid as error:
        raise Invalid("backup_path", error.reason) from error


def _told(one: Backup) -> dict[str, Any]:
    return {
        "backup_path": one.name,
        "created_at": stamp(one.made_at),
        "size_bytes": one.bytes,
        "encrypted": one.encrypted,
        "sha256": one.sha256,
        "memories": one.memories,
    }
