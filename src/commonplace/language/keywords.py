"""What a text is about in a few of its own words, found run by run in five languages."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commonplace.domain.unicode import normalised
from commonplace.language import chinese, japanese, korean, spaced
from commonplace.language.detection import checked, east_language, latin_language
from commonplace.language.segmenters import segmenter
from commonplace.language.words import Word, most_telling

LOOK = 50_000
"""How many characters are looked at: what a longer text is about shows by then."""

_EAST = "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f"
# Marks that belong to the letter before them although Python counts them to no word.
_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31-\u0e3a\u0e47-\u0e4e"
_LETTER = f"(?:[^\\W{_EAST}{_HANGUL}\u30fb]|[{_MARKS}])"

_EAST_RUN = re.compile(f"[{_EAST}]+")
_RUN = re.compile(
    r"[a-z]{1,9}://(?:www\.)?(?P<host>[\w.-]*)[^\s\"'<>()]*"
    f"|(?P<east>[{_EAST}]+)|(?P<hangul>[{_HANGUL}]+)"
    rf"|(?P<spaced>{_LETTER}+(?:(?:['’&@-]|\.(?=[a-z0-9])){_LETTER}+)*(?:\+\+|[#+](?!\w))?)"
)
_KANA_OR_HAN = re.compile("(?P<kana>[\u3041-\u30ff\u31f0-\u31ff]+)|[^\u3041-\u30ff\u31f0-\u31ff]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")
# A number may be written out: 세 명, 5천만 원.
_WRITTEN_NUMBER = re.compile(r"(?<![가-힣])(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무|몇|여러|[십백천만억]+)$")
_NUMBER_ENDS = frozenset("한두세네섯곱덟홉열무몇러십백천만억")
_NUMBER_LENGTH = 4

# 프로젝트 X, Plan B: a letter that names which one. These letters are words of their own.
_NO_DESIGNATOR = frozenset("AIOY")
_DESIGNATED = 1.1


@dataclass(frozen=True, slots=True)
class _Reading:
    """How to read what a script alone leaves open: whose words Latin letters and Chinese characters are."""

    latin: str
    east: str
    repeated: frozenset[str] = frozenset()


def keywords(text: str, language: str = "auto", limit: int = 10) -> list[str]:
    """The content words of a text as they are written in it, the most telling first."""
    return most_telling(_content_words(normalised("NFC", text[:LOOK]), checked(language)), limit)


def _content_words(text: str, language: str) -> Iterator[Word]:
    """All content words in order, with repetition; a given language decides where the script does not."""
    latin = language if language in ("en", "fr") else latin_language(text)
    east = language if language in ("ja", "zh") else east_language(text)
    repeated = chinese.repeated_in(_EAST_RUN.findall(text)) if east == "zh" else frozenset[str]()
    sentences = _SENTENCE_END.split(text)
    alone = len(sentences) == 1
    for sentence in sentences:
        yield from _in_sentence(
            sentence,
            _Reading(
                latin if alone or latin == language else latin_language(sentence, latin),
                east if alone or east == language else east_language(sentence, east),
                repeated,
            ),
        )


def _in_sentence(sentence: str, reading: _Reading) -> Iterator[Word]:
    opens = True
    last: Word | None = None
    for match in _RUN.finditer(sentence):
        word = None
        for word in _in_run(match, reading, opens):
            yield word
        if last and match.end() - match.start() == 1 and _designates(match, last):
            start = match.string.rindex(last.surface, 0, match.start())
            yield Word(match.string[start : match.end()], last.weight * _DESIGNATED)
        last, opens = word, False


def _in_run(match: re.Match[str], reading: _Reading, opens: bool) -> Iterable[Word]:
    run = match.group()
    match match.lastgroup:
        case "spaced":
            return spaced.words(run, reading.latin, opens)
        case "hangul":
            return _korean(korean.uncounted(run) if _counted(match) else run)
        case "east" if reading.east == "ja":
            return _japanese(japanese.uncounted(run) if _counted(match) else run)
        case "east":
            return _chinese(run, reading.repeated)
    host = match["host"].strip(".-")
    return (Word(host),) if "." in host and not host.replace(".", "").isdigit() else ()


def _korean(run: str) -> Iterator[Word]:
    return (segmenter("ko") or korean.words)(run)


def _japanese(run: str) -> Iterator[Word]:
    return (segmenter("ja") or japanese.words)(run)


def _chinese(run: str, repeated: frozenset[str]) -> Iterator[Word]:
    """Chinese, and the Japanese words a Chinese text may quote."""
    segment = segmenter("zh")
    for match in _KANA_OR_HAN.finditer(run):
        if match["kana"]:
            yield from japanese.words(match.group())
        else:
            yield from segment(match.group()) if segment else chinese.words(match.group(), repeated)


def _counted(match: re.Match[str]) -> bool:
    """Whether a number stands right before."""
    text, end = match.string, match.start()
    apart = end > 0 and text[end - 1].isspace()
    last = text[end - 1 - apart : end - apart]
    if apart and last in _NUMBER_ENDS:
        return _WRITTEN_NUMBER.search(text, max(end - _NUMBER_LENGTH, 0), end - 1) is not None
    return last.isdecimal()


def _designates(match: re.Match[str], last: Word) -> bool:
    """Whether a run of one letter is a capital right after a noun that stands without particle."""
    letter, start = match.group(), match.start()
    if not "A" <= letter <= "Z" or letter in _NO_DESIGNATOR or last.weight < 1:
        return False
    before = match.string[max(start - len(last.surface) - 1, 0) : start]
    return before.removesuffix(" ").endswith(last.surface)
