"""Full text in few pieces: every commit adds one, and every look into an index goes through all of its pieces.

SQLite merges some of them by itself while it writes. The rest is done here, in steps, when nobody waits for it.
"""

from __future__ import annotations

from collections import defaultdict

import apsw

from commonplace.storage.sqlite.queries import queries

PAGES = 128
"""Written in one step: whoever wants to write meanwhile waits for a hundredth of a second."""
_FEW = 8
_SHARE = 16
_MOST_WRITTEN = 4
"""How often a page may be written until all are in one piece; mostly it is twice."""
_CHANGED = 2
"""As many rows as a step changes at least that had something to do."""


def scattered(connection: apsw.Connection) -> dict[str, int]:
    """The indexes in many pieces where so much is outside the largest that to merge them all is worth it.

    With how many steps that may take: where others write without a pause, there would always be something to do.
    """
    pages = defaultdict(list)
    for name, size in connection.execute(queries()["full_text_pieces"]):
        pages[name].append(size)
    return {
        name: _MOST_WRITTEN * sum(sizes) // PAGES + 1
        for name, sizes in pages.items()
        if len(sizes) > _FEW and sum(sizes) - max(sizes) >= sum(sizes) / _SHARE
    }


def merge(name: str, pages: int, connection: apsw.Connection) -> bool:
    """One step; less than nothing begins a new merge of all pieces. Whether there was something to do."""
    before = connection.total_changes()
    connection.execute(queries()[f"merge_{name}"], {"pages": pages})
    return connection.total_changes() - before >= _CHANGED
