"""A file as the users of Nocturne Memory have it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw

SCHEMA = """
CREATE TABLE memories (
    id INTEGER NOT NULL PRIMARY KEY,
    content TEXT NOT NULL,
    deprecated BOOLEAN,
    migrated_to INTEGER,
    created_at DATETIME
);
CREATE TABLE paths (
    domain VARCHAR(64) NOT NULL,
    path VARCHAR(512) NOT NULL,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    created_at DATETIME,
    priority INTEGER,
    disclosure TEXT,
    PRIMARY KEY (domain, path)
);
"""
AT = "2025-03-0{} 10:20:30.000000"


class Original:
    """The file, to be written as the program itself would."""

    def __init__(self, file: Path, schema: str = SCHEMA) -> None:
        self.file = file
        self._run(schema)

    def _run(self, sql: str, bindings: Iterable[Any] = ()) -> None:
        connection = apsw.Connection(str(self.file))
        connection.execute(sql, tuple(bindings))
        connection.close()

    def memory(self, number: int, content: Any, *, to: int | None = None, at: Any = None, gone: bool = False) -> None:
        written = AT.format(min(number, 9)) if at is None else at
        self._run(
            "INSERT INTO memories VALUES (?, ?, ?, ?, ?)", (number, content, int(gone or to is not None), to, written)
        )

    def path(self, path: Any, memory: int, *, domain: Any = "core", priority: Any = 0, disclosure: Any = None) -> None:
        self._run(
            "INSERT INTO paths VALUES (?, ?, ?, ?, ?, ?)", (domain, path, memory, AT.format(1), priority, disclosure)
        )

    def edit(self, old: int, new: int, content: str) -> None:
        """As update_memory does there: a new row takes over the paths, the old one leads on to it."""
        self.memory(new, content)
        self._run("UPDATE memories SET deprecated = 1, migrated_to = ? WHERE id = ?", (new, old))
        self._run("UPDATE paths SET memory_id = ? WHERE memory_id = ?", (new, old))

    def purge(self, number: int) -> None:
        """As a person does on the review page there."""
        self._run("DELETE FROM memories WHERE id = ?", (number,))

    def many(self, count: int) -> None:
        connection = apsw.Connection(str(self.file))
        with connection:
            rows = ((n, f"memory number {n} about subject{n * 7}", 0, None, AT.format(1)) for n in range(1, count + 1))
            connection.executemany("INSERT INTO memories VALUES (?, ?, ?, ?, ?)", rows)
            paths = (
                ("core", f"top{n % 40}/n{n}" if n > 40 else f"top{n % 40}", n, AT.format(1), n % 5, "")
                for n in range(1, count + 1)
            )
            connection.executemany("INSERT INTO paths VALUES (?, ?, ?, ?, ?, ?)", paths)
        connection.close()


def everyday(file: Path) -> Original:
    """Memories with paths, priorities, disclosures, an alias, two older versions, an orphan and a missing parent."""
    original = Original(file)
    original.memory(1, "who I was", to=2)
    original.memory(2, "who I became", to=3)
    original.memory(3, "who I am")
    original.memory(4, "my user")
    original.memory(5, "a scene")
    original.memory(6, "deleted there", gone=True)
    original.path("agent", 3, priority=1, disclosure="when asked who I am")
    original.path("agent/my_user", 4, priority=2)
    original.path("user", 4, domain="notes", priority=7, disclosure="an alias")
    original.path("book/one/scene", 5, domain="writer", priority=3)
    return original
