"""Keywords of real sentences, the rules of each language, and what must hold for any text."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.language import spaced
from commonplace.language.keywords import keywords
from commonplace.language.segmenters import segmenter
from commonplace.language.stopwords import STOPWORDS

LANGUAGES = ["auto", "ko", "en", "ja", "zh", "fr"]

# Everything that cuts words differently, so that random texts meet the rules of all languages.
MIXED = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("가는은이의에서하되었다한데드라인"),
        st.sampled_from("漢字会議打合的了是在和项目やのをがはおごチームー々"),
        st.sampled_from("aBé'’-.+#&@ 1X5\n/:"),
        st.sampled_from(["\ud800", "\u0301", "\u200f", "\x00", "\U00020000"]),
    ),
    max_size=60,
)


def without(language: str) -> pytest.MarkDecorator:
    """The rules are tested where no dictionary takes their place."""
    return pytest.mark.skipif(segmenter(language) is not None, reason=f"the dictionary for {language} is installed")


def test_the_documents_example_gives_its_words() -> None:
    found = keywords("프로젝트 X의 데드라인이 2월 15일로 연기되었다")
    assert found == ["프로젝트 X", "프로젝트", "데드라인", "연기"]


@pytest.mark.parametrize(
    ("text", "leading"),
    [
        ("프로젝트에서는 회의를 매주 월요일 오전 10시에 진행하기로 결정했다.", ["프로젝트", "회의"]),
        ("김민수 팀장님이 GPT-5를 사용해서 API 서버의 버그를 수정했습니다.", ["GPT-5", "API", "김민수"]),
        ("데이터베이스 마이그레이션도 필요하다.", ["데이터베이스", "마이그레이션"]),
        ("나는 매운 음식을 좋아하고 커피는 아메리카노만 마신다.", ["아메리카노", "음식", "커피"]),
        ("The deadline for Project X was postponed to May 15th.", ["Project X", "Project", "deadline", "postponed"]),
        ("My daughter Emma is allergic to peanuts.", ["Emma", "daughter", "allergic", "peanuts"]),
        ("L'équipe a choisi la ville d'Orléans au 15 février.", ["Orléans", "équipe", "choisi", "ville"]),
        ("N'oublie pas l'anniversaire d'Élodie à l'école.", ["Élodie", "anniversaire"]),
        ("プロジェクトXの締め切りが2月15日に延期された。", ["プロジェクトX", "プロジェクト", "締め切り", "延期"]),
        ("データベースの設計を決めました。", ["データベース", "設計"]),
        ("我的女儿对花生过敏。", ["女儿", "花生", "过敏"]),
        ("我和张伟在上海。", ["上海", "张伟"]),
    ],
)  # fmt: skip
def test_real_sentences_lead_with_what_they_are_about(text: str, leading: list[str]) -> None:
    found = keywords(text)
    assert sorted(found[: len(leading)]) == sorted(leading)


@without("ko")
@pytest.mark.parametrize(
    ("word", "noun"),
    [
        ("데드라인이", "데드라인"), ("프로젝트에서는", "프로젝트"), ("회의를", "회의"), ("회의", "회의"),
        ("연기되었다", "연기"), ("친구들에게는", "친구"), ("개발하고", "개발"), ("중요한", "중요"),
        ("효과적으로", "효과"), ("팀의", "팀"), ("집에서", "집"), ("서울로", "서울"),
        ("고양이가", "고양이"), ("전문가", "전문가"), ("소설가는", "소설가"), ("사과를", "사과"),
        ("민주주의", "민주주의"), ("검토했습니다", "검토"), ("완성됐지만", "완성"), ("학생입니다", "학생"),
        ("디자인은", "디자인"), ("온라인", "온라인"), ("자연스럽게", "자연"), ("휴가", "휴가"),
        ("컴퓨터로", "컴퓨터"), ("엄마랑", "엄마"), ("아들이", "아들"),
        # one syllable
        ("잠이", "잠"), ("꿀이", "꿀"), ("벌은", "벌"), ("꽃을", "꽃"), ("책은", "책"), ("물을", "물"), ("차가", "차"),
        # before 이다
        ("목표다", "목표"), ("박완서다", "박완서"), ("문제였다", "문제"), ("부족이었다", "부족"),
        ("예정이므로", "예정"), ("휴가라서", "휴가"), ("회의여서", "회의"), ("드라마다", "드라마"),
        ("정보였습니다", "정보"), ("책이다", "책"),
        # ends like a particle or a verb
        ("임진왜란", "임진왜란"), ("무제한", "무제한"), ("태권도", "태권도"), ("베란다에", "베란다"),
        ("명함을", "명함"), ("쌍둥이를", "쌍둥이"), ("떡볶이다", "떡볶이"), ("경쟁이", "경쟁"), ("책상에서", "책상"),
        ("목적으로", "목적"), ("보고서", "보고서"), ("계약서를", "계약서"), ("평가서", "평가서"), ("필요", "필요"),
        ("사진", "사진"), ("감자", "감자"), ("단어가", "단어"), ("영어보다", "영어"), ("이미지만", "이미지"),
        ("강아지는", "강아지"), ("큰아들이", "큰아들"), ("감기가", "감기"), ("도시는", "도시"), ("목표가", "목표"),
        ("창고", "창고"), ("카메라는", "카메라"),
        # made a verb
        ("연기되었으므로", "연기"), ("은퇴하신", "은퇴"), ("반납해야", "반납"), ("통일했다가", "통일"),
        ("부탁드렸습니다", "부탁"),
    ],
)  # fmt: skip
def test_a_korean_noun_loses_its_particles_and_verbal_endings(word: str, noun: str) -> None:
    assert keywords(word) == [noun]


@without("ko")
@pytest.mark.parametrize(
    "word",
    [
        "먹었다", "갔습니다", "좋아한다", "있는", "그리고", "어제", "많은", "열심히", "아름다운", "마신다", "의",
        "막혀서", "귀여워서", "좋아서", "깨져서", "갔다가", "타다가", "쓰려요", "먹으니", "높다고", "드신다고",
        "빌린", "만든", "만드는", "끊기는", "사라지는", "늘어나는", "넘어간", "돌려줄",
        "맡기고", "바르고", "느리다", "예쁘다", "줄이려고", "몰라서", "춤춰",
        "뒤로", "중이다", "밤마다", "내내", "말자", "줄어들고", "헷갈린다고", "지난해",
    ],
)  # fmt: skip
def test_a_korean_word_without_a_noun_is_none(word: str) -> None:
    assert keywords(word) == []


@without("ko")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("면접관은 세 명이다", ["면접관"]),
        ("보증금은 5천만 원이다", ["보증금"]),
        ("사진을 백 장이나 찍었다", ["사진"]),
        ("물을 2리터씩 마신다", ["물"]),
        ("개가 짖는다", ["개"]),
        ("길을 걷다가 장난감 가게에서 로봇을 샀다", ["장난감", "가게", "로봇", "길"]),
    ],
)
def test_what_is_counted_in_korean_tells_without_its_number_and_unit(text: str, found: list[str]) -> None:
    assert keywords(text) == found


@without("ja")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("新しい機械学習モデルについて打ち合わせをしました", ["打ち合わせ", "機械学習", "モデル"]),
        ("猫が本を読む", ["猫", "本"]),
        ("毎朝泳がない", []),
        ("お金の管理が苦手", ["お金", "管理", "苦手"]),
        ("昨日食べた", []),
        ("りんごを食べました", ["りんご"]),
        ("効果的な勉強方法", ["勉強方法", "効果"]),
        ("東京タワーへ行く", ["タワー", "東京"]),
    ],
)
def test_japanese_words_show_by_their_script(text: str, found: list[str]) -> None:
    assert keywords(text) == found


@without("zh")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我喜欢喝乌龙茶，不喜欢咖啡。", ["乌龙茶", "咖啡", "喜欢"]),
        ("连接池的配置和连接池的大小", ["连接池", "配置", "大小"]),
        ("吉他老师叫王芳", ["吉他", "老师", "王芳"]),
        ("量子纠缠很神奇，量子计算机也神奇", ["量子", "神奇", "计算机", "纠缠"]),
        ("區塊鏈技術的應用", ["區塊鏈", "技術", "應用"]),
        ("南京市长江大桥", ["长江大桥", "南京市"]),
        ("港珠澳大桥", ["港珠澳大桥"]),
        ("他在北京大学学习", ["北京大学", "学习"]),
        ("清华大学的老师", ["清华大学", "老师"]),
        ("去中国银行取钱", ["中国银行", "取钱"]),
        ("我考上大学了", ["大学"]),
        ("参观人民公园", ["人民公园", "参观"]),
    ],
)
def test_chinese_is_cut_at_grammar_and_by_repetition(text: str, found: list[str]) -> None:
    assert keywords(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("l’équipe qu'il faut", ["équipe"]),
        ("Donne-moi le rapport d'activité", ["activité", "rapport", "Donne"]),
        ("un rendez-vous aujourd'hui", ["rendez-vous"]),
        ("the team's plan isn't ready", ["team", "ready", "plan"]),
        ("a well-known library, up-to-date", ["well-known", "library", "up-to-date"]),
    ],
)
def test_elisions_possessives_and_pronouns_fall_off(text: str, found: list[str]) -> None:
    assert sorted(keywords(text)) == sorted(found)


def test_names_with_numbers_and_signs_stay_whole_and_numbers_alone_stay_out() -> None:
    text = (
        "GPT-5 runs X1 firmware v2.0 written in C++ and C#, 42 times on 2024-05-08T10:00:00Z at 10am, the 15th, node.js"
    )
    found = keywords(text, limit=50)
    assert {"GPT-5", "X1", "v2.0", "C++", "C#", "node.js"} <= set(found)
    assert not {"42", "15th", "10am"} & set(found)
    assert not any("2024" in word for word in found)


def test_dates_are_no_keywords_in_any_language() -> None:
    for text in ("2월 15일에", "2月15日に", "2月15日", "February 15", "le 15 février"):
        assert keywords(text) == []


def test_each_run_of_a_mixed_text_is_read_in_its_language() -> None:
    text = "내일 회의에서 Kubernetes 배포를 논의. Réunion avec l'équipe de Paris. The budget is in the shared folder."
    found = keywords(text, limit=20)
    assert {"회의", "Kubernetes", "배포", "논의", "Réunion", "équipe", "Paris", "budget", "folder"} <= set(found)
    assert not {"avec", "the", "is", "de", "in"} & {word.casefold() for word in found}


def test_a_repeated_word_comes_before_a_single_one() -> None:
    assert keywords("budget and garden; garden again, the garden")[0] == "garden"


def test_a_word_and_its_plural_count_as_one() -> None:
    assert keywords("Servers and server") == ["Servers"]


def test_an_address_is_known_by_its_host() -> None:
    assert keywords("https://www.example.com/a/b?c=d#e") == ["example.com"]


def test_a_given_language_decides_what_the_script_does_not() -> None:
    assert keywords("pour", "en") == ["pour"]
    assert keywords("pour", "fr") == []


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        keywords("text", "de")
    assert refusal.value.field == "language"


def test_decomposed_text_gives_composed_words() -> None:
    assert keywords(unicodedata.normalize("NFD", "데드라인이")) == ["데드라인"]


def test_stop_words_are_folded_and_french_ones_also_come_without_accents() -> None:
    assert all(word == word.casefold() for words in STOPWORDS.values() for word in words)
    assert {"à", "où", "été", "ete", "etaient", "meme"} <= STOPWORDS["fr"]


@given(MIXED, st.sampled_from(LANGUAGES), st.integers(-1, 20))
def test_keywords_are_distinct_parts_of_the_text_up_to_the_limit(text: str, language: str, limit: int) -> None:
    found = keywords(text, language, limit)
    whole = unicodedata.normalize("NFC", text).casefold()
    assert len(found) <= max(limit, 0)
    assert len({word.casefold() for word in found}) == len(found)
    assert all(word and word.casefold() in whole for word in found)
    assert found == keywords(text, language, limit)


@given(MIXED, st.sampled_from(LANGUAGES))
def test_a_smaller_limit_gives_the_beginning_of_the_same_list(text: str, language: str) -> None:
    assert keywords(text, language, 3) == keywords(text, language, 10)[:3]


@pytest.mark.parametrize(
    "unit",
    [
        "가",
        "나는 ",
        "a",
        "a-",
        "l'",
        "漢",
        "漢あ",
        "習め漢",
        "あ",
        "ア",
        "的",
        "\u0301\u0316",
        "\ud800",
        "http://",
        "X ",
        "1 ",
        ".",
        "'",
    ],
)
def test_a_million_characters_of_anything_take_no_longer_than_their_beginning(unit: str) -> None:
    started = time.perf_counter()
    keywords(unit * (1_000_000 // len(unit)))
    assert time.perf_counter() - started < 5


def test_a_word_without_end_is_not_remembered() -> None:
    before = spaced._met_before.cache_info().currsize
    assert keywords(f"the lighthouse {'Zm9v' * 100_000}") == ["lighthouse"]
    assert spaced._met_before.cache_info().currsize <= before + 2
