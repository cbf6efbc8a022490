"""記憶管理: figures, export and import, moving and deleting many."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import figures, formats, intake, moves, scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.answers import housed, page, stamp, unembedded
from commonplace.dialects.assoc.parameters import (
    Count,
    DateTime,
    Domain,
    Texts,
    beginning,
    counted,
    described,
    reference,
)
from commonplace.domain.errors import BundleRefused, Fault, Forbidden, Invalid, NoneDeleted, NotFound
from commonplace.domain.memory import Memory
from commonplace.domain.record import BundleReport
from commonplace.engine.memories import Reference

MOST_AT_ONCE = 1000
MOST_SHOWN = 100
_TOGETHER = 16
"""Deleted in one commit: others who want to write wait for it, a hundredth of a second for each."""

actions = Actions("action", {"import_data": formats.FORMS})


@assoc.leaves_aside(actions.unused)
@assoc.serves
async def memory_manage(
    call: Call,
    action: Annotated[
        Literal["stats", "export", "import", "change_domain", "batch_delete", "cleanup", "list_categories"],
        Field(description="What to do"),
    ],
    memory_ids: Annotated[Texts, described("The memories (batch_delete, change_domain)", maxItems=MOST_AT_ONCE)] = None,
    new_domain: Annotated[Domain | None, described("Where to move them (change_domain)")] = None,
    target_domain: Annotated[
        Domain | None, described("Only this domain (stats, export, list_categories, cleanup)")
    ] = None,
    project_id: Annotated[str | None, described("Project, where the domain is project")] = None,
    session_id: Annotated[str | None, described("Session, where the domain is session")] = None,
    export_format: Annotated[
        Literal["json", "csv", "markdown"] | None,
        described("Form of the data; only json has associations (export, import)", "json"),
    ] = None,
    offset: Annotated[
        Count, counted("How many of the oldest to leave out: next_offset of the last page (export)", 0, minimum=0)
    ] = None,
    import_data: Annotated[str | None, described("What an export gave, as it is (import)")] = None,
    cleanup_before: Annotated[
        DateTime | None, described("Delete session memories older than this date-time (cleanup)")
    ] = None,
) -> Reply:
    """Figures, export, import, moving between domains, deleting many, cleaning up session memories."""
    return await actions.run(call, action, locals())


@actions.reads
async def stats(
    call: Call, *, target_domain: str | None = None, project_id: str | None = None, session_id: str | None = None
) -> Done:
    aim = await scope.aimed(call, target_domain, project_id, session_id)
    survey = await call.engine.collections.survey(aim.actor, figures.MOST_TAGS)
    words = f"統計情報を取得しました{housed(survey.places)}{aim.remark}"
    return Done(figures.told(survey), words, aim.unused)


@actions.reads
async def list_categories(
    call: Call, *, target_domain: str | None = None, project_id: str | None = None, session_id: str | None = None
) -> Done:
    aim = await scope.aimed(call, target_domain, project_id, session_id)
    survey = await call.engine.collections.survey(aim.actor, 0)
    counts: dict[str, int] = {}
    for one in survey.slices:
        counts[one.category] = counts.get(one.category, 0) + one.memories
    listed = [{"category": name, "count": n} for name, n in sorted(counts.items(), key=lambda i: (-i[1], i[0])) if name]
    data = {**page("categories", listed), "uncategorized": counts.get("", 0)}
    return Done(data, f"{len(listed)}件のカテゴリがあります{aim.remark}", aim.unused)


@actions.reads
async def export(
    call: Call,
    *,
    export_format: str = "json",
    offset: int = 0,
    target_domain: str | None = None,
    project_id: str | None = None,
    session_id: str | None = None,
) -> Done:
    aim = await scope.aimed(call, target_domain, project_id, session_id)
    bundle, total = await call.engine.archive.bundle(aim.actor, offset)
    end, untied = offset + len(bundle.records), formats.ties_left_out(export_format, bundle)
    data = {
        "exported_data": formats.written(export_format, bundle),
        "format": export_format,
        "exported_at": stamp(call.engine.clock.now()),
        "count": len(bundle.records),
        "associations_left_out": untied,
        "total": total,
        "has_more": end < total,
        **({"next_offset": end} if end < total else {}),
    }
    cut = f" (全{total}件。続きは offset={end} で取得できます)" if end < total else ""
    without = f" (関連付け{untied}件は {export_format} に含まれません。json には含まれます)" if untied else ""
    return Done(data, f"{len(bundle.records)}件の記憶をエクスポートしました{without}{cut}{aim.remark}", aim.unused)


@actions.writes
async def import_(call: Call, *, import_data: str, export_format: str | None = None) -> Done:
    brought = _read(call, import_data, export_format)
    archive = call.engine.archive
    faults = brought.all_faults(await archive.faults(call.actor, brought.bundle)) if brought.faults else []
    report = BundleReport(faults=faults) if faults else await archive.bring(call.actor, brought.bundle)
    if report.faults:
        raise BundleRefused("import_data", "nothing was imported", faults=report.faults)
    not_taken = [*brought.not_taken, *([f"associations ({len(report.untied)})"] if report.untied else [])]
    data = {**intake.data(report), "not_taken": not_taken}
    later = unembedded(call.engine.embedding.failure) if report.imported else ""
    return Done(data, intake.words(report, not_taken) + later)


def _read(call: Call, data: str, form: str | None) -> formats.Brought:
    """What cannot be read at all is a fault of the whole."""
    try:
        return formats.read(data, form, call.engine.clock.now(), call.actor.zone)
    except Invalid as error:
        raise BundleRefused(error.field, error.reason, faults=[Fault(0, error)]) from error


@actions.writes
async def change_domain(
    call: Call,
    *,
    memory_ids: list[str],
    new_domain: str,
    project_id: str | None = None,
    session_id: str | None = None,
) -> Done:
    """All or none."""
    wanted = await _distinct(call, memory_ids)
    target = await scope.target(call, new_domain, project_id, session_id)
    with scope.still(new_domain):
        moved = await call.engine.collections.move(call.actor, wanted, target.home)
    what, words = await moves.consequence(call, target, moved)
    ids = [memory.id for memory in moved]
    data = {"changed_count": len(moved), "memory_ids": ids, "new_domain": new_domain, **what}
    words += moves.already(len(wanted) - len(moved))
    unused = scope.idle([new_domain], project_id, session_id)
    return Done(data, f"{len(moved)}件の記憶を{new_domain}ドメインに移しました{words}", unused)


@actions.destroys
async def batch_delete(call: Call, *, memory_ids: list[str]) -> Done:
    """Each for itself: what cannot be deleted is named and does not hold up the others; if that is all, it fails."""
    wanted = await _distinct(call, memory_ids)
    fates = await _deleted(call, list(wanted))
    deleted = [fate.id for fate in fates.values() if isinstance(fate, Memory)]
    missing = [wanted[one][:MOST_SHOWN] for one, fate in fates.items() if isinstance(fate, NotFound)]
    denied = [wanted[one][:MOST_SHOWN] for one, fate in fates.items() if isinstance(fate, Forbidden)]
    if not deleted:
        raise NoneDeleted(tuple(missing), tuple(denied))
    data = {"deleted_count": len(deleted), "deleted": deleted, "not_found": missing, "denied": denied}
    left = [f"{words}: {len(ids)}件" for words, ids in (("見つからない", missing), ("権限がない", denied)) if ids]
    return Done(data, f"{len(deleted)}件の記憶を削除しました" + (f" ({', '.join(left)})" if left else ""))


async def _deleted(call: Call, ids: Sequence[Reference]) -> dict[Reference, Memory | BaseException]:
    """Those who wait at the same time share a commit: one by one, each would write the same pages again."""
    forget, fates = call.engine.memories.forget, dict[Reference, Memory | BaseException]()
    for start in range(0, len(ids), _TOGETHER):
        some = ids[start : start + _TOGETHER]
        done = await asyncio.gather(*(forget(call.actor, one) for one in some), return_exceptions=True)
        fates |= zip(some, done, strict=True)
        for fate in done:
            if isinstance(fate, BaseException) and not isinstance(fate, NotFound | Forbidden):
                raise fate
    return fates


@actions.destroys
async def cleanup(
    call: Call, *, cleanup_before: str | None = None, target_domain: str = "session", session_id: str | None = None
) -> Done:
    if target_domain != "session":
        raise Invalid(
            "target_domain",
            "cleanup で削除できるのは session の記憶だけです。他の記憶には batch_delete を使ってください",
        )
    before = (
        call.engine.clock.now()
        if cleanup_before is None
        else beginning("cleanup_before", cleanup_before, call.actor.zone)
    )
    if cleanup_before is None and session_id is None:
        raise Invalid("cleanup_before", "action 'cleanup' では cleanup_before か session_id が必須です")
    removed = await call.engine.collections.clear_sessions(
        call.actor, before, (await scope.session_of(call, session_id)).id if session_id else None
    )
    return Done({"deleted_count": removed, "cleanup_before": stamp(before)}, f"セッション記憶{removed}件を削除しました")


async def _distinct(call: Call, ids: list[str]) -> dict[Reference, str]:
    """Each memory once, however it is written, and as it was written first."""
    wanted: dict[Reference, str] = {}
    for one in ids:
        wanted.setdefault(reference(one), one)
    if not wanted:
        raise Invalid("memory_ids", "IDを1つ以上指定してください")
    if len(wanted) > MOST_AT_ONCE:
        raise Invalid("memory_ids", f"{len(wanted)}件あります。一度に指定できるのは{MOST_AT_ONCE}件までです")
    distinct: dict[Reference, str] = {}
    for named, written in wanted.items():
        distinct.setdefault(await _by_id(call, named), written)
    return distinct


async def _by_id(call: Call, one: Reference) -> Reference:
    """What is named by its block may be named by its id as well."""
    if one.block is None:
        return one
    try:
        return Reference(id=(await call.engine.memories.get(call.actor, one)).id)
    except NotFound:
        return one
