"""Dates as callers write them."""

from datetime import UTC, date, datetime, time, tzinfo

from commonplace.domain.errors import Invalid


def moment(field: str, written: str, zone: tzinfo, *, last: bool = False) -> datetime:
    """ISO 8601; without a zone in the user's own. A day alone is its first instant, or its last where that is asked."""
    text = written.strip().upper()
    try:
        found = _day(text, last) or datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid(
            field, f"{written[:60]!r} is not a date; write it like 2025-12-31, 2025-12-31T18:00 or 2025-12-31T18:00Z"
        ) from error


def _day(text: str, last: bool) -> datetime | None:
    try:
        return datetime.combine(date.fromisoformat(text), time.max if last else time.min)
    except ValueError:
        return None
