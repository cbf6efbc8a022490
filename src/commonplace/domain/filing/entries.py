"""A note as an entry of the bank: one list item with date and author, whatever the note is made of."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from commonplace.domain.bank import Category, Note
from commonplace.domain.filing.markdown import BULLET, CONTAINERS, fence_after, fence_end, hashes

_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_HEADING = re.compile(rf"({CONTAINERS})(?<! {{4}})(?<!\t)(#{{1,6}})(?:\s+|$)")
_UNDERLINE = re.compile(r"\s*(?:=+|-+)$")
_BLOCK = re.compile(r"`{3,}|~{3,}|[-*+](?:\s|$)|[0-9]{1,9}[.)](?:\s|$)|>|\|")
_CODE = re.compile(r" {4}|\t")
_BOX = re.compile(r"\[[ xX]\] ")
_MARKUP = re.compile(rf"^{CONTAINERS}(?:\[[ xX]\] )?")
_STAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?: · .*?)?:(?: |$)")
_MOST_LABEL = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """What one note, or several that say the same, become."""

    category: Category
    dates: tuple[date, ...]
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    body: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The list item: what follows its first line is indented, so that nothing in it stands on its own."""
        box = "[ ] " if self.category is Category.TODO and self.body[0] else ""
        labels = [", ".join(self.authors), " ".join(f"#{tag}" for tag in self.tags)]
        stamp = " · ".join([self.dates[0].isoformat(), *filter(None, labels)])
        return [f"- {box}{stamp}: {self.body[0]}".rstrip(), *map(_indented, self.body[1:])]

    @property
    def excerpt(self) -> str:
        """The first line that says something, without its markup."""
        told = [line for line in self.body if line.strip() and not line.lstrip().startswith(("```", "~~~"))]
        return _MARKUP.sub("", told[0], count=1).replace("**", "").strip() if told else ""


def entries(notes: Iterable[Note]) -> list[Entry]:
    """In the order given; notes of one category that say the same become one entry with all their authors."""
    found: dict[tuple[Category, tuple[str, ...]], list[Note]] = defaultdict(list)
    for note in notes:
        if body := _body(note.content):
            found[note.category, body].append(note)
    return [_entry(category, body, alike) for (category, body), alike in found.items()]


def _entry(category: Category, body: tuple[str, ...], notes: Sequence[Note]) -> Entry:
    return Entry(
        category,
        tuple(dict.fromkeys(note.timestamp.date() for note in notes)),
        tuple(dict.fromkeys(author for note in notes if (author := _label(note.agent)))),
        tuple(dict.fromkeys(tag for note in notes for tag in map(_tag, note.tags) if tag)),
        body,
    )


def sound(text: str) -> str:
    """Without what cannot be stored or sent."""
    return _UNSOUND.sub("\ufffd", text)


def _label(text: str) -> str:
    """One short line without what would end a stamp."""
    line = " ".join(sound(text[: _MOST_LABEL * 4]).split()).replace(": ", ":")[:_MOST_LABEL]
    return line.strip(": ")


def _tag(text: str) -> str:
    return _label(text).strip("# ").replace(" ", "-")


def _body(content: str) -> tuple[str, ...]:
    """The note's lines as they stand in an entry; the first is empty where they cannot follow a stamp."""
    lines = [line.rstrip() for line in sound(content).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    if not lines:
        return ()
    lines = ["```json", *lines, "```"] if _is_json(lines) else _tamed(lines)
    first = lines[0].strip()
    if not _BLOCK.match(first) and not _CODE.match(lines[0]):
        return (first, *lines[1:])
    # A table would take the stamp for its first row.
    return ("", "", *lines) if first.startswith("|") else ("", *lines)


def _is_json(lines: Sequence[str]) -> bool:
    if len(lines) < 2 or lines[0][:1] not in "{[" or lines[-1][-1:] not in "}]":
        return False
    try:
        json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return False
    return True


def _tamed(lines: Sequence[str]) -> list[str]:
    """The lines without headings of their own, and with an end to their last code fence."""
    found: list[str] = []
    mark, opener, headed = "", "", False
    for line in lines:
        before, mark = mark, fence_after(mark, line)
        opener = line if mark and not before else opener
        tame = line if mark or before else _unheaded(line)
        # What was a heading would otherwise run into the text below it.
        found += ["", tame] if headed and line else [tame]
        headed = tame is not line and tame.endswith("**")
    if mark:
        found.append(fence_end(opener, mark))
    return found


def _unheaded(line: str) -> str:
    if found := _HEADING.match(line):
        text = line[found.end() :].rstrip("# ")
        plain = not text or "**" in text
        return f"{found[1]}\\{line[found.end(1) :]}" if plain else f"{found[1]}**{text}**"
    bare = line.lstrip()
    return f"{line[: -len(bare)]}\\{bare}" if _UNDERLINE.match(line) else line


def _indented(line: str) -> str:
    return f"  {line}" if line else ""


class Held:
    """What lines hold already, to be asked whether an entry is among it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._places: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
        for at, line in enumerate(lines):
            self._note(at, line)

    def _note(self, at: int, line: str) -> None:
        """By its text with and without a stamp, since people write without one."""
        bullet = BULLET.match(line)
        text = line[bullet.end() :] if bullet else line
        boxed = _BOX.match(text)
        text = text[boxed.end() :] if boxed else text
        if text.strip():
            self._places[text.strip()].append((at, "", bool(boxed)))
        if bullet and (stamp := _STAMP.match(text)):
            self._places[text[stamp.end() :].strip()].append((at, stamp[1], bool(boxed)))

    def dated(self, entry: Entry) -> bool:
        """Whether the very entry is there: the same text of the same day and kind, wherever that is."""
        days = {day.isoformat() for day in entry.dates}
        boxed = entry.lines[0].startswith("- [ ]")
        places = self._places.get(entry.body[0].strip(), ())
        return any(date in days and box == boxed and self._follows(entry, at) for at, date, box in places)

    def among(self, entry: Entry, where: range) -> bool:
        """Whether the same text stands in some of the lines without a date: someone wrote it there by hand."""
        places = self._places.get(entry.body[0].strip(), ())
        return any(at in where and not date and self._follows(entry, at) for at, date, _ in places)

    def _follows(self, entry: Entry, at: int) -> bool:
        """Whether the rest of the entry follows its first line, and nothing more."""
        rest = (self._lines[below] for below in range(at + 1, len(self._lines)))
        if any(_indented(line) != next(rest, "").rstrip() for line in entry.body[1:]):
            return False
        after = next((line for line in rest if line.strip()), "")
        return not after.startswith("  ") or hashes(after) is not None
