"""The file names in a line of prose."""

import re
from dataclasses import dataclass

from commonplace.domain.bank import MAX_NAME_CHARS, filename
from commonplace.domain.errors import Invalid
from commonplace.domain.filing.words import folded

_END = re.compile(r"\.md(?![A-Za-z0-9_]|\.[A-Za-z0-9])")
_BESIDE = frozenset("readme rules claude agents contributing license gemini".split())
"""Files that prose speaks of and that are no part of a bank."""
_FILE_WORDS = frozenset({"", "file", "the file", "fichier", "le fichier", "ファイル", "文件", "파일"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A file name, and where it stands with the folders before it."""

    name: str
    start: int
    end: int

    def leads(self, line: str) -> bool:
        """Whether the line is about the file: nothing is said before its name."""
        before = line[: self.start]
        return not any(map(str.isalpha, before)) or folded(before).strip() in _FILE_WORDS

    def rest(self, line: str) -> str:
        return f"{line[: self.start]} {line[self.end :]}"


def mentions(line: str) -> list[Mention]:
    """Every name once, in order."""
    found: dict[str, Mention] = {}
    for end in _END.finditer(line):
        mention = _mention(line, end.end())
        if mention:
            found.setdefault(mention.name, mention)
    return list(found.values())


def _mention(line: str, end: int) -> Mention | None:
    start = _ticked(line, end) or _bare(line, end)
    try:
        name = filename(line[start:end].rpartition("/")[2].strip().lstrip("-._ "))
    except Invalid:
        return None
    folder = start
    while (
        folder > 0 and folder > start - MAX_NAME_CHARS and not line[folder - 1].isspace() and line[folder - 1] in _PATH
    ):
        folder -= 1
    if "://" in line[folder:start] or "YYYY" in name or name.removesuffix(".md").casefold().strip("_") in _BESIDE:
        return None
    return Mention(name, folder, end)


_PATH = frozenset("/.:_-~") | frozenset(map(chr, [*range(48, 58), *range(65, 91), *range(97, 123)]))


def _ticked(line: str, end: int) -> int:
    """Where a name between backticks begins, which may have blanks; 0 for none."""
    if line[end : end + 1] != "`":
        return 0
    return line.rfind("`", max(0, end - MAX_NAME_CHARS * 2), end) + 1


def _bare(line: str, end: int) -> int:
    """Where a name without blanks begins. Prose runs into it in scripts without blanks, but not in the same letters."""
    start, stem = end - len(".md"), end - len(".md")
    dense = start > 0 and _is_dense(line[start - 1])
    while start > 0 and stem - start < MAX_NAME_CHARS and _continues(line[start - 1], dense):
        start -= 1
    return start


def _continues(char: str, dense: bool) -> bool:
    if char in "_-.":
        return True
    # Between Japanese words stands hiragana: it ends a name that is otherwise in kanji or katakana.
    return char.isalnum() and (not "\u3041" <= char <= "\u309f" if dense else not _is_dense(char))


def _is_dense(char: str) -> bool:
    return char >= "\u1100"
