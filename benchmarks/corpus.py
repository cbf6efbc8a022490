"""Made-up memories in five languages, always the same ones.

Words are drawn with Zipf's weights, so that a few stand in most memories and most in a few, as in real text; beyond a
short list of real words they are put together from syllables and characters, for a long tail. Sentences are what is
embedded for real; a memory is one to four of them and a line of its own, so that no two are alike.
"""

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count, islice, product

SENTENCES = 3000
_VOCABULARY = 4000
_SEED = 20260728


@dataclass(frozen=True)
class Language:
    """Frequent words, and what rarer ones are made of."""

    name: str
    words: str
    pieces: str
    joint: str
    stop: str
    length: tuple[int, int]


LANGUAGES = (
    Language(
        "en",
        "the to and of meeting we project was release for with team server customer report build deploy data memory "
        "review password travel budget coffee garden doctor music weekend invoice contract backup network birthday",
        "ba con der fin gra hol im jen ket lor min nov pra quo ros sten tur ver wix yol",
        " ",
        ".",
        (7, 14),
    ),
    Language(
        "fr",
        "le de la et les pour une réunion projet client équipe serveur rapport facture voyage jardin musique médecin "
        "semaine budget café anniversaire contrat sauvegarde réseau données mémoire livraison vacances maison école",
        "ban cour dé fleu gran hou jar lon mé nui par quel ré sou tran vil zé eau eur ette",
        " ",
        ".",
        (7, 14),
    ),
    Language(
        "ko",
        "회의 프로젝트 고객 서버 보고서 일정 여행 예산 팀 배포 데이터 기억 검토 비밀번호 커피 "
        "정원 의사 음악 주말 계약 생일 학교 가족 병원",
        "가 나 다 라 마 바 사 아 자 차 카 타 파 하 고 노 도 로 모 보",
        " ",
        ".",
        (5, 10),
    ),
    Language(
        "ja",
        "会議 は を の が で 計画 顧客 予算 旅行 報告 確認 記憶 資料 契約 音楽 週末 医者 庭 学校 家族 病院 開発 配信",
        "山 川 田 中 石 原 木 村 松 林 水 光 風 空 海 島 花 月 星 雪",
        "",
        "。",
        (6, 12),
    ),
    Language(
        "zh",
        "会议 的 在 项目 客户 预算 旅行 报告 确认 记忆 资料 合同 音乐 周末 医生 花园 "
        "学校 家庭 医院 开发 部署 数据 密码 生日",
        "江 河 云 天 明 华 建 国 新 安 东 西 南 北 金 玉 龙 凤 春 秋",
        "",
        "。",
        (6, 12),
    ),
)


@dataclass(frozen=True)
class Memory:
    """A text and which sentences it is made of."""

    text: str
    sentences: tuple[int, ...]


@cache
def sentences(number: int) -> tuple[str, ...]:
    """So many distinct sentences, the languages in turn."""
    made: dict[str, None] = {}
    chance = random.Random(_SEED)
    for turn in count():
        made[_sentence(LANGUAGES[turn % len(LANGUAGES)], chance)] = None
        if len(made) == number:
            break
    return tuple(made)


def memories(size: int) -> Iterator[Memory]:
    """So many of them. A small store has fewer sentences, because embedding them takes the longest."""
    chance = random.Random(_SEED + 1)
    known = sentences(min(size, SENTENCES))
    for number in range(size):
        chosen = tuple(chance.randrange(len(known)) for _ in range(chance.choice((1, 1, 2, 2, 3, 4))))
        lines = [*(known[one] for one in chosen), f"#{number} {_name(chance)}"]
        yield Memory("\n".join(lines), chosen)


def fresh(number: int, start: int) -> list[str]:
    """Texts to store that no seeded memory is like: their sentences have not been embedded before."""
    chance = random.Random(_SEED + 2 + start)
    made = (" ".join(_sentence(LANGUAGES[n % len(LANGUAGES)], chance) for _ in range(2)) for n in count())
    return list(islice(made, number))


def questions(number: int) -> list[str]:
    """Three to six words of a language, frequent and rare as they come."""
    chance = random.Random(_SEED + 3)
    asked = (LANGUAGES[n % len(LANGUAGES)] for n in range(number))
    return [language.joint.join(_drawn(language, chance, chance.randint(3, 6))) for language in asked]


def _sentence(language: Language, chance: random.Random) -> str:
    return language.joint.join(_drawn(language, chance, chance.randint(*language.length))) + language.stop


def _drawn(language: Language, chance: random.Random, number: int) -> Sequence[str]:
    words, weights = _vocabulary(language)
    return [words[bisect_left(weights, chance.random() * weights[-1])] for _ in range(number)]


@cache
def _vocabulary(language: Language) -> tuple[list[str], list[float]]:
    made = ["".join(pieces) for pieces in product(language.pieces.split(), repeat=3)]
    random.Random(_SEED).shuffle(made)
    words = list(islice(dict.fromkeys([*language.words.split(), *made]), _VOCABULARY))
    return words, list(accumulate(1.0 / rank for rank in range(1, len(words) + 1)))


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(LANGUAGES[0].pieces.split()) for _ in range(3)).capitalize()
