"""Text made comparable, with the way back: small letters, normal widths, single spaces, whole letters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

# A letter with what belongs to it: accents, the later parts of a Korean syllable, Japanese voicing marks.
CLUSTER = re.compile("\\s+|.[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]*", re.DOTALL)
UNTIDY_SPACE = re.compile(r"\s\s|[^\S ]")
# A long dash says "to", which a hyphen inside a date does not.
QUOTES_AND_DASHES = str.maketrans("’ʼ‘`−–—〜～", "''''-~~~~")


@dataclass(frozen=True, slots=True)
class Folded:
    """`places[i]` is where the letters behind the folded character i begin and end; none where nothing moved."""

    text: str
    places: tuple[tuple[int, int], ...] | None = None

    def source(self, start: int, end: int) -> tuple[int, int]:
        if self.places is None:
            return start, end
        return self.places[start][0], self.places[end - 1][1]

    def plain(self, accents: Mapping[int, int]) -> str:
        """Without accents, for a language that is typed without; places stay."""
        return self.text.translate(accents) if accents else self.text


def fold(text: str) -> Folded:
    tidy = text.translate(QUOTES_AND_DASHES)
    lower = tidy.lower()
    if len(lower) == len(tidy) and is_normalized("NFKC", lower) and not UNTIDY_SPACE.search(lower):
        return Folded(lower)
    letters, places = [], []
    for cluster in CLUSTER.finditer(tidy):
        folded = " " if cluster[0].isspace() else normalize("NFKC", cluster[0]).lower()
        letters.append(folded)
        places += [cluster.span()] * len(folded)
    return Folded("".join(letters), tuple(places))
