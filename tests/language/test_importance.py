import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.importance import USUAL, importance

PLAIN_HEAVY_LIGHT = {
    "english": (
        "We walked along the river in the afternoon",
        "Important decision: the deadline is critical and must never slip",
        "hello, maybe just a test, thanks",
    ),
    "japanese": (
        "午後は川沿いをのんびり散歩して過ごした",
        "重要: 締切は必ず守ること。パスワードの共有は禁止",
        "こんにちは、これはテストかもしれません",
    ),
    "korean": (
        "오후에는 강가를 따라 천천히 산책을 했다",
        "중요: 마감은 반드시 지켜야 한다. 비밀번호 공유 금지",
        "안녕하세요, 아마 이것은 테스트입니다",
    ),
    "chinese": (
        "下午我们沿着河边慢慢地散步聊天",
        "关键决定：截止日期必须遵守，密码绝对不能共享",
        "你好，也许这只是一个测试，谢谢",
    ),
    "french": (
        "Nous avons marché le long de la rivière cet après-midi",
        "Décision importante : l'échéance est obligatoire, le mot de passe ne sort jamais",
        "bonjour, peut-être un essai, merci",
    ),
}


@pytest.mark.parametrize("language", PLAIN_HEAVY_LIGHT)
def test_words_that_weigh_and_words_that_do_not_in_five_languages(language: str) -> None:
    plain, heavy, light = map(importance, PLAIN_HEAVY_LIGHT[language])
    assert light < plain < heavy
    assert plain == pytest.approx(USUAL, abs=0.06)
    assert heavy >= 0.7


def test_facts_weigh_a_little_and_a_word_says_little() -> None:
    assert importance("ok") < importance("The gate is on the left") < importance("Gate 4711, see https://example.org")


@given(st.text())
def test_any_text_has_an_importance_the_same_every_time(text: str) -> None:
    assert 0.2 <= importance(text) <= 0.9
    assert importance(text) == importance(text)


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800", "`" * 1_000_000, "1" * 1_000_000, "a@" * 500_000, "重要" * 500_000]
)
def test_hostile_texts_are_judged_too(text: str) -> None:
    assert 0.2 <= importance(text) <= 0.9
