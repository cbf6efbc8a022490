"""How creo writes ids: a bare UUID, or one behind the name of its table."""

from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId, is_uuid
from commonplace.engine.memories import Reference

_MEMORY = ("memory", "memories")


def bare(field: str, value: str, *tables: str) -> str:
    """The UUID of an id, whichever of these tables it is written with; Invalid where it is no id."""
    table, colon, rest = value.strip().rpartition(":")
    identifier = rest.strip("⟨⟩").lower()
    if (colon and table not in tables) or not is_uuid(identifier):
        raise Invalid(field, f"{value[:80]!r} is not an id; write it like {tables[0]}:UUID, or the UUID alone")
    return identifier


def memory(field: str, value: str) -> Reference:
    return Reference(id=MemoryId(bare(field, value, *_MEMORY)))


def atlas(field: str, value: str) -> CollectionId:
    return CollectionId(bare(field, value, "atlas"))


def user(field: str, value: str) -> UserId:
    return UserId(bare(field, value, "users", "user"))


def caller(field: str, value: str | None, own: UserId, *, administrator: bool) -> UserId:
    """Whom an argument names as acting: the caller, or for an administrator anyone. It never decides who is acting."""
    named = own if value is None else user(field, value)
    if named != own and not administrator:
        raise NotFound("user", str(value))
    return named
