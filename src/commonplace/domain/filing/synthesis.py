"""What filing leaves behind of the notes: how many went where, and what is decided and still open among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.domain.bank import Category, Note
from commonplace.domain.filing.entries import Entry
from commonplace.domain.filing.routes import Route
from commonplace.domain.filing.words import HEADINGS

_MOST_SHOWN = 10
_MOST_CHARS = 200
_SHOWN = (Category.DECISION, Category.TODO, Category.QUESTION, Category.ISSUE)

_WORDS = {
    "en": ("Synthesis", "{notes} notes ({span}): {fresh} filed in the bank, {known} repeats.", "and {more} more"),
    "fr": (
        "Synthèse",
        "{notes} notes ({span}) : {fresh} classées dans la bank, {known} répétitions.",
        "et {more} autres",
    ),
    "ja": ("まとめ", "ノート {notes} 件（{span}）：{fresh} 件をバンクに記録、{known} 件は重複。", "ほか {more} 件"),
    "zh": ("综述", "笔记 {notes} 条（{span}）：{fresh} 条归入记忆库，{known} 条重复。", "另有 {more} 条"),
    "ko": ("요약", "노트 {notes}건({span}): {fresh}건을 뱅크에 기록, {known}건은 중복.", "그 밖에 {more}건"),
}


def synthesis(notes: Sequence[Note], fresh: Sequence[Entry], routes: Mapping[Category, Route], language: str) -> str:
    """Of notes in order of time, and the entries that were new."""
    title, told, _ = _WORDS[language]
    counts = {"notes": len(notes), "span": _span(notes), "fresh": len(fresh), "known": len(notes) - len(fresh)}
    where = [line for category in Category if (line := _where(category, fresh, routes[category], language))]
    shown = [line for category in _SHOWN for line in _shown(category, fresh, language)]
    return "\n".join([f"# {title}", "", told.format(**counts), *([""] if where else []), *where, *shown, ""])


def _span(notes: Sequence[Note]) -> str:
    days = sorted({note.timestamp.date().isoformat() for note in notes})
    return " – ".join(dict.fromkeys([days[0], days[-1]])) if days else "-"


def _where(category: Category, fresh: Sequence[Entry], route: Route, language: str) -> str:
    count = sum(entry.category is category for entry in fresh)
    place = f"{route.filename} › {route.heading}" if route.heading else route.filename
    return f"- {HEADINGS[language][category]} ({count}): {place}" if count else ""


def _shown(category: Category, fresh: Sequence[Entry], language: str) -> list[str]:
    mine = [entry for entry in fresh if entry.category is category]
    latest = [f"- {_short(entry.excerpt)}" for entry in mine[-_MOST_SHOWN:]]
    more = [f"- … {_WORDS[language][2].format(more=len(mine) - _MOST_SHOWN)}"] if len(mine) > _MOST_SHOWN else []
    return ["", f"## {HEADINGS[language][category]}", "", *latest, *more] if mine else []


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"
