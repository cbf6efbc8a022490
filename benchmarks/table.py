"""Figures as people read them: aligned columns, the goal beside the figure, a verdict beside the goal."""

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | float | int | None


@dataclass(frozen=True)
class Goal:
    """A figure that was promised."""

    text: str
    figure: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.figure >= self.limit if self.at_least else self.figure <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'met   ' if self.met else 'MISSED'}  {self.text}: {shown(self.figure)} ({sign} {shown(self.limit)})"


@dataclass
class Table:
    """One part's figures."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        self.rows.append(cells)

    def __str__(self) -> str:
        lines = [[*self.columns], *([shown(cell) for cell in row] for row in self.rows)]
        widths = [max(width(line[column]) for line in lines) for column in range(len(self.columns))]
        ruled = [lines[0], ["-" * one for one in widths], *lines[1:]]
        body = ["  ".join(map(_padded, line, widths, range(len(line)))).rstrip() for line in ruled]
        goals = [f"  {goal}" for goal in self.goals]
        return "\n".join([f"\n{self.title}", *body, *(f"  {note}" for note in self.notes), *goals])

    def as_json(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        goals = [asdict(goal) | {"met": goal.met} for goal in self.goals]
        return {"title": self.title, "rows": rows, "goals": goals, "notes": self.notes}


def shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.1f}" if abs(cell) >= 10 else f"{cell:.2f}"


def width(text: str) -> int:
    """In columns of a terminal."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _padded(text: str, to: int, column: int) -> str:
    blank = " " * (to - width(text))
    return blank + text if column else text + blank


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of the others does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def median(values: Sequence[float]) -> float:
    return quantile(values, 0.5)
