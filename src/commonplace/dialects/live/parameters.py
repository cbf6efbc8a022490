"""What several tools ask for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from commonplace.domain.access import Permission
from commonplace.domain.errors import Invalid

SpaceId = Annotated[str, Field(description="The id of a space")]
_LEVELS = (Permission.READ, Permission.WRITE, Permission.ADMIN)


def confirmed(confirm: bool, what: str) -> None:
    if not confirm:
        raise Invalid("confirm", f"must be true to delete or restore {what[:100]}: it cannot be undone")


def separated(value: str) -> list[str]:
    """What stands between commas."""
    return [one.strip() for one in value.split(",") if one.strip()]


def permissions(value: str) -> frozenset[Permission]:
    """`read`, `read,write` or `read,write,admin`; each brings those before it."""
    named = separated(value)
    unknown = [one for one in named if one not in set(Permission)]
    if unknown or not named:
        raise Invalid(
            "permissions", f"{', '.join(unknown)[:80] or 'nothing'}: write read, read,write or read,write,admin"
        )
    highest = max(_LEVELS.index(Permission(one)) for one in named)
    return frozenset(_LEVELS[: highest + 1])


def moment(value: str) -> datetime | None:
    """An ISO date or time; without a zone it is UTC."""
    if not value:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError as error:
        raise Invalid("since", f"{value[:80]!r} is no date: write it like 2026-02-20T18:00:00Z") from error
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise Invalid("since", f"{value[:80]!r} is too far away") from error
