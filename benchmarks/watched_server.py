"""The program itself, with a clock at the doors of its parts.

`python watched_server.py FILE ARGUMENTS...` runs `commonplace ARGUMENTS...` and leaves in FILE when each part of a
call began and ended. The clock is the machine's monotonic one, which the asking process reads too, so that each
span can be laid beside the call it belongs to. Nothing in the program knows of it; a span costs it two microseconds.
"""

import functools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

spans: list[tuple[str, float, float, float]] = []
"""The part, when it began and ended, and what CPU its thread used."""


def clocked(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        began, used = time.perf_counter(), time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            spans.append((part, began, time.perf_counter(), time.thread_time() - used))

    return timed


def watch(part: str, owner: Any, *names: str) -> None:
    for name in names:
        setattr(owner, name, clocked(part, getattr(owner, name)))


def watch_statements(owner: Any, parts: dict[str, str]) -> None:
    """Statements by their name in queries.sql."""
    plain = owner._do

    def do(self: Any, name: str, /, **bindings: Any) -> None:
        part = parts.get(name)
        act = clocked(part, plain) if part else plain
        act(self, name, **bindings)

    owner._do = do


def watch_all() -> None:
    from commonplace.cli import calm_numpy

    calm_numpy()  # as the program itself does before it loads anything

    from commonplace.dialects.greeum import memory as tools
    from commonplace.domain.ranking import Contest
    from commonplace.engine import embedding, memories, recall
    from commonplace.models.use import UniversalSentenceEncoder
    from commonplace.storage.sqlite import store
    from commonplace.storage.sqlite.reading import SqliteReading
    from commonplace.storage.sqlite.scan import SqliteScan
    from commonplace.storage.sqlite.writer import Writer
    from commonplace.storage.sqlite.writing import SqliteTransaction

    watch("embedding", UniversalSentenceEncoder, "embed")
    watch("full text", SqliteReading, "lexical")
    watch("full text", recall, "query_terms")
    watch("full text", embedding, "terms")
    watch("full text", store, "merge")
    watch_statements(SqliteTransaction, {"add_words": "words"})
    watch("vectors", SqliteReading, "scan")
    watch("vectors", SqliteScan, "best", "of")
    watch("vector rows", SqliteTransaction, "_add_vectors")
    # Named, so that the rest can be told apart.
    watch("keywords", tools, "extracted_tags", "extracted_keywords")
    watch("neighbours", SqliteReading, "neighbours")
    watch("facts", SqliteReading, "facts")
    watch("rank", Contest, "best")
    watch("rows", SqliteReading, "legible")
    watch("sql", memories.Memories, "remember_in")
    # What a transaction takes beyond what is done in it is the commit: the disk.
    watch("commit", Writer, "_committed")
    watch("disk", store.SqliteStore, "_bring_log_over")


def main() -> int:
    from commonplace import cli

    watch_all()
    code = cli.main(sys.argv[2:])
    Path(sys.argv[1]).write_text(json.dumps(spans))
    return code


if __name__ == "__main__":
    sys.exit(main())
