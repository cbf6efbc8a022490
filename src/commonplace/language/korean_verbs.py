"""Korean verbs and adjectives: the noun that 하다 and its relatives made a verb of, and forms that hide no noun."""

import re
from functools import cache

_FIRST, _LAST, _FINALS, _VOWELS = 0xAC00, 0xD7A3, 28, 21
NONE, NIEUN, RIEUL, MIEUM, BIEUP, PAST, IEUNG = 0, 4, 8, 16, 17, 20, 21
_A, _AE, _EO, _YEO, _WA, _WAE, _WO = 0, 1, 4, 6, 9, 10, 14
# ㅗ and ㅜ become ㅘ and ㅝ, ㅣ becomes ㅕ, ㅡ gives way to ㅏ or ㅓ.
_MERGED = {8: (9,), 13: (14,), 20: (6,), 18: (0, 4)}

_PLAIN_TAILS = (
    "다 고 며 면 면서 지 지만 는 는데 는지 던 기 기로 기도 기가 기에 기를 기는 려고 려면 려는 러 자 자고 자는 자마자 세요 십시오 시오 신 "
    "시는 신다 시고 시면 셔서 도록 게 니 니까 거나 므로 나 나요 네 네요 고자 느라 더라 더니 든지 든 지는 지도 다가 다고 다는 다면 다며 "
    "고있다 고있는 고있습니다 기위해 는것 는것이 지않은 지않는 지못한 길 자니 구나 군요 죠 지요 되 진 진다 지고 지면"
).split()
_OPEN_TAILS = (
    "서 요 야 야만 야지 도 주세요 줘 줘요 준다 주는 주고 줄 준 주기 달라 달라고 본 본다 보자 보니 보고 보면 보는 볼 라 라고 진 "
    "진다 지고 지는 지면 질 지기 온 오는 오고 올 간 가는 가고 갈 놓고 놓은 둔 두고 둘 두자 두면 내고 낸 버린 버리고 야한다 "
    "야하는 드린 드리고 대는"
).split()
_MODIFIED_TAILS = "다 다고 다는 다면 다며 다는데 데 데도 지 지도 채 뒤 후 가 가요 걸".split()
_FUTURE_TAILS = "까 까요 까봐 게 게요 지 지도 때 것 수 수록 예정 텐데 만한 거라고".split()
_NAMED_TAILS = "을 은 이 과 에 으로 으로써 의".split()
_POLITE_TAILS = "니다 니까 시다 니다만".split()
_HA_TAILS = "여 여서 여야 여도".split()

# 하다 and its relatives: plain stem, open, modifying, future, named and polite form. The past shows by its ㅆ.
_MAKING_VERBS = (
    ("하", "해", "한", "할", "함", "합"),
    ("되", "돼", "된", "될", "됨", "됩"),
    ("시키", "시켜", "시킨", "시킬", "시킴", "시킵"),
    ("당하", "당해", "당한", "당할", "당함", "당합"),
    ("스럽", "스러워", "스러운", "스러울", "스러움", "스럽습"),
)
_DERIVED = (
    "적인 적으로 적이다 적이고 적이며 받다 받고 받는 받은 받을 받아서 받아 받지 받기 하기위해 되어 되어서 되어야 되어도 "
    "드리고 드린 드릴 드립니다 드려요 드려서"
).split()
_ENDING_HEADS, _LONGEST_ENDING = frozenset("하해한할함합되돼된될됨됩시당스적받드"), 7
_MAKER = re.compile("[하해한할함합했되돼된될됨됩됐시당스적받드]")
_PAST_MAKER = re.compile("하였|되었|시켰|당했|스러웠|받았|드렸|했|됐|하겠|되겠|시키겠|하셨|되셨")
_PAST_SYLLABLE = re.compile(f"[{''.join(map(chr, range(_FIRST + PAST, _LAST + 1, _FINALS)))}]")

_AFTER_SHORT_NOUNS = frozenset(
    [head + tail for head in "함됨" for tail in _NAMED_TAILS] + "적으로 적이다 적이고 적이며".split()
)

# What 하다 joins that is no noun: 좋아하다, 싫어하다, 그러하다.
_NO_NOUNS = frozenset(
    "좋아 싫어 미워 두려워 그래 그러 이러 어떠 해야 기뻐 슬퍼 못 안 잘 같이 함께 가까이 어찌 부러워 무서워 즐거워 어려워 힘들어 잘못 "
    "원 정 향 대 변 구 전 통 피 취 강 약 급 심 편 착 독 순 선 위 관 의 인 속 달 가 행 당 처 망 흥 성 택 합 범 접 권 금 상 탐 청 면 격 "
    "고 굳 용 아니 헤어나지 그렇게 이렇게 어떻게 못하게 조금 더 덜 왜 뭐 또".split()
)

# Common verbs and adjectives that no noun hides in.
_NATIVE = (
    "하 되 있 없 가 오 보 먹 자 살 알 모르 만나 만들 주 받 좋 싫 많 적 크 작 같 싶 않 못하 나 내 들 놀 서 쓰 읽 듣 걷 "
    "찾 얻 잡 놓 두 넣 빼 열 닫 앉 일어나 나가 나오 들어가 들어오 올라가 내려가 돌아오 돌아가 지나 떠나 다니 기다리 마시 배우 "
    "가르치 보내 바꾸 고치 부르 고르 느끼 아프 바쁘 기쁘 슬프 예쁘 나쁘 빠르 느리 높 낮 길 짧 멀 늦 이르 새롭 쉽 어렵 맞 틀리 "
    "늘 줄 지 되돌리 끝나 끝내 걸리 남 모으 버리 사 팔 타 입 웃 울 죽 이기 지키 따르 위하 대하 통하 관하 의하 인하 미루 옮기 "
    "맡 올리 내리 생기 나누 고맙 재미있 맛있 멋있 힘들 즐겁 반갑 무섭 괜찮 아니 이 즐기 보이 잊 믿 원하 줄이 늘리 높이 낮추 끊 "
    "끊기 밀리 사라지 떨어지 넘어지 빠지 헤어지 깨지 커지 막히 빌리 맡기 남기 챙기 숨기 넘기 당기 웃기 벗기 씻 씻기 담기 안기 쫓기 "
    "뺏기 튀기 섬기 바르 다르 오르 흐르 누르 자르 마르 기르 찌르 서두르 타오르 끄 뜨 띄우 비싸 피우 키우 세우 지우 태우 채우 깨우 "
    "비우 재우 외우 치우 싸우 돕 눕 줍 굽 춥 덥 맵 밉 가볍 무겁 두렵 귀엽 아쉽 아름답 부럽 가깝 뜨겁 차갑 시끄럽 더럽 부드럽 "
    "아깝 우습 붙 붙이 섞 섞이 묶 묶이 쌓 쌓이 놓이 끓 끓이 먹이 죽이 속이 녹이 모이 쓰이 꼬이 들이 벌이 움직이 망설이 기울이 "
    "반짝이 끄덕이 열리 닫히 잡히 뽑 뽑히 먹히 읽히 밟 밟히 꽂 꽂히 접히 잊히 부딪히 달리 물리 풀리 팔리 들리 날리 돌리 알리 살리 "
    "울리 올라오 내려오 다녀오 데려가 데려오 가져가 가져오 찾아가 찾아오 나타나 드러나 일어서 물러나 태어나 자라 모자라 바라 놀라 건너 "
    "견디 던지 만지 가지 다지 뒤지 터지 꺼지 퍼지 빠뜨리 떨어뜨리 잃어버리 쓰러지 이루어지 벌어지 어울리 드리 뿌리 흘리 그리 버티 "
    "미치 마치 놓치 펼치 합치 부치 겹치 지치 해치 넘치 외치 닥치 다치 비치 스치 얹 굶 닮 젊 옳 잃 앓 꿇 뚫 닳 핥 싣 깨닫 솟 "
    "씹 뛰 쉬 바뀌 사귀 여쭈 낳 기억나 혼나 신나 화나 겁나 짖 찢 찍 깎 볶 닦 겪 꺾 엮 다듬 더듬 가다듬 머금 졸리 갚 싶어하 깊 "
    "짙 얕 맑 밝 굵 붉 늙 읊 넓 얇 좁 드물 둥글 길들 거칠 서툴 흔들 건들 베풀 까불 말리 시키 익히 식히 굳히 넓히 좁히 밝히 "
    "붉히 들여다보 바라보 알아보 물어보 살펴보 돌아보 지켜보 돌려주 알려주 보여주 도와주 빌려주 해주 손보 선보이 돋보이 멈추 갖추 맞추 "
    "비추 감추 늦추 춤추 갖 때리 모시 계시 드시 주무시 데치 무치 거치 아끼 따지 없애 그만두 앞두 까먹 찾아보 가르 놀리 불리 삼키 "
    "어리 배고프 질기 멋지 똑같 잠그 담그 설레 갈아타 생각나 내놓 내주 빼놓 놔두 관두 드러내 나타내 꺼내 잇따르 그러 이러 어쩌 긁 "
    "낡 썰 삶 시달리 매달리 망가지 무너지 부서지 줄어들 따라가 꾸미 지나가 쳐다보 끌리 잘리 떠들 내보내 물들이 달래 지내 건너뛰 "
    "떠오르 파내 가리 데우 내세우 앞서가 다루 불러내 나뉘 이루 들르 가라앉 헷갈리 일으키 가리키 돌아서 돌이키 치르 손대 부풀 눌리 "
    "잠기 몰리 두드리 건드리 구르 들여놓 부수 달구 차리 깨뜨리 내밀 접어들 잠들 뒤흔들 빼돌리 떠넘기 휘두르 무르익 낯설 붙들 내버리 "
    "자빠지 훔치 꿈꾸 소리치 바래 깨우치 데리 떨리 기울 덮 닿 썩 젖 맺 뱉"
).split()
# Stems of one syllable that also begin nouns: 감자, 피자, 물기.
_LIKE_NOUNS = (
    "말 밀 막 담 안 차 싸 짜 파 펴 피 곱 녹 접 걸 달 풀 날 돌 묻 짓 낫 붓 잇 긋 젓 벗 빗 쥐 뀌 튀 심 참 숨 감 넘 졸 "
    "빌 쓸 갈 털 물 불 식 끼 따 벌 찌 떼 까 끌 깔 쏘 빨"
).split()
_LONGEST_STEM = 4
_CONSONANT_TAILS = (
    "어 아 어서 아서 어요 아요 어야 아야 어도 아도 어야지 은 을 음 은데 은지 을까 을지 을게 을게요 을때 을수록 는다 는다고 는다는 습니다 "
    "습니까 어라 아라 지않 어진 어지는 아진 아지는 아지 어지 음을 음이 은가"
).split()
_AFTER_STEM, _AFTER_CONSONANT = frozenset(_PLAIN_TAILS), frozenset(_CONSONANT_TAILS)
# One syllable with another is a noun too easily: 사진, 나라, 차질, 감기.
_AFTER_SYLLABLE = frozenset(tail for tail in _PLAIN_TAILS if tail[0] not in "시신진길되" and tail != "든")
_AFTER_NOUNLIKE = frozenset(tail for tail in _AFTER_SYLLABLE if tail[0] not in "지기자")
_AFTER_OPEN = frozenset(["", *_OPEN_TAILS])
_AFTER_OPEN_SYLLABLE = frozenset(["", *"서 요 야 야지 야한다 야하는".split()])
_AFTER_NIEUN = frozenset(["", *"다 다고 다는 다면 다며 다는데 데 데도".split()])
_AFTER_RIEUL = frozenset(["", *"까 까요 게 게요 수록 텐데 만한".split()])
_AFTER_BIEUP = frozenset(_POLITE_TAILS)
# 만들다, but 만드는, 만든다, 만듭니다.
_AFTER_LOST_RIEUL = frozenset("는 는데 는지 니 니까 세요 네요".split())
_IRREGULAR = frozenset(
    (
        "들어 걸어 물어 실어 깨달아 지어 나아 부어 이어 그어 저어 들은 걸은 물은 지은 나은 부은 이은 몰라 매운 추운 이런 저런 그런 "
        "어떤 그렇게 이렇게 어떻게 어떨 그럴 이럴 그래 그래요 그렇다 그렇고 그렇지만 빨갛다 파랗다 하얗다"
    ).split()
)
_ENDINGS = tuple(
    "습니다 습니까 어요 아요 여요 해요 군요 세요 려고 면서 는데 는다 더라 구나 거든요 을게요 을까요 으니까 "
    "으면 주신 도록 자마자 느라 어서 아서 어야 아야 려면 거든 길래 더니 을수록 려다가 어지는 어진다 어지고 워지는 워진다 "
    "해지는 해진다 해지고 다가 히는 히고 히면 히지 히기".split()
)
_LAST_OF_ENDINGS = frozenset(ending[-1] for ending in _ENDINGS)
_AFTER_DA = frozenset(["", *"고 는 면 며 가 니 네 던 지만 거나 는데 더라 고는 고도 는지 길래 거든 시피".split()])
# After 으 that is no beginning of 으로.
_AFTER_EU = frozenset("니면며려러나므시세십라")
# The last syllables of most verbs that end in a vowel, and endings that would tell them from a noun.
_STEM_ENDS = frozenset("기리치키히르우꾸추누뜨끄쓰프쁘지시")
_AFTER_VOWEL_STEM = frozenset("니까 지만 면서 거나".split())
# After a vowel, ㄴ, ㄹ, ㅁ or ㅇ a 고 may end a noun (창고, 금고), after other consonants only a verb (높고).
_BEFORE_GO = frozenset({NONE, NIEUN, RIEUL, MIEUM, IEUNG})
# How verbs end that stand open, or before another that helps them: 늘어나는.
_OPEN_ENDS = frozenset("쳐켜혀져셔겨줘둬춰꿔봐놔힌")
_BEFORE_HELP = re.compile("[쳐켜혀져셔겨줘둬춰꿔봐놔어아려워]")
_HELPERS = frozenset("가 오 보 내 주 두 놓 넣 나 지 먹 타 앉 붙 버리 다니".split())


def final(syllable: str) -> int:
    """The number of the final consonant, 0 without one."""
    return (ord(syllable) - _FIRST) % _FINALS if "\uac00" <= syllable <= "\ud7a3" else NONE


def _vowel(syllable: str) -> int:
    """The number of the vowel of an open syllable, -1 for any other."""
    number = ord(syllable) - _FIRST
    return number // _FINALS % _VOWELS if number % _FINALS == NONE and "\uac00" <= syllable <= "\ud7a3" else -1


def noun_made_verb(run: str) -> str | None:
    """연기되었다 -> 연기; empty for a verb without a noun, None if it is no such verb at all."""
    if not _MAKER.search(run, 1):
        return None
    if maker := _PAST_MAKER.search(run, 1):
        return _made(run[: maker.start()])
    endings = _making_endings()
    for place in range(max(len(run) - _LONGEST_ENDING, 1), len(run)):
        if run[place] in _ENDING_HEADS and run[place:] in endings and not _may_end_noun(run, place):
            return _made(run[:place]) if len(run) > 2 else None
    return None


def _may_end_noun(run: str, place: int) -> bool:
    """명함을, 목적으로: after one syllable some endings are more likely a noun's own."""
    return place == 1 and run[0] not in _NO_NOUNS and run[1:] in _AFTER_SHORT_NOUNS


def _made(noun: str) -> str:
    return "" if noun in _NO_NOUNS or len(noun) < 2 else noun


def is_native(run: str) -> bool:
    """Whether it is a form of a common verb with two syllables or more, or of one that another helps."""
    if run[:2] in _native_starts():
        forms = _native_forms()
        for length in range(min(len(run), _LONGEST_STEM), 1, -1):
            if run[length:] in forms.get(run[:length], ()):
                return True
    return run in _IRREGULAR or (len(run) > 2 and _is_helped(run))


def is_verbal(run: str) -> bool:
    """Whether a run is a form of a verb of one syllable, or sounds or ends as only verbs and adjectives do."""
    return run[1:] in _native_forms().get(run[0], ()) or sounds_verbal(run) or _has_verbal_ending(run)


def _is_helped(run: str) -> bool:
    """늘어나는, 집어넣은: a verb in its open form and a form of one that helps it."""
    return any(run[found.end() :] in _helping_forms() for found in _BEFORE_HELP.finditer(run, 1))


def sounds_verbal(run: str) -> bool:
    """Forms no noun has: a past in ㅆ, 다 after a consonant, 으 between a consonant and an ending."""
    if _PAST_SYLLABLE.search(run):
        return True
    place = run.rfind("다")
    if place > 0 and final(run[place - 1]) != NONE and run[place + 1 :] in _AFTER_DA:
        return True
    place = run.find("으", 1)
    return place > 0 and final(run[place - 1]) != NONE and run[place + 1 : place + 2] in _AFTER_EU


def _has_verbal_ending(run: str) -> bool:
    """Whether it has an ending that joins sentences, or is an open form, an adverb or a modifier in 히, 게, 운, 던."""
    if len(run) < 2:
        return False
    last, before = run[-1], run[-2]
    if last in _OPEN_ENDS or (last in _LAST_OF_ENDINGS and run.endswith(_ENDINGS)):
        return True
    if len(run) > 2 and (last in "히게운던" or _follows_vowel_stem(run)):
        return not run.endswith("에게")
    if last == "다":
        return before == "니" and len(run) > 2 and final(run[-3]) == BIEUP
    if last == "고":
        return final(before) not in _BEFORE_GO and before != "학"
    return last in "서요야" and _opens(before, last)


def _follows_vowel_stem(run: str) -> bool:
    """바르고, 맡기니까: the last syllable of most verbs that end in a vowel, before what follows verbs only."""
    if run[-1] in "고면":
        return run[-2] in _STEM_ENDS
    return run[-2:] in _AFTER_VOWEL_STEM and run[-3] in _STEM_ENDS


def _opens(syllable: str, ending: str) -> bool:
    """Whether 서, 요 or 야 follow an open form of a verb, not a noun in 서 (계약서, 평가서) or 요 (중요, 개요)."""
    vowel = _vowel(syllable)
    if vowel in (_YEO, _WO, _WAE) or (vowel == _WA and syllable != "과"):
        return True
    if vowel == _A:
        return syllable in "아나타파빠싸짜차" or (ending == "요" and syllable != "가")
    return (vowel == _EO and syllable != "커") or (vowel == _AE and syllable != "개" and ending != "야")


@cache
def _making_endings() -> frozenset[str]:
    """Everything that can follow a noun to make it a verb; what has a ㅆ is seen before."""
    found = set(_DERIVED)
    for present, open_, modified, future, named, polite in _MAKING_VERBS:
        found.update(present + tail for tail in _PLAIN_TAILS)
        found.update(open_ + tail for tail in ("", *_OPEN_TAILS))
        found.update(modified + tail for tail in ("", *_MODIFIED_TAILS))
        found.update(future + tail for tail in ("", *_FUTURE_TAILS))
        found.update(named + tail for tail in ("", *_NAMED_TAILS))
        found.update(polite + tail for tail in _POLITE_TAILS)
    found.update("하" + tail for tail in _HA_TAILS)
    return frozenset(found)


def _with_final(verb: str, number: int) -> str:
    return verb[:-1] + chr(ord(verb[-1]) + number)


def _open_forms(verb: str) -> list[str]:
    """A stem that ends in a vowel, run together with the 아 or 어 that follows: 배우 -> 배워, 아프 -> 아파."""
    lead, vowel = divmod((ord(verb[-1]) - _FIRST) // _FINALS, _VOWELS)
    forms = [verb[:-1] + chr(_FIRST + (lead * _VOWELS + merged) * _FINALS) for merged in _MERGED.get(vowel, (vowel,))]
    if verb[-1] == "르" and len(verb) > 1:
        doubled = _with_final(verb[:-1], RIEUL)
        forms += [doubled + "라", doubled + "러"]
    return forms


@cache
def _native_forms() -> dict[str, frozenset[str]]:
    """Stems of common verbs as they are before an ending, each with the endings that follow."""
    found: dict[str, frozenset[str]] = {}
    for verb in (*_NATIVE, *_LIKE_NOUNS):
        plain, last = _tails_of(verb), final(verb[-1])
        if last == NONE:
            _add_open(found, verb, plain)
            continue
        found[verb] = _with_consonant(plain)
        if last == BIEUP:
            _add_open(found, _with_final(verb, -BIEUP) + "우", plain)
        elif last == RIEUL:
            _add_closed(found, _with_final(verb, -RIEUL), _AFTER_LOST_RIEUL)
    return found


@cache
def _native_starts() -> frozenset[str]:
    return frozenset(form[:2] for form in _native_forms() if len(form) > 1)


@cache
def _helping_forms() -> frozenset[str]:
    """Of one syllable only those with a consonant, so that 단어가 stays a noun with its particle."""
    found: dict[str, frozenset[str]] = {}
    for verb in _HELPERS:
        if final(verb[-1]) == NONE:
            _add_open(found, verb, _AFTER_SYLLABLE)
        else:
            found[verb] = _with_consonant(_AFTER_SYLLABLE)
    forms = (form + tail for form, tails in found.items() for tail in tails)
    return frozenset(form for form in forms if len(form) > 1 or final(form) != NONE) - {"보다"}


def _tails_of(verb: str) -> frozenset[str]:
    if len(verb) > 1:
        return _AFTER_STEM
    return _AFTER_NOUNLIKE if verb in _LIKE_NOUNS else _AFTER_SYLLABLE


@cache
def _with_consonant(tails: frozenset[str]) -> frozenset[str]:
    return tails | _AFTER_CONSONANT


def _add_open(found: dict[str, frozenset[str]], verb: str, tails: frozenset[str]) -> None:
    """A stem that ends in a vowel, and the syllables it makes with ㄴ, ㄹ, ㅂ and 아."""
    _add_closed(found, verb, tails)
    for form in _open_forms(verb):
        _add(found, form, _AFTER_OPEN if len(form) > 1 else _AFTER_OPEN_SYLLABLE)


def _add_closed(found: dict[str, frozenset[str]], verb: str, tails: frozenset[str]) -> None:
    _add(found, verb, tails)
    _add(found, _with_final(verb, NIEUN), _AFTER_NIEUN)
    _add(found, _with_final(verb, RIEUL), _AFTER_RIEUL)
    _add(found, _with_final(verb, BIEUP), _AFTER_BIEUP)


def _add(found: dict[str, frozenset[str]], form: str, tails: frozenset[str]) -> None:
    known = found.get(form)
    found[form] = tails if known is None else known | tails
