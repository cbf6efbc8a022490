"""What other packages add: stores, embedders, summarisers and dialects, found by their entry points."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from commonplace.domain.errors import Invalid

STORES = "commonplace.stores"
"""A function from Settings and the fingerprint of the embedder to a Store."""
EMBEDDERS = "commonplace.embedders"
"""A function from Settings to an Embedder."""
SUMMARISERS = "commonplace.summarisers"
"""A function from Settings to a Summariser."""
DIALECTS = "commonplace.dialects"
"""A Dialect."""


def names(group: str) -> list[str]:
    return sorted({point.name for point in entry_points(group=group)})


def plugin(group: str, name: str) -> Any:
    """What the entry point names, or None where there is none of that name."""
    point = next(iter(entry_points(group=group, name=name)), None)
    return None if point is None else _loaded(point)


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = point.dist.name if point.dist else "a plugin"
        raise Invalid(point.group, f"{point.name!r} of {package} cannot be loaded: {error}") from error
