"""Korean nouns without their particles, and the nouns inside verbs, by rule and without a dictionary."""

import re
from collections.abc import Iterator
from functools import lru_cache

from commonplace.language.korean_nouns import BOUND, NOUN_TAIL_ENDS, NOUN_TAILS, NOUNS, SHORT_NOUNS, TELLING_NOTHING
from commonplace.language.korean_verbs import NONE, RIEUL, final, is_native, is_verbal, noun_made_verb, sounds_verbal
from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import LONGEST, Word

_VERB, _COMMON = 0.9, 0.3

_COUNTER = re.compile(
    "^(?:개월|시간|분기|주년|주일|년대|년도|퍼센트|프로|킬로미터|센티미터|밀리미터|킬로그램|킬로|미터|리터|그램|기가바이트|기가|메가|테라|바이트|"
    "마리|그릇|군데|가지|번째|[십백천만억]*[년월일시분초개명번원층차주달세살권대장건회호위등점배인박쪽화편잔병통판줄곡쌍벌]|[십백천만억]+)"
    "(?:간|째|쯤|경|씩)?"
)

# Particles after any sound, after a consonant, after a vowel. The longest that fits is taken.
_AFTER_ANY = frozenset(
    "의 에 에서 에게 에게서 한테 한테서 께 께서 도 만 까지 부터 마다 처럼 보다 밖에 조차 마저 대로 만큼 뿐 뿐만 에는 에도 에만 에서는 "
    "에서도 에서만 에서의 에서부터 에게는 에게도 한테는 까지는 까지도 까지의 부터는 부터의 보다는 보다도 처럼은 만큼은 만의 만은 만이 "
    "만을 하고 께서는 과의 와의 들 들이 들은 들을 들의 들에 들에게 들에게는 들과 들과의 들도 들만 들로 들로부터 들이나 들부터 들까지 "
    "들한테 들에서 들에서는 에서야 에야 이라도 이라고 이라는 이란 이라면 이다 입니다 인데 이고 이며 이지만 이므로 이라 이니 인데도 "
    "이에요 이네요 이네 이죠 이니까 이거나 이라서 때문에 씩 이든 이어서".split()
)
_AFTER_CONSONANT = frozenset(
    "이 은 을 과 으로 으로는 으로도 으로서 으로써 으로만 으로의 으로부터 이나 이랑 과는 과도 이야".split()
)
_AFTER_VOWEL = frozenset(
    "가 는 를 와 로 로는 로도 로서 로써 로만 로의 로부터 랑 라도 라고 라는 라서 란 라면 예요 네요 와는 와도 죠 다".split()
)
# 온라인상에서, but 책상에서.
_ABOUT = frozenset("상으로 상에서 별로".split())
PARTICLES = _AFTER_ANY | _ABOUT | _AFTER_CONSONANT | _AFTER_VOWEL
# A noun of one syllable before these is sure enough; before the others it must be a known one.
_SURE = frozenset(
    "을 를 에서 에서는 에서도 에게 에게는 한테 으로 까지 부터 입니다 이라고 이라는 에 에는 에도 께서 처럼 이나 이다".split()
)
# What can stand between a noun and its last particle: 친구들에게는, 회사에서만은.
_INNER = ("에게", "에서", "까지", "부터", "한테", "들", "만")
_COPULA = re.compile("입니다|이었|이어서|였|여서$")
# Verbs whose 여서 and 였다 are not those of 이다.
_SHOWING = frozenset("돋보 선보 내보 엿보 얕보".split())


def uncounted(run: str) -> str:
    """What is left of a run after a number without the unit that is counted."""
    return _COUNTER.sub("", run)


def words(run: str) -> Iterator[Word]:
    """The noun of one stretch of syllables, if there is one."""
    noun, weight = _reduced(run) if 0 < len(run) <= LONGEST else ("", 0)
    if len(noun) == 1 and noun == run and noun not in SHORT_NOUNS:
        return
    # A unit that has a particle and no number is the thing: 개가, but not 한 개.
    grammar = noun in STOPWORDS["ko"] and (noun == run or noun not in SHORT_NOUNS)
    if noun and not grammar and noun not in TIMEWORDS["ko"]:
        yield Word(noun, _COMMON if noun in FAINT["ko"] else weight)


def stem(run: str) -> str:
    """The noun without its particles, or the noun in a verb; empty where there is none."""
    return _reduced(run)[0] if len(run) <= LONGEST else ""


@lru_cache(maxsize=16384)
def _reduced(run: str) -> tuple[str, float]:
    splits = _splits(run)
    if (noun := _listed(run, splits)) is not None:
        return noun, 1.0
    if is_native(run):
        return "", 0
    if (noun := _short(run)) is not None:
        return noun, 1.0
    if (noun := noun_made_verb(run)) is not None:
        return _unmarked(noun), _VERB
    if (noun := _before_copula(run)) is not None:
        return noun, 1.0
    if is_verbal(run):
        return "", 0
    bare = _without_particle(run, splits)
    return ("", 0) if bare != run and sounds_verbal(bare) else (bare, 1.0)


def _listed(run: str, splits: list[tuple[str, str]]) -> str | None:
    """What the lists know: empty for what is no noun, None where they say nothing."""
    if run in NOUNS:
        return run
    if run in STOPWORDS["ko"] or run in TIMEWORDS["ko"] or run in PARTICLES or run in TELLING_NOTHING:
        return ""
    for noun, _ in splits:
        if noun in NOUNS:
            return noun
    if _has_noun_tail(run):
        return run
    for noun, _ in splits:
        if _has_noun_tail(noun):
            return noun
    return None


def _has_noun_tail(noun: str) -> bool:
    return noun[-2:] in NOUN_TAIL_ENDS and (len(noun) > 3 or noun[-1] == "이") and noun.endswith(NOUN_TAILS)


def _short(run: str) -> str | None:
    """A known noun of one syllable; empty if it is grammar."""
    first, particle = run[0], run[1:]
    if first in SHORT_NOUNS:
        return first if not particle or (particle != "다" and _fits(first, particle)) else None
    return "" if first in BOUND and particle and _fits(first, particle) else None


def _unmarked(noun: str) -> str:
    """정리를했다: the object of 하다 with its mark."""
    return noun[:-1] if len(noun) > 2 and noun[-1] in "을를" else noun


def _before_copula(run: str) -> str | None:
    """The noun that is or was something: 학생입니다, 문제였다, 휴가여서."""
    found = _COPULA.search(run, 1)
    if found is None:
        return None
    place = found.start()
    if found.group()[0] in "였여" and final(run[place - 1]) != NONE:
        return None
    if place == 1 and run[0] in SHORT_NOUNS and final(run[0]) != NONE:
        return run[0]
    return run[:place] if place > 1 and run[:place] not in _SHOWING else None


def _without_particle(run: str, splits: list[tuple[str, str]]) -> str:
    noun = next((noun for noun, particle in splits if len(noun) > 1 or _sure(noun, particle)), run)
    if noun != run and len(noun) > 3:
        for inner in _INNER:
            if noun.endswith(inner):
                return noun[: -len(inner)]
    return noun


def _sure(noun: str, particle: str) -> bool:
    """Whether one syllable is a noun by what follows; after a vowel 이다 may as well be the end of a word: 레이다."""
    return particle in _SURE and not (particle[0] in "이입" and final(noun) == NONE)


def _splits(run: str) -> list[tuple[str, str]]:
    """A run as noun and particle in all ways that fit, the longest particle first."""
    places = range(max(len(run) - 5, 1), len(run))
    return [(run[:at], tail) for at in places if (tail := run[at:]) in PARTICLES and _fits(run[:at], tail)]


def _fits(noun: str, particle: str) -> bool:
    """Whether the noun's last sound allows the particle: 이 follows a consonant, 가 a vowel, 로 also ㄹ."""
    if particle in _AFTER_ANY:
        return True
    if particle in _ABOUT:
        return len(noun) > 2
    last = final(noun[-1])
    if particle in _AFTER_VOWEL:
        return last == NONE or (last == RIEUL and particle[0] == "로")
    return particle in _AFTER_CONSONANT and last != NONE and not (last == RIEUL and particle.startswith("으로"))
