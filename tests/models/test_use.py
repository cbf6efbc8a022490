import numpy as np
import pytest

from commonplace.domain.errors import EmbeddingFailed
from commonplace.models.local import FastEmbed, SentenceTransformer
from commonplace.models.use import UniversalSentenceEncoder


@pytest.fixture(scope="module")
def encoder() -> UniversalSentenceEncoder:
    return UniversalSentenceEncoder()


def test_the_five_languages_meet_in_one_space(encoder: UniversalSentenceEncoder) -> None:
    same = [
        "The meeting was moved to next week.",
        "会議は来週に延期されました。",
        "회의가 다음 주로 연기되었습니다.",
        "会议推迟到下周。",
        "La réunion est reportée à la semaine prochaine.",
    ]
    other = "My cat likes warm milk."
    vectors = encoder.embed([*same, other])
    cosines = vectors @ vectors.T
    assert cosines[:5, :5].min() > cosines[:5, 5].max()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-3)


def test_odd_texts_have_vectors_too(encoder: UniversalSentenceEncoder) -> None:
    vectors = encoder.embed(["", " ", "\ud800", "\x00", "🚀", "ا" * 500])
    assert np.isfinite(vectors).all()


def test_a_batch_gives_what_each_gives_alone(encoder: UniversalSentenceEncoder) -> None:
    texts = ["one", "一つの文", "a much longer sentence about nothing in particular"]
    together = encoder.embed(texts)
    for row, text in zip(together, texts, strict=True):
        assert row @ encoder.embed([text])[0] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("kind", [SentenceTransformer, FastEmbed])
def test_a_package_that_is_not_installed_is_named_with_its_remedy(kind: type[SentenceTransformer]) -> None:
    with pytest.raises(EmbeddingFailed, match="pip install"):
        kind("model").embed(["text"])
