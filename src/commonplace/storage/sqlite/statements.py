"""Running the named queries on one connection."""

from collections.abc import Iterable
from typing import Any

import apsw

from commonplace.storage.sqlite.queries import queries

Row = tuple[Any, ...]


class Statements:
    """What everything that speaks SQL here is made of."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def _all(self, name: str, /, **bindings: Any) -> list[Row]:
        return list(self._connection.execute(queries()[name], bindings))

    def _one(self, name: str, /, **bindings: Any) -> Row | None:
        row: Row | None = self._connection.execute(queries()[name], bindings).fetchone()
        return row

    def _single(self, name: str, /, **bindings: Any) -> Any:
        """The first value of the first row."""
        return self._connection.execute(queries()[name], bindings).get

    def _do(self, name: str, /, **bindings: Any) -> None:
        self._connection.execute(queries()[name], bindings)

    def _do_each(self, name: str, rows: Iterable[Row], /) -> None:
        """The statement once for every row, its values by place."""
        self._connection.executemany(queries()[name], rows)

    def _added(self, name: str, /, **bindings: Any) -> int:
        """The number that the file gave to the one row that was added."""
        self._connection.execute(queries()[name], bindings)
        # Rather than RETURNING, for which SQLite makes a table of its own. What triggers add does not count.
        return self._connection.last_insert_rowid()

    def _returned(self, name: str, /, **bindings: Any) -> int:
        return int(self._single(name, **bindings))
