"""Spaces in SQLite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from commonplace.domain.collection import Collection
from commonplace.domain.identifiers import UserId
from commonplace.domain.space import Figures, FileKind, Mirrored, Place, SpaceFile, Unmirrored
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.collections import collection_of
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteSpaceReading(Statements):
    """The SpaceReading port."""

    def named(self, name: str) -> Collection | None:
        row = self._one("space_named", name=name)
        return collection_of(row) if row else None

    def root(self) -> Collection | None:
        row = self._one("space_root")
        return collection_of(row) if row else None

    def file(self, space: int, kind: FileKind, name: str) -> SpaceFile | None:
        row = self._one("space_file", space=space, kind=kind.value, name=name)
        return _file(row) if row else None

    def files(self, space: int, kind: FileKind) -> Sequence[SpaceFile]:
        return [_file(row) for row in self._all("space_files", space=space, kind=kind.value)]

    def notes(
        self, space: int, limit: int, *, category: str = "", agent: str = "", since: datetime | None = None
    ) -> Sequence[SpaceFile]:
        chosen = {"category": category, "agent": agent, "since": rows.maybe_micros(since)}
        return [_file(row) for row in self._all("notes", space=space, limit=limit, **chosen)]

    def count_notes(self, space: int, *, category: str = "", agent: str = "", since: datetime | None = None) -> int:
        chosen = {"agent": agent, "since": rows.maybe_micros(since)}
        if not category:
            return self._returned("count_notes", space=space, **chosen)
        return self._returned("count_notes_in_category", space=space, category=category, **chosen)

    def oldest_notes(self, space: int, limit: int, by: UserId | None, agent: str) -> Sequence[SpaceFile]:
        return [_file(row) for row in self._all("oldest_notes", space=space, limit=limit, user=by, agent=agent)]

    def count_notes_of(self, space: int, by: UserId | None, agent: str) -> int:
        return self._returned("count_notes_of", space=space, user=by, agent=agent)

    def notes_among(self, space: int, memories: Iterable[int], limit: int = -1) -> Sequence[SpaceFile]:
        chosen = rows.numbers_json(memories)
        return [_file(row) for row in self._all("notes_among", space=space, memories=chosen, limit=limit)]

    def count_notes_among(self, space: int, memories: Iterable[int]) -> int:
        return self._returned("count_notes_among", space=space, memories=rows.numbers_json(memories))

    def figures(self, spaces: Iterable[int]) -> Mapping[int, Figures]:
        found: dict[int, dict[str, Row]] = defaultdict(dict)
        for space, kind, *values in self._all("space_figures", spaces=rows.numbers_json(sorted(spaces))):
            found[space][kind] = tuple(values)
        return {space: _figures(kinds) for space, kinds in found.items()}

    def unmirrored(self, limit: int, after: str = "") -> Sequence[Unmirrored]:
        return [Unmirrored(*row) for row in self._all("unmirrored", limit=limit, after=after)]

    def mark_of(self, path: str) -> Unmirrored | None:
        row = self._one("unmirrored_path", path=path)
        return Unmirrored(*row) if row else None

    def count_unmirrored(self) -> int:
        return self._returned("count_unmirrored")

    def mirrored(self, path: str) -> Mirrored | None:
        row = self._one("mirrored", path=path)
        return Mirrored(*row) if row else None

    def all_mirrored(self) -> Sequence[Mirrored]:
        return [Mirrored(*row) for row in self._all("all_mirrored")]

    def was_brought(self, path: str, digest: str) -> bool:
        return bool(self._returned("was_brought", path=path, digest=digest))


class SqliteSpaceWriting(SqliteSpaceReading):
    """The SpaceWriting port."""

    def put(self, file: SpaceFile) -> int:
        return self._added("put_space_file", space=file.space, kind=file.kind.value, name=file.name, **_kept(file))

    def rewrite(self, file: SpaceFile) -> None:
        self._do("rewrite_space_file", number=file.number, **_kept(file))

    def remove(self, number: int) -> None:
        self._do("remove_space_file", number=number)

    def weigh(self, place: Place, size: int) -> None:
        self._do("weigh_space_file", space=place.space, kind=place.kind.value, name=place.name, size=size)

    def mark(self, path: str) -> None:
        self._do("mark_unmirrored", path=path)

    def mark_all(self, kept: Iterable[str]) -> None:
        self._do("mark_all_unmirrored", kept=json.dumps(list(kept)))

    def begin(self, path: str, digest: str) -> None:
        self._do("begin_mirroring", path=path, digest=digest)

    def unmark(self, path: str) -> None:
        self._do("unmark", path=path)

    def unknow(self, path: str) -> None:
        self._do("forget_mirrored", path=path)

    def unknow_all(self) -> None:
        self._do("begin_as_mirrored")
        self._do("forget_all_mirrored")

    def settle(self, path: str, change: int, now: Mirrored | None) -> None:
        if now is None:
            self._do("forget_mirrored", path=path)
        else:
            self.know(now)
        self._do("settle_unmirrored", path=path, change=change)

    def know(self, mirrored: Mirrored) -> None:
        self._do("know_mirrored", path=mirrored.path, tag=mirrored.tag, digest=mirrored.digest)

    def note_brought(self, path: str, digest: str) -> None:
        self._do("note_brought", path=path, digest=digest)


def _kept(file: SpaceFile) -> dict[str, Any]:
    """A memory's text is in its own row."""
    return {
        "memory": file.memory,
        "content": file.content if file.memory is None else "",
        "agent": file.agent,
        "at": rows.micros(file.at),
        "changed_at": rows.micros(file.changed_at),
        "size": file.size,
    }


def _file(row: Row) -> SpaceFile:
    """Five hundred at a time are read, and each part counts."""
    number, space, kind, name, content, agent, at, changed_at, size, memory, identifier, version, category, tags = row
    moment = rows.moment(at)
    changed = moment if changed_at == at else rows.moment(changed_at)
    words = () if tags == "[]" else tuple(json.loads(tags))
    return SpaceFile(
        number, space, _KINDS[kind], name, content, agent, moment, changed, size,
        memory, identifier, version or 0, category or "", words,
    )  # fmt: skip


_KINDS = {kind.value: kind for kind in FileKind}


def _figures(kinds: Mapping[str, Row]) -> Figures:
    notes, notes_size, oldest, newest = kinds.get("note", (0, 0, None, None))
    files, files_size, _, _ = kinds.get("bank", (0, 0, None, None))
    return Figures(
        notes=notes,
        notes_size=notes_size,
        oldest=rows.maybe_moment(oldest),
        newest=rows.maybe_moment(newest),
        files=files,
        files_size=files_size,
        rules_size=kinds["rules"][1] if "rules" in kinds else 0,
        synthesis_size=kinds["synthesis"][1] if "synthesis" in kinds else None,
    )
