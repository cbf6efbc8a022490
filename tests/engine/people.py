"""Who is who, for tests."""

from commonplace.domain.identifiers import UserId
from commonplace.engine import Engine


async def identity(engine: Engine, name: str) -> UserId:
    """The id of the user of this name, as only he himself would tell it."""
    found = await engine.store.read(lambda tx: tx.user_named(name))
    assert found
    return found.id
