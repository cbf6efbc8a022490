"""Words as candidates for keywords, and the order in which they tell what a text is about."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import NamedTuple

LONGEST = 40
"""Longer words are encoded data or other noise, never a keyword."""


class Word(NamedTuple):
    """A word as it is written, and how much it says for its length: 1 for an ordinary noun."""

    surface: str
    weight: float = 1.0


@dataclass(slots=True)
class _Tally:
    surface: str
    weight: float
    position: int
    count: int = 1


def most_telling(words: Iterable[Word], limit: int) -> list[str]:
    """The words by score, the earlier first among equals, each once in the form met first.

    score = weight x (1 + ln count) x length x position
    - weight: what its language made of the word: names and terms above 1, verbs and common words below;
    - length: long words are more specific, up to about twelve letters or five syllables or characters;
    - position: from 1.3 for the first word down to 1, as memories begin with what they are about.
    """
    tallies: dict[str, _Tally] = {}
    for position, (surface, weight) in enumerate(words):
        if len(surface) > LONGEST:
            continue
        key = _singular(surface.casefold())
        tally = tallies.get(key)
        if tally is None:
            tallies[key] = _Tally(surface, weight, position)
        else:
            tally.count += 1
            tally.weight = max(tally.weight, weight)
    ordered = sorted((-_score(tally), tally.position, tally.surface) for tally in tallies.values())
    return [surface for _, _, surface in ordered[: max(limit, 0)]]


def _singular(word: str) -> str:
    """One key for a word and its plural in s; a guess, good enough as both are words of the same text."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" else word


def _score(tally: _Tally) -> float:
    surface = tally.surface
    length = 0.7 + (0.05 * min(len(surface), 12) if surface[0] < "\u1100" else 0.1 * min(len(surface), 5))
    position = 1 + 0.3 / (1 + tally.position / 8)
    # Rounded, so that no platform's logarithm decides between equals.
    return round(tally.weight * (1 + log(tally.count)) * length * position, 6)
