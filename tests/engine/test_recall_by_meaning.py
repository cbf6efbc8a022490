"""What the real model makes of questions that share a word with the wrong memory."""

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from commonplace.models.use import UniversalSentenceEncoder

pytestmark = pytest.mark.anyio

NOTES = (
    "Never use the USB hub on the left side of the desk, it drops power",
    "I do all my coding in Neovim with the Catppuccin theme",
    "Prod API keys rotate every 90 days, next on April 2, on a day off",
    "駅前の喫茶店は水曜日が定休日",
    "La réunion de l'équipe est le jeudi",
    "コードレビューは必ず二人で行い、金曜の午後にはデプロイしない",
)


@pytest.fixture
def embedder() -> UniversalSentenceEncoder:
    return UniversalSentenceEncoder()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which editor do I use?", "I do all my coding in Neovim"),
        ("on which day is the café closed?", "駅前の喫茶店"),
        ("quelles règles pour la revue de code dans l'équipe ?", "コードレビュー"),
        ("USB", "Never use the USB hub"),
    ],
)
async def test_what_answers_comes_before_what_only_shares_a_word(
    engine: Engine, owner: Actor, question: str, answer: str
) -> None:
    for note in NOTES:
        await engine.memories.remember(owner, Draft(note))
    found = await engine.recall.recall(owner, Question(question))
    assert found.hits[0].memory.content.startswith(answer)
