"""Korean nouns without their particles, and the nouns inside verbs, by rule and without a dictionary."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import LONGEST, Word

_FIRST, _FINALS, _VOWELS = 0xAC00, 28, 21
# ㅗ and ㅜ become ㅘ and ㅝ, ㅣ becomes ㅕ, ㅡ gives way to ㅏ or ㅓ.
_MERGED = {8: (9,), 13: (14,), 20: (6,), 18: (0, 4)}
_NONE, _RIEUL, _NIEUN, _BIEUP, _PAST = 0, 8, 4, 17, 20

_VERB, _COMMON = 0.9, 0.3

_COUNTER = re.compile(
    "^(?:개월|시간|분기|주년|주일|년대|년도|퍼센트|[천만억]?[년월일시분초개명번원층차주달세살권대장건회호위등점배인박쪽화편]|[천만억])(?:간|째|쯤|경)?"
)

# Particles after any sound, after a consonant, after a vowel. The longest that fits is taken.
_AFTER_ANY = frozenset(
    "의 에 에서 에게 에게서 한테 한테서 께 께서 도 만 까지 부터 마다 처럼 보다 밖에 조차 마저 대로 만큼 뿐 뿐만 에는 에도 에만 에서는 "
    "에서도 에서만 에서의 에서부터 에게는 에게도 한테는 까지는 까지도 까지의 부터는 부터의 보다는 보다도 처럼은 만큼은 만의 만은 만이 "
    "만을 하고 께서는 과의 와의 들 들이 들은 들을 들의 들에 들에게 들에게는 들과 들과의 들도 들만 들로 들로부터 들이나 들부터 들까지 "
    "들한테 들에서 들에서는 에서야 에야 이라도 이라고 이라는 이란 이라면 이었다 이었고 이었습니다 이다 입니다 인데 이고 이며 이지만 "
    "이에요 이네요 이네 이죠 이니까 이거나 이라서 별로 상으로 상에서 때문에".split()
)
_AFTER_CONSONANT = frozenset(
    "이 은 을 과 으로 으로는 으로도 으로서 으로써 으로만 으로의 으로부터 이나 이랑 과는 과도 이야".split()
)
_AFTER_VOWEL = frozenset(
    "가 는 를 와 로 로는 로도 로서 로써 로만 로의 로부터 랑 라도 라고 라는 라서 란 라면 였다 였고 였습니다 예요 네요 와는 와도 죠".split()
)
PARTICLES = _AFTER_ANY | _AFTER_CONSONANT | _AFTER_VOWEL
# A noun of one syllable before these is sure enough; before the others it must be a known one.
_SURE = frozenset(
    "을 를 에서 에서는 에서도 에게 에게는 한테 으로 까지 부터 입니다 이라고 이라는 에 에는 에도 께서 이었다 처럼".split()
)
_SHORT_NOUNS = frozenset(
    "팀 집 책 돈 차 비 물 밥 술 꿈 말 눈 손 발 몸 맛 값 길 방 문 꽃 글 곡 약 병 옷 배 코 귀 피 해 달 별 산 강 섬 땅 불 개 소 닭 새 "
    "빵 떡 국 쌀 콩 딸 형 앱 웹 키 표 줄 색 선 점 힘 빛 춤 컵 폰 펜 팁 왕 법 벽 봇 툴 탭 곰 쥐 뱀 님 짐 숲 역".split()
)
# Nouns of one syllable that are grammar, and so take the word with them.
_BOUND = frozenset("씨 것 때 곳 쪽 거".split())
# What can stand between a noun and its last particle: 친구들에게는, 회사에서만은.
_INNER = ("에게", "에서", "까지", "부터", "한테", "들", "만")

# Nouns that end as if with a particle.
_NOUNS = frozenset(
    "회의 강의 문의 정의 주의 논의 동의 합의 협의 건의 항의 심의 결의 편의 의의 상의 하의 휴가 추가 화가 허가 대가 주가 요가 유가 "
    "고가 저가 애호가 투자가 오메가 강도 철도 수도 지도 시도 차도 선도 점도 법도 비만 불만 별로 도로 고속도로 매크로 마이크로 히어로 "
    "피로 차로 고양이 어린이 떡볶이 호랑이 원숭이 달팽이 곰팡이 지팡이 젊은이 늙은이 종이 놀이 깊이 높이 먹이 길이 넓이 굳이 벌이 풀이 "
    "목걸이 귀걸이 옷걸이 물놀이 불꽃놀이 아들 큰아들 제주도 경기도 강원도 충청도 전라도 경상도 난이도 완성도 인지도 중요도 "
    "신뢰도 만족도 해상도 정확도 선호도 우선도 진척도 습도 온도 아리랑 사랑 자랑 신랑 "
    "가을 마을 노을 바다 캐나다 판다 어젠다 아젠다 베란다 람다 우간다 르완다 보고 사고 창고 광고 경고 최고 재고 참고 "
    "신고 권고 냉장고 가게 무게 대학로 종로 을지로 세종대로 우편함 보관함 사물함 크기 남자 이자 사자 가지 글쓰기 달리기".split()
)
_NOUN_TAILS = (
    "주의",
    "휴가",
    "놀이",
    "고속도로",
    "화상회의",
    "주간회의",
    "정기회의",
    "전체회의",
    "기획회의",
    "온라인강의",
    "팀회의",
    "목표가",
)

_PAST_TAILS = (
    "다 고 는데 지만 으며 으나 으면 던 음 음을 어 어요 었다 었고 었습니다 습니다 다고 다는 다면 을 기 기에 기때문에 더니 네 네요 나 나요 "
    "죠 지 다가 는지 으니 으니까 어서 거든요 습니까 는가 었던 었는데"
).split()
_PRESENT_TAILS = (
    "다 고 며 면 면서 지 지만 여 여서 여야 였다 였고 였으며 였습니다 는 는데 는지 던 기 기로 기도 기가 기에 기를 기는 기위해 려고 려면 "
    "려는 자 자고 자는 세요 십시오 시오 신 셨다 도록 게 니 니까 거나 겠다 겠습니다 겠다고 므로 나 네요 네 고자 느라 더라 든지 지는 지도 "
    "지않은 지않는 지못한 었다 었고 었으며 었습니다 었던 었는데 었지만 었음 었다고 어 어서 어야 는것 는것이 고있다 고있는 고있습니다"
).split()
_OPEN_TAILS = "서 요 야 야만 야지 도 주세요 줘 줘요 줬다 준다 주었다 달라 달라고 본 봤다 보자 보니 라 졌다 진 진다 지고 지는 왔다 온 야한다 야하는".split()
_MODIFIED_TAILS = "다 다고 다는 다면 데 지 다며 채 뒤 후".split()
_FUTURE_TAILS = "까 까요 게 게요 지 지도 때 것 수 예정 텐데 만한".split()
_NAMED_TAILS = "을 은 이 과 에 으로 으로써 의".split()
_POLITE_TAILS = "니다 니까 시다 니다만".split()

# 하다 and its relatives make a verb of a noun: the forms of each before the tails above, in the same order.
_MAKING_VERBS = (
    ("하", "했", "해", "한", "할", "함", "합"),
    ("되", "됐", "돼", "된", "될", "됨", "됩"),
    ("시키", "시켰", "시켜", "시킨", "시킬", "시킴", "시킵"),
    ("당하", "당했", "당해", "당한", "당할", "당함", "당합"),
    ("스럽", "스러웠", "스러워", "스러운", "스러울", "스러움", "스럽습"),
)
_DERIVED = "적인 적으로 적이다 적이고 적이며 적이었다 받다 받았다 받고 받는 받은 받을 받았고 받았습니다 받아서 받아 하기위해".split()

# What 하다 joins that is no noun: 좋아하다, 싫어하다, 그러하다.
_NO_NOUNS = frozenset(
    "좋아 싫어 미워 두려워 그래 그러 이러 어떠 해야 기뻐 슬퍼 못 안 잘 같이 함께 가까이 어찌 부러워 무서워 즐거워 어려워 힘들어".split()
)

# Common verbs and adjectives that no noun hides in.
_NATIVE = (
    "하 되 있 없 가 오 보 먹 자 살 알 모르 만나 만들 주 받 좋 싫 많 적 크 작 같 싶 않 못하 나 내 들 놀 서 쓰 읽 듣 걷 찾 얻 잡 놓 두 "
    "넣 빼 열 닫 앉 일어나 나가 나오 들어가 들어오 올라가 내려가 돌아오 돌아가 지나 떠나 다니 기다리 마시 배우 가르치 보내 바꾸 고치 "
    "부르 고르 느끼 아프 바쁘 기쁘 슬프 예쁘 나쁘 빠르 느리 높 낮 길 짧 멀 늦 이르 새롭 쉽 어렵 맞 틀리 늘 줄 지 되돌리 끝나 끝내 "
    "걸리 남 모으 버리 사 팔 타 입 웃 울 죽 이기 지키 따르 위하 대하 통하 관하 의하 인하 미루 옮기 맡 올리 내리 생기 나누 고맙 재미있 "
    "맛있 멋있 힘들 즐겁 반갑 무섭 괜찮 아니 이 즐기 보이 잊 믿 원하"
).split()
_NATIVE_TAILS = "다 고 는 지 면 게 기 던 자 며 려고 면서 지만 는데 거나 도록 네요 네 어 아 어서 아서 어요 아요 은 을 으면 을까 음 은데 는지 니 니까 세요 는다 겠다 지않 러 려면 으려고 기로 기도 기가 기를".split()
_IRREGULAR = "매운 추운 더운 쉬운 고운 미운 매워 추워 더워 쉬워 고마워 미워 몰라 빨라 달라 들어 걸어 물어 지어 나아 예뻐 바빠 아파 기뻐 슬퍼 좋아 싫어 와 봐 줘 해 돼 이런 저런 그런 어떤".split()
_ENDINGS_OF_VERBS = tuple(
    "습니다 습니까 니다 어요 아요 여요 해요 네요 군요 지요 세요 려고 면서 지만 는데 는다 더라 구나 거든요 을게요 을까요 으니까 "
    "으면 주신 도록 자마자 느라 어서 아서 어야 아야 려면".split()
)


def uncounted(run: str) -> str:
    """What is left of a run after a number without the unit that is counted."""
    return _COUNTER.sub("", run)


def words(run: str) -> Iterator[Word]:
    """The noun of one stretch of syllables, if there is one."""
    noun, weight = _reduced(run) if 0 < len(run) <= LONGEST else ("", 0)
    if len(noun) == 1 and noun == run and noun not in _SHORT_NOUNS:
        return
    if noun and noun not in STOPWORDS["ko"] and noun not in TIMEWORDS["ko"]:
        yield Word(noun, _COMMON if noun in FAINT["ko"] else weight)


def stem(run: str) -> str:
    """The noun without its particles, or the noun in a verb; empty where there is none."""
    return _reduced(run)[0] if len(run) <= LONGEST else ""


@lru_cache(maxsize=16384)
def _reduced(run: str) -> tuple[str, float]:
    if run in STOPWORDS["ko"] or run in TIMEWORDS["ko"] or run in PARTICLES:
        return "", 0
    if run in _NOUNS or (len(run) > 3 and run.endswith(_NOUN_TAILS)):
        return run, 1.0
    if run in _native_forms():
        return "", 0
    made = _noun_made_verb(run)
    if made is not None:
        return made, _VERB
    bare = _without_particle(run)
    if _looks_verbal(bare) or (bare == run and _looks_joining(run)):
        return "", 0
    return bare, 1.0


def _noun_made_verb(run: str) -> str | None:
    """연기되었다 -> 연기; empty for a verb without a noun, None if it is no such verb at all."""
    endings = _verb_endings()
    for length in range(min(len(run) - 1, 9), 0, -1):
        if run[-length:] in endings and (len(run) - length > 1 or length > 1):
            noun = run[:-length]
            if noun in _NO_NOUNS or len(noun) < 2:
                return "" if length > 1 else None
            return _without_particle(noun) if noun[-1] in "을를" else noun
    return None


def _without_particle(run: str) -> str:
    noun = _once_without_particle(run)
    if noun != run and len(noun) > 3:
        for inner in _INNER:
            if noun.endswith(inner):
                return noun[: -len(inner)]
    return noun


def _once_without_particle(run: str) -> str:
    fitting = [(run[:-length], run[-length:]) for length in range(min(len(run) - 1, 5), 0, -1)]
    fitting = [(noun, particle) for noun, particle in fitting if _fits(noun, particle)]
    for noun, _ in fitting:
        if noun in _NOUNS:
            return noun
    for noun, particle in fitting:
        if len(noun) > 1 or particle in _SURE or noun in _SHORT_NOUNS or noun in _BOUND:
            return noun
    return run


def _fits(noun: str, particle: str) -> bool:
    """Whether the noun's last sound allows the particle: 이 follows a consonant, 가 a vowel, 로 also ㄹ."""
    if particle in _AFTER_ANY:
        return True
    final = _final(noun[-1])
    if particle in _AFTER_VOWEL:
        return final == _NONE or (final == _RIEUL and particle[0] == "로")
    return particle in _AFTER_CONSONANT and final != _NONE and not (final == _RIEUL and particle.startswith("으로"))


def _looks_verbal(run: str) -> bool:
    """Forms no noun has: a past in ㅆ, a present in ㄴ다, a polite ㅂ니다."""
    if any(_final(char) == _PAST for char in run):
        return True
    return len(run) > 1 and run[-1] == "다" and _final(run[-2]) in (_NIEUN, _BIEUP)


def _looks_joining(run: str) -> bool:
    """Endings that join sentences, and adverbs and modifiers in 히, 게, 운, 던."""
    return (len(run) > 2 and run[-1] in "히게운던") or run.endswith(_ENDINGS_OF_VERBS)


def _final(syllable: str) -> int:
    """The number of the final consonant, 0 without one."""
    return (ord(syllable) - _FIRST) % _FINALS if "\uac00" <= syllable <= "\ud7a3" else _NONE


@cache
def _verb_endings() -> frozenset[str]:
    """Everything that can follow a noun to make it a verb."""
    found = set(_DERIVED)
    for present, past, open_, modified, future, named, polite in _MAKING_VERBS:
        found.update(present + tail for tail in _PRESENT_TAILS)
        found.update(past + tail for tail in _PAST_TAILS)
        found.update(open_ + tail for tail in ("", *_OPEN_TAILS))
        found.update(modified + tail for tail in ("", *_MODIFIED_TAILS))
        found.update(future + tail for tail in ("", *_FUTURE_TAILS))
        found.update(named + tail for tail in ("", *_NAMED_TAILS))
        found.update(polite + tail for tail in _POLITE_TAILS)
    return frozenset(found)


def _open_forms(verb: str) -> list[str]:
    """A stem that ends in a vowel, run together with the 아 or 어 that follows: 배우 -> 배워, 아프 -> 아파."""
    lead, vowel = divmod((ord(verb[-1]) - _FIRST) // _FINALS, _VOWELS)
    return [verb[:-1] + chr(_FIRST + (lead * _VOWELS + merged) * _FINALS) for merged in _MERGED.get(vowel, (vowel,))]


@cache
def _native_forms() -> frozenset[str]:
    """Common verbs in their regular forms; past forms show by their ㅆ."""
    found = {*_NATIVE_TAILS, *_IRREGULAR}
    for verb in _NATIVE:
        found.update(verb + tail for tail in _NATIVE_TAILS)
        if _final(verb[-1]) == _NONE:
            head, last = verb[:-1], ord(verb[-1])
            closed = [head + chr(last + final) for final in (_NIEUN, _RIEUL)]
            found.update(closed)
            found.update(closed[0] + tail for tail in ("다", "데", "다고", "다는"))
            found.add(head + chr(last + _BIEUP) + "니다")
            found.update(open_ + tail for open_ in _open_forms(verb) for tail in ("", "서", "요", "야"))
    return frozenset(found) - _NOUNS - _SHORT_NOUNS
