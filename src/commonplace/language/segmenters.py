"""Dictionaries for better word boundaries: used where their extra is installed, loaded when their language occurs."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import chain, groupby
from typing import Any

from commonplace.language.korean import PARTICLES
from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import LONGEST, Word

Segmenter = Callable[[str], Iterator[Word]]

_NEEDS = {"zh": ("rjieba",), "ja": ("fugashi", "unidic_lite"), "ko": ("kiwipiepy",)}
_COMMON = 0.3
_KOREAN_NOUNS = frozenset({"NNG", "NNP", "XR", "XPN", "XSN"})
_KOREAN_SUFFIXES = frozenset({"들", "적"})

# No sentence is longer without a blank or mark, and a dictionary's time may grow faster than the length.
_LONGEST_RUN = 300


@cache
def segmenter(language: str) -> Segmenter | None:
    """The dictionary's way to find the content words of a language; None if it is not installed."""
    if not all(find_spec(module) for module in _NEEDS[language]):
        return None
    words = {"zh": _chinese, "ja": _japanese, "ko": _korean}[language]()
    return lambda run: chain.from_iterable(words(piece) for piece in _slices(run))


def _slices(run: str) -> Iterator[str]:
    return (run[start : start + _LONGEST_RUN] for start in range(0, len(run), _LONGEST_RUN))


def _word(surface: str, language: str, shortest: int = 2) -> Iterator[Word]:
    if len(surface) >= shortest and surface not in STOPWORDS[language] and surface not in TIMEWORDS[language]:
        yield Word(surface, _COMMON if surface in FAINT[language] else 1.0)


def _chinese() -> Segmenter:
    import rjieba

    def words(run: str) -> Iterator[Word]:
        for surface, tag in rjieba.tag(run):
            if tag[0] in "nvajlizx" and any(map(str.isalpha, surface)):
                yield from _word(surface, "zh")

    return words


def _japanese() -> Segmenter:
    from fugashi import Tagger

    tagger = Tagger()

    def words(run: str) -> Iterator[Word]:
        for noun, group in groupby(tagger(run), key=_is_japanese_noun):
            surface = "".join(morpheme.surface for morpheme in group)
            if noun:
                yield from _word(surface, "ja", shortest=1)

    return words


def _is_japanese_noun(morpheme: Any) -> bool:
    feature = morpheme.feature
    if feature.pos1 == "名詞":
        return feature.pos2 != "数詞" and feature.pos3 not in ("助数詞可能", "副詞可能")
    return bool(feature.pos1 == "接尾辞" and feature.pos2 == "名詞的" and feature.pos3 == "一般")


def _is_korean_noun(token: Any) -> bool:
    return token.tag in _KOREAN_NOUNS and token.form not in _KOREAN_SUFFIXES


def _korean() -> Segmenter:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)

    def words(run: str) -> Iterator[Word]:
        start = end = 0
        # Cut off from what it belongs to, a particle would pass for a noun; and no word is that long.
        tokens = () if run in PARTICLES or len(run) > LONGEST else kiwi.tokenize(run)
        for token in filter(_is_korean_noun, tokens):
            if token.start > end:
                yield from _word(run[start:end], "ko", shortest=1)
                start = token.start
            end = token.start + token.len
        yield from _word(run[start:end], "ko", shortest=1)

    return words
