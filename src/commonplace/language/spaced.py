"""Content words of languages written with blanks: English and French, and any other as far as it goes."""

import re
from functools import lru_cache

from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import LONGEST, Word

_ELISION = re.compile("(?:l|d|j|m|t|s|n|c|qu|jusqu|lorsqu|puisqu|quoiqu|presqu|quelqu)'", re.IGNORECASE)
_ENGLISH_TAIL = re.compile("'(?:s|d|m|ll|re|ve)?$", re.IGNORECASE)

# 15th, 2e, 10am, 14h30, 2024-05-08T10:00Z: numbers with an ending, not names with a number.
_NUMERAL = re.compile(r"[\d.,:/+-]+(?:st|nd|rd|th|er?|[eè]me|am|pm|[hstz]|min|sec|ms)?[\d.,:/+-]*[hsz]?", re.IGNORECASE)

_INFINITIVE = re.compile("..[^i]er$")

# Nouns in -ly, which would pass for adverbs.
_LY_NOUNS = frozenset(
    "ally anomaly assembly belly bully butterfly family fly italy jelly lily monopoly rally reply supply".split()
)
_WHOLE = frozenset({"rendez-vous", "aujourd'hui", "presqu'île", "quelqu'un"})

_NAME, _PARTICIPLE, _ADVERB, _COMMON = 1.4, 0.8, 0.4, 0.3


def words(chunk: str, language: str, opens_sentence: bool) -> tuple[Word, ...]:
    """The content of one stretch between blanks: one word or none; a capital counts unless it opens a sentence."""
    # Encoded data may go on without a blank for as long as a text may be: nothing to be remembered.
    read = _met_before if len(chunk) <= LONGEST else _read
    return read(chunk, language, opens_sentence)


def _read(chunk: str, language: str, opens_sentence: bool) -> tuple[Word, ...]:
    surface = _core(chunk, language)
    folded = surface.replace("’", "'").casefold()
    if not _tells(folded, language):
        return ()
    return (Word(surface, _weight(surface, folded, language, opens_sentence)),)


_met_before = lru_cache(maxsize=16384)(_read)


def _core(chunk: str, language: str) -> str:
    """Without the article that leans on it, the possessive, or the pronouns that follow."""
    plain = chunk.replace("’", "'")
    if ("'" not in plain and "-" not in plain) or plain.casefold() in _WHOLE:
        return chunk
    if language == "fr":
        elided = _ELISION.match(plain)
        start = elided.end() if elided else 0
        return _without_pronouns(chunk[start:])
    tail = _ENGLISH_TAIL.search(plain)
    return chunk[: tail.start()] if tail else chunk


def _without_pronouns(word: str) -> str:
    """donne-moi, est-ce, a-t-il, celui-ci: up to the first part that is grammar."""
    head, *tail = word.split("-")
    for part in tail:
        if part.casefold() in STOPWORDS["fr"]:
            return head
        head += "-" + part
    return head


def _tells(folded: str, language: str) -> bool:
    if len(folded) < 2 or folded in TIMEWORDS[language] or folded in STOPWORDS[language]:
        return False
    if folded.isalpha():
        return True
    if _NUMERAL.fullmatch(folded) or not any(map(str.isalpha, folded)):
        return False
    return not all(part in STOPWORDS[language] for part in folded.split("-"))


def _weight(surface: str, folded: str, language: str, opens_sentence: bool) -> float:
    if folded in FAINT[language]:
        return _COMMON
    if _is_name(surface, opens_sentence):
        return _NAME
    if language == "en" and len(folded) > 4:
        if folded.endswith("ly") and folded not in _LY_NOUNS:
            return _ADVERB
        if folded.endswith("ed"):
            return _PARTICIPLE
    return _PARTICIPLE if language == "fr" and _INFINITIVE.search(folded) else 1.0


def _is_name(surface: str, opens_sentence: bool) -> bool:
    """Capitals or digits inside, or a capital where grammar asks for none."""
    if surface.isalpha() and surface.islower():
        return False
    if any(map(str.isupper, surface[1:])) or any(map(str.isdigit, surface)):
        return True
    return surface[0].isupper() and not opens_sentence
