"""Made-up memories in five languages, for the pictures of the docs and for tests."""

import math
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from commonplace.pictures import Dot, Snapshot, Tie

NOW = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
# Category, tags and sentences; a sentence may be varied by a number.
TOPICS: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
    (
        "技術",
        ("検索", "索引", "Python", "設計"),
        (
            "検索の索引は夜間に作り直す。所要時間は約{n}分",
            "埋め込みは384次元。変更した理由と測定結果 その{n}",
            "WALを有効にすると書き込みが{n}倍速くなった",
            "設計レビュー第{n}回：境界を先に決める",
        ),
    ),
    (
        "프로젝트",
        ("일정", "회의", "출시"),
        (
            "프로젝트 X의 데드라인이 2월 {n}일로 연기되었다",
            "회의록 {n}: 출시 전 점검 목록과 담당자를 정했다",
            "고객이 요청한 기능 {n}번을 다음 스프린트로 미뤘다",
        ),
    ),
    (
        "旅行",
        ("东京", "酒店", "机票"),
        (
            "东京的酒店订在上野附近，一共{n}晚",
            "机票要提前{n}周预订，周二最便宜",
            "成都的火锅店推荐：排队大约{n}分钟",
        ),
    ),
    (
        "cuisine",
        ("recette", "levain", "marché"),
        (
            "La recette du levain : {n} g de farine, autant d’eau, une nuit de repos",
            "Au marché du samedi, les tomates coûtent {n} € le kilo",
            "Pour la tarte aux mirabelles, cuire {n} minutes à 180 °C",
        ),
    ),
    (
        "work",
        ("review", "release", "hiring"),
        (
            "Release {n} went out on Friday; the rollback plan was not needed",
            "Ana prefers short reviews: at most {n} files at a time",
            "Interview no. {n}: strong on databases, new to Python",
        ),
    ),
    (
        "health",
        ("running", "sleep"),
        ("Ran {n} km along the river before breakfast", "Slept well; no coffee after {n} h"),
    ),
    (
        "読書",
        ("小説", "歴史"),
        ("『枕草子』を{n}ページまで読んだ。春はあけぼの", "図書館で借りた歴史の本は{n}日に返す"),
    ),
    (
        "family",
        ("birthday", "school"),
        ("Léa turns {n} in May: ask about the cake", "School meeting on the {n}th, bring the drawing"),
    ),
    (
        "music",
        ("piano", "concert"),
        ("Practise bar {n} of the prelude slowly", "The concert on the {n}th is sold out; try returns"),
    ),
    (
        "garden",
        ("tomatoes", "compost"),
        ("Sow tomatoes {n} days before the last frost", "The compost needs {n} weeks more"),
    ),
)
KINDS = ("semantic", "semantic", "semantic", "temporal", "manual", "derived_from")


def sample(count: int, *, title: str = "Memories", language: str = "en", zone: str = "Asia/Tokyo") -> Snapshot:
    """So many made-up memories in five languages, with vectors that lie together where the topics do."""
    dice = random.Random(7)  # noqa: S311  (the same pictures each time)
    spread = np.random.default_rng(7)
    middles = spread.standard_normal((len(TOPICS), 4, 64))
    dots = tuple(_dot(at, count, dice, spread, middles) for at in range(count))
    return Snapshot(dots, tuple(_ties(dots, dice)), count, title, ZoneInfo(zone), NOW, language=language)


def _dot(at: int, count: int, dice: random.Random, spread: np.random.Generator, middles: np.ndarray) -> Dot:
    topic = min(int(dice.expovariate(0.35)), len(TOPICS) - 1)
    category, tags, sentences = TOPICS[topic]
    theme = dice.randrange(len(sentences))
    days = 420 * (1 - math.sqrt((at + 1) / (count + 1)))
    hours = dice.gauss(15, 4) % 24
    created = (NOW - timedelta(days=1 + days)).replace(hour=0) + timedelta(hours=hours - 9)
    uses = max(int(dice.paretovariate(0.9)) - 1, 0) if dice.random() < 0.6 else 0
    vector = 1.6 * middles[topic].mean(axis=0) + 0.9 * middles[topic][theme] + 0.95 * spread.standard_normal(64)
    return Dot(
        id=f"0195{at:04x}-7c3a-7000-8000-{at:012x}",
        text=sentences[theme].format(n=dice.randint(2, 28)),
        domain=dice.choices(("global", "user", "project", "session"), (2, 6, 4, 1))[0],
        category=category if dice.random() < 0.95 else "",
        tags=(tags[theme % len(tags)], *dice.sample(tags, 1)),
        importance=round(dice.betavariate(2.4, 2.2), 2),
        created_at=created,
        uses=min(uses, 240),
        used_at=NOW - timedelta(days=dice.random() * 90) if uses else None,
        vector=vector.astype(np.float32),
    )


def _ties(dots: Sequence[Dot], dice: random.Random) -> Iterator[Tie]:
    by_category: dict[str, list[Dot]] = {}
    for dot in dots:
        alike = by_category.setdefault(dot.category, [])
        for other in dice.sample(alike, min(len(alike), 2)):
            yield Tie(dot.id, other.id, dice.choice(KINDS), round(dice.uniform(0.35, 1.0), 2))
        if alike and dice.random() < 0.12:
            other = dice.choice(dots)
            yield Tie(dot.id, other.id, "manual", round(dice.uniform(0.3, 0.9), 2))
        alike.append(dot)
