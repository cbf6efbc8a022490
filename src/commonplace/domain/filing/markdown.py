"""As much of Markdown as is needed to find a place in a page and to put lines there, and nothing else."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

CONTAINERS = r"\s*(?:>\s?|[-*+]\s+|[0-9]{1,9}[.)]\s+)*"
"""The quotes and lists that a line stands in."""
_FENCE = re.compile(rf"({CONTAINERS})(`{{3,}}|~{{3,}})(.*)")
_HASHES = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[#>|]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])")
BULLET = re.compile(r"([-*+])[ \t]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: its first and last line, and what it says."""

    line: int
    last: int
    level: int
    text: str


def fence_after(mark: str, line: str) -> str:
    """The mark of the code fence that is open after a line, given that before it; empty for none."""
    found = _FENCE.match(line)
    if not found:
        return mark
    _, here, rest = found.groups()
    if not mark:
        return "" if here[0] == "`" and "`" in rest else here
    return "" if here[0] == mark[0] and len(here) >= len(mark) and not rest.strip() else mark


def fence_end(opener: str, mark: str) -> str:
    """The line that ends a code fence within the quotes and lists where another line began it."""
    found = _FENCE.match(opener)
    return re.sub("[^>]", " ", found[1] if found else "") + mark


def hashes(line: str) -> tuple[int, str] | None:
    """The level and text of a line that begins with hashes as a heading does."""
    found = _HASHES.match(line)
    if not found:
        return None
    text = line[found.end() :].strip()
    bare = text.rstrip("#")
    return len(found[1]), bare.rstrip() if not bare or bare[-1] in " \t" else text


class Page:
    """A page as lines; what it holds can only be added to."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._newline = "\r\n" if "\r\n" in content else "\n"
        self.lines = [line.removesuffix("\r") for line in content.split("\n")]
        if not self.lines[-1]:
            self.lines.pop()

    @cached_property
    def _opaque(self) -> list[bool]:
        """Which lines are code, comment or front matter, where nothing is a heading."""
        found, mark, comment = [True] * self._matter, "", False
        last_end = max((at for at, line in enumerate(self.lines) if "-->" in line), default=-1)
        for at, line in enumerate(self.lines[self._matter :], self._matter):
            before = mark
            if not comment:
                mark = fence_after(mark, line)
            starts = not (mark or before) and line.lstrip().startswith("<!--") and at <= last_end
            found.append(bool(mark or before or comment or starts))
            comment = (comment or starts) and "-->" not in line
        return found

    @cached_property
    def _unclosed(self) -> tuple[int, str]:
        """Where a code fence begins that never ends, and the line that would end it."""
        mark, start = "", len(self.lines)
        for at, line in enumerate(self.lines):
            before, mark = mark, fence_after(mark, line)
            start = at if mark and not before else start
        if not mark:
            return len(self.lines), ""
        return start, fence_end(self.lines[start], mark)

    @cached_property
    def _matter(self) -> int:
        """The number of lines of front matter."""
        if self.lines and self.lines[0].rstrip() == "---":
            for at in range(1, min(len(self.lines), 200)):
                if self.lines[at].rstrip() in ("---", "..."):
                    return at + 1
        return 0

    @cached_property
    def headings(self) -> list[Heading]:
        found: list[Heading] = []
        for at, line in enumerate(self.lines):
            if self._opaque[at]:
                continue
            if marked := hashes(line):
                found.append(Heading(at, at, *marked))
            elif at and _UNDERLINE.match(line) and self._is_paragraph(at - 1):
                found.append(Heading(at - 1, at, 1 if "=" in line else 2, self.lines[at - 1].strip()))
        return found

    def _is_paragraph(self, at: int) -> bool:
        line = self.lines[at]
        return bool(line.strip()) and not self._opaque[at] and not _NO_PARAGRAPH.match(line)

    @property
    def title(self) -> Heading | None:
        """The heading that the whole page stands under."""
        first = self.headings[0] if self.headings else None
        return first if first and first.level == 1 else None

    def own(self, heading: Heading) -> range:
        """The lines that stand under a heading before the next one, whatever its level."""
        after = next((other.line for other in self.headings if other.line > heading.line), len(self.lines))
        return range(heading.last + 1, after)

    def with_items(self, heading: Heading, items: Sequence[Sequence[str]]) -> str:
        """The page with list items at the end of what stands under a heading."""
        own = self.own(heading)
        last = max((at for at in own if self._counts(at)), default=heading.last)
        bullet = self._bullet(last, own.start)
        lines = [f"{bullet or '-'}{line[1:]}" if line[:1] == "-" else line for item in items for line in item]
        return self._with_lines(last, lines if bullet else ["", *lines])

    def with_end(self, items: Sequence[Sequence[str]], heading: str = "", level: int = 2) -> str:
        """The page with list items at its end, under a new heading if one is given."""
        if self._content and not heading and self.lines and self._bullet(len(self.lines) - 1, 0):
            return self._with_lines(len(self.lines) - 1, [line for item in items for line in item])
        above = [f"{'#' * level} {heading}", ""] if heading else []
        lines = [*above, *(line for item in items for line in item)]
        blank = not self.lines or not self.lines[-1].strip()
        return self._with_lines(len(self.lines) - 1, lines if blank else ["", *lines])

    def _counts(self, at: int) -> bool:
        """Whether a line is part of a section, and not only what separates it from the next."""
        return bool(self.lines[at].strip()) and (self._opaque[at] or not _RULE.match(self.lines[at]))

    def _bullet(self, last: int, first: int) -> str:
        """The bullet of the list that ends in a line; empty where that is no list."""
        for at in range(last, first - 1, -1):
            line = self.lines[at]
            found = BULLET.match(line)
            if found and not _RULE.match(line):
                return found[1]
            if line.strip() and not line[0].isspace():
                return ""
        return ""

    def _with_lines(self, last: int, lines: Iterable[str]) -> str:
        """Nothing is taken away or changed: the lines go in after one of the page's."""
        added = list(lines)
        if last + 1 < len(self.lines) and self.lines[last + 1].strip():
            added.append("")
        start, end = self._unclosed
        if end and last >= start:
            added.insert(0, end)
        place = sum(len(line) + 1 for line in self._content.split("\n")[: last + 1])
        before, after = self._content[:place], self._content[place:]
        joint = self._newline if before and not before.endswith("\n") else ""
        return before + joint + "".join(f"{line}{self._newline}" for line in added) + after
