"""The language of a text: by its script, and for Latin letters by its small words and accents."""

import re

from commonplace.domain.errors import Invalid
from commonplace.language.stopwords import STOPWORDS

LANGUAGES = ("auto", "ko", "en", "ja", "zh", "fr")

_LOOK = 4000

_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d]+")
_HAN = re.compile("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U000323af]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")

# Characters as Japan simplified them: China writes each of these in another way.
_JAPANESE_ONLY = re.compile(
    "[円売読続対発働込畑峠枠気実帰関広様圧沢渋桜検験権拡経済総転駅図伝変労単戦択拠挙県厳歳剤雑蔵竜薬斎]"
)

# Small words that are things in the other language, and letters left over from contractions, decide nothing.
_UNDECIDED = frozenset("c car comment d do es font fut m mine n or plus s son t ton us y".split())
_FRENCH = STOPWORDS["fr"] - STOPWORDS["en"] - _UNDECIDED
_ENGLISH = STOPWORDS["en"] - STOPWORDS["fr"] - _UNDECIDED
_ACCENTED = re.compile("[éèêëàâçùûîôœ]")

# A syllable or character says as much as a few letters do, and letters without small words are but terms and names.
_WIDE, _TERMS = 2.5, 0.4


def language_of(text: str) -> str:
    """The dominant language of the beginning of a text: ko, ja, zh, fr or en, which is also the answer in doubt."""
    head = text[:_LOOK]
    if head.isascii():
        return latin_language(head)
    hangul, east = _length(_HANGUL, head), _length(_HAN, head) + _length(_KANA, head)
    if _WIDE * max(hangul, east) < max(_latin_weight(head), 1):
        return latin_language(head)
    return "ko" if hangul >= east else east_language(head)


def checked(language: str) -> str:
    """The language itself, if it is one of those spoken here."""
    if language not in LANGUAGES:
        raise Invalid("language", f"must be one of {', '.join(LANGUAGES)}", language)
    return language


def east_language(text: str, default: str = "zh") -> str:
    """Whether Chinese characters stand in a Japanese or a Chinese text; the default if nothing shows."""
    head = text[:_LOOK]
    if head.isascii():
        return default
    kana, han = _length(_KANA, head), _length(_HAN, head)
    if kana:
        # A Chinese text may quote a Japanese name; a Japanese one cannot do without kana for long.
        return "ja" if kana * 6 >= han or han < 20 else "zh"
    return "ja" if _JAPANESE_ONLY.search(head) else default


def latin_language(text: str, default: str = "en") -> str:
    """French or English, by the small words that only one of them has; the default if neither shows."""
    head = text[:_LOOK].casefold()
    words = _LATIN.findall(head)
    accented = sum(1 for word in words if not word.isascii() and _ACCENTED.search(word))
    french = sum(map(_FRENCH.__contains__, words)) + 0.5 * accented
    english = sum(map(_ENGLISH.__contains__, words))
    if french == english:
        return default
    return "fr" if french > english else "en"


def _latin_weight(text: str) -> float:
    words = _LATIN.findall(text)
    speaks = any(word.casefold() in _FRENCH or word.casefold() in _ENGLISH for word in words)
    return sum(map(len, words)) * (1 if speaks else _TERMS)


def _length(script: re.Pattern[str], text: str) -> int:
    return sum(map(len, script.findall(text)))
