"""The terms a text is indexed under and a query asks for: made for each script, without a dictionary.

A term is made of letters, marks, digits and symbols only, so that full text takes it as one token as it is.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from commonplace.language.scripts import Script, normal, runs
from commonplace.language.stopwords import STOPWORDS

LONGEST = 64
"""Longer words (encoded data, mostly) are known by their beginning."""

# A shorter rest of a word may be the rest of anything.
_SHORTEST_STEM = 4

_BY_CHARACTER = frozenset({Script.HAN, Script.HANGUL, Script.UNSPACED})

# A Japanese word goes on from kanji to kana (食べる), so bigrams may span the two; digits and Latin stay apart.
_ALIKE = {Script.KANA: Script.HAN}

# Stop words as they stand between apostrophes; "won't" must not make a stop word of "won".
_ENGLISH = frozenset(piece for word in STOPWORDS["en"] for piece in word.split("'")) - {"won"}
_FRENCH = frozenset(piece for word in STOPWORDS["fr"] for piece in word.split("'"))
# Function words of one language that are things in the other: no sign of the language they stand in.
_THINGS_ELSEWHERE = """
an are as but car for font mine on or pas pendant per plus pour sans sien sinon son sous sur tant tel tes ton vers
"""
_AMBIGUOUS = frozenset(_THINGS_ELSEWHERE.split())
_SIGNS_OF_ENGLISH = _ENGLISH - _FRENCH - _AMBIGUOUS
_SIGNS_OF_FRENCH = _FRENCH - _ENGLISH - _AMBIGUOUS

# Joins the numbers of a version, date or time into one term: a symbol, because full text would split at punctuation.
_JOINT = "\u2219"
_SHARP = "\u266f"

# What Korean asks with, in the forms it takes at the end of a question: 언제야, 어디인가요, 뭐예요.
_ASKS = re.compile(
    "(?:언제|어디|누구|무엇|무얼|뭐|뭘|며칠|얼마|어때|왜)"
    "(?:까지|부터|에서|에|이|가|를|로)?"
    "(?:야|여|예요|이에요|에요|인가요|인가|인지|인데|이지|지요|지|죠|니|냐|나요|입니까|일까요|일까|였지|였어|였더라|더라)?"
)

_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^A-Z]+|[A-Z]+")
_COMPOUND = re.compile(r"(?<![a-z0-9])(?:[a-z]++-?+)?[0-9]++(?:[-.,:/]?[0-9]++|[a-z]++)*+")
_SIGNED = re.compile(r"(?<![a-z0-9])[a-z]++(?:\+\+|#)(?![a-z0-9])")
_LETTER_HYPHEN = re.compile(r"(?<=[a-z])-")
_NUMBER_JOINT = re.compile(r"[-.,:/]")
_PLAIN = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a query asks for: a term, or every term that begins so."""

    text: str
    prefix: bool = False


def terms(text: str) -> list[str]:
    """The index terms of a text with repetition: words, bigrams and symbols in order, then the compounds."""
    plain = normal(text)
    found: list[str] = []
    for script, run in runs(plain, _ALIKE):
        found.extend(_indexed(script, run))
    found.extend(_compounds(plain))
    return found


def query_terms(text: str) -> list[Term]:
    """The distinct terms a query asks for; words that tell nothing only where there is nothing else."""
    plain = normal(text)
    stretches = list(runs(plain, _ALIKE))
    stops = _stop_words({_folded(run) for script, run in stretches if script is Script.LATIN})
    telling: dict[Term, None] = {}
    weak: dict[Term, None] = {}
    for script, run in stretches:
        kept = weak if _tells_nothing(script, run, stops) else telling
        kept.update(dict.fromkeys(_asked(script, run)))
    telling.update(dict.fromkeys(Term(compound) for compound in _compounds(plain)))
    return list(telling or weak)


def _indexed(script: Script, run: str) -> Iterable[str]:
    if script is Script.LATIN:
        return _word(run[:LONGEST])
    if script in _BY_CHARACTER:
        # The last character alone too: a query for one character asks for the terms that begin with it.
        return (*map(add, run, run[1:]), run[-1])
    return run if script is Script.SYMBOL else (_folded(run[:LONGEST]),)


def _asked(script: Script, run: str) -> Iterable[Term]:
    if script not in _BY_CHARACTER:
        return map(Term, _indexed(script, run))
    return map(Term, map(add, run, run[1:])) if len(run) > 1 else (Term(run, prefix=True),)


def _tells_nothing(script: Script, run: str, stops: frozenset[str]) -> bool:
    """Stop words, and a particle in hiragana that stands alone."""
    if script is Script.LATIN:
        return _folded(run) in stops
    if script is Script.HANGUL:
        return run in STOPWORDS["ko"] or _ASKS.fullmatch(run) is not None
    return len(run) == 1 and "\u3041" <= run <= "\u309f"


def _stop_words(words: set[str]) -> frozenset[str]:
    """The stop words of the language a query seems to be in; only those common to both where it does not show.

    Only queries are judged, never texts: a wrong guess may cost a word of one query, but nothing becomes unfindable.
    """
    english = len(words & _SIGNS_OF_ENGLISH)
    french = len(words & _SIGNS_OF_FRENCH)
    if english == french:
        return _ENGLISH | _FRENCH if english else _ENGLISH & _FRENCH
    return _ENGLISH if english > french else _FRENCH


@lru_cache(maxsize=65536)
def _word(run: str) -> tuple[str, ...]:
    """The stem of a word, and of each part of a name in CamelCase."""
    humps = _HUMPS.findall(run)
    if len(humps) < 2:
        return (_stem(run),)
    return (_stem(run), *(_stem(hump) for hump in humps if len(hump) > 1))


def _stem(word: str) -> str:
    """The English stem, in every language: a text's language is a guess, and two guesses would not meet.

    Diacritics go first, so that a word typed on a plain keyboard is found. Stemmed twice, and without a mute ending, a
    French feminine meets its masculine: nationale, national.
    """
    import Stemmer  # here, because most starts stem nothing

    # A new one each time, without a cache: it keeps the word it works on, so threads must not share one.
    english = Stemmer.Stemmer("english", 0)
    once = str(english.stemWord(_bare(_folded(word))))
    twice = str(english.stemWord(once))
    stem = twice if len(twice) >= _SHORTEST_STEM else once
    return stem[:-1] if len(stem) > _SHORTEST_STEM + 1 and stem[-1] in "ei" else stem


def _folded(word: str) -> str:
    # Only its beginning: the time for a run of combining marks grows with the square of its length.
    return unicodedata.normalize("NFKC", word[:LONGEST].casefold())


def _bare(word: str) -> str:
    """Without diacritics."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word.translate(_PLAIN))
    return "".join(char for char in letters if not unicodedata.category(char).startswith("M"))


def _compounds(plain: str) -> Iterator[str]:
    """Names and numbers that mean more than their parts: gpt5, v2.0, 2023-05-08, c++."""
    folded = plain.casefold()
    for match in _COMPOUND.finditer(folded):
        joined = _NUMBER_JOINT.sub(_JOINT, _LETTER_HYPHEN.sub("", match.group()))[:LONGEST]
        if not joined.isdigit():
            yield joined
    for match in _SIGNED.finditer(folded):
        yield match.group()[-LONGEST:].replace("#", _SHARP)
