"""What a filter lets through: partly a question to the file, partly one to the index."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from commonplace.domain.filter import Filter
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.storage.vectors.conditions import Conditions


class Sieve(Statements):
    """Reads from the file what the index does not know."""

    def conditions(self, among: Filter) -> Conditions:
        """Tags and times to live are answered by the file, everything else by the index."""
        from commonplace.storage.vectors.columns import code
        from commonplace.storage.vectors.conditions import Conditions

        return Conditions(
            collections=tuple(sorted(among.collections)),
            now=rows.micros(among.now),
            since=rows.maybe_micros(among.since),
            until=rows.maybe_micros(among.until),
            importance_min=among.importance_min,
            importance_max=among.importance_max,
            categories=tuple(code(category) for category in among.categories),
            categorised=self._categorised(among),
            ephemeral=among.ephemeral,
            numbers=self._numbers(among),
        )

    def _categorised(self, among: Filter) -> NDArray[np.int64] | None:
        """Those that have one of the categories beside their first."""
        import numpy as np

        if not among.categories:
            return None
        found = self._all("categorised", categories=rows.as_json(among.categories))
        return np.fromiter((row[0] for row in found), np.int64, len(found)) if found else None

    def _numbers(self, among: Filter) -> NDArray[np.int64] | None:
        import numpy as np

        bindings = rows.filter_bindings(among)
        chosen = []
        if among.tags:
            chosen.append(self._all("tagged", tags=bindings["tags"]))
        if among.labels:
            chosen.append(self._all("labelled", labels=bindings["labels"]))
        if among.metadata:
            wanted = {name: bindings[name] for name in ("collections", "categories", "metadata")}
            chosen.append(self._all("described", **wanted))
        if among.ttl_over is not None or among.ttl_upto is not None:
            chosen.append(self._all("lasting", ttl_over=bindings["ttl_over"], ttl_upto=bindings["ttl_upto"]))
        sets = [np.fromiter((row[0] for row in found), np.int64, len(found)) for found in chosen]
        return reduce(np.intersect1d, sets) if sets else None
