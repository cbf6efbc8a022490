"""A short form of a text in its own sentences: those that say most of what it says. No model, the same every time."""

import re
from collections import Counter

from commonplace.language.terms import terms

_LOOK = 100_000
_MOST_SENTENCES = 400
_WIDE_STOPS = ("。", "！", "？", "」", "』", "）")
_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+[\"'”’»」』）)\]]*)?")


def summary(text: str, most_chars: int = 300) -> str:
    """The sentences whose words the text repeats most, in their order, within so many characters."""
    sentences = [s.strip() for s in _SENTENCE.findall(text[:_LOOK]) if s.strip()][:_MOST_SENTENCES]
    plain = " ".join(text[:_LOOK].split())
    if len(plain) <= most_chars or len(sentences) < 2:
        return _cut(plain, most_chars)
    worth = _worth(sentences)
    chosen: list[int] = []
    room = most_chars
    for at in sorted(range(len(sentences)), key=lambda at: (-worth[at], at)):
        if len(sentences[at]) + 1 <= room:
            chosen.append(at)
            room -= len(sentences[at]) + 1
    if not chosen:
        return _cut(sentences[max(range(len(sentences)), key=lambda at: worth[at])], most_chars)
    return _joined([" ".join(sentences[at].split()) for at in sorted(chosen)])


def _joined(sentences: list[str]) -> str:
    """One after another; after a full stop of Chinese or Japanese there is no space."""
    return "".join(one if one.endswith(_WIDE_STOPS) else f"{one} " for one in sentences).rstrip()


def _worth(sentences: list[str]) -> list[float]:
    """By how often its terms occur in the whole, per term; beginnings count a little more."""
    bags = [set(terms(sentence)) for sentence in sentences]
    counts = Counter(term for bag in bags for term in bag)
    return [
        sum(counts[term] - 1 for term in bag) / (len(bag) + 4) + (0.5 if at == 0 else 0.0)
        for at, bag in enumerate(bags)
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
