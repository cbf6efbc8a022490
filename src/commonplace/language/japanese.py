"""Japanese words by script: compounds in kanji, words in katakana, and what okurigana shows to be a verb."""

import re
from collections.abc import Iterator

from commonplace.language import chinese
from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import Word

_KANJI = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"

# 買い物, 打ち合わせ, 締め切り: two verbs, or a verb and a noun, grown into one noun. い alone also ends adjectives.
_STEM = "(?:[ちめりきしみびけせべれじぎえ]|(?<=[買思問使願言習扱祝払違追])い|とし|わせ|かけ)"
_OKURIGANA = "(?:わせ|もり|とし|かけ|[りみきぎけげせれいえめしちび](?![たてまなるよすつ]))"
_GROWN = f"[{_KANJI}]{{1,2}}{_STEM}[{_KANJI}]{{1,2}}{_OKURIGANA}?"

_PIECE = re.compile(
    f"(?P<grown>{_GROWN})|(?P<kanji>(?:(?<![{_HIRAGANA}])[おご]|(?<=[はがをのにでともへや])[おご])?[{_KANJI}]+)"
    f"|(?P<katakana>[{_KATAKANA}]{{2,}})|(?P<hiragana>[{_HIRAGANA}]+)|[{_KATAKANA}]"
)

# What follows a noun: a particle, する, the copula; the lookaheads keep 読もう, 泳がない, 落とす from passing for nouns.
_AFTER_NOUN = re.compile(
    "$|を|は(?!じ)|へ|の(?!う)|に|が(?![なれせずる])|も(?![うしら])|と(?![すさ])|で(?!る)|や(?![すさし])|か(?:ら|$)|まで|より|だ|な[のらど]"
    "|な|さ[れせんま]|ちゃん|くん|たち|など|だけ|しか|ほど|[くぐ]らい|ごと|ずつ|ばか|し[たてなまよ]|す[るべ]|でき|[^\u3041-\u309f]"
)
_OWN_WORD = re.compile("([ぁ-ん]{2,5}?)[をがは]")
_COUNTER = re.compile(
    "^(?:時間|分間|日間|週間|年間|か月|ヶ月|年度|年代|[年月日時分秒円個件回人名本冊枚階歳度点番位号台番目週代目][目間前後頃以]?)"
)

_TRAILING = frozenset("的等達中後前時毎様用")
_LONG = 8
_VERB, _COMMON, _GUESS = 0.5, 0.3, 0.5


def uncounted(run: str) -> str:
    """What is left of a run after a number without the unit that is counted."""
    return _COUNTER.sub("", run)


def words(run: str) -> Iterator[Word]:
    """The words of one stretch of kana and kanji."""
    for match in _PIECE.finditer(run):
        kind, piece = match.lastgroup, match.group()
        if kind == "kanji":
            yield from _compound(piece, run[match.end() : match.end() + 3])
        elif kind == "hiragana":
            yield from _own_word(piece, match.start())
        elif kind:
            yield Word(piece)


def _compound(piece: str, following: str) -> Iterator[Word]:
    """A stretch of kanji: times and tails cut off, and the last one too if okurigana makes it a verb of its own."""
    piece = _without_times(piece)
    noun = _AFTER_NOUN.match(following) is not None
    if not noun and len(piece) > 2:
        piece, noun = piece[:-1], True
    if len(piece) > _LONG:
        yield from chinese.words(piece)
        return
    piece = piece[:-1] if len(piece) > 2 and piece[-1] in _TRAILING else piece
    if piece and piece not in STOPWORDS["ja"] and (noun or len(piece) > 1):
        yield Word(piece, _COMMON if piece in FAINT["ja"] else 1.0 if noun else _VERB)


def _without_times(piece: str) -> str:
    if piece in TIMEWORDS["ja"]:
        return ""
    for length in (3, 2):
        if piece[:length] in TIMEWORDS["ja"]:
            return piece[length:]
    return piece


def _own_word(piece: str, start: int) -> Iterator[Word]:
    """りんごを: a word in hiragana is sure only where it opens a stretch and a particle ends it."""
    match = _OWN_WORD.match(piece) if start == 0 else None
    if match and match[1] not in STOPWORDS["ja"] and match[1][-1] not in "をがはにでともてたのるいくうすむぶつと":
        yield Word(match[1], _GUESS)
