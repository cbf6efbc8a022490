"""Labels and categories: words that are put on memories beside their tags."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import UserId, is_uuid

MOST_LABELS = 1000
"""Of one user."""
MOST_CATEGORIES = 200
"""Of one user, beside those that exist for everyone."""
MOST_ON_A_MEMORY = 20
"""Categories of one memory."""
MAX_NAME_CHARS = 100
MAX_DESCRIPTION_CHARS = 500
_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})\Z", re.ASCII)

BUILT_IN = {
    "prd": "プロダクト要件",
    "spec": "仕様・要件",
    "design": "設計・アーキテクチャ",
    "config": "設定・構成",
    "infra": "インフラ",
    "debug": "デバッグ",
    "learning": "学習・知見",
    "task": "タスク・計画",
    "decision": "意思決定",
    "work_log": "作業ログ",
}
"""The categories that exist for everyone and stay as they are, with what each is for."""


@dataclass(frozen=True, slots=True)
class Label:
    """A word of a user's own; nobody else sees where it is put."""

    id: str
    owner: UserId
    name: str
    color: str
    """As #RRGGBB; empty for none."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Category:
    """A name that memories bear in common, and what is known of it."""

    name: str
    description: str = ""
    id: str = ""
    """Where a user has made it; others are known by their names alone."""
    created_at: datetime | None = None

    @property
    def is_built_in(self) -> bool:
        return self.name in BUILT_IN


@dataclass(frozen=True, slots=True)
class Counted:
    """A category, and how many memories that the reader may see bear it."""

    category: Category
    memories: int


def built_in() -> list[Category]:
    return [Category(name, description) for name, description in BUILT_IN.items()]


def color(value: str) -> str:
    """In one spelling, #RRGGBB in capitals; the short form #RGB stands for doubled digits."""
    written = value.strip()
    if not written:
        return ""
    if not _COLOR.match(written):
        raise Invalid("color", f"{value[:40]!r} is not a colour; write it like #FF0000 or #F00")
    digits = written[1:].upper()
    return "#" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))


def name(value: str) -> str:
    """What a label or category may be called."""
    kept = limits.label("name", value)
    if len(kept) > MAX_NAME_CHARS:
        raise Invalid("name", f"is {len(kept)} characters long; at most {MAX_NAME_CHARS} are allowed")
    return kept


def category_name(value: str) -> str:
    """A category is known by its name too: it must not be taken for an id."""
    kept = name(value)
    if is_uuid(kept.lower()):
        raise Invalid("name", "must not be written like an id")
    return kept


def description(value: str) -> str:
    kept = limits.text("description", value).strip()
    if len(kept) > MAX_DESCRIPTION_CHARS:
        raise Invalid("description", f"is {len(kept)} characters long; at most {MAX_DESCRIPTION_CHARS} are allowed")
    return kept


def borne(first: str, further: Iterable[str]) -> tuple[str, ...]:
    """All categories of a memory, each once: whoever sets the first knows nothing of the others."""
    return tuple(dict.fromkeys(name for name in (first, *further) if name))


def fitting(names: Sequence[str]) -> Sequence[str]:
    """As many categories as a memory can bear."""
    if len(names) > MOST_ON_A_MEMORY:
        raise Invalid("category", f"a memory has at most {MOST_ON_A_MEMORY} categories, not {len(names)}")
    return names
