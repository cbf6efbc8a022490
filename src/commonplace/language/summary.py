"""A short form of a text in its own sentences: those that say most of what it says. No model, the same every time."""

import re
from collections import Counter

from commonplace.language.terms import terms

_LOOK = 100_000
_MOST_SENTENCES = 400
_WIDE_STOPS = ("。", "！", "？", "」", "』", "）")
_SENTENCE = re.compile(r"(?:[^.!?。！？…\n]|[.!?](?=(?a:\w)))+(?:[.!?。！？…]+[\"'”’»」』）)\]]*)?")
"""A stop within a number, a version or an address ends nothing."""


def summary(text: str, most_chars: int = 300) -> str:
    """The sentences whose words the text repeats most, each once, in their order, within so many characters."""
    plain = " ".join(text[:_LOOK].split())
    if len(plain) <= most_chars:
        return plain
    times = Counter(" ".join(found.split()) for found in _SENTENCE.findall(text[:_LOOK]) if found.strip())
    sentences = list(times)[:_MOST_SENTENCES]
    if not sentences:
        return _cut(plain, most_chars)
    worth = _worth(sentences, times)
    ranked = sorted(range(len(sentences)), key=lambda at: (-worth[at], at))
    chosen: list[int] = []
    room = most_chars
    for at in ranked:
        if len(sentences[at]) + 1 <= room:
            chosen.append(at)
            room -= len(sentences[at]) + 1
    return _joined([sentences[at] for at in sorted(chosen)]) if chosen else _cut(sentences[ranked[0]], most_chars)


def _joined(sentences: list[str]) -> str:
    """One after another; after a full stop of Chinese or Japanese there is no space."""
    return "".join(one if one.endswith(_WIDE_STOPS) else f"{one} " for one in sentences).rstrip()


def _worth(sentences: list[str], times: Counter[str]) -> list[float]:
    """By how often its terms occur in the whole, per term; beginnings count a little more."""
    bags = [set(terms(sentence)) for sentence in sentences]
    counts: Counter[str] = Counter()
    for sentence, bag in zip(sentences, bags, strict=True):
        counts.update(dict.fromkeys(bag, times[sentence]))
    return [
        sum(counts[term] - 1 for term in bag) / (len(bag) + 4) + (0.5 if at == 0 else 0.0)
        for at, bag in enumerate(bags)
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
