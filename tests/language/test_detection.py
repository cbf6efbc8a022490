"""The language of a text, by script, small words and accents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.language.detection import checked, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("프로젝트 X의 데드라인이 2월 15일로 연기되었다", "ko"),
        ("Kubernetes deployment를 진행했다", "ko"),
        ("昨日、田中さんと東京駅で会いました。", "ja"),
        ("ユーザー", "ja"),
        ("経済発展", "ja"),
        ("昨天我和张伟在上海讨论了新的模型。", "zh"),
        ("區塊鏈技術的應用", "zh"),
        ("我在看动画片《となりのトトロ》，里面的龙猫非常可爱，孩子们看完以后都说还想再看一遍，周末我们打算一起去电影院看新的动画电影，"
         "然后去附近新开的餐厅吃晚饭庆祝生日。", "zh"),
        ("The deadline was moved to February.", "en"),
        ("I met José at the café.", "en"),
        ("L'équipe a reporté la réunion.", "fr"),
        ("Je suis dans la cuisine avec mon frere", "fr"),
        ("Réunion", "fr"),
        ("", "en"),
        ("12345 !?", "en"),
        ("Спасибо", "en"),
    ],
)  # fmt: skip
def test_the_dominant_language_is_found(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_foreign_name_does_not_change_the_language() -> None:
    assert language_of("We ate 김치 in Seoul and then took the train to the coast.") == "en"


def test_only_the_beginning_is_looked_at() -> None:
    assert language_of("The plan is good. " * 300 + "회의 " * 100_000) == "en"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(Invalid, match="language"):
        checked("de")


@given(st.text())
def test_every_text_has_one_of_five_languages(text: str) -> None:
    assert language_of(text) in {"ko", "ja", "zh", "fr", "en"}
