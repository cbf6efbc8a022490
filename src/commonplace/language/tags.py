"""A few topics and moods of a text, named in its language, by the words of a table."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

from commonplace.domain.unicode import normalised
from commonplace.language import korean
from commonplace.language.detection import checked, east_language, language_of, latin_language
from commonplace.language.words import LONGEST

LOOK = 50_000

_RUN = re.compile(
    "(?P<east>[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+)|(?P<hangul>[\uac00-\ud7a3]+)"
    "|(?P<latin>[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z\u00c0-\u024f]+)*)"
)
_ELISION = re.compile("(?:l|d|j|m|t|s|c|qu)'")

# A mood denied is no mood: not happy, pas content, 안 행복, 不开心.
_DENIALS = frozenset("not never no isn't don't didn't wasn't aren't cannot pas jamais sans 안 못".split())
_DENYING = "不没沒"


@dataclass(frozen=True, slots=True)
class _Table:
    """The tags in order, and for each language which of them its words ask for; a prefix ends with a star."""

    names: tuple[Mapping[str, str], ...]
    triggers: Mapping[str, Mapping[str, tuple[int, ...]]]
    moods: frozenset[int]
    lengths: Mapping[str, Mapping[str, tuple[int, ...]]]
    """By language and first character, how long the words are that begin with it, the longest first."""
    openings: Mapping[str, frozenset[str]]
    """By language, the first of two words that ask together."""


def tags(text: str, language: str = "auto", limit: int = 5) -> list[str]:
    """The tags whose words occur most often, in the given language or that of the text; perhaps none."""
    text = normalised("NFC", text[:LOOK])
    spoken = language_of(text) if checked(language) == "auto" else language
    table = _table()
    weights = Counter(_asked_for(text, spoken, table))
    ordered = sorted(weights, key=lambda tag: (-weights[tag], tag))
    return [table.names[tag][spoken] for tag in ordered[: max(limit, 0)]]


def _asked_for(text: str, spoken: str, table: _Table) -> Iterator[int]:
    """The tags asked for, once for each word that asks."""
    latin = spoken if spoken in ("en", "fr") else latin_language(text)
    east = spoken if spoken in ("ja", "zh") else east_language(text)
    before = ""
    for run, following in _with_following(text):
        denied = before in _DENIALS
        for tag in _asked_by(run, following, latin, east, table):
            if not (denied and tag in table.moods):
                yield tag
        before = run.group().replace("’", "'").casefold()


def _with_following(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each run with the word after it."""
    runs = list(_RUN.finditer(text))
    return zip(runs, [*(run.group() for run in runs[1:]), ""], strict=False)


def _asked_by(run: re.Match[str], following: str, latin: str, east: str, table: _Table) -> Iterable[int]:
    match run.lastgroup:
        case "hangul":
            return _by_beginning(run.group(), following, table)
        case "east":
            return _by_place(run.group(), table.triggers[east], table.lengths[east], table.moods)
        case _:
            return _by_word(run.group(), following, latin, table)


def _by_beginning(run: str, following: str, table: _Table) -> tuple[int, ...]:
    """Korean: the longest beginning that asks, alone or with the next word; else a whole noun of one syllable."""
    triggers = table.triggers["ko"]
    for length in table.lengths["ko"].get(run[0], ()):
        beginning = run[:length]
        if 1 < length <= len(run) and beginning in triggers:
            asked = triggers[beginning]
            return (*asked, *_together(beginning, following, table)) if beginning in table.openings["ko"] else asked
    noun = korean.stem(run)
    return triggers.get(noun, ()) if len(noun) == 1 else ()


def _together(beginning: str, following: str, table: _Table) -> tuple[int, ...]:
    asked = (table.triggers["ko"].get(f"{beginning}_{following[:length]}") for length in (2, 1))
    return next((tags for tags in asked if tags), ())


def _by_place(
    run: str, triggers: Mapping[str, tuple[int, ...]], lengths: Mapping[str, tuple[int, ...]], moods: frozenset[int]
) -> Iterator[int]:
    """Japanese and Chinese: anywhere, the longest first, none overlapping."""
    position = 0
    while position < len(run):
        fitting = lengths.get(run[position], ())
        length = next((n for n in fitting if run[position : position + n] in triggers), 0) if fitting else 0
        if length:
            denied = position > 0 and run[position - 1] in _DENYING
            asked = triggers[run[position : position + length]]
            yield from (tag for tag in asked if not (denied and tag in moods))
        position += length or 1


def _by_word(run: str, following: str, language: str, table: _Table) -> tuple[int, ...]:
    """English and French: two words, else one."""
    word = run.replace("’", "'").casefold()[:LONGEST]
    if following and word in table.openings[language]:
        together = f"{word}_{following.casefold()[:LONGEST]}"
        if asked := table.triggers[language].get(together):
            return asked
    return _by_one_word(word, language)


@lru_cache(maxsize=16384)
def _by_one_word(word: str, language: str) -> tuple[int, ...]:
    """The word, its singular, or the longest beginning marked with a star."""
    triggers = _table().triggers[language]
    if language == "fr" and word not in triggers:
        word = _ELISION.sub("", word, count=1)
    for form in (word, word.removesuffix("'s"), word.removesuffix("s")):
        if form in triggers:
            return triggers[form]
    starred = (triggers.get(word[:length] + "*") for length in range(len(word), 2, -1))
    return next((asked for asked in starred if asked), ())


@cache
def _table() -> _Table:
    """The table of topics.toml, turned around once: from words to tags."""
    entries = tomllib.loads(files(__package__).joinpath("topics.toml").read_text("utf-8")).values()
    triggers: dict[str, dict[str, tuple[int, ...]]] = {"en": {}, "fr": {}, "ko": {}, "ja": {}, "zh": {}}
    for tag, entry in enumerate(entries):
        for language, words in triggers.items():
            for word in dict.fromkeys(entry[language].split()):
                words[word] = (*words.get(word, ()), tag)
    korean_words = triggers["ko"]
    # They ask for nothing themselves, but keep a shorter beginning from asking.
    silent = chain(_openings(korean_words), *(entry.get("ko_but", "").split() for entry in entries))
    for word in silent:
        korean_words.setdefault(word, ())
    moods = frozenset(tag for tag, entry in enumerate(entries) if entry.get("mood"))
    lengths = {language: _lengths(words) for language, words in triggers.items()}
    openings = {language: _openings(words) for language, words in triggers.items()}
    return _Table(tuple(entry["name"] for entry in entries), triggers, moods, lengths, openings)


def _openings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.partition("_")[0] for word in words if "_" in word)


def _lengths(words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for word in words:
        if "_" not in word:
            found.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}
