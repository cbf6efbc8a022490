"""What no tool takes, whatever its parameters are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from commonplace.dialects._schema import spelled
from commonplace.domain.errors import Invalid
from commonplace.domain.limits import lone_surrogate
from commonplace.domain.phrase import Phrase

MOST_VALUES = 100_000
"""In the arguments of one call: all are looked at, and a call must not hold up the others for long."""
_LONGEST_PLACE = 200
Place = tuple[Any, ...]
"""A step and the place it is taken from, so that a step costs the same at any depth; empty for the whole."""


def look_over(arguments: Mapping[str, Any]) -> None:
    """Refuse too many values, and texts of which an error could not even be sent."""
    waiting: list[tuple[Place, Any]] = [((), arguments)]
    count = 0
    while waiting:
        place, one = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise Invalid("arguments", Phrase("hold more than {most} values; send less at once", most=MOST_VALUES))
        if isinstance(one, str):
            _require_whole_characters(place, one)
        else:
            waiting += islice(_inside(place, one), MOST_VALUES)


def _inside(place: Place, one: Any) -> Iterator[tuple[Place, Any]]:
    if isinstance(one, Mapping):
        for name, inner in one.items():
            _require_whole_characters(place, name, "has a name that ")
            yield (name, place), inner
    elif isinstance(one, list):
        for number, inner in enumerate(one):
            yield (number, place), inner


def _require_whole_characters(place: Place, text: str, what: str = "") -> None:
    at = None if text.isascii() else lone_surrogate(text)
    if at is not None:
        reason = Phrase(what + "is not valid Unicode: a lone surrogate stands at character {at}", at=at)
        raise Invalid(spelled(_steps(place))[:_LONGEST_PLACE] or "arguments", reason)


def _steps(place: Place) -> list[str | int]:
    steps = []
    while place:
        step, place = place
        steps.append(step)
    return steps[::-1]
